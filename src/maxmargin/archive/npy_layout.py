"""Which arrays a model file can hold, the ``.npy`` header in front of each, and how values are read.

The header is made from type, shape and order in format 1.0 of NumPy and never parsed: a reader that knows
type and shape knows the header. NumPy's own writer is not used, because its padding depends on its version.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

_SIMPLE_TYPES = {
    "|b1",
    "|i1",
    "|u1",
    *(f"<{kind}{size}" for kind in "iu" for size in (2, 4, 8)),
    "<f2",
    "<f4",
    "<f8",
}
_MAX_DIMENSIONS = 32
_MAX_ARRAY_BYTES = 1 << 62
_LAST_CHARACTER = 0x10FFFF
_READ_BYTES = 1 << 22  # asked of a stream at a time


@dataclass(frozen=True)
class ArrayLayout:
    """Type, shape and order (``C`` or ``F``) of an array in a file."""

    dtype: str
    shape: tuple[int, ...]
    order: str

    @property
    def n_bytes(self) -> int:
        """Bytes of the values."""
        return math.prod(self.shape) * _item_bytes(self.dtype)

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {"dtype": self.dtype, "shape": list(self.shape), "order": self.order}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> ArrayLayout:
        """The layout that JSON describes, or a ``ValueError`` if an array cannot have it."""
        dtype, shape, order = given["dtype"], given["shape"], given["order"]
        if not isinstance(dtype, str) or _item_bytes(dtype) == 0:
            raise ValueError(
                f"{dtype!r:.40} is not the type of a plain array of numbers, booleans or strings."
            )
        if not isinstance(shape, list) or any(type(n) is not int or n < 0 for n in shape):
            raise ValueError(f"{shape!r:.80} is not a shape.")
        # NumPy limits the product of the other dimensions of an empty array too.
        if (
            len(shape) > _MAX_DIMENSIONS
            or math.prod(max(n, 1) for n in shape) * _item_bytes(dtype) > _MAX_ARRAY_BYTES
        ):
            raise ValueError(f"no array can have the shape {shape!r:.80}.")
        if order not in ("C", "F"):
            raise ValueError(f"order must be 'C' or 'F'; got {order!r:.40}.")
        return cls(dtype, tuple(shape), order)

    def view(self, flat: np.ndarray) -> np.ndarray:
        """The bytes ``flat`` as an array of this layout."""
        array = flat.view(self.dtype) if flat.size else np.empty(0, self.dtype)
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return native.reshape(self.shape, order="F" if self.order == "F" else "C")


def stored(name: str, array: np.ndarray) -> np.ndarray:
    """The array as a file can hold it: little-endian and contiguous; a ``ValueError`` for objects."""
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<")
    if array.dtype.hasobject or _item_bytes(dtype.str) == 0:
        raise ValueError(
            f"array {name!r} has the type {array.dtype}; a file holds booleans, integers, floats of at most "
            "64 bits and strings of fixed width."
        )
    contiguous = (
        array if array.flags.c_contiguous or array.flags.f_contiguous else np.ascontiguousarray(array)
    )
    return contiguous.astype(dtype, order="K", copy=False)


def layout_of(array: np.ndarray) -> ArrayLayout:
    """The layout of an array that ``stored`` returned."""
    return ArrayLayout(array.dtype.str, array.shape, "C" if array.flags.c_contiguous else "F")


def npy_head(layout: ArrayLayout) -> bytes:
    """The first bytes of a ``.npy`` file of this layout (format 1.0)."""
    text = (
        f"{{'descr': '{layout.dtype}', 'fortran_order': {layout.order == 'F'}, 'shape': {layout.shape!r}, }}"
    )
    length = -(-(10 + len(text) + 1) // 64) * 64 - 10
    return (
        b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + text.ljust(length - 1).encode("latin-1") + b"\n"
    )


def read_values(stream: Any, n_bytes: int) -> np.ndarray:
    """The next bytes of a stream, as uint8; an ``EOFError`` if it ends before them."""
    flat = np.empty(n_bytes, np.uint8)
    done = 0
    while done < n_bytes:
        n = stream.readinto(flat[done : done + _READ_BYTES].data)
        if not n:
            raise EOFError(f"{done:,} of {n_bytes:,} bytes")
        done += n
    return flat


def check_values(array: np.ndarray) -> None:
    """Refuse bytes that are not a value of the type: booleans other than 0 and 1, invalid characters."""
    if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ValueError("a boolean is neither 0 nor 1.")
    if array.dtype.kind == "U" and array.size and array.dtype.itemsize:
        flat = array.reshape(-1, order="A")
        if flat.view(np.uint32).max() > _LAST_CHARACTER:
            raise ValueError("a string has an invalid character.")


def _item_bytes(dtype: str) -> int:
    """Bytes of one value; 0 for a type that files do not hold."""
    if dtype in _SIMPLE_TYPES:
        return int(dtype[2:])
    digits = dtype[2:]
    if dtype[:2] == "<U" and digits.isascii() and digits.isdigit() and len(digits) < 8 and digits[0] != "0":
        return 4 * int(digits)
    return 0
