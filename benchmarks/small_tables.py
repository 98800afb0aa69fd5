"""Small tables: four that ship with scikit-learn, one synthetic, and those of MAXMARGIN_DATA/tables."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.preprocessing import StandardScaler

SHIPPED = {"iris": load_iris, "wine": load_wine, "wdbc": load_breast_cancer, "digits": load_digits}


def standardised(X):
    """Columns of mean 0 and variance 1."""
    return StandardScaler().fit_transform(np.asarray(X, dtype=np.float64))


def table_names():
    """The tables in MAXMARGIN_DATA; none where it is not set."""
    folder = Path(os.environ.get("MAXMARGIN_DATA", "")) / "tables"
    return sorted(path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz"))


def table(name):
    """A table of MAXMARGIN_DATA: numbers standardised, each category a column of its own."""
    path = Path(os.environ["MAXMARGIN_DATA"]) / "tables" / f"{name}.csv.gz"
    with gzip.open(path, "rt") as file:
        _, *lines = csv.reader(file)
    *columns, labels = (np.array(column) for column in zip(*lines))
    return standardised(np.hstack([_numbers(column) for column in columns])), labels


def _numbers(column):
    try:
        return column.astype(np.float64)[:, None]
    except ValueError:
        return (column[:, None] == np.unique(column)).astype(np.float64)


def small_sets(quick):
    """Name, rows and labels of each set, smallest first; only two for a quick run."""
    shipped = {name: load(return_X_y=True) for name, load in SHIPPED.items()}
    sets = [(name, standardised(X), y) for name, (X, y) in shipped.items()]
    if quick:
        return sets[:2]
    X, y = make_classification(2000, 20, n_informative=10, random_state=0)
    sets.append(("2,000 x 20", standardised(X), y))
    known = {name for name, _, _ in sets}
    sets += [(name, *table(name)) for name in table_names() if name not in known]
    return sorted(sets, key=lambda one: len(one[1]))


def many_classes(n_classes, n_rows, n_features, seed=0):
    """Classes around random centres that overlap a little: ``n_rows`` rows of each."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((n_classes, n_features))
    labels = np.repeat(np.arange(n_classes), n_rows)
    X = centres[labels] + 0.8 * rng.standard_normal((len(labels), n_features))
    order = rng.permutation(len(labels))
    return X[order], labels[order]


def leaves():
    """Training and test rows of the leaves of 100 species, four in five to train; None without the file."""
    path = Path(os.environ.get("MAXMARGIN_DATA", "")) / "leaves100.npz"
    if not path.is_file():
        return None
    with np.load(path) as file:
        X, y = standardised(file["X"]), file["y"].astype(int)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: 4 * len(y) // 5], order[4 * len(y) // 5 :]
    return X[train], y[train], X[test], y[test]


def nearly_separable(n, seed=0):
    """Rows of 9 features in 7 classes, of very different sizes, that hardly overlap."""
    rng = np.random.default_rng(seed)
    share = np.array([0.78, 0.15, 0.03, 0.02, 0.01, 0.007, 0.003])
    labels = rng.choice(7, size=n, p=share)
    centres = 4.0 * rng.standard_normal((7, 9))
    return standardised(centres[labels] + rng.standard_normal((n, 9))), labels
