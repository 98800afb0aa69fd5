"""The one outer loop: steps, certificates, clock, history, callbacks and Ctrl-C are handled here only."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .result import Check, State, Status, Stop

ROUNDING = 1e-9  # a relative gap below -ROUNDING cannot be rounding: some bound is wrong


@dataclass(frozen=True)
class Certificate:
    """What ``certify`` returns: a primal value, a lower bound, and what to report beside them."""

    primal: float
    dual: float = -np.inf
    n_support: int = 0
    kernel_values: int = 0
    tiny: float = 0.0


Callback = Callable[[Check, State], object]


def drive(
    state: State,
    step: Callable[[], object],
    certify: Callable[[], Certificate],
    stop: Stop,
    callback: Callback | None = None,
) -> tuple[Status, tuple[Check, ...]]:
    """Alternate ``stop.check_every`` steps with a certificate until a rule of ``stop`` holds.

    Parameters
    ----------
    state : State
        The solver's memory, changed in place by ``step``. The loop keeps its own counters in it
        (``n_iter``, ``seconds``, ``best_dual``), so a copy resumes where it was taken.
    step : callable
        One bounded piece of work; a true return value says that no further progress is possible.
    certify : callable
        Bounds on the optimum at the present iterate. Its time is not counted in ``seconds``.
    stop : Stop
        Its ``max_seconds`` are of the wall clock, from this call on, certificates included.
    callback : callable, optional
        Called as ``callback(check, state)`` after every certificate; a true value stops the loop.

    Returns
    -------
    status : Status
    history : tuple of Check
    """
    state.setdefault("n_iter", 0)
    state.setdefault("seconds", 0.0)
    state.setdefault("best_dual", -np.inf)
    history: list[Check] = []
    stalled = False
    deadline = time.perf_counter() + stop.max_seconds
    while True:
        check = _check(state, certify())
        history.append(check)
        stopped = callback is not None and bool(callback(check, state))
        late = time.perf_counter() >= deadline
        status = _verdict(check, stop, stopped, stalled, late)
        if status is not None:
            return status, tuple(history)
        stalled = _advance(state, step, stop, deadline)


def _check(state: State, certificate: Certificate) -> Check:
    state.best_dual = max(state.best_dual, certificate.dual)
    return Check(
        n_iter=state.n_iter,
        primal=certificate.primal,
        dual=state.best_dual,
        seconds=state.seconds,
        n_support=certificate.n_support,
        kernel_values=certificate.kernel_values,
        tiny=certificate.tiny,
    )


def _advance(state: State, step: Callable[[], object], stop: Stop, deadline: float) -> bool:
    """Up to ``check_every`` steps, fewer when a limit is reached first; true when a step saw no way on."""
    for _ in range(stop.check_every):
        start = time.perf_counter()
        stalled = bool(step())
        end = time.perf_counter()
        state.seconds += end - start
        state.n_iter += 1
        if stalled or state.n_iter >= stop.max_iter or end >= deadline or stop.cancel[0]:
            return stalled
    return False


def _verdict(check: Check, stop: Stop, stopped: bool, stalled: bool, late: bool) -> Status | None:
    """The first rule that holds, or None to go on."""
    if np.isnan(check.gap) or check.primal == np.inf or check.gap < -ROUNDING:
        return Status.FAILED
    if check.gap <= stop.tol:
        return Status.CONVERGED
    if stopped or stop.cancel[0]:
        return Status.STOPPED
    if stalled:
        return Status.STALLED
    if check.n_iter >= stop.max_iter:
        return Status.MAX_ITER
    if late:
        return Status.TIME_LIMIT
    return None
