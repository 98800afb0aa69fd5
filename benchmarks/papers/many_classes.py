"""Five real sets of 6 to 26 classes: Glass, Zoo and Yeast in folds, letter and USPS with test rows."""

import functools
import warnings

import numpy as np
from frame import data_folder
from sklearn.model_selection import StratifiedKFold
from split_set import Set, standardised

FILES = {"Glass": "glass", "Zoo": "zoo", "Yeast": "yeast", "letter": "letter", "USPS": "usps"}
N_FOLDS = 5


def folds(name, repetition):
    """Five sets, each fifth being judged once; classes in equal shares, rows in the repetition's order.

    Features are standardised on the rows to learn from, labels are 0, 1, ...
    """
    X, y = _whole(FILES[name])
    cut = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repetition)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        parts = list(cut.split(X, y))  # Zoo has a class of four
    rng = np.random.default_rng(repetition)
    return [_set(X, y, rng.permutation(learn), judge) for learn, judge in parts]


def official(name):
    """The customary split, rows in a fixed random order."""
    X, y, X_test, y_test = arrays(name)
    order = np.random.default_rng(0).permutation(len(y))
    classes = np.unique(y)
    labels, labels_test = np.searchsorted(classes, y), np.searchsorted(classes, y_test)
    return Set(X[order], labels[order], X_test, labels_test)


def arrays(name):
    """letter, standardised on the training part, or USPS, pixels in [-1, 1]; labels as they are stored."""
    with np.load(data_folder([FILES[name]]) / f"{FILES[name]}.npz") as file:
        X, y, X_test, y_test = (file[part] for part in ("X_train", "y_train", "X_test", "y_test"))
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)
    if name == "letter":
        X, X_test = standardised(X, X_test)
    return X, y, X_test, y_test


@functools.cache
def _whole(file):
    with np.load(data_folder([file]) / f"{file}.npz") as stored:
        return stored["X"].astype(np.float64), np.unique(stored["y"], return_inverse=True)[1]


def _set(X, y, learn, judge):
    rows, rows_test = standardised(X[learn], X[judge])
    return Set(rows, y[learn], rows_test, y[judge])


def outputs(model, X):
    """Real-valued outputs of all columns, (n_samples, n_columns)."""
    return model._column_outputs(X)
