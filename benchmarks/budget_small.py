"""SparseKernelClassifier() beside SVC() on small sets and on many classes, both with their defaults.

Fits in turn, on one thread each; ``accuracy`` is that of three random splits (30 % of the rows are tested).
The tables are those of MAXMARGIN_DATA; targets apply where there are at most 2,000 rows to train on.
"""

import os
from pathlib import Path

import numpy as np
from alpha_rule_sets import TABLES, split, whole
from clock import percent, row, score, turns
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from maxmargin import SparseKernelClassifier

TITLE = "A budget on small sets and many classes"
LIMIT_SECONDS = 300
LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "wdbc of scikit-learn": load_breast_cancer,
    "digits": load_digits,
}
SYNTHETIC = "2,000 x 20"
LEAVES, CLASSES_300 = "leaves100, 1,280 x 192", "6,000 x 5, 300 classes"
MAX_SECONDS = {LEAVES: 1.0}
MAX_ROWS, MAX_SECONDS_OF_OTHERS, MAX_RATIO = 2000, 0.5, 10
N_SPLITS = 3


def cells(suite):
    if suite == "quick":
        return ["iris"]
    if suite != "bench":
        return []
    tables = [f"table {name}" for name in TABLES] if "MAXMARGIN_DATA" in os.environ else []
    return [*LOADERS, SYNTHETIC, *([LEAVES] if tables else []), CLASSES_300, *tables]


def load(cell):
    """All rows and labels of a cell."""
    if cell in LOADERS:
        return LOADERS[cell](return_X_y=True)
    if cell == SYNTHETIC:
        return make_classification(2000, 20, n_informative=10, random_state=0)
    if cell == LEAVES:
        with np.load(Path(os.environ["MAXMARGIN_DATA"]) / "leaves100.npz") as file:
            return file["X"].astype(np.float64), file["y"]
    if cell == CLASSES_300:
        rng = np.random.default_rng(0)
        y = rng.integers(300, size=7500)
        return rng.normal(size=(300, 5))[y] + 0.1 * rng.normal(size=(7500, 5)), y
    return whole(cell.removeprefix("table "))


def parts(cell, seed):
    """Standardised training and test rows."""
    if cell.startswith("table "):
        return split(cell.removeprefix("table "), seed)
    X, y = load(cell)
    test_size = 0.2 if cell in (LEAVES, CLASSES_300) else 0.3
    X, X_test, y, y_test = train_test_split(X, y, test_size=test_size, random_state=seed, stratify=y)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def new(name, seed=0):
    return SVC() if name == "SVC" else SparseKernelClassifier(n_jobs=1, random_state=seed)


def measure(cell, quick):
    """Times on the rows of the issue (all rows where it names them), and accuracies on random splits."""
    if cell in LOADERS or cell == SYNTHETIC:
        X, y = load(cell)
        X = StandardScaler().fit_transform(X)
    else:
        X, y, _, _ = parts(cell, 0)
    functions = {name: lambda name=name: new(name).fit(X, y) for name in ("ours", "SVC")}
    record = turns(functions, least_seconds=0.0 if quick else 0.05) | {"shape": list(X.shape)}
    for name in ("ours", "SVC"):
        scores = []
        for seed in range(1 if quick else N_SPLITS):
            X_train, y_train, X_test, y_test = parts(cell, seed)
            scores.append(percent(new(name, seed).fit(X_train, y_train), X_test, y_test))
        record[name]["accuracy"] = float(np.mean(scores))
    return record


def rows(records):
    lines = []
    for cell, r in records.items():
        n, d = r["shape"]
        ours, peer = r["ours"]["seconds"], r["SVC"]["seconds"]
        small = n <= MAX_ROWS and cell != LEAVES
        name = cell if " x " in cell else f"{cell}, {n:,} x {d}"
        lines.append(row(f"{name}: fit", ours, "SVC", peer, MAX_RATIO if small else None, at_most=True))
        limit = MAX_SECONDS.get(cell, MAX_SECONDS_OF_OTHERS if small else None)
        if limit is not None:
            lines.append(score(f"{name}: fit", ours, "", None, limit, at_most=True, unit=" s"))
    return lines


def tables(records):
    return {
        "Accuracy in % of the default models": [
            {
                "set": cell,
                "at most 100 support vectors": f"{r['ours']['accuracy']:.2f}",
                "SVC": f"{r['SVC']['accuracy']:.2f}",
            }
            for cell, r in records.items()
        ]
    }
