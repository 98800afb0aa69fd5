"""Newton's method over blocks: each pass gives the objective, its gradient and its Hessians at one point.

All columns move together, each by its own step. A pass also computes the losses along the steps that led to
its point, so a column whose full step fails the line search takes the best shorter one, at the cost of one
more pass. Where the Hessians would take too much memory, conjugate gradients need a pass for each product;
the Hessian of a sample of the rows is their preconditioner.

Rows in float32 have features in float32. The point that ends the solve is certified by a pass in double; if
its gap is too large there, the solve continues in double.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...solving import (
    FLOAT_EPS,
    Callback,
    Certificate,
    SolverResult,
    State,
    Stop,
    drive,
    relative_gap,
)
from .passes import Passes
from .preconditioner import Preconditioner
from .rows import RowBlock
from .sums import BlockProblem, NewtonSums, NewtonTask, ProductTask, newton_sums, product_sums

__all__ = ["BlockNewton", "Point", "solve_blocks"]

SHORTER_STEPS = (0.5, 0.25, 0.125, 0.03, 0.005)
SUFFICIENT_DECREASE = 1e-4  # share of the decrease that the gradient predicts
ROUNDING_OF_SUMS = {True: 1e-12, False: 1e-6}  # relative, of an objective in double and in float32
SETTLED_SHARE = 0.1  # of its part of the tolerated gap: a column below it stays where it is
SAME_ROWS = 1e-9  # share of the weight that rounding may change from pass to pass
MAX_HESSIAN_BYTES = 96 << 20  # of all columns; each pass holds some copies of it
MAX_SINGLE_CONDITION = 1e4  # of a Hessian plus alpha that is summed in float32
MAX_PRODUCTS = 30  # passes of conjugate gradients for one step
RESIDUAL_SHARE = 0.3  # of the gradient, at which conjugate gradients end
GAP_SHARE = 0.3  # of the tolerated gap: a residual that would leave less ends them too


@dataclass(frozen=True)
class Point:
    """V, the sums of a pass at V, and what follows from them for each column."""

    problem: BlockProblem
    V: np.ndarray
    sums: NewtonSums
    double: bool

    @property
    def primal(self) -> np.ndarray:
        """The objective."""
        return self.sums.losses + self.problem.penalty(self.V)

    @property
    def tiny(self) -> np.ndarray:
        """The objective of zero coefficients times the unit roundoff."""
        return FLOAT_EPS * self.sums.costs * self.problem.loss.value(np.zeros(1))

    @property
    def gradient(self) -> np.ndarray:
        """Of the objective, (n_features, n_columns)."""
        G = -self.sums.gradients.sum(axis=0)
        self.problem.penalised(G)[...] += self.problem.alpha * self.problem.penalised(self.V)
        return np.asarray(G)

    @property
    def dual(self) -> np.ndarray:
        """The dual objective at u, scaled to be feasible and, for the squared hinge, to be best."""
        problem, sums = self.problem, self.sums
        shares = np.ones_like(sums.slopes)
        if problem.free_intercept:  # sum_i c_i y_i u_i must be 0
            lighter = sums.slopes.min(axis=0)
            shares = np.divide(lighter, sums.slopes, out=np.zeros_like(shares), where=sums.slopes > 0.0)
        g = problem.penalised((shares[:, None, :] * sums.gradients).sum(axis=0))
        norm = np.square(g).sum(axis=0) / problem.alpha
        bound = (shares * sums.entropies).sum(axis=0) - 0.5 * norm
        if problem.loss.name == "squared-hinge":
            linear = (shares * sums.slopes).sum(axis=0)
            square = (shares**2 * sums.squares).sum(axis=0) + norm
            best = np.divide(0.5 * linear**2, square, out=np.zeros_like(linear), where=square > 0.0)
            bound = np.maximum(bound, best)
        if problem.free_intercept:  # as far as rounding leaves the sum above 0
            bound = bound - 8.0 * FLOAT_EPS * np.abs(self.V[-1]) * sums.slopes.sum(axis=0)
        return np.asarray(bound)

    @property
    def gaps(self) -> np.ndarray:
        """Of each column."""
        return np.maximum(self.primal - self.dual, 0.0)


def solve_blocks(
    passes: Passes,
    problem: BlockProblem,
    V: np.ndarray,
    *,
    sample: RowBlock,
    stop: Stop,
    callback: Callback | None = None,
) -> tuple[SolverResult, Point | None]:
    """Minimise from V to ``stop.tol``; ``sample`` stands for all rows. ``coef`` is V.

    The point is that of the last pass, None if the time was up before it had one.
    """
    solve = BlockNewton(passes, problem, V, sample, stop)
    status, history = drive(solve.state, solve.step, solve.certify, stop, callback)
    return SolverResult(solve.state.V.copy(), 0.0, status, history), solve.point


class BlockNewton:
    """The solve: ``state`` is what a checkpoint stores, ``point`` what the last pass found there."""

    def __init__(
        self, passes: Passes, problem: BlockProblem, V: np.ndarray, sample: RowBlock, stop: Stop
    ) -> None:
        self.passes, self.problem, self.stop, self.sample = passes, problem, stop, sample
        self.single = sample.X.dtype == np.float32
        self.state = stop.resumed(None) or State(V=np.array(V, dtype=np.float64), double=not self.single)
        self.by_products = 8 * V.size * len(V) > MAX_HESSIAN_BYTES
        self.point: Point | None = None

    # ---- certificates ----

    def at_point(self) -> Point:
        """The sums at the present coefficients, by a pass if there was none yet."""
        if self.point is None:
            self.point = self._pass(self.state.V, hessians=np.arange(self.state.V.shape[1]))
        return self.point

    def certify(self) -> Certificate:
        """Bounds at the present point; in double if they could end the solve."""
        point, state = self.at_point(), self.state
        if not state.double and self._is_settled(point):
            state.double, state.best_dual = True, -np.inf  # earlier bounds are as rounded as these
            point = self.point = self._pass(state.V)
        return Certificate(
            float(point.primal.sum()),
            float(point.dual.sum()),
            tiny=float(point.tiny.sum()),
            provisional=(self.single and not state.double) or not self._is_settled(point),
        )

    def _is_settled(self, point: Point) -> bool:
        """Whether the gap is within the tolerance, that of the sum or that of each column."""
        primal, dual = point.primal, point.dual
        if self.problem.by_column:
            return all(relative_gap(p, d) <= self.stop.tol for p, d in zip(primal, dual))
        return (
            relative_gap(float(primal.sum()), max(float(dual.sum()), self.state.best_dual)) <= self.stop.tol
        )

    # ---- steps ----

    def step(self) -> bool:
        """One Newton step in each column that is not settled; True if none of them gets lower."""
        point, state = self.at_point(), self.state
        columns = self._unsettled(point)
        if not self.by_products and len(point.sums.hessians) != point.V.shape[1]:
            point = self.point = self._pass(point.V, hessians=np.arange(point.V.shape[1]))
        step = np.zeros_like(point.V)
        step[:, columns] = self._directions(point, columns)
        found = self._pass(point.V + step, step, np.arange(step.shape[1]))
        shares = self._line_search(point, found, step)
        if not shares.any():
            return True
        if not (shares == 1.0).all():
            found = self._pass(point.V + shares * step, hessians=np.arange(step.shape[1]))
        self.point, state.V = found, found.V
        return False

    def _unsettled(self, point: Point) -> np.ndarray:
        """The columns whose gap is not yet a small part of what all of them together may have."""
        gaps = point.gaps
        enough = SETTLED_SHARE * self.stop.tol * self._part_of_each(point)
        found = np.flatnonzero(gaps > enough)
        return found if len(found) else np.array([int(np.argmax(gaps))])

    def _part_of_each(self, point: Point) -> np.ndarray:
        """The objective that the tolerance of each column is relative to."""
        primal = np.abs(point.primal)
        return primal if self.problem.by_column else np.full_like(primal, primal.mean())

    def _line_search(self, point: Point, found: Point, step: np.ndarray) -> np.ndarray:
        """The share of its step that each column takes."""
        before, slope = point.primal, (point.gradient * step).sum(axis=0)
        allowed = ROUNDING_OF_SUMS[point.double] * np.abs(before)
        shares = np.where(found.primal <= before + SUFFICIENT_DECREASE * slope + allowed, 1.0, 0.0)
        for k, share in enumerate(SHORTER_STEPS):
            there = point.V + share * step
            value = found.sums.along[k] + self.problem.penalty(there)
            lower = value <= before + SUFFICIENT_DECREASE * share * slope
            shares = np.where((shares == 0.0) & lower, share, shares)
        return np.where(np.abs(step).sum(axis=0) > 0.0, shares, 1.0 if shares.any() else 0.0)

    def _pass(
        self, V: np.ndarray, step: np.ndarray | None = None, hessians: np.ndarray | None = None
    ) -> Point:
        wanted = np.zeros(0, dtype=np.int64) if hessians is None or self.by_products else hessians
        task = NewtonTask(self.problem, V, step, () if step is None else SHORTER_STEPS, wanted)
        scale = self._scale if self.point is not None else 1.0
        task = replace(
            task,
            double=self.state.double,
            double_hessians=self.state.double or scale > MAX_SINGLE_CONDITION * self.problem.alpha,
        )
        sums = self.passes.run(newton_sums, task)
        found = sums.costs / self.problem.total_costs
        if not np.allclose(found, 1.0, rtol=0.0, atol=SAME_ROWS):
            raise ValueError(
                f"a pass over the blocks found {found.min():.6g} times the weight of rows that the "
                "first pass found; the source must have the same rows each time it is read."
            )
        return Point(self.problem, V, sums, self.state.double)

    @property
    def _scale(self) -> float:
        """The largest mean squared length of features, weighted by curvature, of all columns."""
        hessians = self.at_point().sums.hessians
        return float(np.trace(hessians, axis1=1, axis2=2).max(initial=0.0)) if len(hessians) else 1.0

    # ---- directions ----

    def _directions(self, point: Point, columns: np.ndarray) -> np.ndarray:
        G = point.gradient[:, columns]
        if self.by_products:
            return self._by_products(point, G, columns)
        steps = [self._newton(point.sums.hessians[t], G[:, k]) for k, t in enumerate(columns)]
        return np.column_stack(steps)

    def _newton(self, hessian: np.ndarray, g: np.ndarray) -> np.ndarray:
        """``-(H + alpha I)^{-1} g``; rounding may require a little more than alpha."""
        ridge, free = self.problem.alpha, self.problem.free_intercept
        least = 1e-14 * max(float(np.trace(hessian)), self.problem.alpha)
        while True:
            H = hessian.copy()
            diagonal = np.full(len(H), ridge)
            if free:
                diagonal[-1] = ridge - self.problem.alpha + least
            H[np.diag_indices_from(H)] += diagonal
            try:
                return np.asarray(-cho_solve(cho_factor(H, lower=True, check_finite=False), g))
            except np.linalg.LinAlgError:
                ridge = max(10.0 * ridge, 100.0 * least)

    def _by_products(self, point: Point, G: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Conjugate gradients on ``(H + alpha I) d = -g`` in all columns at once."""
        near = Preconditioner(self.problem, point.V, self.sample)
        D, R = np.zeros_like(G), -G
        S = near(R)
        rho = (R * S).sum(axis=0)
        enough = RESIDUAL_SHARE**2 * rho
        for n_products in range(MAX_PRODUCTS):
            done = (rho <= enough) | self._leaves_no_gap(point, R, columns)
            if (n_products and done.all()) or self.stop.deadline.passed():
                break
            whole = np.zeros_like(point.V)
            whole[:, columns] = S
            task = ProductTask(self.problem, point.V, whole, point.double)
            Q = self.passes.run(product_sums, task).products[:, columns]
            self.problem.penalised(Q)[...] += self.problem.alpha * self.problem.penalised(S)
            rate = _ratio(rho, (S * Q).sum(axis=0))
            D += rate * S
            R -= rate * Q
            Z = near(R)
            rho, before = (R * Z).sum(axis=0), rho
            S = Z + _ratio(rho, before) * S
        return D

    def _leaves_no_gap(self, point: Point, R: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Whether a gradient R would leave a small part of the tolerated gap: it is ||R||^2 / (2 alpha).

        A free intercept costs in proportion to the imbalance that its entry of R is.
        """
        share = GAP_SHARE * self.stop.tol
        limit = 2.0 * self.problem.alpha * share * self._part_of_each(point)[columns]
        small = np.square(self.problem.penalised(R)).sum(axis=0) <= limit
        if self.problem.free_intercept:
            small &= np.abs(R[-1]) <= share * point.sums.slopes[:, columns].min(axis=0)
        return np.asarray(small)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)
