"""The lasso: coordinate descent on a working set of features, finished by exact solutions.

    min_{w,b}  ||w||_1 + 1/2 sum_i c_i (y_i - <w, x_i> - b)^2

A step takes the features that are not 0 and those that violate the optimality conditions most, runs epochs of
coordinate descent on their products, and then solves for the minimum with the current signs, moving towards
it until a sign changes: with the right support that is the optimum. The bound comes from the residuals,
scaled until no feature's product with them exceeds 1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrs

from ... import _native
from ..._native import is_sparse, one_blas_thread
from ...solving import Callback, Certificate, SolverResult, State, Stop, drive
from ..linear import scaled_cholesky
from .data import SquaresData
from .problem import SquaresProblem

EPOCHS_PER_POLISH = 50  # epochs of coordinate descent between two exact solutions
ROUNDS_PER_CERTIFICATE = 5  # each of epochs and an exact solution
MIN_WORKING_SET = 100  # features
MAX_POLISHED_FEATURES = 1500  # features that are solved for exactly
MAX_SIGN_CHANGES = 30  # on the way to an exact solution
MAX_IDLE_CERTIFICATES = 20  # certificates without progress before the solver gives up
PROGRESS_RATIO = 0.999  # a gap above this share of the best one is no progress
SLOPE_ROUNDING = 1e-10  # a slope that exceeds the penalty's by less does so by rounding
MAX_WHOLE_GRAM_FEATURES = 1000  # features whose products are all computed at once
ROWS_PER_BLOCK = 8192


def lasso(
    problem: SquaresProblem,
    products: FeatureProducts,
    *,
    stop: Stop,
    state: State | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise a ``SquaresProblem`` with the lasso's penalty to ``stop.tol``.

    The products may be those of costs that differ by a common factor.
    """
    descent = LassoDescent(problem, products, stop.resumed(state) or start(problem), stop)
    status, history = drive(descent.state, descent.step, descent.certify, stop, callback)
    return SolverResult(descent.state.w, descent.b, status, history, problem.data.cost * descent.r)


def start(problem: SquaresProblem, w: np.ndarray | None = None) -> State:
    """At zero, or at given coefficients."""
    d = problem.data.rows.n_features
    w = np.zeros(d) if w is None else np.array(w, dtype=np.float64)
    return State(w=w, best_gap=np.inf, idle=0, judged=-1)


class LassoDescent:
    """Coefficients, and the residuals that belong to them."""

    def __init__(self, problem: SquaresProblem, products: FeatureProducts, state: State, stop: Stop) -> None:
        self.problem, self.state, self.stop = problem, state, stop
        self.products = WorkingProducts(products)
        self.factor = problem.data.total / products.data.total
        self._refresh()

    def _refresh(self) -> None:
        self.r, self.b = self.problem.data.residual(self.problem.y, self.state.w)

    def certify(self) -> Certificate:
        """Bounds at the current coefficients; provisional at a first w = 0 that is not the optimum."""
        state, bounds = self.state, self.problem.certificate(self.state.w, self.r)
        self.primal, gap = bounds.primal, bounds.primal - max(bounds.dual, state.get("best_dual", -np.inf))
        n_iter = state.get("n_iter", 0)
        if n_iter != state.judged:  # once for each point, however often it is certified
            state.idle = 0 if gap < PROGRESS_RATIO * state.best_gap else state.idle + 1
            state.best_gap, state.judged = min(gap, state.best_gap), n_iter
        first = not n_iter and not state.w.any()
        return replace(bounds, provisional=first and self._wants_more())

    def _wants_more(self) -> bool:
        return bool(np.abs(self.problem.data.combine(self.r)).max() > 1.0 + SLOPE_ROUNDING)

    def step(self) -> bool:
        """Rounds on one working set; True after many certificates without progress."""
        if self.state.idle >= MAX_IDLE_CERTIFICATES:
            return True
        gradient = self.problem.data.combine(self.r)
        features = self._working_set(gradient)
        G = self.factor * self.products.of(features)
        w, slope = self.state.w[features], gradient[features]
        still = 1e-3 * self.stop.tol * self.primal / len(features)
        for _ in range(ROUNDS_PER_CERTIFICATE):
            signs = np.sign(w)
            move = _native.lasso_epochs(G, w, slope, EPOCHS_PER_POLISH, still, self.stop.cancel)
            if move <= still or np.array_equal(signs, np.sign(w)):  # else the support still changes
                slope = polish(G, w, slope)
            if move <= still:
                break
        self.state.w[features] = w
        self._refresh()
        return False

    def _working_set(self, gradient: np.ndarray) -> np.ndarray:
        """Features with a coefficient, and as many again with the largest gradients."""
        d, support = len(gradient), np.flatnonzero(self.state.w)
        n_more = max(MIN_WORKING_SET, len(support))
        if d <= MAX_WHOLE_GRAM_FEATURES:
            return np.arange(d)
        appeal = np.abs(gradient)
        appeal[support] = np.inf
        wanted = min(d, len(support) + n_more)
        chosen = np.argpartition(-appeal, wanted - 1)[:wanted]
        return np.sort(chosen[appeal[chosen] > 0.0])


