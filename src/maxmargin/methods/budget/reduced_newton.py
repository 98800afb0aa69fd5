"""Newton's method for the coefficients of a fixed set of support vectors, all columns at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...losses import (
    Hinge,
    Loss,
    SmoothedHinge,
    SmoothLoss,
)
from ...numerics import FeaturePanel
from .newton_steps import NewtonSteps

WIDTH = 0.5  # of the smoothed hinge while support vectors are chosen
LEAST_WIDTH = 1e-9
SHRINK = 0.3  # the share of the width that is next
MAX_STEPS = 100  # for one width


@dataclass
class ReducedProblem:
    """Minimise over the columns v of V, (b, n_columns), for the features Phi of the first b points,

        P(v) = sum_i c_i loss(y_i f_i) + alpha/2 ||v||^2,    f = Phi v.

    With theta_i = -c_i slope(y_i f_i), the dual of the same problem is worth P(v) - ||g||^2 / (2 alpha) at
    theta, g being the gradient of P at v: the gradient's norm is a duality gap. For the hinge P has the
    smoothed hinge, and the gap is still the hinge's: ``hinge_gap`` adds what the smoothing has cost.
    """

    panel: FeaturePanel
    targets: np.ndarray  # y, (n_rows, n_columns)
    cost: np.ndarray  # c, the same shape; 0 where a row takes no part
    loss: Loss
    alpha: float

    def smooth(self, width: float = WIDTH) -> SmoothLoss:
        """The loss itself, or for the hinge its smoothed twin."""
        return SmoothedHinge(width) if isinstance(self.loss, Hinge) else self.loss  # type: ignore[return-value]

    def over_rows(self, function, *arrays):  # type: ignore[no-untyped-def]
        """The sum over blocks of rows of ``function(targets, cost, *arrays)``, each (n_columns,)."""

        def work(rows: slice) -> np.ndarray:
            return function(self.targets[rows], self.cost[rows], *(array[rows] for array in arrays))

        return self.panel.pool.sum(work, self.panel.blocks)

    def losses(self, loss: Loss, F: np.ndarray) -> np.ndarray:
        """``sum_i c_i loss(y_i f_i)`` of each column."""
        return np.asarray(self.over_rows(lambda y, c, f: (c * loss.value(y * f)).sum(axis=0), F))

    def residuals(self, loss: Loss, F: np.ndarray) -> np.ndarray:
        """``c_i y_i slope(y_i f_i)``, the derivative in f."""
        out = np.empty_like(F)

        def work(rows: slice) -> None:
            y = self.targets[rows]
            out[rows] = self.cost[rows] * y * loss.slope(y * F[rows])

        self.panel.pool.map(work, self.panel.blocks)
        return out

    def curvatures(self, loss: SmoothLoss, F: np.ndarray, secant: bool = False) -> np.ndarray:
        """``c_i curvature(y_i f_i)``; as a secant, ``c_i slope / (m - 1)``, it is nowhere 0 where m < 1."""
        out = np.empty_like(F)

        def work(rows: slice) -> None:
            m = self.targets[rows] * F[rows]
            if secant:
                out[rows] = self.cost[rows] * loss.slope(m) / np.minimum(m - 1.0, -1e-300)
            else:
                out[rows] = self.cost[rows] * loss.curvature(m)

        self.panel.pool.map(work, self.panel.blocks)
        return out

    def hinge_excess(self, width: float, F: np.ndarray) -> np.ndarray:
        """What the gap for the hinge has beyond the gap for the smoothed hinge, in each column."""
        smooth, hinge = SmoothedHinge(width), Hinge()

        def block(y: np.ndarray, c: np.ndarray, f: np.ndarray) -> np.ndarray:
            m = y * f
            theta = smooth.slope(m)
            lost = hinge.value(m) - smooth.value(m) - 0.5 * width * theta * theta
            return np.asarray((c * lost).sum(axis=0))

        return np.asarray(self.over_rows(block, F))


@dataclass
class Refit:
    """The state of a refit: coefficients, values, and the bounds of every column at them."""

    V: np.ndarray
    F: np.ndarray
    primal: np.ndarray
    gap: np.ndarray
    width: float = 1.0
    n_steps: int = 0
    smoothed: bool = False  # whether the bounds are those of the smoothed hinge

    @property
    def relative_gap(self) -> float:
        """The gap of all columns together, as a share of the objective."""
        total = float(self.primal.sum())
        return float(self.gap.sum()) / total if total > 0.0 else 0.0


def own_bounds(problem: ReducedProblem, fitted: Refit) -> Refit:
    """The same coefficients with the bounds of the loss itself, where they were the smoothed hinge's."""
    if not fitted.smoothed:
        return fitted
    half_norm = 0.5 * problem.alpha * np.square(fitted.V).sum(axis=0)
    primal = problem.losses(problem.loss, fitted.F) + half_norm
    gap = fitted.gap + problem.hinge_excess(fitted.width, fitted.F)
    return replace(fitted, primal=primal, gap=gap, smoothed=False)


