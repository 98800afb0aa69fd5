"""The spaces of a Lagrangian SVM: the features of X, a kernel matrix, or eigen features.

A space solves the problem of one column for some of the rows, by Newton's method or by the published
iteration. Results have the estimator's coefficients in ``coef`` and signed multipliers in ``dual_coef``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..._native import one_blas_thread
from ...data import Rows, WeightedRows, check_kernel_sums
from ...kernels import KernelData
from ...losses import SquaredHinge
from ...solving import (
    Callback,
    SampledErrors,
    SolverResult,
    Stop,
    bounds_cross,
    counted_rounding,
    is_indefinite,
    kernel_errors,
    most_important,
    relative_gap,
    without_bound,
)
from ..eigen_map import EigenFeatures
from ..linear import MarginProblem, dual_cd, newton
from . import iteration as lagrangian
from . import newton as kernel_newton
from .problem import LagrangianProblem
from .systems import EigenSystem, FeatureSystem, KernelSystem, RidgeSystem, WideSystem

__all__ = ["ColumnSolver", "EigenSpace", "KernelSpace", "LinearSpace"]

N_SAMPLED_ROWS = 64  # whose eigen features are computed in double, to measure rounding
MAX_ITERATED_ORDER = 10_000  # of the matrix that the published iteration factorises


@dataclass(frozen=True)
class ColumnSolver:
    """How a column is solved, and where it starts: ``start`` is what ``LinearSpace.start`` returned, or None.

    ``mu`` are the steps of the published iteration, one for each row of the space.
    """

    solver: Literal["newton", "lagrangian", "dual-cd"]
    mu: np.ndarray
    stop: Stop
    callback: Callback | None
    start: np.ndarray | None = None
    seed: int = 0


@dataclass(frozen=True)
class SpaceResult(SolverResult):
    """A column's solution, and the space that it was found in."""

    space: LinearSpace | KernelSpace = None  # type: ignore[assignment]


@dataclass(frozen=True)
class LagrangianStart:
    """Where a later fit of the same ``kind`` can start: what ``space.start`` returned for each column."""

    kind: tuple[Any, ...]
    starts: list[np.ndarray]


def _shared(system: RidgeSystem) -> RidgeSystem:
    """The system of all rows, which all columns share; factorised here, where Ctrl-C is raised at once."""
    with one_blas_thread():
        system.factorise()
    return system


def _iterate(system: RidgeSystem, which: np.ndarray, y: np.ndarray, method: ColumnSolver) -> SolverResult:
    problem, mu = LagrangianProblem(system, y), method.mu[which]
    begin = method.start
    state = None if begin is None else lagrangian.start(problem, y * begin, mu)
    return lagrangian.lagrangian(problem, stop=method.stop, mu=mu, state=state, callback=method.callback)


class LinearSpace:
    """The features of X, dense or CSR, of which nothing is copied."""

    name = "linear"

    def __init__(self, data: WeightedRows, C: float, solver: str) -> None:
        self.rows, self.cost = data.rows, C * data.weight
        order = min(len(self.rows), self.rows.n_features + 1)
        if solver == "lagrangian" and order > MAX_ITERATED_ORDER:
            raise ValueError(
                "solver='lagrangian' factorises a matrix of order min(n_samples, n_features + 1), at most "
                f"{MAX_ITERATED_ORDER:,}; got {order:,}. Use solver='newton', which needs no such matrix."
            )
        self._whole = _shared(self._system(self.rows, self.cost)) if solver == "lagrangian" else None

    @property
    def n_features(self) -> int:
        """How long w is."""
        return self.rows.n_features

    def _system(self, rows: Rows, cost: np.ndarray) -> RidgeSystem:
        if rows.n_features < len(rows):
            return FeatureSystem(rows, cost)
        return WideSystem(rows, cost)

    def solve(self, which: np.ndarray, y: np.ndarray, n_threads: int, method: ColumnSolver) -> SolverResult:
        """The column of some rows; ``coef`` is w."""
        rows = replace(self.rows.take(which), n_threads=n_threads, cancel=method.stop.cancel)
        cost = self.cost[which]
        problem = MarginProblem(rows, y, cost, SquaredHinge(), "penalised")
        if method.solver == "dual-cd":
            return dual_cd(problem, stop=method.stop, seed=method.seed, callback=method.callback)
        if method.solver == "newton":
            begin = method.start
            state = None if begin is None else newton.start_at(problem, begin[:-1], float(begin[-1]))
            return newton.newton(problem, stop=method.stop, state=state, callback=method.callback)
        whole = self._whole if len(which) == len(self.rows) else None
        result = _iterate(self._system(rows, cost) if whole is None else whole, which, y, method)
        return replace(result, coef=result.coef[:-1])

    def start(self, result: SolverResult, solver: str) -> np.ndarray:
        """The start of a later fit by the same solver."""
        return np.append(result.coef, result.intercept) if solver == "newton" else _multipliers(result)


