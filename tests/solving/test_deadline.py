"""Deadlines: what they count, what they limit, and what remains of work that is cut."""

import os
import threading
import time

import numpy as np
import pytest

from maxmargin import _native
from maxmargin._native import Cancelled
from maxmargin.kernels import RBF
from maxmargin.solving import Deadline, State, Status, Stop, drive, ended_in_time, solve_columns, until_cut
from maxmargin.solving import deadline as module
from maxmargin.solving.drive import Certificate
from maxmargin.solving.result import certified, unsolved


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    return now


def test_a_deadline_counts_from_its_making(clock):
    deadline = Deadline(8.0)
    clock[0] = 105.0
    assert deadline.left() == 3.0
    assert not deadline.passed()
    clock[0] = 108.0
    assert deadline.left() == 0.0
    assert deadline.passed()
    assert not deadline.has_cut


def test_a_fit_within_a_fit_never_outlasts_it(clock):
    with Deadline(8.0) as outer:
        inner = Deadline(3600.0)
        assert (inner.at, inner.cut_at, inner.seconds) == (outer.at, outer.cut_at, 8.0)
        assert inner.flag is not outer.flag
        assert Deadline(2.0).at == 102.0
        assert outer.nested(0.5).at == 104.0
        assert outer.part(0.5).at == 104.0
        assert outer.part(0.5).flag is outer.flag
    assert Deadline(3600.0).at == 3700.0


def test_a_deadline_without_end_never_passes(clock):
    with Deadline(np.inf) as deadline:
        clock[0] = 1e300
        assert not deadline.is_limited
        assert not deadline.passed()
        assert deadline.nested(0.1).left() == np.inf


@pytest.fixture
def watcher(monkeypatch):
    """A watcher of its own, which soon ends."""
    monkeypatch.setattr(module, "LONGEST_SLEEP_SECONDS", 0.02)
    monkeypatch.setattr(module, "MIN_GRACE_SECONDS", 0.0)
    monkeypatch.setattr(module, "_watcher", module.Watcher())
    return module._watcher


def until(done):
    end = time.monotonic() + 30.0
    while not done() and time.monotonic() < end:
        time.sleep(0.002)
    return done()


def test_one_thread_cuts_all_deadlines_and_ends_when_there_are_none(watcher):
    with Deadline(3600.0) as outer:
        thread = watcher.thread
        with Deadline(0.0) as inner:
            assert watcher.thread is thread
            assert until(lambda: inner.has_cut)
        assert until(lambda: watcher.watched == {outer})
        assert not outer.has_cut
    thread.join(30.0)
    assert not thread.is_alive()
    assert watcher.thread is None
    assert not watcher.watched
    with Deadline(0.0) as again:
        assert until(lambda: again.has_cut)


