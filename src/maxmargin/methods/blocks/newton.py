"""Newton's method over blocks: each pass gives the objective, its gradient and its Hessians at one point.

All columns move together, each by its own step. A pass also computes the losses along the steps that led to
its point, so a column whose full step fails the line search takes the best shorter one, at the cost of one
more pass. Where the Hessians would take too much memory, conjugate gradients need a pass for each product;
the Hessian of a sample of the rows is their preconditioner.

Rows in float32 have features in float32, where the sample shows that rounding leaves the gradient exact
enough (``start``). The point that ends such a solve is certified by a pass in double; if its gap is too large
there, or if rounding hides all progress, the solve continues in double.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...solving import (
    FLOAT_EPS,
    Callback,
    Certificate,
    Check,
    SolverResult,
    State,
    Status,
    Stop,
    drive,
    relative_gap,
)
from .passes import Passes
from .preconditioner import Preconditioner, ratio
from .rows import RowBlock
from .sums import BlockProblem, NewtonSums, NewtonTask, ProductTask, newton_sums, product_sums

__all__ = ["BlockNewton", "Point", "Start", "needs_products", "solve_blocks"]

SHORTER_STEPS = (0.5, 0.25, 0.125, 0.03, 0.005)
SUFFICIENT_DECREASE = 1e-4  # share of the decrease that the gradient predicts
ROUNDING_OF_SUMS = {True: 1e-12, False: 1e-6}  # relative, of an objective in double and in float32
SETTLED_SHARE = 0.1  # of its part of the tolerated gap: a column below it stays where it is
SAME_ROWS = 1e-9  # share of the weight that rounding may change from pass to pass
OVERFIT = 2.0  # times the objective on a sample: where all rows have more, another sample is drawn
MAX_DRAWS = 2
MAX_HESSIAN_BYTES = 96 << 20  # of all columns; each pass holds some copies of it
MAX_SINGLE_CONDITION = 1e4  # of a Hessian plus alpha that is summed in float32
MAX_PRODUCTS = 30  # passes of conjugate gradients for one step
RESIDUAL_SHARE = 0.3  # of the gradient, at which conjugate gradients end
GAP_SHARE = 0.3  # of the tolerated gap: a residual that would leave less ends them too


@dataclass(frozen=True)
class Start:
    """Coefficients, whether passes need features in double, and how the solve that led there ended."""

    V: np.ndarray
    double: bool
    status: Status
    objective: float = np.inf  # on the rows that it has seen

    @property
    def is_stuck(self) -> bool:
        """Whether the solve on these rows could not reach its tolerance."""
        return self.status in (Status.STALLED, Status.MAX_ITER)


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
    start: Start,
    *,
    sample: RowBlock,
    stop: Stop,
    redrawn: Callable[[int, np.ndarray], Start] | None = None,
    callback: Callback | None = None,
) -> tuple[SolverResult, Point | None]:
    """Minimise from a start to ``stop.tol``; ``sample`` stands for all rows. ``coef`` is V.

    ``redrawn(number, V)`` is the optimum on a sample drawn for V. The point is that of the last pass.
    """
    solve = BlockNewton(passes, problem, start.V, sample, stop, start.double)
    if redrawn is not None and "n_iter" not in solve.state and not solve.leave_overfit(start, redrawn):
        point = solve.at_point()
        unsolved = Check(0, float(point.primal.sum()), float(point.dual.sum()), 0.0)
        return SolverResult(solve.state.V.copy(), 0.0, Status.STALLED, (unsolved,)), point
    status, history = drive(solve.state, solve.step, solve.certify, stop, callback)
    return SolverResult(solve.state.V.copy(), 0.0, status, history), solve.point


class BlockNewton:
    """The solve: ``state`` is what a checkpoint stores, ``point`` what the last pass found there."""

    def __init__(
        self,
        passes: Passes,
        problem: BlockProblem,
        V: np.ndarray,
        sample: RowBlock,
        stop: Stop,
        double: bool = False,
    ) -> None:
        self.passes, self.problem, self.stop, self.sample = passes, problem, stop, sample
        self.single = sample.X.dtype == np.float32
        self.state = stop.resumed(None) or State(
            V=np.array(V, dtype=np.float64),
            double=double or not self.single,
            mixed=False,  # whether sums are in double, but Hessians are not
            scale=1.0,  # of the Hessians when the pass at V began
            alpha=problem.alpha,
        )
        self.by_products = needs_products(problem, V)
        self.point: Point | None = None

    def leave_overfit(self, start: Start, redrawn: Callable[[int, np.ndarray], Start]) -> bool:
        """Move to the optimum on better samples while that on the last one is too good for all rows.

        False if the problem on such a sample cannot be solved: then that on all rows cannot either.
        """
        for number in range(MAX_DRAWS):
            point = self.at_point()
            if point.primal.sum() <= OVERFIT * start.objective:
                break
            start = redrawn(number, point.V)
            if start.is_stuck:
                return False
            self.state.double = self.state.double or start.double
            found = self._pass(start.V, hessians=self._every)
            if found.primal.sum() >= point.primal.sum():
                break
            self.point, self.state.V = found, found.V
        return True

    # ---- certificates ----

    def at_point(self) -> Point:
        """The sums at the present coefficients, by a pass if there was none yet."""
        if self.point is None:
            state = self.state
            first = self._pass(state.V, hessians=self._every, double=state.double and not state.mixed)
            self.point = self._in_double(first) if state.mixed else first
        return self.point

    @property
    def _every(self) -> np.ndarray:
        return np.arange(self.state.V.shape[1])

    def _in_double(self, point: Point) -> Point:
        """The same point with sums in double, but for the Hessians: a step needs no more digits of these."""
        found = self._pass(point.V, double=True)
        found.sums.hessians = point.sums.hessians
        return found

    def certify(self) -> Certificate:
        """Bounds at the present point; in double if they could end the solve."""
        point, state = self.at_point(), self.state
        if not state.double and self._is_settled(point):
            state.double, state.mixed = True, True
            state.best_dual = -np.inf  # earlier bounds are as rounded as these
            point = self.point = self._in_double(point)
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
        step = np.zeros_like(point.V)
        step[:, columns] = self._directions(point, columns)
        scale = _scale(point.sums.hessians)
        found = self._pass(point.V + step, step, self._every, scale)
        shares = self._line_search(point, found, step)
        if not shares.any():
            if state.double:
                return True
            state.double, state.best_dual, self.point = True, -np.inf, None
            return False
        if not (shares == 1.0).all():
            found = self._pass(point.V + shares * step, hessians=self._every, scale=scale)
        self.point, state.V, state.mixed, state.scale = found, found.V, False, scale
        return False

    def _unsettled(self, point: Point) -> np.ndarray:
        """The columns whose gap is not yet a small part of what all of them together may have."""
        gaps = point.gaps
        enough = SETTLED_SHARE * self.stop.tol * self.part_of_each(point)
        found = np.flatnonzero(gaps > enough)
        return found if len(found) else np.array([int(np.argmax(gaps))])

    def part_of_each(self, point: Point) -> np.ndarray:
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
        self,
        V: np.ndarray,
        step: np.ndarray | None = None,
        hessians: np.ndarray | None = None,
        scale: float | None = None,
        double: bool | None = None,
    ) -> Point:
        wanted = np.zeros(0, dtype=np.int64) if hessians is None or self.by_products else hessians
        double = self.state.double if double is None else double
        scale = self.state.scale if scale is None else scale
        task = NewtonTask(
            self.problem,
            V,
            step,
            () if step is None else SHORTER_STEPS,
            wanted,
            double,
            double_hessians=double or scale > MAX_SINGLE_CONDITION * self.problem.alpha,
        )
        sums = self.passes.run(newton_sums, task)
        found = sums.costs / self.problem.total_costs
        if not np.allclose(found, 1.0, rtol=0.0, atol=SAME_ROWS):
            raise ValueError(
                f"a pass over the blocks found {found.min():.6g} times the weight of rows that the "
                "first pass found; the source must have the same rows each time it is read."
            )
        return Point(self.problem, V, sums, double)

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
        near = Preconditioner(self.problem, point.V, self.sample, columns)
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
            rate = ratio(rho, (S * Q).sum(axis=0))
            D += rate * S
            last, R = R, R - rate * Q
            Z = near(R)  # not quite the same matrix each time, so what was is taken off
            rho, before, was = (R * Z).sum(axis=0), rho, (last * Z).sum(axis=0)
            S = Z + ratio(rho - was, before) * S
        return D

    def _leaves_no_gap(self, point: Point, R: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Whether a gradient R would leave a small part of the tolerated gap: it is ||R||^2 / (2 alpha).

        A free intercept costs in proportion to the imbalance that its entry of R is.
        """
        share = GAP_SHARE * self.stop.tol
        limit = 2.0 * self.problem.alpha * share * self.part_of_each(point)[columns]
        small = np.square(self.problem.penalised(R)).sum(axis=0) <= limit
        if self.problem.free_intercept:
            small &= np.abs(R[-1]) <= share * point.sums.slopes[:, columns].min(axis=0)
        return np.asarray(small)


def needs_products(problem: BlockProblem, V: np.ndarray) -> bool:
    """Whether the Hessians of all columns would take too much memory."""
    return bool(8 * V.size * len(V) > MAX_HESSIAN_BYTES)


def _scale(hessians: np.ndarray) -> float:
    """The largest mean squared length of features, weighted by curvature, of all columns."""
    return float(np.trace(hessians, axis1=1, axis2=2).max(initial=0.0)) if len(hessians) else 1.0
