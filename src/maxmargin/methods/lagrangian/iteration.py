"""The iteration as published (Mangasarian and Musicant 2001), for the problem of `problem.py`.

At the optimum Qa - e = max(0, Qa - e - mu a) for every mu > 0. The iteration

    a <- Q^{-1} (e + max(0, Qa - e - mu a))

converges linearly from any start for 0 < mu < 2 / max_i c_i. Every row may have a mu_i of its own: with
M = diag(mu_i) and a = M^{-1/2} z it is the iteration for M^{-1/2} Q M^{-1/2} and mu = 1, which converges
if 2Q - M is positive definite, hence for 0 < mu_i < 2 / c_i. A row of cost k c with mu / k moves like k
equal rows of cost c with mu.
"""

from __future__ import annotations

import numpy as np

from ..._native import one_blas_thread
from ...solving import (
    Callback,
    Certificate,
    SolverResult,
    State,
    Stop,
    drive,
    relative_gap,
    with_rounding,
)
from .problem import LagrangianProblem

STEPS_PER_CERTIFICATE = 8  # a certificate costs as much as two steps
DEFAULT_MU_TIMES_COST = 1.9  # mu_i c_i where no mu is given


def largest_mu(largest_cost: float) -> float:
    """The upper limit of mu, below which the iteration converges."""
    return 2.0 / largest_cost


def row_mu(mu: float | None, cost: np.ndarray, largest_cost: float | None = None) -> np.ndarray:
    """The mu_i of rows: 1.9 / c_i, or a given ``mu``, which must lie in the range of ``largest_cost``.

    That is the largest cost of a row as given, by default max_i c_i. Rows of a larger cost are merged from
    several: a row of k times the largest cost has mu / k, like k such rows together.
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
    """A start at any ``a``, or at that of the published method, whose first a is Q^{-1} e.

    ``surplus`` is max(0, Qa - e - mu a): at the optimum, the amount by which a margin exceeds 1.
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
        """The published step; True if it changes nothing."""
        state, before = self.state, self.state.a
        state.a = self.problem.solve(1.0 + state.surplus)
        state.surplus = np.maximum(0.0, state.surplus - self.mu * state.a)
        return np.array_equal(before, state.a)

    def certify(self) -> Certificate:
        """The dual at the nearest feasible multipliers, the primal at w = H'a.

        Before the optimum some a are negative and none is 0. Setting those to 0 that are negative, or whose
        margin exceeds 1, gives a feasible point. It also gives the primal point, once that is good enough.
        """
        problem, state = self.problem, self.state
        dropped = np.where(state.surplus > 0.0, 0.0, np.maximum(state.a, 0.0))
        self.feasible, dual = problem.best_multiple(dropped)
        few = self._primal_at(self.feasible)
        enough = relative_gap(few, max(dual, state.get("best_dual", -np.inf)), problem.tiny) <= self.tol
        primal = few if enough else self._primal_at(state.a)
        bounds = Certificate(primal, dual, int(np.count_nonzero(self.feasible)), tiny=problem.tiny)
        return with_rounding(bounds, self.rounding)

    def _primal_at(self, a: np.ndarray) -> float:
        u, system = self.problem.y * a, self.problem.system
        self.coef, self.intercept = system.combine(u), float(u.sum())
        scores = system.scores(self.coef)
        self.rounding = self.problem.rounding(u, self.coef, scores)
        return self.problem.primal(self.coef, scores)
