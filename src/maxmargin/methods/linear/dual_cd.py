"""Linear max-margin problems by dual coordinate descent: for wide and sparse data.

One epoch visits every sample that may still move and solves for its multiplier exactly, keeping
w = sum_i a_i y_i x_i (Hsieh et al., ICML 2008). The intercept is found by the proximal point method: with
f(b) the optimum for a fixed b, p the penalty of b, and s = sum_i a_i y_i = -f'(b), epochs minimise

    f(b) + p/2 b^2 + (b - centre)^2 / (2 rho),   so that   b = (centre + rho s) / (1 + p rho),

and every few epochs the centre moves to b. A large rho couples all coordinates, and descent is slow; with a
small one the centre needs many moves. So rho follows the residual s - p b from one move to the next.

A certificate reads all rows, an epoch only those that may still move. So an epoch estimates the gap from the
margins that it sees, and a certificate follows when the estimate, corrected by what the last certificate
showed, is at most tol.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ... import _native
from ...solving import FLOAT_EPS, Callback, Certificate, SolverResult, State, Stop, drive, relative_gap
from .problem import MarginProblem

EPOCHS_PER_MOVE = 4  # between two moves of the centre
MAX_UNCERTIFIED_SHARE = 0.5  # of the epochs so far: so many more may pass without a certificate
MAX_CORRECTION = 100.0  # of the estimated gap, when a certificate shows that it is too small
FIRST_RHO, MIN_RHO, MAX_RHO = 0.01, 1e-5, 1.0  # rho, relative to the mean squared norm
RHO_GROWTH, RHO_DECAY = 4.0, 0.5
SLOW_SHARE = 0.5  # rho grows if a move leaves more than this share of a residual that matters
LARGE_RESIDUAL, SMALL_RESIDUAL = 0.1, 0.01  # what matters and what is idle, as shares of tol


def dual_cd(
    problem: MarginProblem,
    *,
    stop: Stop,
    seed: int = 0,
    state: State | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise a ``MarginProblem`` with the hinge or the squared hinge to ``stop.tol``."""
    iteration = DualDescent(problem, stop.resumed(state) or _start(problem, seed), stop)
    status, history = drive(
        iteration.state, iteration.step, iteration.certify, stop, callback, iteration.certificate_is_due
    )
    state = iteration.state
    intercept = iteration.problem.rows.given_intercept(state.w, float(state.bias[0]))
    return SolverResult(state.w, intercept, status, history, state.a * problem.y)


def _start(problem: MarginProblem, seed: int) -> State:
    n = len(problem.y)
    return State(
        a=np.zeros(n),
        w=np.zeros(problem.rows.n_features),
        bias=np.zeros(1),
        rho=0.0,
        residual=1.0,
        order=np.arange(n),
        n_active=np.array([n]),
        violation=np.array([np.inf, -np.inf]),
        seed=seed,
        epoch=0,
        certified_epoch=0,
        estimate=np.inf,
        correction=1.0,
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

    def __init__(self, problem: MarginProblem, state: State, stop: Stop) -> None:
        # Epochs read the rows nearly in memory order, which is several times as fast as any other order.
        mean = _far_mean(problem)
        rows = problem.rows.moved(mean) if mean.any() else problem.rows.compacted()
        self.problem, self.state, self.stop = replace(problem, rows=rows), state, stop
        self.margins: np.ndarray | None = None  # of the last certificate, until a step has used them
        squared = problem.loss.name == "squared-hinge"
        self.upper = np.full_like(problem.cost, np.inf) if squared else problem.cost
        self.ridge = 1.0 / problem.cost if squared else np.zeros_like(problem.cost)
        self.sqnorm = rows.sqnorms()
        if problem.intercept != "none" and state.rho == 0.0:
            state.rho = self._rho(FIRST_RHO)

    def _rho(self, share: float) -> float:
        """A share of the mean squared norm; at least what moves b by 1 if all a_i of one class are full."""
        return max(share * float(self.sqnorm.mean()), 1.0 / float(self.problem.cost.sum()))

    @property
    def bias_weight(self) -> float:
        """How far b moves with s during an epoch."""
        return float(self.state.rho / (1.0 + self.problem.intercept_penalty * self.state.rho))

    def step(self) -> None:
        """Epochs until the centre moves or a certificate is due."""
        state = self.state
        moved = 0.0
        if state.epoch and state.epoch % EPOCHS_PER_MOVE == 0:
            moved = self._move_centre()
        if self.margins is not None:
            self._activate(self.margins + self.problem.y * moved)
            self.margins = None
        most = EPOCHS_PER_MOVE - state.epoch % EPOCHS_PER_MOVE
        limits = max(1, min(most, self.stop.max_iter - state.n_iter)), self.stop.tol / state.correction
        n, state.estimate = _native.dual_cd_epochs(self.problem, self, state, limits, self.stop.cancel)
        state.epoch += n
        state.n_iter += n - 1  # the loop counts one

    def certificate_is_due(self) -> bool:
        """If the estimated gap is small enough, or many epochs have passed."""
        state = self.state
        if state.correction * state.estimate <= self.stop.tol:
            return True
        late = (1.0 + MAX_UNCERTIFIED_SHARE) * state.certified_epoch
        return bool(state.epoch % EPOCHS_PER_MOVE == 0 and state.epoch >= late)

    def certify(self) -> Certificate:
        """Bounds at the current iterate, from freshly computed margins."""
        state, problem = self.state, self.problem
        state.certified_epoch = state.epoch
        scores = (
            problem.scores(state.w) if state.epoch or problem.offset is not None else np.zeros_like(problem.y)
        )
        self.margins = problem.y * (scores + state.bias[0])
        shares = np.minimum(state.a / problem.cost, 1.0) if self.ridge[0] == 0.0 else state.a / problem.cost
        best_dual = state.get("best_dual", -np.inf)
        found = problem.certificate(state.w, float(state.bias[0]), self.margins, shares, state.w, best_dual)
        gap = relative_gap(found.primal, found.dual)
        state.correction = min(max(gap / max(state.estimate, FLOAT_EPS), 1.0), MAX_CORRECTION)
        return found

    def _move_centre(self) -> float:
        """Move the centre to b, with a new rho; returns how far b itself moves then."""
        state, penalty = self.state, self.problem.intercept_penalty
        if self.problem.intercept == "none":
            return 0.0
        b, s = float(state.bias[0]), float(state.a @ self.problem.y)
        residual = abs(s - penalty * b) / max(float(state.a.sum()), FLOAT_EPS)
        if residual > max(LARGE_RESIDUAL * self.stop.tol, SLOW_SHARE * state.residual):
            state.rho = min(RHO_GROWTH * state.rho, self._rho(MAX_RHO))
        elif residual < SMALL_RESIDUAL * self.stop.tol:
            state.rho = max(RHO_DECAY * state.rho, MIN_RHO * float(self.sqnorm.mean()))
        state.residual = residual
        state.bias[0] = (b + state.rho * s) / (1.0 + penalty * state.rho)
        return float(state.bias[0]) - b

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