class EigenSpace(LinearSpace):
    """Eigen features of a kernel; in float32, where they may be, rounding counts (``with_rounding``)."""

    name = "eigen"

    def __init__(self, found: EigenFeatures, data: WeightedRows, C: float, solver: str) -> None:
        self.found, self.C = found, C
        rows = replace(data.rows, X=found.features, index=np.arange(len(data.rows)))
        super().__init__(WeightedRows(rows, data.labels, data.weight), C, solver)

    def _system(self, rows: Rows, cost: np.ndarray) -> RidgeSystem:
        """An arrow where D' diag(c) D is diagonal: for all rows, in double precision."""
        if len(rows) == len(self.rows) and rows.X.dtype == np.float64:
            return EigenSystem(rows, cost, self.C * self.found.eigenvalues)
        return FeatureSystem(rows, cost)

    @property
    def is_single(self) -> bool:
        """Whether the features are in float32."""
        return bool(self.rows.X.dtype == np.float32)

    def with_rounding(self, kernel: KernelData, which: np.ndarray, result: SolverResult) -> SolverResult:
        """The result with what rounding of the features can do included in its gap.

        With u the multipliers, errors e of outputs move the losses by about u'e, and so does the change of
        ``w = sum_i u_i phi_i`` with half its squared norm.
        """
        if not result.coef.any():
            return result
        check = result.history[-1]
        rounding = self._double_rounding(kernel, which, result)
        if self.is_single:
            rounding += self._single_rounding(kernel, which, result)
        rounding = counted_rounding(rounding, max(abs(check.primal), abs(check.dual), check.tiny))
        history = (*result.history[:-1], replace(check, dual=check.dual - rounding))
        return replace(result, history=history)

    def _single_rounding(self, kernel: KernelData, which: np.ndarray, result: SolverResult) -> float:
        """From the features of some rows, computed in double."""
        u = _multipliers(result)[:, None]
        places = np.linspace(0, len(which) - 1, min(N_SAMPLED_ROWS, len(which))).astype(np.int64)
        exact = kernel.gram(kernel.points(which[places]), self.found.points) @ self.found.projection
        d = exact - self.found.features[which[places]]
        errors = SampledErrors.of(d, (d @ result.coef)[:, None], np.sign(u[places]), u)
        losses = errors.value + 0.5 * self.cost[which][u[:, 0] != 0.0].sum() * errors.noise**2
        return float((losses + errors.value + 0.5 * errors.gradient**2)[0])

    def _double_rounding(self, kernel: KernelData, which: np.ndarray, result: SolverResult) -> float:
        """From the sizes of the terms of ``k(x, landmarks) @ projection``, which can be large and cancel."""
        u, P = np.abs(_multipliers(result)), self.found.projection
        lengths, own = kernel.lengths(which), np.sqrt(np.maximum(kernel.diagonal(self.found.points), 0.0))
        e = kernel_errors(P @ result.coef, own, lengths, result.intercept)
        norm = np.array([np.linalg.norm(own[:, None] * P)])
        g = float(u @ kernel_errors(np.ones(1), norm, lengths))
        return float(2.0 * u @ e + 0.5 * self.cost[which][u != 0.0] @ np.square(e[u != 0.0])) + 0.5 * g * g

    def kernel_gap(self, kernel: KernelData, which: np.ndarray, y: np.ndarray, result: SolverResult) -> float:
        """The relative gap of the problem with the kernel itself.

        A function of the eigen features has the same norm and values in the kernel's space, and so the same
        primal value. The dual value of multipliers t a, for the best t, needs u'Ku.
        """
        u = _multipliers(result)
        support = np.flatnonzero(u)
        if not len(support):
            return relative_gap(result.objective, 0.0)
        rows = kernel.take(which)
        norm = float(u[support] @ rows.matmul(support, support, u[support, None])[:, 0]) + float(u.sum()) ** 2
        bend = norm + float(np.sum(u * u / self.cost[which]))
        dual = 0.5 * float(y @ u) ** 2 / bend if bend > 0.0 else -np.inf  # an indefinite kernel has no bound
        return relative_gap(result.objective, dual)


class KernelSpace:
    """A kernel matrix in double precision, computed once for all columns."""

    name = "kernel"
    n_features = 0  # none that are computed

    def __init__(self, kernel: KernelData, data: WeightedRows, C: float, solver: str) -> None:
        self.cost = C * data.weight
        self.G = kernel.gram(kernel.points(slice(None)))
        check_kernel_sums(kernel.dtype, self.G)
        self.G += 1.0
        self.positive = kernel.kernel.positive
        whole = KernelSystem(self.G, self.cost, kernel.n_threads, kernel.cancel)
        self._whole = _shared(whole) if solver == "lagrangian" else None

    def solve(self, which: np.ndarray, y: np.ndarray, n_threads: int, method: ColumnSolver) -> SolverResult:
        """The column of some rows; ``coef`` is u. An indefinite kernel allows no bound."""
        result = self._solve(which, y, n_threads, method)
        if self.positive:
            return result
        if bounds_cross(result):
            return without_bound(result)
        rows = which[most_important(np.abs(_multipliers(result)))]
        return without_bound(result) if is_indefinite(self.G[np.ix_(rows, rows)], balanced=False) else result

    def _solve(self, which: np.ndarray, y: np.ndarray, n_threads: int, method: ColumnSolver) -> SolverResult:
        every = len(which) == len(self.cost)
        if every and self._whole is not None:
            return _iterate(self._whole, which, y, method)
        G = self.G if every else self.G[np.ix_(which, which)]
        system = KernelSystem(G, self.cost[which], n_threads, method.stop.cancel)
        if method.solver == "lagrangian":
            return _iterate(system, which, y, method)
        state = None if method.start is None else kernel_newton.start(system, method.start)
        return kernel_newton.kernel_newton(system, y, stop=method.stop, state=state, callback=method.callback)

    def start(self, result: SolverResult, solver: str) -> np.ndarray:
        """The start of a later fit."""
        return _multipliers(result)


def _multipliers(result: SolverResult) -> np.ndarray:
    if result.dual_coef is None:
        raise ValueError("the solver found no multipliers")
    return result.dual_coef
