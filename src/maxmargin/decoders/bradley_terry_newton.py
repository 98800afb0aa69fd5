"""The last digits of the generalised Bradley-Terry model: Newton's method in theta = log p.

With a_t = p / q_t on a column's side with +1 or -1, and b_t = p / (q_t+ + q_t-) on both, the Hessian is

    H = sum_t r_t (diag a_t+ - a_t+ a_t+') + (1 - r_t) (diag a_t- - a_t- a_t-') - (diag b_t - b_t b_t').

The bound in :mod:`maxmargin.decoders.bradley_terry` has -D, D = diag(sum_t b_t), in its place. A step solves
(lambda D - H) d = g, with the gradient g: lambda falls where the likelihood rose; where the likelihood would
fall, lambda rises and the step is rejected.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._native import one_blas_thread
from ..codes import Code

__all__ = ["newton_finish"]

FloatArray = NDArray[np.float64]
MIN_CLASS_PROBABILITY = 1e-30  # during the iterations: a probability of 0 would stay 0
GRADIENT_TOL = 1e-8  # a row has converged when a step of the bound would change no probability by more
MAX_NEWTON_STEPS = 200
LIKELIHOOD_ROUNDING = 1e-14  # relative error of a likelihood
MAX_LOG_CHANGE = 3.0  # of a log p in one step
MIN_DAMPING, MAX_DAMPING = 1e-8, 1e8  # of lambda
ENTRIES_PER_BATCH = 2_000_000  # of the arrays (rows, classes, columns)


def newton_finish(P: FloatArray, r: FloatArray, code: Code) -> FloatArray:
    """Probabilities (n, n_classes) at least as likely as P up to rounding; r is (n, n_columns)."""
    size = max(1, ENTRIES_PER_BATCH // code.matrix.size)
    with one_blas_thread():
        parts = [_finished(P[k : k + size], r[k : k + size], code) for k in range(0, len(P), size)]
    return np.concatenate(parts) if parts else P


def _finished(P: FloatArray, r: FloatArray, code: Code) -> FloatArray:
    """Iterate until each row has converged."""
    sides = np.stack([code.matrix == 1, code.matrix == -1]).astype(np.float64)
    P, r = P.copy(order="C"), np.ascontiguousarray(r)
    active, lam = np.arange(len(P)), np.ones(len(P))
    for _ in range(MAX_NEWTON_STEPS):
        p, share = P[active], r[active]
        g, D, H = _derivatives(p, share, sides)
        going = np.abs(g / D * p).max(axis=1) > GRADIENT_TOL
        active, p, share, g, D, H = (v[going] for v in (active, p, share, g, D, H))
        if not len(active):
            break
        trial = _normalised(p * np.exp(_direction(g, D, H, lam[active])))
        before, after = (_likelihood(q, share, sides) for q in (p, trial))
        better = after >= before - LIKELIHOOD_ROUNDING * np.abs(before)
        P[active] = np.where(better[:, None], trial, p)
        lam[active] = np.clip(lam[active] * np.where(better, 0.1, 10.0), MIN_DAMPING, MAX_DAMPING)
    return P


def _direction(g: FloatArray, D: FloatArray, H: FloatArray, lam: FloatArray) -> FloatArray:
    """Changes of log p, each at most ``MAX_LOG_CHANGE``; solved in units in which D is 1."""
    unit = 1.0 / np.sqrt(D)
    M = lam[:, None, None] * np.eye(D.shape[1]) - H * unit[:, :, None] * unit[:, None, :]
    d = unit * np.linalg.solve(M, (g * unit)[:, :, None])[:, :, 0]
    return d / np.maximum(np.abs(d).max(axis=1, keepdims=True) / MAX_LOG_CHANGE, 1.0)


def _derivatives(
    p: FloatArray, r: FloatArray, sides: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The gradient (n, G), D (n, G) and the Hessian (n, G, G) in log p."""
    weights = (r, 1.0 - r, -np.ones_like(r))
    g, H = np.zeros_like(p), np.zeros((*p.shape, p.shape[1]))
    for side, weight in zip((*sides, sides.sum(axis=0)), weights):
        a = p[:, :, None] * side / _sums(p, side)[:, None, :]
        weighted = a * weight[:, None, :]
        g += weighted.sum(axis=2)
        H -= weighted @ a.transpose(0, 2, 1)
    H += g[:, :, None] * np.eye(p.shape[1])
    return g, -weighted.sum(axis=2), H


def _sums(p: FloatArray, side: FloatArray) -> FloatArray:
    return (p[:, :, None] * side).sum(axis=1)


def _likelihood(p: FloatArray, r: FloatArray, sides: FloatArray) -> FloatArray:
    above, below = (_sums(p, side) for side in sides)
    return (r * np.log(above) + (1.0 - r) * np.log(below) - np.log(above + below)).sum(axis=1)


def _normalised(p: FloatArray) -> FloatArray:
    p = np.maximum(p / p.sum(axis=1, keepdims=True), MIN_CLASS_PROBABILITY)
    return p / p.sum(axis=1, keepdims=True)
