"""Damaged and forged model files, drawn from a seed.

A damaged file has other bytes than were written. A forged one has been changed by someone who knows the
format: all checksums are right again, so that only what the reader checks itself can tell.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from maxmargin.archive import archive
from maxmargin.archive.npy_layout import ArrayLayout, layout_of, npy_head, stored
from maxmargin.archive.zip_layout import ZipEntry, local_head, tail

WORDS = ["", "RBF", "KernelSVC", "os.system", "../../x", "inf", "array", "kind", "linear", "\x00"]
NUMBERS = [0, -1, 1, 2, 3, 2**31, 2**63, 10**30, 0.5, -2.5, 1e308, 5e-324, True, False, None]
DTYPES = ["<f4", "<f8", "<i4", "<i8", "|i1", "|u1", "|b1", "<U1", "<U7", "|O", "<c16", ">f8", "<f16", "V8"]


def packed(whole: dict[str, Any], bodies: list[tuple[str, bytes]]) -> bytes:
    """A file with that header and those entries, whose every checksum is right."""
    text = json.dumps(whole, sort_keys=True).encode()
    out, entries = bytearray(), []
    for name, body in [("header.json", text), *bodies]:
        entries.append(ZipEntry(name, len(body), zlib.crc32(body), len(out)))
        out += local_head(entries[-1]) + body
    return bytes(out + tail(entries, hashlib.sha256(text).hexdigest()))


def listed(name: str, array: np.ndarray) -> tuple[dict[str, Any], bytes]:
    """What the header says of an array, and its entry."""
    array = stored(name, array)
    layout = layout_of(array)
    body = npy_head(layout) + array.tobytes(order="A")
    return {"name": name, **layout.as_dict(), "sha256": hashlib.sha256(body).hexdigest()}, body


def parts(
    content: dict[str, Any], arrays: dict[str, np.ndarray]
) -> tuple[dict[str, Any], list[tuple[str, bytes]]]:
    """The whole header and the entries of a file with that content and those arrays."""
    pairs = [(name, *listed(name, arrays[name])) for name in sorted(arrays)]
    whole = {
        "format": archive.FORMAT,
        "version": archive.VERSION,
        "arrays": [about for _, about, _ in pairs],
        "content": content,
    }
    return whole, [(f"{name}.npy", body) for name, _, body in pairs]


# ---- damage ----


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Other bytes: a few flipped, some overwritten, moved, cut off or added."""
    out, n = bytearray(data), len(data)
    i, j = sorted(int(k) for k in rng.integers(0, n, 2))
    how = rng.integers(0, 7)
    if how == 0:
        for k in rng.integers(0, n, rng.integers(1, 4)):
            out[k] ^= 1 << int(rng.integers(0, 8))
    elif how == 1:
        out[i] = int(rng.integers(0, 256))
    elif how == 2:
        del out[i:]
    elif how == 3:
        out += bytes(rng.integers(0, 256, rng.integers(1, 100), dtype=np.uint8))
    elif how == 4:
        del out[i : min(j, i + 64)]
    elif how == 5:
        length = min(j - i, 64)
        out[i : i + length], out[j : j + length] = out[j : j + length], out[i : i + length]
    else:
        out[i : i + 16] = bytes(len(out[i : i + 16]))
    return bytes(out)


# ---- forgery ----


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a JSON tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield tree, key
        yield from _places(value)


def _edit_tree(content: dict[str, Any], rng: np.random.Generator) -> None:
    places = list(_places(content["model"]))
    container, key = places[rng.integers(len(places))]
    how = rng.integers(0, 6)
    if how == 0:
        container[key] = NUMBERS[rng.integers(len(NUMBERS))]
    elif how == 1:
        container[key] = WORDS[rng.integers(len(WORDS))]
    elif how == 2:
        del container[key]
    elif how == 3:
        other, place = places[rng.integers(len(places))]
        container[key] = json.loads(json.dumps(other[place]))
    elif how == 4:
        container[key] = [container[key]] if rng.integers(2) else {"dict": [["x", container[key]]]}
    elif isinstance(container, dict):
        container[f"{key}x" if isinstance(key, str) else "x"] = container.pop(key)
    else:
        container.append(container[key])


