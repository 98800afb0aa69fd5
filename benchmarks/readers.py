"""Reading a CSV file of numbers against pandas, with its C parser and with pyarrow's, and against pyarrow.

Ours is read block by block with declared columns, as training and prediction read a file, and as a whole with
columns that are guessed. Each may use all threads. pandas' own parser is not exact to the last bit; ours and
pyarrow's are.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from clock import row, turns
from pyarrow import csv as arrow_csv

from maxmargin.io import open_source, read_all

TITLE = "Reading CSV"
N_COLUMNS, N_ROWS, N_QUICK_ROWS = 30, 200_000, 2_000
DIGITS = {"17 digits": None, "4 digits": 3}  # decimals that numbers are rounded to
OURS = {"blocks": "block by block", "whole": "as a whole"}
PEERS = {  # title and target
    "pandas": ("pandas", 1.5),
    "pandas_arrow": ("pandas, engine pyarrow", None),
    "arrow": ("pyarrow", None),
}


def write_table(path, n_rows, decimals):
    """Normal numbers, with all their digits or rounded."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_COLUMNS))
    X = X if decimals is None else X.round(decimals)
    columns = {f"x{j}": X[:, j] for j in range(N_COLUMNS)}
    arrow_csv.write_csv(pa.table({**columns, "y": rng.integers(0, 2, n_rows)}), path)


def cells(suite):
    return list(DIGITS) if suite in ("quick", "bench") else []


def measure(cell, quick):
    n_rows, kinds = N_QUICK_ROWS if quick else N_ROWS, {f"x{j}": "number" for j in range(N_COLUMNS)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.csv"
        write_table(path, n_rows, DIGITS[cell])
        functions = {
            "blocks": lambda: sum(b.n_rows for b in open_source(path, target="y", kinds=kinds).blocks()),
            "whole": lambda: read_all(open_source(path, target="y")),
            "pandas": lambda: pd.read_csv(path),
            "pandas_arrow": lambda: pd.read_csv(path, engine="pyarrow"),
            "arrow": lambda: arrow_csv.read_csv(path),
        }
        seconds = {name: took["seconds"] for name, took in turns(functions).items()}
        return {"mb": path.stat().st_size / 1e6, "seconds": seconds}


def rows(records):
    lines = []
    for cell, record in records.items():
        mb, seconds = record["mb"], record["seconds"]
        for name, words in OURS.items():
            title = f"CSV, {N_COLUMNS} columns of {cell}, {mb:.0f} MB, {words}"
            title += f" ({mb / seconds[name]:.0f} MB/s)"
            for peer, (peer_title, target) in PEERS.items():
                lines.append(row(title, seconds[name], peer_title, seconds[peer], target))
    return lines
