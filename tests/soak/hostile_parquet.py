"""Hostile Parquet files: each is refused with a sentence, or read. Never a crash, a hang or much memory.

    python tests/soak/hostile_parquet.py [n_files]

First one file for each odd case (nested types, bombs, labels that arrays cannot hold), then files with other
bytes than were written. A process of its own reads them, with 3 GiB of address space.
"""

from __future__ import annotations

import datetime
import decimal
import resource
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from maxmargin import io
from maxmargin.training import train

N = 60
FILES_PER_PROCESS = 250
MEMORY = 3 << 30
SECONDS = 600  # for the files of a process
REFUSED, READ = "refused", "read"


def cases() -> dict[str, tuple[pa.Table, str]]:
    """Tables by what is odd about them, and what must become of their files."""
    x = pa.array(np.random.default_rng(0).standard_normal(N))
    y = pa.array(["a", "b"] * (N // 2))
    two = pa.array([0, 1] * (N // 2), pa.int32())
    long = pa.array(["a" * 50_000, "b"])
    many = pa.array(np.arange(1 << 16) % 2, pa.int32())
    few, ab = pa.DictionaryArray.from_arrays, pa.array(["a", "b"])
    refused = {
        "a list": {"x": pa.array([[1.0]] * N)},
        "a structure": {"x": pa.array([{"a": 1}] * N)},
        "a map": {"x": pa.array([[("a", 1)]] * N, pa.map_(pa.string(), pa.int32()))},
        "nested 40 deep": {"x": pa.array([_nested(40)] * N)},
        "a time stamp": {"x": pa.array([datetime.datetime(2020, 1, 1)] * N)},
        "a date": {"x": pa.array([datetime.date(2020, 1, 1)] * N)},
        "a duration": {"x": pa.array([1] * N, pa.duration("s"))},
        "bytes": {"x": pa.array([b"\xff"] * N)},
        "infinite": {"x": pa.array([np.inf] * N)},
        "a label of nulls": {"x": x, "y": pa.nulls(N)},
        "a label of NaN": {"x": x, "y": pa.array([1.0, np.nan] * (N // 2))},
        "an infinite label": {"x": x, "y": pa.array([1.0, np.inf] * (N // 2))},
        "a label of fractions": {"x": x, "y": pa.array([1.5, 2.5] * (N // 2))},
        "a label of lists": {"x": x, "y": pa.array([[1]] * N)},
        "a label of 50,000 characters": {"x": x, "y": few(two, long)},
        "a label that ends in a null character": {"x": x, "y": pa.array(["a", "a\0"] * (N // 2))},
        "only labels": {},
        "a constant beyond 2^53": {"x": pa.array([2**64 - 1 - i for i in range(N)], pa.uint64())},
    }
    read = {
        "decimals": {"x": pa.array([decimal.Decimal(i) / 8 for i in range(N)])},
        "decimals of 76 digits": {"x": pa.array([decimal.Decimal(10) ** 70 * i for i in range(N)])},
        "decimal labels": {"x": x, "y": pa.array([decimal.Decimal(i % 2) for i in range(N)])},
        "booleans": {"x": pa.array([True, False] * (N // 2))},
        "labels of 64 bits": {"x": x, "y": pa.array([2**64 - 1 - i % 2 for i in range(N)], pa.uint64())},
        "half precision": {"x": x.cast(pa.float16())},
        "a dictionary of numbers": {"x": few(two, pa.array([5, 7]))},
        "a dictionary with a value twice": {"x": few(two, pa.array(["a", "a"])), "z": x},
        "a column of nulls": {"x": pa.nulls(N), "z": x},
        "a name without characters": {"": x},
        "2^16 times 50,000 characters": {"x": few(many, long), "y": few(many, ab)},
    }
    found = {f"refused: {name}": (pa.table({"y": y} | columns), REFUSED) for name, columns in refused.items()}
    found |= {f"read: {name}": (pa.table({"y": y} | columns), READ) for name, columns in read.items()}
    whole = pa.table({"x": x, "y": y})
    found["refused: no rows"] = whole.slice(0, 0), REFUSED
    found["refused: no columns"] = pa.table({}), REFUSED
    found["refused: a name twice"] = pa.table([x, x, y], names=["x", "x", "y"]), REFUSED
    found["refused: a target twice"] = pa.table([x, y, y], names=["x", "y", "y"]), REFUSED
    return found


def _nested(depth: int) -> object:
    return 1.0 if depth == 0 else [_nested(depth - 1)]


def outcome(path: Path) -> str:
    """What became of a file; an exception that should not be is one here."""
    try:
        trained = train(io.open_source(path, target="y"), model="linear", memory_mb=64)
        predicted = trained.model.predict(next(iter(io.open_source(path, target="y").blocks())))
    except (ValueError, MemoryError) as error:
        return REFUSED if str(error) else "refused without a word"
    assert np.isin(predicted, trained.model.classes_).all()
    return READ


def originals() -> list[bytes]:
    """Sound files of several encodings and compressions, to be damaged."""
    rng, n = np.random.default_rng(0), 200
    words = pa.array(rng.choice(["red", "green", "blue", "long " * 20], n))
    table = pa.table(
        {
            "x": rng.standard_normal(n),
            "i": pa.array(rng.integers(0, 9, n), pa.int16()),
            "w": words,
            "d": words.dictionary_encode(),
            "c": pa.array([decimal.Decimal(int(v)) for v in rng.integers(0, 99, n)]),
            "y": pa.array(rng.choice(["a", "b"], n)),
        }
    )
    files = []
    for options in (
        {"compression": "none"},
        {"compression": "snappy", "row_group_size": 64},
        {"compression": "zstd", "data_page_version": "2.0"},
        {"compression": "none", "use_dictionary": False, "data_page_size": 256},
        {"compression": "none", "use_dictionary": False, "column_encoding": {"i": "DELTA_BINARY_PACKED"}},
        {"compression": "none", "store_schema": False, "write_statistics": False},
    ):
        out = pa.BufferOutputStream()
        pq.write_table(table, out, **options)
        files.append(out.getvalue().to_pybytes())
    return files


def damaged(body: bytes, rng: np.random.Generator) -> bytes:
    """Other bytes: some changed, cut, repeated or inserted; half of the time in the footer."""
    out = bytearray(body)
    footer = len(out) - 8 - int.from_bytes(out[-8:-4], "little")
    low = footer if rng.integers(2) else 0
    for _ in range(int(rng.integers(1, 5))):
        at, kind = int(rng.integers(low, len(out))), int(rng.integers(7))
        n = int(rng.integers(1, 9))
        if kind <= 1:
            out[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            out[at : at + n] = b"\xff" * len(out[at : at + n])
        elif kind == 3:
            out[at : at + n] = rng.bytes(len(out[at : at + n]))
        elif kind == 4:
            del out[at : at + n]
        elif kind == 5:
            out[at:at] = out[at : at + n]
        elif rng.integers(4) == 0:
            del out[at:]
        if len(out) <= low + 1:
            break
    return bytes(out)


def read_some(folder: Path, first: int, end: int) -> Counter[str]:
    """Read the files of some seeds; negative ones are the odd cases."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    odd, sound, path = list(cases().items()), originals(), folder / "rows.parquet"
    for seed in range(first, end):
        (folder / "seed").write_text(str(seed))
        if seed < 0:
            name, (table, expected) = odd[-seed - 1]
            pq.write_table(table, path, store_schema=False)
            found = outcome(path)
            assert found == expected, f"{name}: {found}"
            counts[f"odd: {found}"] += 1
        else:
            rng = np.random.default_rng([7, seed])
            path.write_bytes(damaged(sound[seed % len(sound)], rng))
            counts[f"damaged: {outcome(path)}"] += 1
    return counts


def run(n_files: int) -> Counter[str]:
    """Odd cases and so many damaged files; an ``AssertionError`` names the seed of one that went wrong."""
    total: Counter[str] = Counter()
    firsts = [-len(cases()), *range(0, n_files, FILES_PER_PROCESS)]
    with tempfile.TemporaryDirectory() as name:
        for first in firsts:
            end = 0 if first < 0 else min(first + FILES_PER_PROCESS, n_files)
            call = [sys.executable, __file__, "--read", name, str(first), str(end)]
            done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=SECONDS)
            seed = (Path(name) / "seed").read_text()
            assert done.returncode == 0, f"seed {seed}, status {done.returncode}:\n{done.stderr[-3000:]}"
            for line in done.stdout.splitlines():
                count, what = line.split(maxsplit=1)
                total[what] += int(count)
    return total


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        counted = read_some(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        counted = run(int((*sys.argv, "2000")[1]))
    for what, count in sorted(counted.items()):
        print(f"{count:6} {what}")
