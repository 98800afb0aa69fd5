"""The outer loop of every solver: steps, certificates, time limits, history, callbacks and Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._native import Cancelled
from .deadline import Deadline
from .journal import Record
from .result import Check, State, Status, Stop


@dataclass(frozen=True)
class Certificate:
    """What ``certify`` returns: a primal value, a lower bound, and diagnostics.

    A ``provisional`` certificate does not end the solve, however small its gap: at least one step must be
    taken first. With a small C, w = 0 is within any tolerance of the optimum, but it is not a classifier.
    ``tiny`` is the size below which objective values are zero: the objective of zero coefficients times the
    unit roundoff, 0 if that is not known. ``rounding`` is what rounding can add to primal minus dual: the gap
    includes it, whichever earlier dual value is the best.
    """

    primal: float
    dual: float = -np.inf
    n_support: int = 0
    kernel_values: int = 0
    tiny: float = 0.0
    violation: float = 0.0
    hit_rate: float = 0.0
    provisional: bool = False
    rounding: float = 0.0


Callback = Callable[[Check, State], object]


def drive(
    state: State,
    step: Callable[[], Status | bool | None],
    certify: Callable[[], Certificate],
    stop: Stop,
    callback: Callback | None = None,
    due: Callable[[], bool] | None = None,
) -> tuple[Status, tuple[Check, ...]]:
    """Alternate ``stop.check_every`` steps with a certificate until a rule of ``stop`` holds.

    Parameters
    ----------
    state : State
        The solver's memory, changed in place by ``step``. The loop stores its own counters in it
        (``n_iter``, ``seconds``, ``best_dual``, ``ended``), so a copy resumes from where it was taken.
    step : callable
        One bounded piece of work. It returns True if no further progress is possible, or a ``Status`` if the
        method has finished; a state resumed after that takes no further step.
    certify : callable
        Computes bounds on the optimum at the current iterate. Its time does not count in ``seconds``.
    stop : Stop
        Its deadline is that of the whole fit. Work that is cut soon after it ends the loop: the state is then
        the last one, and the last entry of the history has no certificate. A cut before the first
        certificate is raised. Its journal stores the state after
        certificates; if it already has an entry for this solve, ``state`` must come from it.
    callback : callable, optional
        Called as ``callback(check, state)`` after every certificate; a true value stops the loop.
    due : callable, optional
        Called after every step to decide whether a certificate is due, instead of ``stop.check_every``.

    Returns
    -------
    status : Status
    history : tuple of Check
    """
    state.setdefault("n_iter", 0)
    state.setdefault("seconds", 0.0)
    state.setdefault("best_dual", -np.inf)
    state.setdefault("ended", "")
    ended = Status(state.ended) if state.ended else None
    record = Record() if stop.journal is None else stop.journal.begin(stop)
    history, found, stopped = list(record.history), record.found, False
    while True:
        certificate = _certificate(certify, stop.deadline, [] if found else history)
        if certificate is None:
            return Status.TIME_LIMIT, (*history, _unknown(state))
        if found is None:
            history.append(_check(state, certificate))
            record.keep(state, history, ended)
            stopped = callback is not None and bool(callback(history[-1], state))
        elif found.status is not None:
            return found.status, found.history
        else:  # the history already ends with this certificate
            ended, found = found.ended, None
        status = _verdict(history[-1], stop, stopped, ended, certificate.provisional)
        if status is not None:
            record.end(state, history, status)
            return status, tuple(history)
        try:
            ended = _advance(state, step, stop, due)
        except Cancelled:
            if not stop.deadline.has_cut:
                raise
            return Status.TIME_LIMIT, (*history, _unknown(state))


def _certificate(
    certify: Callable[[], Certificate], deadline: Deadline, history: list[Check]
) -> Certificate | None:
    """The certificate; None if it was cut, unless it is the first one, without which there is no result."""
    try:
        return certify()
    except Cancelled:
        if not (history and deadline.has_cut):
            raise
        return None


def _unknown(state: State) -> Check:
    """The entry of a point without a certificate; bounds of earlier points hold."""
    return Check(n_iter=state.n_iter, primal=np.inf, dual=state.best_dual, seconds=state.seconds)


def _check(state: State, certificate: Certificate) -> Check:
    dual = float(max(state.best_dual, certificate.dual) - certificate.rounding)
    state.best_dual = float(max(state.best_dual, certificate.dual - certificate.rounding))
    return Check(
        n_iter=state.n_iter,
        primal=certificate.primal,
        dual=dual,
        seconds=state.seconds,
        n_support=certificate.n_support,
        kernel_values=certificate.kernel_values,
        tiny=certificate.tiny,
        violation=certificate.violation,
        hit_rate=certificate.hit_rate,
    )


def _advance(
    state: State,
    step: Callable[[], Status | bool | None],
    stop: Stop,
    due: Callable[[], bool] | None,
) -> Status | None:
    """Take steps until a certificate is due or a limit is reached; return why no step can follow, or None."""
    n_steps = 0
    while True:
        start = time.perf_counter()
        answer = step()
        end = time.perf_counter()
        n_steps += 1
        state.seconds += end - start
        state.n_iter += 1
        if isinstance(answer, Status):
            state.ended = answer.value
            return answer
        if answer:
            return Status.STALLED
        if state.n_iter >= stop.max_iter or end >= stop.deadline.at or stop.cancel[0]:
            return None
        if due() if due is not None else n_steps >= stop.check_every:
            return None


def _verdict(
    check: Check, stop: Stop, stopped: bool, ended: Status | None, provisional: bool
) -> Status | None:
    """The status of the first stopping rule that holds, or None to continue."""
    if np.isnan(check.gap) or check.primal == np.inf:
        return Status.DIVERGED
    if check.gap < 0.0:
        return Status.FAILED
    if check.gap <= stop.tol and not provisional:
        return Status.CONVERGED
    late = stop.deadline.passed()
    if stopped or (stop.cancel[0] and not stop.deadline.has_cut):
        return Status.STOPPED
    if ended is not None and not (late and ended is Status.STALLED):  # a step cut short makes no progress
        return ended
    if check.n_iter >= stop.max_iter:
        return Status.MAX_ITER
    if late:
        return Status.TIME_LIMIT
    return None
