"""Probabilities of budgeted models on test rows: accuracy, log loss, calibration error."""

import numpy as np
import tables_sets
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from maxmargin import SparseKernelClassifier

CASES = (("digits", 30), ("digits", 200), ("letter", 100), ("letter", 1000), ("USPS", 500), ("yeast", 200))
N_BINS = 15


def split(name):
    """Rows to learn from and test rows: letter's and USPS' own, 60 % of the others."""
    if name in ("letter", "USPS"):
        X, y, X_test, y_test = tables_sets.split(name.lower(), 0)
        return X, X_test, y, y_test
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        X, y = tables_sets._whole(name)
    return train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)


def calibration_error(P, right):
    """The mean distance of the largest probability from the share that is right, in bins of equal width."""
    surest = P.max(axis=1)
    place = np.minimum((surest * N_BINS).astype(int), N_BINS - 1)
    off = [abs(right[place == b].sum() - surest[place == b].sum()) for b in range(N_BINS)]
    return float(sum(off) / len(P))


def measure():
    """Columns and lines."""
    lines = []
    for name, budget in CASES:
        X, X_test, y, y_test = split(name)
        scale = X.std(axis=0).mean() if name in ("digits", "USPS") else np.maximum(X.std(axis=0), 1e-12)
        model = SparseKernelClassifier(budget, random_state=0).fit(X / scale, y)
        P = model.predict_proba(X_test / scale)
        right = model.classes_[P.argmax(axis=1)] == y_test
        lines.append(
            [
                f"{name}, {len(y):,} rows",
                f"{budget:,}",
                f"{100 * right.mean():.1f} %",
                f"{log_loss(y_test, P, labels=model.classes_):.3f}",
                f"{100 * calibration_error(P, right):.1f} %",
            ]
        )
    return ["", "budget", "accuracy", "log loss", "calibration error"], lines
