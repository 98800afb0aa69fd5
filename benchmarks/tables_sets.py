"""The tables of ``tables.py``: features as a data frame or a matrix, classes, and the splits of each."""

import gzip
import io
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold, train_test_split

SMALL = (
    *("heart", "sonar", "ionosphere", "bands", "wdbc", "australian", "pima", "mammographic", "german"),
    *("tic-tac-toe", "contraceptive", "titanic", "led7digit", "movement_libras", "segment", "splice"),
    *("glass", "yeast", "zoo", "eleven_classes", "leaves100", "spambase", "phoneme", "texture", "optdigits"),
)
LARGE = ("ring", "usps", "isolet", "letter", "magic", "covtype", "mnist", "adult")
FEW_ROWS_A_CLASS = ("leaves100", "movement_libras", "eleven_classes")
BUNDLED = ("iris", "breast_cancer")  # come with scikit-learn, for the quick suite
N_FOLDS = 5
ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
)


def _folder():
    return Path(os.environ.get("MAXMARGIN_DATA", ""))


def is_there(name):
    """Whether the files of a table are."""
    if name in (*BUNDLED, "eleven_classes"):
        return True
    files = {"adult": "adult.data.gz"}.get(name, f"{name}.npz")
    return (_folder() / "tables" / f"{name}.csv.gz").is_file() or (_folder() / files).is_file()


def eleven_classes():
    """Eleven classes of 48 rows that overlap: each is three narrow clusters in ten correlated columns."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(11), 48)
    centers = 1.3 * rng.normal(size=(11, 3, 10))
    X = centers[y, rng.integers(0, 3, size=len(y))] + 0.7 * rng.normal(size=(len(y), 10))
    return X @ rng.normal(size=(10, 10)), y


def _adult(name):
    with gzip.open(_folder() / f"adult.{name}.gz", "rt") as file:
        lines = [line for line in file.read().splitlines() if line.count(",") == len(ADULT_COLUMNS)]
    frame = pd.read_csv(
        io.StringIO("\n".join(lines)), names=[*ADULT_COLUMNS, "class"], skipinitialspace=True, na_values="?"
    )
    return frame[list(ADULT_COLUMNS)], frame["class"].str.rstrip(".").to_numpy(dtype=str)


def _whole(name):
    """X and y of a table without a test part of its own."""
    if name == "eleven_classes":
        return eleven_classes()
    if name in BUNDLED:
        return (load_iris if name == "iris" else load_breast_cancer)(return_X_y=True)
    path = _folder() / "tables" / f"{name}.csv.gz"
    if path.is_file():
        frame = pd.read_csv(path)
        X, y = frame.drop(columns="class"), frame["class"].to_numpy().astype(str)
        numeric = all(kind.kind in "if" for kind in map(np.dtype, _numpy_types(X)))
        return (X.to_numpy(dtype=np.float64) if numeric else X), y
    with np.load(_folder() / f"{name}.npz") as file:
        return file["X"].astype(np.float64), file["y"]


def _numpy_types(frame):
    return [kind if isinstance(kind, np.dtype) else np.dtype(object) for kind in frame.dtypes]


def _own_parts(name):
    """Training and test part of a large table."""
    if name == "adult":
        return *_adult("data"), *_adult("test")
    if name == "covtype":
        with np.load(_folder() / "covtype.npz") as file:
            rows = np.random.default_rng(0).permutation(len(file["y"]))[:40_000]
            X, y = file["X"][rows].astype(np.float64), file["y"][rows]
        return X[:20_000], y[:20_000], X[20_000:], y[20_000:]
    with np.load(_folder() / f"{name}.npz") as file:
        n = 20_000 if name == "mnist" else None
        kind = np.float32 if name == "mnist" else np.float64
        return (
            file["X_train"][:n].astype(kind),
            file["y_train"][:n],
            file["X_test"].astype(kind),
            file["y_test"],
        )


def n_splits(name):
    """Five folds, or one split above 5,000 training rows."""
    return 1 if name in LARGE else N_FOLDS


def split(name, fold):
    """Training rows and labels, test rows and labels."""
    if name in LARGE and name not in ("ring", "magic"):
        return _own_parts(name)
    X, y = _whole(name)
    if name in LARGE:
        train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    else:
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        train, test = list(folds.split(np.zeros((len(y), 1)), y))[fold]
    take = X.iloc.__getitem__ if isinstance(X, pd.DataFrame) else X.__getitem__
    return take(train), y[train], take(test), y[test]


def coded(X, X_test):
    """Matrices for peers that take numbers only: categories one-hot, missing numbers as the mean."""
    if not isinstance(X, pd.DataFrame):
        return X, X_test
    both = pd.get_dummies(pd.concat([X, X_test]), dtype=float)
    both = both.fillna(both.iloc[: len(X)].mean()).to_numpy(dtype=np.float64)
    return both[: len(X)], both[len(X) :]
