"""Steps of the linear solvers (dual coordinate descent, Newton rounds, lasso), and the compiled losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .arguments import NEVER, as_matrix, as_real

__all__ = [
    "SMALL_CONVERGED",
    "SMALL_INEXACT",
    "SMALL_OPEN",
    "SMALL_STALLED",
    "SmallReports",
    "best_intercept",
    "dual_cd_epochs",
    "lasso_epochs",
    "loss_conjugate",
    "loss_slope",
    "loss_value",
    "small_columns",
    "squared_hinge_step",
    "step_length",
]


SMALL_OPEN, SMALL_CONVERGED, SMALL_STALLED, SMALL_INEXACT = range(4)  # as SmallEnd in small_newton.hpp


@dataclass(frozen=True)
class SmallReports:
    """How each column of a small fit ended, and its certificates: step, primal, dual, seconds, support."""

    ends: NDArray[Any]
    n_checks: NDArray[Any]
    checks: NDArray[Any]

    def of(self, column: int) -> tuple[int, list[list[float]]]:
        """The end of one column, and its certificates."""
        return int(self.ends[column]), self.checks[column, : self.n_checks[column]].tolist()


def small_columns(
    fit: Any,
    state: Any,
    code: NDArray[Any],
    starts: NDArray[Any],
    stop: Any,
    max_steps: int,
    n_threads: int,
) -> SmallReports:
    """Up to ``max_steps`` Newton steps of each column of a ``SmallFit``; ``state`` is changed in place."""
    n = code.shape[1]
    ends, n_checks = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    checks = np.empty((n, max_steps + 1, 5))
    _core.small_columns(
        as_matrix(fit.data.rows.X),
        fit.data.rows.index,
        fit.data.labels,
        fit.cost,
        code,
        starts,
        fit.loss == "hinge",
        fit.intercept == "free",
        fit.intercept == "penalised",
        state.coef,
        state.numbers,
        state.anchor,
        state.dual_share,
        ends,
        n_checks,
        checks,
        stop.tol,
        stop.max_iter,
        max_steps,
        stop.deadline.left(),
        stop.cancel,
        n_threads,
    )
    return SmallReports(ends, n_checks, checks)


def best_intercept(iteration: Any, start: float) -> float:
    """The b at which the shares of both signs balance in the current round of a ``NewtonIteration``."""
    return float(_core.best_intercept(*_round(iteration), iteration.state.scores, start))


def step_length(iteration: Any, along: NDArray[Any], linear: float, quadratic: float) -> float:
    """The step length at which the derivative of the current round has dropped to a tenth."""
    scores = iteration.state.scores + iteration.state.b[0]
    free = iteration.problem.intercept == "free"
    return float(_core.step_length(*_round(iteration), scores, along, free, linear, quadratic))


def squared_hinge_step(
    y: NDArray[Any],
    cost: NDArray[Any],
    scores: NDArray[Any],
    along: NDArray[Any],
    linear: float,
    quadratic: float,
) -> float:
    """The step t: 1, or the minimiser of ``linear t + quadratic t^2 / 2`` + losses at scores + t along."""
    return float(
        _core.step_length(y, cost, cost, 1.0, False, scores, along, False, linear, quadratic)
    )  # the anchors (here: cost again) matter only for the hinge


def _round(iteration: Any) -> tuple[Any, ...]:
    problem, state = iteration.problem, iteration.state
    return problem.y, problem.cost, state.anchor, state.sharpness, iteration.hinge


def dual_cd_epochs(
    problem: Any, descent: Any, state: Any, limits: tuple[int, float], cancel: NDArray[Any]
) -> tuple[int, float]:
    """Epochs of dual coordinate descent on a ``MarginProblem``; ``state`` is changed in place.

    ``limits`` are a number of epochs and an estimated relative gap, whichever is reached first; both are
    returned.
    """
    n_epochs, gap = _core.dual_cd_epochs(
        as_matrix(problem.rows.X),
        problem.rows.index,
        problem.y,
        problem.wanted,
        descent.upper,
        descent.ridge,
        descent.sqnorm,
        descent.bias_weight,
        state.a,
        state.w,
        state.bias,
        state.order,
        state.n_active,
        state.violation,
        state.seed,
        state.epoch,
        *limits,
        cancel,
    )
    return int(n_epochs), float(gap)


def lasso_epochs(
    G: NDArray[Any],
    w: NDArray[Any],
    gradient: NDArray[Any],
    n_epochs: int,
    still: float,
    cancel: NDArray[Any] = NEVER,
) -> float:
    """Epochs of coordinate descent on ``||w||_1 + 1/2 w'Gw - q'w``; w and ``q - Gw`` change in place.

    Ends early once no coordinate's move exceeds ``still``; returns the largest move of the last epoch.
    """
    return float(_core.lasso_epochs(G, w, gradient, n_epochs, still, cancel))


def _entrywise(core_map: Callable[..., None], name: str, values: ArrayLike) -> NDArray[Any]:
    values = as_real("margins and slopes", values, np.float64)
    out = np.empty(values.shape)
    core_map(name, values.reshape(-1), out.reshape(-1))
    return out


def loss_value(name: str, margins: ArrayLike) -> NDArray[Any]:
    """The compiled loss of that name at each margin."""
    return _entrywise(_core.loss_value, name, margins)


def loss_slope(name: str, margins: ArrayLike) -> NDArray[Any]:
    """Its derivative in the margin."""
    return _entrywise(_core.loss_slope, name, margins)


def loss_conjugate(name: str, slopes: ArrayLike) -> NDArray[Any]:
    """Its convex conjugate at each slope."""
    return _entrywise(_core.loss_conjugate, name, slopes)
