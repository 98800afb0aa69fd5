"""``maxmargin train`` on CSV files with few rows and very many columns, in a process of its own.

Reading and preparation are what the command reports. Reading counts every pass over the file: the first one
finds out which columns are numeric. The model is a budget of ten support vectors, so that the files, and not
the solver, are measured.
"""

import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from clock import score

TITLE = "CSV files with very many columns"
LIMIT_SECONDS = 600
MIN_MB_PER_SECOND = 50
SHAPES = {"60 x 50": (60, 50), "60 x 20,000": (60, 20_000), "200 x 100,000": (200, 100_000)}
MAX_PREPARATION_SECONDS = {"60 x 20,000": 1.0, "200 x 100,000": 5.0}
N_RUNS = 3


def write_wide(path, n_rows, n_columns):
    """Normal numbers of five digits; the class depends on five columns."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write(",".join([*(f"gene_{j}" for j in range(n_columns)), "y"]) + "\n")
        for values in rng.standard_normal((n_rows, n_columns)):
            label = "yes" if values[:5].sum() > 0 else "no"
            file.write(",".join([*(f"{v:.5g}" for v in values), label]) + "\n")


def trained(path):
    """Seconds of the parts of one training, as its record has them."""
    command = [sys.executable, "-m", "maxmargin", "train", path, "--target", "y"]
    command += ["--model", "sparse-kernel", "--budget", 10]
    command += ["--out", path.with_suffix(".mm"), "--json", "--quiet"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["seconds"]


def cells(suite):
    names = {"quick": list(SHAPES)[:1], "bench": list(SHAPES)[1:]}
    return names.get(suite, [])


def measure(cell, quick):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        write_wide(path, *SHAPES[cell])
        runs = [trained(path) for _ in range(1 if quick else N_RUNS)]
        middle = {part: float(np.median([run[part] for run in runs])) for part in runs[0]}
        return {"mb": path.stat().st_size / 1e6, "seconds": middle}


def rows(records):
    lines = []
    for cell, record in records.items():
        seconds, name = record["seconds"], f"CSV of {cell}, {record['mb']:.0f} MB"
        most = MAX_PREPARATION_SECONDS.get(cell)
        bound = functools.partial(score, peer="", peers=None)
        lines += [
            bound(f"{name}: preparation", seconds["preparation"], target=most, at_most=True, unit=" s"),
            bound(
                f"{name}: reading",
                record["mb"] / seconds["reading"],
                target=most and MIN_MB_PER_SECOND,
                unit=" MB/s",
            ),
        ]
    return lines
