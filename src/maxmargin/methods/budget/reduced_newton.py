"""Newton's method for the coefficients of a fixed set of support vectors, all columns at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve

from ..._native import reduced_newton
from ...losses import Log, Loss, SmoothLoss, Squared, SquaredHinge
from ...numerics import FeaturePanel
from ...residual_losses import MARGIN, Argument

HINGE_WIDTH = 0.5  # of the smoothed hinge while support vectors are chosen
MIN_HINGE_WIDTH = 1e-9
HINGE_WIDTH_FACTOR = 0.3  # from one width to the next
MAX_STEPS_PER_WIDTH = 100  # Newton steps
MAX_HALVINGS = 40  # of a step in the line search
MAX_COMPILED_ORDER = 128  # support vectors up to which the core takes the Newton steps


@dataclass
class ReducedProblem:
    """Minimise over the columns v of V, (b, n_columns), for the features Phi of the first b points,

        P(v) = sum_i c_i loss(m_i) + alpha/2 ||v||^2,    f = Phi v,

    with m_i = y_i f_i, or for regression f_i - y_i. With theta_i = -c_i slope(m_i), the dual of the same
    problem is worth P(v) - ||g||^2 / (2 alpha) at theta, g being the gradient of P at v: the gradient's norm
    is a duality gap. For a loss with a kink, such as the hinge, P has its smoothed twin; ``excess`` is what
    the smoothing adds to the gap of the loss.
    """

    panel: FeaturePanel
    targets: np.ndarray  # y, (n_rows, n_columns)
    cost: np.ndarray  # c, the same shape; 0 where a row takes no part
    loss: Loss
    alpha: float
    argument: Argument = MARGIN

    @property
    def kinked(self) -> bool:
        """Whether Newton's method needs a smoothed twin of the loss."""
        return hasattr(self.loss, "smoothed")

    def smooth(self, width: float = HINGE_WIDTH) -> SmoothLoss:
        """The loss itself, or where it has a kink its smoothed twin."""
        return self.loss.smoothed(width) if self.kinked else self.loss  # type: ignore[attr-defined, return-value]

    def is_compiled(self, b: int) -> bool:
        """Whether the core has this loss, and factorising all Hessians is the best way to solve for b."""
        known = isinstance(self.loss, SquaredHinge | Log | Squared)
        return known and self.argument is MARGIN and self.panel.exact_gram and b <= MAX_COMPILED_ORDER

    def by_column(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features, targets and costs for the core, which takes a row for each column of the code."""
        targets, cost = np.ascontiguousarray(self.targets.T), np.ascontiguousarray(self.cost.T)
        return self.panel.storage, targets, cost

    def over_rows(self, function, *arrays):  # type: ignore[no-untyped-def]
        """The sum over blocks of rows of ``function(targets, cost, *arrays)``, each (n_columns,)."""

        def work(rows: slice) -> np.ndarray:
            return function(self.targets[rows], self.cost[rows], *(array[rows] for array in arrays))

        return self.panel.pool.sum(work, self.panel.blocks)

    def losses(self, loss: Loss, F: np.ndarray) -> np.ndarray:
        """``sum_i c_i loss(m_i)`` of each column."""
        of = self.argument.of
        return np.asarray(self.over_rows(lambda y, c, f: (c * loss.value(of(y, f))).sum(axis=0), F))

    def residuals(self, loss: Loss, F: np.ndarray) -> np.ndarray:
        """The derivative of the losses in f."""
        out = np.empty_like(F)

        def work(rows: slice) -> None:
            y = self.targets[rows]
            out[rows] = self.argument.per_output(self.cost[rows], y) * loss.slope(
                self.argument.of(y, F[rows])
            )

        self.panel.pool.map(work, self.panel.blocks)
        return out

    def curvatures(self, loss: SmoothLoss, F: np.ndarray, secant: bool = False) -> np.ndarray:
        """``c_i curvature(m_i)``, or the curvature of a parabola above the loss that touches it at m_i."""
        out = np.empty_like(F)

        def work(rows: slice) -> None:
            m, cost = self.argument.of(self.targets[rows], F[rows]), self.cost[rows]
            out[rows] = loss.secant(m, cost) if secant else cost * loss.curvature(m)  # type: ignore[attr-defined]

        self.panel.pool.map(work, self.panel.blocks)
        return out

    def excess(self, width: float, F: np.ndarray) -> np.ndarray:
        """The gap of the loss minus the gap of its smoothed twin, in each column."""
        smooth = self.smooth(width)

        def block(y: np.ndarray, c: np.ndarray, f: np.ndarray) -> np.ndarray:
            m = self.argument.of(y, f)
            theta = smooth.slope(m)
            lost = self.loss.value(m) - smooth.value(m) - 0.5 * width * theta * theta
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
    smoothed: bool = False  # whether the bounds are those of the smoothed loss

    @property
    def relative_gap(self) -> float:
        """The gap of all columns together, as a share of the objective."""
        total = float(self.primal.sum())
        return float(self.gap.sum()) / total if total > 0.0 else 0.0


def own_bounds(problem: ReducedProblem, fitted: Refit) -> Refit:
    """The same coefficients with the bounds of the loss itself, where they were the smoothed one's."""
    if not fitted.smoothed:
        return fitted
    half_norm = 0.5 * problem.alpha * np.square(fitted.V).sum(axis=0)
    primal = problem.losses(problem.loss, fitted.F) + half_norm
    gap = fitted.gap + problem.excess(fitted.width, fitted.F)
    return replace(fitted, primal=primal, gap=gap, smoothed=False)


def refit(
    problem: ReducedProblem,
    V: np.ndarray,
    F: np.ndarray,
    tol: float,
    *,
    width: float = HINGE_WIDTH,
    exact: bool = False,
) -> Refit:
    """Newton steps from V, with F = Phi V, until the relative gap is at most ``tol`` or no step lowers it.

    For a loss with a kink this solves the problem of its smoothed twin of that width; with ``exact`` the
    width shrinks until the gap of the loss itself is that small.
    """
    b, alpha = len(V), problem.alpha
    if problem.is_compiled(b):
        return _compiled_refit(problem, V, F, tol)
    kinked, straight = problem.kinked, hasattr(problem.smooth(width), "secant")
    newton = NewtonSteps(problem.panel, alpha)
    n_steps, secant, last = 0, straight, MAX_STEPS_PER_WIDTH
    while True:
        loss = problem.smooth(width)
        G = problem.panel.tdot(problem.residuals(loss, F), b) + alpha * V
        primal = problem.losses(loss, F) + 0.5 * alpha * np.square(V).sum(axis=0)
        gap = np.square(G).sum(axis=0) / (2.0 * alpha)
        now = Refit(V, F, primal, gap, width, n_steps, smoothed=kinked)
        if kinked and exact and b == 0:  # nothing to fit
            return replace(own_bounds(problem, now), gap=np.zeros_like(gap))
        if kinked and exact:
            now = own_bounds(problem, now)
            excess = now.gap - gap
            if gap.sum() <= 0.2 * excess.sum() and now.relative_gap > tol and width > MIN_HINGE_WIDTH:
                V, F = _narrowed(problem, newton, now, HINGE_WIDTH_FACTOR * width)
                width, secant, last = HINGE_WIDTH_FACTOR * width, False, n_steps + MAX_STEPS_PER_WIDTH
                continue
        open_columns = np.flatnonzero(gap > 0.01 * tol * np.maximum(primal, 1e-300))
        if now.relative_gap <= tol or n_steps >= last or len(open_columns) * b == 0:
            return now
        step = newton.step(problem.curvatures(loss, F, secant), G, open_columns)
        V_new, F_new, rate = _line_search(problem, loss, now, primal, G, step)
        n_steps += 1
        if rate == 0.0 and not (straight and not secant):
            return now
        secant = straight and rate < 0.25 and not (secant and rate == 0.0)
        V, F = V_new, F_new


def _compiled_refit(problem: ReducedProblem, V: np.ndarray, F: np.ndarray, tol: float) -> Refit:
    """The same steps in the core."""
    now = Refit(np.array(V.T, order="C"), np.array(F.T, order="C"), *np.empty((2, V.shape[1])))
    pool, loss = problem.panel.pool, problem.loss.name
    now.n_steps = reduced_newton(
        *problem.by_column(),
        loss,
        problem.alpha,
        tol,
        MAX_STEPS_PER_WIDTH,
        len(V),
        now.V,
        now.F,
        now.primal,
        now.gap,
        pool.n_threads,
        pool.cancel,
    )
    return replace(now, V=np.ascontiguousarray(now.V.T), F=now.F.T)


def _narrowed(
    problem: ReducedProblem, newton: NewtonSteps, now: Refit, width: float
) -> tuple[np.ndarray, np.ndarray]:
    """A start for a narrower parabola: the optimum, if every row stays on its piece of the loss.

    At a smoothed optimum it is the slopes that are nearly right, so margins on the parabola must come closer
    to the kink as the width shrinks. Columns in which the guess is no better do not move.
    """
    wide, narrow = problem.smooth(now.width), problem.smooth(width)
    m = problem.argument.of(problem.targets, now.F)
    D = problem.curvatures(wide, now.F) * (now.width / width)
    slope = np.where(wide.curvature(m) > 0.0, (m - wide.kink) / width, wide.slope(m))  # type: ignore[attr-defined]
    R = problem.argument.per_output(problem.cost, problem.targets) * slope
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
    for _ in range(MAX_HALVINGS):
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


MAX_PASSES_FULL_HESSIAN = 150.0  # work, in passes over the panel, up to which Hessians use all rows
MAX_PASSES_SAMPLED_HESSIAN = 50.0  # work of the sampled Hessians that are preconditioners beyond
MIN_ORDER_TO_REUSE_FACTOR = 128  # from which on an earlier factor is tried before a new one is computed
MAX_CURVATURE_CHANGE = 0.1  # share of the curvature that may have changed since that factor
MAX_STEPS_WITH_EARLIER_FACTOR = 8  # of conjugate gradients
MAX_STEPS_WITH_SAMPLED_FACTOR = 30
MAX_NUMBERS_IN_FACTORS = 50_000_000  # at a time
MAX_NUMBERS_IN_HESSIANS = 1 << 25  # stored, to be updated where few rows change sides


class NewtonSteps:
    """Solves ``(Phi' D_t Phi + alpha I) x = -g_t`` for columns t.

    By Cholesky; by conjugate gradients where the factors are approximate: those of a sample of the rows, or
    those of an earlier step, which change little once few rows change sides.
    """

    def __init__(self, panel: FeaturePanel, alpha: float) -> None:
        self.panel, self.alpha = panel, alpha
        self.factors: dict[int, np.ndarray] = {}
        self.factored: np.ndarray | None = None  # the curvatures they belong to
        self.hessians: dict[int, np.ndarray] = {}  # without alpha

    def step(self, D: np.ndarray, G: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The steps for the open columns, 0 in the others; D holds the rows' curvatures, G the gradients."""
        n_together = max(1, MAX_NUMBERS_IN_FACTORS // len(G) ** 2)
        if len(columns) > n_together:  # some columns at a time, and no factors are stored
            parts = [columns[i : i + n_together] for i in range(0, len(columns), n_together)]
            return np.asarray(sum(NewtonSteps(self.panel, self.alpha).step(D, G, part) for part in parts))
        step, d, g = np.zeros_like(G), D[:, columns], G[:, columns]
        if len(G) >= MIN_ORDER_TO_REUSE_FACTOR and self._are_near(d, columns):
            found, converged = self._with_earlier_factors(d, g, columns)
            if converged:
                step[:, columns] = found
                return step
        before = np.zeros_like(d) if self.factored is None else self.factored[:, columns]
        if self.factored is None:
            self.factored = np.zeros_like(D)
        self.factored[:, columns] = d
        if self._factorise(d, before, columns, len(G)):
            step[:, columns] = -self._precondition(g, columns)
        else:
            step[:, columns], _ = self._conjugate_gradients(d, g, columns, MAX_STEPS_WITH_SAMPLED_FACTOR)
        return step

    def _are_near(self, D: np.ndarray, columns: np.ndarray) -> bool:
        """Whether there are factors of nearly the same Hessians."""
        if self.factored is None or not all(t in self.factors for t in columns):
            return False
        change = np.abs(D - self.factored[:, columns]).sum(axis=0)
        return bool((change <= MAX_CURVATURE_CHANGE * D.sum(axis=0)).all())

    def _with_earlier_factors(
        self, D: np.ndarray, G: np.ndarray, columns: np.ndarray
    ) -> tuple[np.ndarray, bool]:
        if self.panel.exact_gram:
            return self._conjugate_gradients(D, G, columns, MAX_STEPS_WITH_EARLIER_FACTOR)
        return -self._precondition(G, columns), True

    def _factorise(self, D: np.ndarray, before: np.ndarray, columns: np.ndarray, b: int) -> bool:
        """New factors; whether they are those of the Hessians themselves."""
        panel, n_active, stride = self.panel, np.count_nonzero(D, axis=0), 1
        work = b * float(n_active.sum())
        shared = len(columns) > 1 and all(np.array_equal(D[:, 0], D[:, t]) for t in range(1, len(columns)))
        if panel.exact_gram and work > MAX_PASSES_FULL_HESSIAN * D.size and not shared:
            stride = max(
                1, min(int(work / (MAX_PASSES_SAMPLED_HESSIAN * D.size)), int(n_active.min()) // (4 * b))
            )

        def factor(t: int, alone: bool = False) -> np.ndarray:
            if stride > 1 or not panel.exact_gram or D.shape[1] * b * b > MAX_NUMBERS_IN_HESSIANS:
                which = np.flatnonzero(D[:, t])[::stride]
                H = panel.gram(which, stride * D[which, t], b, alone=alone)
            else:
                H = self._hessian(int(columns[t]), D[:, t], before[:, t], b, alone)
            return regularised_factor(H, self.alpha)

        if shared or len(columns) == 1:
            found = [factor(0, alone=True)] * len(columns)
        else:
            found = panel.pool.map(factor, range(len(columns)), b * (work / stride + b * b))
        self.factors.update(zip(columns.tolist(), found))
        return stride == 1

    def _hessian(self, t: int, d: np.ndarray, before: np.ndarray, b: int, alone: bool) -> np.ndarray:
        """``Phi' diag(d) Phi``; where few rows have changed, by adding and subtracting theirs."""
        change = d if t not in self.hessians else d - before
        if 2 * np.count_nonzero(change) > np.count_nonzero(d):
            self.hessians.pop(t, None)
            change = d
        more, less = np.flatnonzero(change > 0.0), np.flatnonzero(change < 0.0)
        H = self.panel.gram(more, change[more], b, alone=alone)
        if t in self.hessians:
            H += self.hessians[t]
            H -= self.panel.gram(less, -change[less], b, alone=alone)
        self.hessians[t] = H
        return H.copy()

    def _precondition(self, R: np.ndarray, columns: np.ndarray) -> np.ndarray:
        def solve(t: int) -> np.ndarray:
            return np.asarray(cho_solve((self.factors[columns[t]], True), R[:, t], check_finite=False))

        return np.column_stack(self.panel.pool.map(solve, range(len(columns)), 2.0 * R.size * len(R)))

    def _conjugate_gradients(
        self, D: np.ndarray, G: np.ndarray, columns: np.ndarray, max_iter: int
    ) -> tuple[np.ndarray, bool]:
        """All columns at once, each until its residual is a tenth of the gradient; whether all got there."""
        X, R = np.zeros_like(G), -G
        Z = self._precondition(R, columns)
        S, rho = Z.copy(), np.sum(R * Z, axis=0)
        enough = 0.01 * rho
        for _ in range(max_iter):
            Q = self.panel.tdot(D * self.panel.dot(S), len(G)) + self.alpha * S
            rate = _ratio(rho, np.sum(S * Q, axis=0))
            X += rate * S
            R -= rate * Q
            Z = self._precondition(R, columns)
            rho, before = np.sum(R * Z, axis=0), rho
            if (rho <= enough).all():
                return X, True
            S = Z + _ratio(rho, before) * S
        return X, False


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b > 0.0, a / np.where(b > 0.0, b, 1.0), 0.0)


def regularised_factor(H: np.ndarray, alpha: float) -> np.ndarray:
    """The Cholesky factor of H + alpha I; single precision may need a little more than alpha."""
    ridge, diagonal = alpha, H.diagonal().copy()
    while True:
        H[np.diag_indices_from(H)] = diagonal + ridge
        try:
            return np.linalg.cholesky(H)  # releases the GIL, unlike SciPy's
        except np.linalg.LinAlgError:
            ridge = max(10.0 * ridge, 1e-7 * float(diagonal.max()), 1e-300)
