"""The sets of ``alpha_rule.py``: tables split at random, and test rows unlike those trained on."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

TABLES = ("australian", "bands", "contraceptive", "german", "heart", "ionosphere", "led7digit", "magic")
TABLES += ("mammographic", "movement_libras", "optdigits", "phoneme", "pima", "ring", "segment", "sonar")
TABLES += ("spambase", "splice", "texture", "tic-tac-toe", "titanic", "wdbc")
UNSHIFTED = (*TABLES, "yeast", "letter")
AREAS = {
    "covtype 0 to 2": (0, 2),
    "covtype 2 to 0": (2, 0),
    "covtype 0 to 3": (0, 3),
    "covtype 3 to 2": (3, 2),
}
SHIFTED = (*AREAS, "isolet", "usps")
N_ROWS = 20_000  # of covtype, to train and to test on


def split(name, seed):
    """Training rows and labels, test rows and labels; numbers standardised by the training rows."""
    if name in AREAS:
        parts = areas(*AREAS[name], seed)
    elif name in ("isolet", "usps"):
        parts = own_parts(name)
    else:
        X, y = whole(name)
        parts = [
            part
            for pair in zip(*[iter(train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed))] * 2)
            for part in pair
        ]
        parts = [parts[0], parts[2], parts[1], parts[3]]
    X, y, X_test, y_test = parts
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation = np.where(deviation > 1e-9, deviation, 1.0)
    return (X - mean) / deviation, y, (X_test - mean) / deviation, y_test


def _folder():
    return Path(os.environ.get("MAXMARGIN_DATA", ""))


def whole(name):
    """All rows of a set that has no split of its own; categorical columns one-hot."""
    if name in TABLES:
        with gzip.open(_folder() / "tables" / f"{name}.csv.gz", "rt", newline="") as file:
            _, *rows = csv.reader(file)
        cells = np.array(rows)
        return np.column_stack([_numbers(column) for column in cells[:, :-1].T]), cells[:, -1]
    with np.load(_folder() / f"{name}.npz") as file:
        if "X" in file:
            y = file["y"].astype(int)
            kept = np.isin(y, np.flatnonzero(np.bincount(y) >= 10))
            return file["X"][kept].astype(np.float64), y[kept]
        X = np.concatenate([file["X_train"], file["X_test"]]).astype(np.float64)
        return X, np.concatenate([file["y_train"], file["y_test"]]).astype(int)


def _numbers(column):
    try:
        return column.astype(np.float64)[:, None]
    except ValueError:
        return (column[:, None] == np.unique(column)).astype(np.float64)


def areas(trained, tested, seed):
    """Covtype, class 2 against the rest, from one wilderness area to another."""
    with np.load(_folder() / "covtype.npz") as file:
        X, y = file["X"], (file["y"] == 2).astype(int)
    rng, parts = np.random.default_rng(seed), []
    for area in (trained, tested):
        rows = rng.permutation(np.flatnonzero(X[:, 10 + area]))[:N_ROWS]
        parts += [np.delete(X[rows], np.s_[10:14], axis=1).astype(np.float64), y[rows]]
    return parts


def own_parts(name):
    """A set that comes with a test part of its own."""
    with np.load(_folder() / f"{name}.npz") as file:
        return [file[part].astype(float) for part in ("X_train", "y_train", "X_test", "y_test")]


def digits_split(seed):
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=seed)
    return X, y, X_test, y_test


def nearly_separable(n):
    """Three columns, a curved boundary, one label in 10,000 flipped."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = (X @ [1.0, 2.0, -1.0] + 0.5 * np.sin(2.0 * X[:, 0]) > 0.0).astype(int)
    return X, np.where(rng.random(n) < 1e-4, 1 - y, y)
