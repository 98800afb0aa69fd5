"""Linear max-margin problems by dual coordinate descent: for wide and sparse data.

One epoch visits every sample that may still move and solves for its multiplier exactly, keeping
w = sum_i a_i y_i x_i (Hsieh et al., ICML 2008). A free intercept is the multiplier of the equality
sum_i a_i y_i = 0, held by an augmented Lagrangian: epochs minimise

    1/2 ||w||^2 + rho/2 s^2 + centre s + ...,   s = sum_i a_i y_i,   b = centre + rho s,

and every certificate moves the centre to b.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ... import _native
from ...solving import Callback, Certificate, SolverResult, State, Stop, drive
from .problem import MarginProblem

EPOCHS_PER_CERTIFICATE = 4  # a certificate costs about a third of an epoch


def dual_cd(
    problem: MarginProblem,
    *,
    stop: Stop,
    seed: int = 0,
    state: State | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise a ``MarginProblem`` with the hinge or the squared hinge to ``stop.tol``."""
    stop = replace(stop, check_every=EPOCHS_PER_CERTIFICATE)
    iteration = DualDescent(problem, stop.resumed(state) or _start(problem, seed), stop.cancel)
    status, history = drive(iteration.state, iteration.step, iteration.certify, stop, callback)
    state = iteration.state
    intercept = iteration.problem.rows.given_intercept(state.w, float(state.bias[0]))
    return SolverResult(state.w, intercept, status, history, state.a * problem.y)


def _start(problem: MarginProblem, seed: int) -> State:
    n = len(problem.y)
    return State(
        a=np.zeros(n),
        w=np.zeros(problem.rows.n_features),
        bias=np.zeros(1),
        order=np.arange(n),
        n_active=np.array([n]),
        violation=np.array([np.inf, -np.inf]),
        seed=seed,
        epoch=0,
    )


def _far_mean(problem: MarginProblem) -> np.ndarray:
    """The mean of dense rows that lie far from the origin, else 0.

    With a free intercept the problem does not depend on the origin, but only centred rows give coordinates
    that are nearly independent of the offset.
    """
    if problem.intercept == "free" and isinstance(problem.rows.X, np.ndarray):
        mean = problem.rows.mean(problem.cost)
        if mean @ mean > 0.9 * problem.rows.sqnorms().mean():
            return mean
    return np.zeros(problem.rows.n_features)


class DualDescent:
    """Epochs of coordinate descent on the multipliers ``a`` of a ``MarginProblem``."""

    def __init__(self, problem: MarginProblem, state: State, cancel: np.ndarray) -> None:
        # Epochs read the rows nearly in memory order, which is several times as fast as any other order.
        mean = _far_mean(problem)
        rows = problem.rows.moved(mean) if mean.any() else problem.rows.compacted()
        self.problem, self.state, self.cancel = replace(problem, rows=rows), state, cancel
        self.margins: np.ndarray | None = None  # of the last certificate, until a step has used them
        squared = problem.loss.name == "squared-hinge"
        self.upper = np.full_like(problem.cost, np.inf) if squared else problem.cost
        self.ridge = 1.0 / problem.cost if squared else np.zeros_like(problem.cost)
        self.sqnorm = rows.sqnorms()
        free = max(float(self.sqnorm.mean()), 1.0 / float(problem.cost.sum()))
        self.bias_weight = {"free": free, "penalised": 1.0, "none": 0.0}[problem.intercept]

    def step(self) -> None:
        """One epoch over the active samples; after a certificate, with a new active set and centre."""
        state = self.state
        if self.margins is not None:
            self._activate(self.margins + self.problem.y * self._move_centre())
            self.margins = None
        _native.dual_cd_epoch(self.problem, self, state, self.cancel)
        state.epoch += 1

    def certify(self) -> Certificate:
        """Bounds at the current iterate, from freshly computed margins."""
        state, problem = self.state, self.problem
        self.margins = problem.y * (problem.rows.dot(state.w) + state.bias[0])
        shares = np.minimum(state.a / problem.cost, 1.0) if self.ridge[0] == 0.0 else state.a / problem.cost
        return problem.certificate(state.w, float(state.bias[0]), self.margins, shares, state.w)

    def _move_centre(self) -> float:
        """Move the centre to b, which shifts b by the same amount again; returns that amount."""
        if self.problem.intercept != "free":
            return 0.0
        moved = self.bias_weight * float(self.state.a @ self.problem.y)
        self.state.bias += moved
        return moved

    def _activate(self, margins: np.ndarray) -> None:
        """Keep the active samples, and reactivate inactive ones that violate their conditions."""
        state = self.state
        gradient = margins - 1.0 + self.ridge * state.a
        content = ((state.a == 0.0) & (gradient >= 0.0)) | ((state.a == self.upper) & (gradient <= 0.0))
        content[state.order[: state.n_active[0]]] = False
        active = np.flatnonzero(~content)
        state.order[: len(active)] = active
        state.order[len(active) :] = np.flatnonzero(content)
        state.n_active[0] = len(active)
