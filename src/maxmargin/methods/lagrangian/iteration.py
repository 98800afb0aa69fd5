"""The Lagrangian SVM: the iteration as published, and the problem with its certificate.

    min_{w,b}  1/2 (||w||^2 + b^2) + 1/2 sum_i c_i max(0, 1 - y_i f(x_i))^2,    f(x) = <w, phi(x)> + b

has the dual

    min_{a >= 0}  1/2 a' Q a - e'a,    Q = HH' + diag(1/c_i),    H = diag(y) [phi(X) e],

whose optimality conditions say Qa - e = max(0, Qa - e - mu a) for every mu > 0. The iteration (Mangasarian
and Musicant 2001)

    a <- Q^{-1} (e + max(0, Qa - e - mu a))

converges linearly from any start for 0 < mu < 2 / max_i c_i. Every row may have a mu_i of its own: with
M = diag(mu_i) and a = M^{-1/2} z it is the iteration for M^{-1/2} Q M^{-1/2} and mu = 1, which converges
where 2Q - M is positive definite, hence for 0 < mu_i < 2 / c_i. A row of cost k c with mu / k moves as k
equal rows of cost c with mu do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._native import one_blas_thread
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
from .systems import RidgeSystem

STEPS_PER_CERTIFICATE = 8  # a certificate costs as much as two steps
DEFAULT_MU_TIMES_COST = 1.9  # mu_i c_i where no mu is given


@dataclass(frozen=True)
class LagrangianProblem:
    """The system of the rows, and targets in {-1.0, +1.0}."""

    system: RidgeSystem
    y: np.ndarray

    @property
    def cost(self) -> np.ndarray:
        """The c_i."""
        return self.system.cost

    @property
    def tiny(self) -> float:
        """What counts as zero among objective values: the objective at w = 0 times the unit roundoff."""
        return 0.5 * float(self.cost.sum()) * FLOAT_EPS

    def image(self, a: np.ndarray) -> np.ndarray:
        """``Q a``."""
        scores = self.system.scores(self.system.combine(self.y * a))
        return self.y * scores + a / self.cost

    def solve(self, right: np.ndarray) -> np.ndarray:
        """``Q^{-1} right``."""
        return self.y * self.system.solve(self.y * right)

    def primal(self, coef: np.ndarray, scores: np.ndarray) -> float:
        """The objective of a function and its scores."""
        missing = np.maximum(0.0, 1.0 - self.y * scores)
        return 0.5 * self.system.sqnorm(coef, scores) + 0.5 * float(self.cost @ missing**2)

    def dual(self, a: np.ndarray, sqnorm: float) -> float:
        """The dual value of multipliers ``a >= 0``, whose function has that squared norm."""
        return float(a.sum() - 0.5 * (a / self.cost) @ a - 0.5 * sqnorm)

    def best_multiple(self, a: np.ndarray) -> tuple[np.ndarray, float]:
        """Of the multiples of ``a >= 0``, which are all feasible, the one with the largest dual value."""
        coef = self.system.combine(self.y * a)
        bend = self._sqnorm(coef) + float((a / self.cost) @ a) + self.system.rounding(a)
        total = float(a.sum())
        return (a * (total / bend), 0.5 * total * total / bend) if bend > 0.0 else (a, 0.0)

    def _sqnorm(self, coef: np.ndarray) -> float:
        return self.system.sqnorm(coef, self.system.scores(coef))


def largest_mu(largest_cost: float) -> float:
    """The iteration converges for every positive mu below this."""
    return 2.0 / largest_cost


def row_mu(mu: float | None, cost: np.ndarray, largest_cost: float | None = None) -> np.ndarray:
    """The mu_i of rows: 1.9 / c_i, or a given ``mu``, which must lie in the range of ``largest_cost``.

    That is of the rows as they were given, by default max_i c_i. Rows that cost more than this are made of
    several: a row of k times the largest cost has mu / k, as k such rows together.
    """
    if mu is None:
        return DEFAULT_MU_TIMES_COST / cost
    largest_cost = float(cost.max()) if largest_cost is None else largest_cost
    if not 0.0 < mu < largest_mu(largest_cost):
        raise ValueError(
            f"mu must lie between 0 and 2 / max C_i = {largest_mu(largest_cost):g}, where C_i is C times a "
            f"sample's weight; got {mu!r}. Lower mu, or leave it at None."
        )
    return mu * np.minimum(1.0, largest_cost / cost)


def start(problem: LagrangianProblem, a: np.ndarray | None = None, mu: np.ndarray | None = None) -> State:
    """Before the first step: at any ``a``, or where the published method starts, whose first a is Q^{-1} e.

    ``surplus`` is max(0, Qa - e - mu a): at the optimum, by how much a margin is larger than 1.
    """
    n = len(problem.y)
    if a is None:
        return State(a=np.zeros(n), surplus=np.zeros(n))
    mu = row_mu(None, problem.cost) if mu is None else mu
    return State(a=a.copy(), surplus=np.maximum(0.0, problem.image(a) - 1.0 - mu * a))


def lagrangian(
    problem: LagrangianProblem,
    *,
    stop: Stop,
    mu: np.ndarray | None = None,
    state: State | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise by the published iteration; ``mu`` is what ``row_mu`` returns, 1.9 / c_i by default.

    The result's ``dual_coef`` are feasible signed multipliers y a, its ``coef`` are those of the system.
    """
    mu = row_mu(None, problem.cost) if mu is None else mu
    state = stop.resumed(state) or start(problem)
    iteration = Iteration(problem, mu, stop.tol, state)
    with one_blas_thread():
        status, history = drive(
            state,
            iteration.step,
            iteration.certify,
            stop,
            callback,
            due=lambda: state.n_iter % STEPS_PER_CERTIFICATE == 0,
        )
    u = problem.y * iteration.feasible
    return SolverResult(iteration.coef, iteration.intercept, status, history, u)


class Iteration:
    """One step at a time, and the points that the bounds are computed at."""

    def __init__(self, problem: LagrangianProblem, mu: np.ndarray, tol: float, state: State) -> None:
        self.problem, self.mu, self.tol, self.state = problem, mu, tol, state

    def step(self) -> bool:
        """The published step; true where it changes nothing."""
        state, before = self.state, self.state.a
        state.a = self.problem.solve(1.0 + state.surplus)
        state.surplus = np.maximum(0.0, state.surplus - self.mu * state.a)
        return np.array_equal(before, state.a)

    def certify(self) -> Certificate:
        """The dual at the nearest feasible multipliers, the primal at w = H'a.

        Off the optimum some a are negative, and none is 0. Setting to 0 those that are negative, or beyond
        the margin, gives feasible ones. They are the primal point as well, once that is good enough.
        """
        problem, state = self.problem, self.state
        dropped = np.where(state.surplus > 0.0, 0.0, np.maximum(state.a, 0.0))
        self.feasible, dual = problem.best_multiple(dropped)
        few = self._primal_at(self.feasible)
        enough = relative_gap(few, max(dual, state.get("best_dual", -np.inf)), problem.tiny) <= self.tol
        primal = few if enough else self._primal_at(state.a)
        return Certificate(primal, dual, int(np.count_nonzero(self.feasible)), tiny=problem.tiny)

    def _primal_at(self, a: np.ndarray) -> float:
        u, system = self.problem.y * a, self.problem.system
        self.coef, self.intercept = system.combine(u), float(u.sum())
        return self.problem.primal(self.coef, system.scores(self.coef)) + system.rounding(u)
