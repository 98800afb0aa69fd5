"""Four data sets with many classes for the top-k SVM, from MAXMARGIN_DATA, scaled to suit C = 1.

Training rows have a mean squared length of 1; rows of flowers all have length 1.
"""

import os
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler, normalize

FILES = {"flowers": "flowers17_features", "letter": "letter", "isolet": "isolet", "leaves100": "leaves100"}
N_SPLITS = {"flowers": 3, "letter": 1, "isolet": 1, "leaves100": 3}


def load(name, number=0):
    """Training rows and labels in random order, and test rows and labels; None without data.

    ``number`` is the split, below ``N_SPLITS[name]``: flowers have three predefined splits, leaves100 draws a
    quarter of each species, letter and isolet have the customary split.
    """
    path = Path(os.environ.get("MAXMARGIN_DATA", "")) / f"{FILES[name]}.npz"
    if not path.is_file():
        return None
    with np.load(path) as file:
        X, y, X_test, y_test = _flowers(file, number) if name == "flowers" else _scaled(file, number)
    order = np.random.default_rng(number).permutation(len(y))
    return X[order], y[order].astype(int), X_test, y_test.astype(int)


def _flowers(file, number):
    """Square roots of the shares of SIFT and of colour words, and HOG: each part of equal length."""
    parts = [np.sqrt(normalize(file[name].astype(float), "l1")) for name in ("sift_bow", "hsv_bow")]
    X = np.hstack([*parts, normalize(file["hog"].astype(float))]) / np.sqrt(3.0)
    learn = np.concatenate([file[f"trn{number + 1}"], file[f"val{number + 1}"]])
    judge = file[f"tst{number + 1}"]
    return X[learn], file["y"][learn], X[judge], file["y"][judge]


def _scaled(file, number):
    if "X_train" in file:
        X, y, X_test, y_test = (file[part] for part in ("X_train", "y_train", "X_test", "y_test"))
    else:
        cut = StratifiedShuffleSplit(1, test_size=0.25, random_state=number)
        learn, judge = next(cut.split(file["X"], file["y"]))
        X, y, X_test, y_test = file["X"][learn], file["y"][learn], file["X"][judge], file["y"][judge]
    scale = StandardScaler().fit(X.astype(float))
    length = np.sqrt(X.shape[1])
    return (
        scale.transform(X.astype(float)) / length,
        y,
        scale.transform(X_test.astype(float)) / length,
        y_test,
    )
