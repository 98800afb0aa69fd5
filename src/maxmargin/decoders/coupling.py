"""Class probabilities from those of pairs of classes.

Pair (i, j) gives the probability r_ij that a row belongs to class i, given that it belongs to i or j.
Wu, Lin and Weng (2004, their second method) choose the p that fits all pairs best,

    min_p  sum_{i < j} (r_ji p_i - r_ij p_j)^2    s.t.  sum_i p_i = 1,  p >= 0.

If every r_ij is positive, the minimiser without p >= 0 is positive too, and solves one linear system.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..codes import Code
from .margin_sums import code_product

__all__ = ["couple", "has_all_pairs"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

MIN_PAIR_PROBABILITY = 1e-7  # that a pair gives to either class, as in LIBSVM
SYSTEM_ENTRIES_PER_BATCH = 1_000_000


def has_all_pairs(code: Code) -> bool:
    """Whether the columns are all pairs of at least three classes, each once, in any order."""
    n_pairs = code.n_classes * (code.n_classes - 1) // 2
    in_column = np.abs(code.matrix).sum(axis=0, dtype=np.int64)
    return code.n_classes > 2 and code.n_columns == n_pairs and bool((in_column == 2).all())


def couple(positive: FloatArray, code: Code) -> FloatArray:
    """Probabilities (n, n_classes) from those of the columns' positive classes, ``positive`` (n, n_columns).

    With Q the matrix of the quadratic form, Q p is equal for all classes at the optimum, so p is the
    solution of (Q + 11') x = 1 divided by its sum.
    """
    r = np.clip(positive, MIN_PAIR_PROBABILITY, 1.0 - MIN_PAIR_PROBABILITY)
    step = max(1, SYSTEM_ENTRIES_PER_BATCH // code.n_classes**2)
    P = np.empty((len(r), code.n_classes))
    with _native.one_blas_thread():
        for start in range(0, len(r), step):
            some = slice(start, start + step)
            x = np.linalg.solve(_form(r[some], code) + 1.0, np.ones((code.n_classes, 1)))[..., 0]
            x = np.maximum(x, 0.0)
            P[some] = x / x.sum(axis=1, keepdims=True)
    return P


def _form(r: FloatArray, code: Code) -> FloatArray:
    """Q of each row: the column of classes i (+1) and j (-1) adds ((1 - r) p_i - r p_j)^2."""
    classes = np.arange(code.n_classes)
    i, j = (code.matrix == 1).argmax(axis=0), (code.matrix == -1).argmax(axis=0)
    Q = np.empty((len(r), code.n_classes, code.n_classes))
    Q[:, i, j] = Q[:, j, i] = -r * (1.0 - r)
    own = code_product((1.0 - r) ** 2, code.matrix == 1) + code_product(r**2, code.matrix == -1)
    Q[:, classes, classes] = own
    return Q
