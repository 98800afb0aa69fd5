"""Reading a CSV file of numbers, against pandas and pyarrow: interleaved, in megabytes a second."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from clock import interleaved, row
from pyarrow import csv as arrow_csv

from maxmargin.io import open_source, read_all

N_COLUMNS = 30


def table_of(n_rows, folder):
    """Files of normal numbers: with all their digits, and rounded."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_COLUMNS))
    paths = {}
    for name, values in (("17 digits", X), ("4 digits", X.round(3))):
        columns = {f"x{j}": values[:, j] for j in range(N_COLUMNS)}
        path = paths[name] = folder / f"{name.replace(' ', '-')}.csv"
        arrow_csv.write_csv(pa.table({**columns, "y": rng.integers(0, 2, n_rows)}), path)
    return paths


def run(repeats, quick):
    rows = []
    one_thread = arrow_csv.ReadOptions(use_threads=False)
    with tempfile.TemporaryDirectory() as folder:
        for name, path in table_of(2_000 if quick else 200_000, Path(folder)).items():
            kinds = {f"x{j}": "number" for j in range(N_COLUMNS)}
            blocks, whole, pandas, arrow = interleaved(
                [
                    lambda path=path, kinds=kinds: sum(
                        block.n_rows for block in open_source(path, target="y", kinds=kinds).blocks()
                    ),
                    lambda path=path: read_all(open_source(path, target="y")),
                    lambda path=path: pd.read_csv(path),
                    lambda path=path: arrow_csv.read_csv(path, read_options=one_thread),
                ],
                repeats,
            )
            size = path.stat().st_size / 1e6
            title = f"CSV of {N_COLUMNS} columns, {name}, {size:.0f} MB"
            rows += [
                row(f"{title}, blocks ({size / blocks:.0f} MB/s)", blocks, "pandas", pandas),
                row(f"{title}, read_all ({size / whole:.0f} MB/s)", whole, "pandas", pandas),
                row(f"{title}, read_all ({size / whole:.0f} MB/s)", whole, "pyarrow, one thread", arrow),
            ]
    return rows
