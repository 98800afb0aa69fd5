"""The vertex of a basis in full double precision: one step of iterative refinement on the data themselves.

HiGHS ends within its absolute tolerances, and drops tiny entries. At the vertex of its basis the margins of
basic pairs are 1 and the prices of non-basic rows are at their bounds: two linear systems with one matrix.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgWarning, lu_factor, lu_solve

from .master import Master

LARGEST = 2000  # order of a matrix that is factorised

Point = tuple[np.ndarray, np.ndarray, np.ndarray]


def refined(master: Master, W: np.ndarray, b: np.ndarray, pi: np.ndarray) -> Point | None:
    """``W, b, pi`` nearer to the vertex of the last basis; None where its matrix is too large or singular."""
    basic_pairs, basic_rows = master.basic()
    pairs, rows = master.pairs[basic_pairs], np.flatnonzero(~basic_rows)
    if len(pairs) != len(rows) or not 0 < len(rows) <= LARGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", LinAlgWarning)
            factors = lu_factor(master.columns(pairs)[:, rows])
    except (LinAlgWarning, np.linalg.LinAlgError, ValueError):
        return None
    missing = 1.0 - master.program.margins(W, b).ravel()[pairs]
    step = np.zeros(len(basic_rows))
    step[rows] = lu_solve(factors, missing)
    W, b = master.moved(W, b, step)
    short = master.short_of_bounds(pi)[rows]
    pi = pi.copy()
    pi.ravel()[pairs] += lu_solve(factors, short, trans=1)
    return (W, b, pi) if np.isfinite(W).all() and np.isfinite(pi).all() else None
