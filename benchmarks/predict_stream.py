"""``maxmargin predict`` from a file to a file beside ``model.predict`` on the same rows in memory.

With a few hundred support vectors, parsing CSV costs more than predicting, so there are two more cases: a
file that needs no parsing, and a model for which prediction is the larger part. A ratio of 0.8 means 80 % of
the rows per second of ``model.predict``.
"""

import contextlib
import io as text_io
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from clock import row, turns

from maxmargin import io
from maxmargin.cli import main

TITLE = "Prediction from a file"
MIN_SPEED_RATIO = 0.8  # relative to the throughput on arrays
N_ROWS, N_FEATURES, TIMES = 25_000, 30, 20
BUDGETED = ["--model", "sparse-kernel", "--budget", 200, "--set", "alpha=1e-4"]
CASES = {  # file; model
    "CSV, 200 support vectors": ("all.csv", BUDGETED),
    "npz, 200 support vectors": ("all.npz", BUDGETED),
    "CSV, exact kernel SVM": ("all.csv", ["--model", "kernel", "--set", "C=10"]),
}


def _write(folder, name, times, n_train=4000):
    """Write a file of repeated rows, and a small one to train on."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_FEATURES))
    y = np.where(np.sin(X[:, 0]) + X[:, 1] * X[:, 2] > 0, "yes", "no")
    if name.endswith("npz"):
        np.savez(folder / "train.npz", X=X[:n_train], y=y[:n_train])
        np.savez(folder / name, X=np.tile(X, (times, 1)), y=np.tile(y, times))
        return folder / "train.npz"
    head = ",".join([*(f"x{j}" for j in range(N_FEATURES)), "y"]) + "\n"
    lines = [",".join([*(f"{v:.6g}" for v in values), label]) + "\n" for values, label in zip(X, y)]
    (folder / "train.csv").write_text(head + "".join(lines[:n_train]))
    with (folder / name).open("w") as file:
        file.write(head)
        for _ in range(times):
            file.writelines(lines)
    return folder / "train.csv"


def _command(*arguments):
    with contextlib.redirect_stdout(text_io.StringIO()):
        assert main([*map(str, arguments), "--quiet"]) == 0


def cells(suite):
    return list(CASES) if suite in ("quick", "bench") else []


def measure(cell, quick):
    name, recipe = CASES[cell]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        training = _write(folder, name, 1, 800) if quick else _write(folder, name, TIMES)
        model, data, out = folder / "m.mm", folder / name, folder / "p.csv"
        _command("train", training, "--target", "y", "--validate", 0, *recipe, "--out", model)
        fitted = io.load(model)
        block = io.read_all(io.open_source(data, target="y"))
        rows = block if name.endswith("csv") else block.features
        command = partial(_command, "predict", model, data, "--out", out)
        took = turns({"command": command, "arrays": partial(fitted.predict, rows)})
        size = data.stat().st_size / 1e6
    return {"n_rows": block.n_rows, "mb": size, **{name: t["seconds"] for name, t in took.items()}}


def rows(records):
    return [
        row(
            f"maxmargin predict, {r['n_rows']:,} x {N_FEATURES} {cell} ({r['mb'] / r['command']:.0f} MB/s)",
            r["command"],
            "model.predict on arrays",
            r["arrays"],
            MIN_SPEED_RATIO,
        )
        for cell, r in records.items()
    ]