def _edit_values(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    array = array.copy(order="K")
    flat = array.reshape(-1, order="A")
    if not len(flat):
        return array
    places = rng.integers(0, len(flat), rng.integers(1, 4))
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            choices = np.array([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e30, 1e300, 5e-324]).astype(array.dtype)
    elif array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        choices = np.array([info.min, info.max, 0, 1, 7, len(flat)], dtype=object)
        choices = np.array([int(c) for c in choices if info.min <= c <= info.max], dtype=array.dtype)
    else:
        choices = flat[rng.integers(0, len(flat), 3)]
    flat[places] = choices[rng.integers(0, len(choices), len(places))]
    return flat.reshape(array.shape, order="F" if array.flags.f_contiguous and array.ndim > 1 else "C")


def _edit_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    how = rng.integers(0, 7)
    if how <= 2:
        return _edit_values(array, rng)
    if how == 3 and array.ndim:
        return array[: rng.integers(0, len(array) + 1)]
    if how == 4 and array.ndim:
        return np.concatenate([array, array[:1]])
    if how == 5 and array.dtype.kind in "iufb":
        return array.astype(["f4", "f8", "i4", "i8", "?"][rng.integers(5)], copy=True)
    return array.T if array.ndim == 2 and rng.integers(2) else array.reshape(-1)


def _edit_listing(whole: dict[str, Any], bodies: list[tuple[str, bytes]], rng: np.random.Generator) -> None:
    """Types, shapes, names and entries that do not agree, with the right checksums."""
    k = rng.integers(len(bodies))
    about, (name, body) = whole["arrays"][k], bodies[k]
    how = rng.integers(0, 8)
    if how == 0:
        about["dtype"] = DTYPES[rng.integers(len(DTYPES))]
    elif how == 1:
        about["shape"] = [int(n) for n in rng.choice([0, 1, 3, 2**31, 2**40, 2**62], rng.integers(0, 4))]
    elif how == 2:
        about["order"] = "F" if about["order"] == "C" else "C"
    elif how == 3:
        about["name"] = ["../x", "/etc/passwd", "a//b", "", "x" * 300, "header"][rng.integers(6)]
        bodies[k] = (f"{about['name']}.npy", body)
    elif how == 4:
        bodies.append(bodies[k])
        whole["arrays"].append(about)
    elif how == 5:
        del bodies[k]
    elif how == 6:
        bodies[k] = (name, body + b"\0" * int(rng.integers(1, 9)))
        about["sha256"] = hashlib.sha256(bodies[k][1]).hexdigest()
    else:
        head = npy_head(ArrayLayout("|O", tuple(about["shape"]), about["order"]))
        bodies[k] = (name, head + body[len(head) :])
        about["sha256"] = hashlib.sha256(bodies[k][1]).hexdigest()


def forgery(content: dict[str, Any], arrays: dict[str, np.ndarray], rng: np.random.Generator) -> bytes:
    """A file changed with knowledge of the format."""
    content, arrays = json.loads(json.dumps(content)), dict(arrays)
    how = rng.integers(0, 8)
    if how <= 3:
        _edit_tree(content, rng)
    elif how <= 5:
        name = list(arrays)[rng.integers(len(arrays))]
        arrays[name] = _edit_array(arrays[name], rng)
    elif how == 6:
        first, second = (list(arrays)[k] for k in rng.integers(0, len(arrays), 2))
        arrays[first], arrays[second] = arrays[second], arrays[first]
    whole, bodies = parts(content, arrays)
    if how == 7:
        _edit_listing(whole, bodies, rng)
    return packed(whole, bodies)
