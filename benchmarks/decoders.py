"""Learned decoders: their time relative to that of their columns, and the constraints they need."""

import datasets
import numpy as np
from clock import percent, row, score, timed

from maxmargin import KernelSVC
from maxmargin.codes import Code
from maxmargin.data.folds import stratified_folds
from maxmargin.decoders.prior import PriorDecoder
from maxmargin.decoders.weighted import WeightedDecoder


def letters(quick):
    """Letter, features in [0, 1]: training rows, all or a few, and test rows; None without the file."""
    file = datasets._file("letter.npz")
    if file is None:
        return None
    n = 400 if quick else 16_000
    X, X_test = (file[name].astype(np.float64) / 15.0 for name in ("X_train", "X_test"))
    return X[:n], np.unique(file["y_train"][:n], return_inverse=True)[1], X_test, file["y_test"]


def columns(code):
    return KernelSVC(C=10.0, gamma=10.0, code=code, decoder="hinge")


def without_own_fold(X, y, code):
    """Outputs of columns fitted to the other two of three folds."""
    fold, outputs = stratified_folds(y, 3), np.empty((len(X), code.n_columns))
    for k in range(3):
        model = columns(code).fit(X[fold != k], y[fold != k])
        outputs[fold == k] = model.column_outputs(X[fold == k])
    return outputs


def learned(decoder, F, y, code, repeats):
    """The median seconds of learning, and the learned decoder."""
    runs = [timed(lambda: decoder.fit(F, y, code)) for _ in range(repeats)]
    return float(np.median([seconds for seconds, _ in runs])), runs[-1][1]


def run(repeats, quick):
    data = letters(quick)
    if data is None:
        return []
    X, y, X_test, y_test = data
    code = Code.sparse_random(26, 30 if quick else 60)
    seconds, model = timed(lambda: columns(code).fit(X, y))
    F, F_test = model.column_outputs(X), model.column_outputs(X_test)
    labels = np.unique(y_test, return_inverse=True)[1]
    name = f"letter, {len(X):,} rows, {code.n_columns} columns"
    refits, left_out = timed(lambda: without_own_fold(X, y, code))
    rows = [row(f"{name}: outputs out of fold, for prior", refits, "its columns", seconds, at_most=True)]
    targets = {
        "weighted": (WeightedDecoder(), 0.05),
        "focused": (WeightedDecoder(focus="support-vectors"), 0.05),
    }
    for title, (decoder, target) in (
        targets | {"prior": (PriorDecoder(nu=0.1 if quick else "auto"), None)}
    ).items():
        outputs, n_runs = (left_out, 1) if title == "prior" else (F, repeats)
        took, fitted = learned(decoder, outputs, y, code, n_runs)
        target = None if quick else target
        rows.append(row(f"{name}: {title}", took, "its columns", seconds, target, at_most=True))
        n = fitted.report.n_constraints
        bound = None if quick or title == "prior" else 5000
        n_pairs = fitted.report.n_pairs
        rows.append(score(f"{name}: {title}, constraints", n, "all", n_pairs, bound, at_most=True, unit=""))
        right = 100.0 * float((fitted.scores(F_test, code).argmax(axis=1) == labels).mean())
        rows.append(score(f"{name}: {title}, test", right, "hinge", percent(model, X_test, labels)))
    return rows