def test_a_deadline_before_all_others_wakes_the_thread(watcher, monkeypatch):
    monkeypatch.setattr(module, "LONGEST_SLEEP_SECONDS", 3600.0)
    with Deadline(3600.0):
        assert until(lambda: watcher.wakes_at < np.inf)  # it sleeps
        with Deadline(0.05) as sooner:
            assert until(lambda: sooner.has_cut)
        monkeypatch.setattr(module, "LONGEST_SLEEP_SECONDS", 0.01)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_child_watches_its_deadlines():
    with Deadline(3600.0):
        child = os.fork()
        if not child:
            try:
                deadline = Deadline(0.05)
                deadline.cut_at = deadline.at
                with deadline:
                    cut = until(lambda: deadline.has_cut)
            finally:
                os._exit(0 if cut else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_without_a_thread_the_clock_remains(monkeypatch, clock):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr(module, "_watcher", module.Watcher())
    with Deadline(1.0) as deadline:
        clock[0] += 2.0
        assert deadline.passed()


def test_a_failure_in_another_thread_is_not_the_time_limit():
    deadline = Deadline(3600.0)
    deadline.cancel()
    deadline.cut()
    assert deadline.passed()
    assert not deadline.has_cut
    with pytest.raises(Cancelled), until_cut(deadline):
        raise Cancelled("cancelled")


def test_native_calls_see_the_cut():
    X, deadline = np.random.default_rng(0).normal(size=(3000, 300)), Deadline(3600.0)
    deadline.cut()
    for call in (_native.kernel_block, lambda *a, **k: _native.kernel_matmul(a[0], a[1], X, a[2], **k)):
        with pytest.raises(Cancelled, match="cancelled"):
            call(X, X, RBF(gamma=1.0), n_threads=1, cancel=deadline.flag)


def test_a_cut_before_the_first_step_is_an_error_with_advice():
    deadline = Deadline(8.0)
    deadline.cut()
    with (
        pytest.raises(TimeoutError, match=r"max_seconds=8 was too short for this; raise max_seconds"),
        ended_in_time(deadline, "this"),
    ):
        raise Cancelled("cancelled")


# ---- what remains of a solve ----


def run(stop, n_good, where):
    """Steps that halve x, the one after ``n_good`` cut in its step or in its certificate."""
    state = State(x=np.ones(1))

    def step():
        state.x[0] *= 0.5
        if where == "step" and state.n_iter == n_good:
            stop.deadline.cut()
            raise Cancelled("cancelled")

    def certify():
        if where == "certificate" and state.get("n_iter", 0) > n_good:
            stop.deadline.cut()
            raise Cancelled("cancelled")
        return Certificate(primal=1.0 + state.x[0], dual=1.0 - state.x[0])

    return drive(state, step, certify, stop), state


@pytest.mark.parametrize("where", ["step", "certificate"])
def test_a_cut_solve_keeps_its_last_point_without_a_certificate(where):
    (status, history), state = run(Stop(tol=1e-12), 3, where)
    assert status is Status.TIME_LIMIT
    assert [check.primal for check in history] == [2.0, 1.5, 1.25, 1.125, np.inf]
    assert history[-1].gap == np.inf
    assert history[-1].dual == 0.875  # bounds of earlier points hold
    assert state.x[0] == 0.0625
    assert certified(history) == history[:-1]


def test_a_solve_without_its_first_certificate_has_no_result():
    with pytest.raises(Cancelled):
        run(Stop(), -1, "certificate")


def test_a_solve_that_another_thread_cancels_raises():
    def step():
        stop.deadline.cancel()
        raise Cancelled("cancelled")

    stop = Stop()
    with pytest.raises(Cancelled):
        drive(State(), step, lambda: Certificate(primal=1.0), stop)


def test_a_step_without_progress_after_the_deadline_is_not_stalled(clock):
    def step():
        clock[0] += 10.0
        return True

    status, _ = drive(State(), step, lambda: Certificate(primal=1.0), Stop(deadline=Deadline(5.0)))
    assert status is Status.TIME_LIMIT
    status, _ = drive(State(), step, lambda: Certificate(primal=1.0), Stop(deadline=Deadline(50.0)))
    assert status is Status.STALLED


@pytest.mark.parametrize("n_threads", [1, 2])
def test_columns_without_time_have_zero_coefficients(n_threads):
    def solve(column, stop, n_inner):
        if column:
            stop.deadline.cut()
            raise Cancelled("cancelled")
        return unsolved(np.ones(2))

    results = solve_columns(solve, 3, Stop(), n_threads, unsolved=lambda column: unsolved(np.zeros(2)))
    assert [result.coef.tolist() for result in results] == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    assert all(result.status is Status.TIME_LIMIT for result in results)
    with pytest.raises(Cancelled):
        solve_columns(solve, 3, Stop(), n_threads)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_columns_cut_on_several_threads_are_a_timeout(n_threads):
    stop = Stop()

    def solve(column, stop, n_inner):
        stop.deadline.cut()
        raise Cancelled("cancelled")

    with pytest.raises(TimeoutError, match="raise max_seconds"), ended_in_time(stop.deadline, "a step"):
        solve_columns(solve, 3, stop, n_threads)


def test_work_is_cancelled_after_the_time_is_up_too(clock):
    late = Deadline(1.0)
    clock[0] += 10_000.0
    late.cancel()
    assert late.flag[0]
    assert late.has_cut