def refit(
    problem: ReducedProblem,
    V: np.ndarray,
    F: np.ndarray,
    tol: float,
    *,
    width: float = WIDTH,
    exact: bool = False,
) -> Refit:
    """Newton steps from V, with F = Phi V, until the relative gap is at most ``tol`` or nothing moves.

    For the hinge it is the problem with the smoothed hinge of that width; ``exact`` lets the width fall until
    the gap of the hinge itself is that small.
    """
    b, alpha = len(V), problem.alpha
    hinge = isinstance(problem.loss, Hinge)
    newton = NewtonSteps(problem.panel, alpha)
    n_steps, secant, last = 0, hinge, MAX_STEPS
    while True:
        loss = problem.smooth(width)
        G = problem.panel.tdot(problem.residuals(loss, F), b) + alpha * V
        primal = problem.losses(loss, F) + 0.5 * alpha * np.square(V).sum(axis=0)
        gap = np.square(G).sum(axis=0) / (2.0 * alpha)
        now = Refit(V, F, primal, gap, width, n_steps, smoothed=hinge)
        if hinge and exact:
            now = own_bounds(problem, now)
            excess = now.gap - gap
            if gap.sum() <= 0.2 * excess.sum() and now.relative_gap > tol and width > LEAST_WIDTH:
                V, F = _narrowed(problem, newton, now, SHRINK * width)
                width, secant, last = SHRINK * width, False, n_steps + MAX_STEPS
                continue
        if now.relative_gap <= tol or n_steps >= last or b == 0:
            return now
        open_columns = np.flatnonzero(gap > 0.01 * tol * np.maximum(primal, 1e-300))
        step = newton.step(problem.curvatures(loss, F, secant), G, open_columns)
        V_new, F_new, rate = _line_search(problem, loss, now, primal, G, step)
        n_steps += 1
        if rate == 0.0 and not (hinge and not secant):
            return now
        secant = hinge and rate < 0.25 and not (secant and rate == 0.0)
        V, F = V_new, F_new


def _narrowed(
    problem: ReducedProblem, newton: NewtonSteps, now: Refit, width: float
) -> tuple[np.ndarray, np.ndarray]:
    """Where the optimum for a narrower hinge is, if every row stays on its piece: a start near it.

    At a smoothed optimum it is the slopes that are nearly right, so margins on the parabola must come closer
    to 1 as the width falls. Columns in which the guess is no better stay where they are.
    """
    wide, narrow = SmoothedHinge(now.width), SmoothedHinge(width)
    m = problem.targets * now.F
    D = problem.curvatures(wide, now.F) * (now.width / width)
    slope = np.where(wide.curvature(m) > 0.0, (m - 1.0) / width, wide.slope(m))
    R = problem.cost * problem.targets * slope
    G = problem.panel.tdot(R, len(now.V)) + problem.alpha * now.V
    step = newton.step(D, G, np.arange(D.shape[1]))
    V, F = now.V + step, now.F + problem.panel.dot(step)

    def value(V: np.ndarray, F: np.ndarray) -> np.ndarray:
        return problem.losses(narrow, F) + 0.5 * problem.alpha * np.square(V).sum(axis=0)

    better = value(V, F) < value(now.V, now.F)
    return np.where(better, V, now.V), np.where(better, F, now.F)


def _line_search(
    problem: ReducedProblem,
    loss: SmoothLoss,
    now: Refit,
    primal: np.ndarray,
    G: np.ndarray,
    step: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Halve each column's step until its objective falls; the new point, and the shortest share of a step.

    Columns in which it never falls stay; the share is 0 where no column has moved.
    """
    FD = problem.panel.dot(step)
    slope = np.sum(G * step, axis=0)
    rate = np.where(slope < 0.0, 1.0, 0.0)
    for _ in range(40):
        V, F = now.V + rate * step, now.F + rate * FD
        value = problem.losses(loss, F) + 0.5 * problem.alpha * np.square(V).sum(axis=0)
        bad = (rate > 0.0) & ~(value <= primal + 1e-4 * rate * slope + 1e-12 * np.abs(primal))
        if not bad.any():
            moved = (rate > 0.0) & (value < primal)
            return V, F, float(rate[moved].min()) if moved.any() else 0.0
        rate = np.where(bad, 0.5 * rate, rate)
    rate = np.where(bad, 0.0, rate)
    moved = rate > 0.0
    return now.V + rate * step, now.F + rate * FD, float(rate[moved].min()) if moved.any() else 0.0
