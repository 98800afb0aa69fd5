"""The one outer loop: steps, certificates, clock, history, callbacks and Ctrl-C are handled here only."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .journal import Record
from .result import Check, State, Status, Stop

ROUNDING = 1e-9  # a relative gap below -ROUNDING cannot be rounding: some bound is wrong


@dataclass(frozen=True)
class Certificate:
    """What ``certify`` returns: a primal value, a lower bound, and what to report beside them.

    Where it is ``provisional``, a small gap is no reason to stop: a step has to be taken first. With a small
    C, w = 0 is within any tolerance of the optimum, and yet no classifier.
    """

    primal: float
    dual: float = -np.inf
    n_support: int = 0
    kernel_values: int = 0
    tiny: float = 0.0
    violation: float = 0.0
    hit_rate: float = 0.0
    provisional: bool = False


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
        The solver's memory, changed in place by ``step``. The loop keeps its own counters in it
        (``n_iter``, ``seconds``, ``best_dual``, ``ended``), so a copy resumes where it was taken.
    step : callable
        One bounded piece of work. True says that no further progress is possible; a ``Status`` says that the
        method is through, and with which result: a resumed state then takes no step more.
    certify : callable
        Bounds on the optimum at the present iterate. Its time is not counted in ``seconds``.
    stop : Stop
        Its ``max_seconds`` are of the wall clock, from this call on, certificates included. Its journal is
        given the state after certificates; where it knows this solve, the state has to be the one it gave.
    callback : callable, optional
        Called as ``callback(check, state)`` after every certificate; a true value stops the loop.
    due : callable, optional
        Asked after every step whether it is time for a certificate, in place of ``stop.check_every``.

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
    deadline = time.perf_counter() + stop.max_seconds
    record = Record() if stop.journal is None else stop.journal.begin(stop)
    history, found, stopped = list(record.history), record.found, False
    while True:
        certificate = certify()
        if found is None:
            history.append(_check(state, certificate))
            record.keep(state, history, ended)
            stopped = callback is not None and bool(callback(history[-1], state))
        elif found.status is not None:
            return found.status, found.history
        else:  # this certificate is the history's last
            ended, found = found.ended, None
        late = time.perf_counter() >= deadline
        status = _verdict(history[-1], stop, stopped, ended, late, certificate.provisional)
        if status is not None:
            record.end(state, history, status)
            return status, tuple(history)
        ended = _advance(state, step, stop, deadline, due)


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
        violation=certificate.violation,
        hit_rate=certificate.hit_rate,
    )


def _advance(
    state: State,
    step: Callable[[], Status | bool | None],
    stop: Stop,
    deadline: float,
    due: Callable[[], bool] | None,
) -> Status | None:
    """Steps until a certificate is due or a limit is reached; why there is no way on, where there is none."""
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
        if state.n_iter >= stop.max_iter or end >= deadline or stop.cancel[0]:
            return None
        if due() if due is not None else n_steps >= stop.check_every:
            return None


def _verdict(
    check: Check, stop: Stop, stopped: bool, ended: Status | None, late: bool, provisional: bool
) -> Status | None:
    """The first rule that holds, or None to go on."""
    if np.isnan(check.gap) or check.primal == np.inf or check.gap < -ROUNDING:
        return Status.FAILED
    if check.gap <= stop.tol and not provisional:
        return Status.CONVERGED
    if stopped or stop.cancel[0]:
        return Status.STOPPED
    if ended is not None:
        return ended
    if check.n_iter >= stop.max_iter:
        return Status.MAX_ITER
    if late:
        return Status.TIME_LIMIT
    return None