def polish(G: np.ndarray, w: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Go to the minimum with the current signs, or to the first sign change, and continue from there.

    Changes w in place and returns ``q - Gw``.
    """
    q = slope + G @ w
    for _ in range(MAX_SIGN_CHANGES):
        support = np.flatnonzero(w)
        if not 0 < len(support) <= MAX_POLISHED_FEATURES:
            break
        sign, inner = np.sign(w[support]), G[np.ix_(support, support)]
        with one_blas_thread():
            factor, scale = scaled_cholesky(inner.copy())
            towards = scale * dpotrs(factor, scale * (q[support] - inner @ w[support] - sign), lower=1)[0]
        if not np.isfinite(towards).all():
            break
        shrinks = sign * towards < 0.0
        crossing = np.where(shrinks, -w[support] / np.where(shrinks, towards, 1.0), np.inf)
        first = int(np.argmin(crossing))
        length = min(1.0, float(crossing[first]))
        w[support] += length * towards
        if length == 1.0:
            break
        w[support[first]] = 0.0
    return np.asarray(q - G @ w)


class FeatureProducts:
    """``A'A`` between chosen features of a ``SquaresData``, in double.

    Columns of a code on the same rows share ``whole`` and ``columns``. The products of a working set belong
    to one `WorkingProducts`, so that their bits do not depend on other columns.
    """

    def __init__(self, data: SquaresData) -> None:
        self.data = data
        self.whole = data.gram_of_features() if data.rows.n_features <= MAX_WHOLE_GRAM_FEATURES else None

    @cached_property
    def columns(self) -> Any:
        """The weighted rows by column, where they are sparse."""
        chosen = self.data.rows.X[self.data.rows.index].astype(np.float64)
        return (chosen.multiply(self.data.root[:, None])).tocsc()

    def between(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """``A[:, left]' A[:, right]``."""
        data = self.data
        if is_sparse(data.rows.X):
            raw = (self.columns[:, left].T @ self.columns[:, right]).toarray()
            return np.asarray(raw - data.total * np.outer(data.centre[left], data.centre[right]))
        out = np.zeros((len(left), len(right)))
        with one_blas_thread():
            for start in range(0, len(data.rows), ROWS_PER_BLOCK):
                data.poll()
                which = data.rows.index[start : start + ROWS_PER_BLOCK]
                weight = data.root[start : start + ROWS_PER_BLOCK, None]
                X = np.asarray(data.rows.X[which])
                sides = [weight * (X[:, f] - data.centre[f]) for f in (left, right)]
                out += sides[0].T @ sides[1]
        return out


class WorkingProducts:
    """The products of one working set; the next one reuses what it can."""

    def __init__(self, products: FeatureProducts) -> None:
        self.products = products
        self.features = np.zeros(0, dtype=np.intp)
        self.matrix = np.zeros((0, 0))

    def of(self, features: np.ndarray) -> np.ndarray:
        """The products between these features, which ascend."""
        if self.products.whole is not None:
            return self.products.whole
        known = np.isin(features, self.features)
        place = np.searchsorted(self.features, features[known])
        matrix = np.zeros((len(features), len(features)))
        matrix[np.ix_(known, known)] = self.matrix[np.ix_(place, place)]
        if not known.all():
            fresh = self.products.between(features[~known], features)
            matrix[~known] = fresh
            matrix[:, ~known] = fresh.T
        self.features, self.matrix = features, matrix
        return matrix
