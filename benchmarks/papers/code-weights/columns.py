"""Fits the columns of a code, once for each fold: their outputs are all that a decoder needs.

The rule for C never sees a test fold: the rows to learn from are cut in three, each third is judged by
columns that were fitted to the other two, and the C with the best accuracy of Hamming decoding is taken, of
equally good ones the smallest. The outputs for the thirds, at that C, are what out-of-fold decoders are
fitted to. With outliers C is that of the same fold without them; outputs out of fold are made anew.
"""

import time
from dataclasses import dataclass

import numpy as np
from many_classes import folds, outputs
from outliers import KINDS, with_outliers
from sklearn.model_selection import StratifiedKFold

from maxmargin import LinearSVC
from maxmargin.codes import Code
from maxmargin.decoders import DECODERS

N_THIRDS = 3


@dataclass(frozen=True)
class Outputs:
    """Outputs of the columns for the rows to learn from ("training", "out-of-fold") and to judge by."""

    outliers: str
    share: int
    C: float
    code: Code
    y: np.ndarray
    F: dict
    y_test: np.ndarray
    F_test: np.ndarray
    seconds: float  # to fit the columns, once and without a fold


def fold_outputs(name, repetition, fold, costs, shares):
    """``Outputs`` without outliers, then with each kind and share of them; the code is the repetition's."""
    data = folds(name, repetition)[fold]
    code = Code.sparse_random(int(data.y_test.max()) + 1, random_state=repetition)
    seed = [repetition, fold]
    C, apart = _chosen_cost(data.X, data.y, code, costs, seed)
    found = [_outputs(("none", 0), data.X, data.y, data, code, C, apart)]
    for kind in KINDS:
        for share in shares:
            X, y = with_outliers(data.X, data.y, kind, share, [*seed, share])
            apart = _out_of_fold(X, y, code, C, seed)
            found.append(_outputs((kind, share), X, y, data, code, C, apart))
    return found


def _outputs(contamination, X, y, data, code, C, apart):
    start = time.perf_counter()
    columns = _columns(X, y, code, C)
    seconds = time.perf_counter() - start
    F = {"training": outputs(columns, X), "out-of-fold": apart}
    return Outputs(*contamination, C, code, y, F, data.y_test, outputs(columns, data.X_test), seconds)


def _columns(X, y, code, C):
    return LinearSVC(C, code=code, n_jobs=1, random_state=0).fit(X, y)


def _out_of_fold(X, y, code, C, seed):
    """Outputs of columns that were not fitted to the row."""
    draw = int(np.random.default_rng(seed).integers(2**31))
    F = np.empty((len(y), code.n_columns))
    for learn, judge in StratifiedKFold(N_THIRDS, shuffle=True, random_state=draw).split(X, y):
        F[judge] = outputs(_columns(X[learn], y[learn], code, C), X[judge])
    return F


def _chosen_cost(X, y, code, costs, seed):
    tried = [_out_of_fold(X, y, code, C, seed) for C in costs]
    accuracies = [accuracy(DECODERS["hamming"], F, code, y) for F in tried]
    best = int(np.argmax(accuracies))
    return costs[best], tried[best]


def accuracy(decoder, F, code, labels):
    """Percent."""
    return 100.0 * float((np.argmax(decoder.scores(F, code), axis=1) == labels).mean())
