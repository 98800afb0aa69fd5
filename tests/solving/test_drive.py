"""The outer loop: what it counts, when it stops, what it keeps."""

import itertools

import numpy as np
import pytest

from maxmargin.solving.deadline import Deadline
from maxmargin.solving.drive import Certificate, drive
from maxmargin.solving.result import Check, State, Status, Stop


def halving(state):
    """A step that halves x, whose optimum is 0: primal 1 + x, dual 1 - x."""

    def step():
        state.x[0] *= 0.5

    return step, lambda: Certificate(primal=1.0 + state.x[0], dual=1.0 - state.x[0])


def run(stop, callback=None, x=1.0):
    state = State(x=np.array([x]))
    step, certify = halving(state)
    return drive(state, step, certify, stop, callback), state


def test_it_converges_when_the_relative_gap_reaches_tol():
    (status, history), state = run(Stop(tol=1e-3))
    assert status is Status.CONVERGED
    assert history[-1].gap <= 1e-3 < history[-2].gap
    assert [check.n_iter for check in history] == list(range(len(history)))
    assert state.n_iter == history[-1].n_iter


def test_check_every_spaces_the_certificates_but_not_the_limits():
    (status, history), _ = run(Stop(tol=1e-12, max_iter=10, check_every=4))
    assert status is Status.MAX_ITER
    assert [check.n_iter for check in history] == [0, 4, 8, 10]


def test_dual_is_the_best_bound_seen():
    values = itertools.chain([0.0, 5.0, 3.0], itertools.repeat(1.0))
    _status, history = drive(
        State(), lambda: None, lambda: Certificate(primal=10.0, dual=next(values)), Stop(max_iter=4)
    )
    assert [check.dual for check in history] == [0.0, 5.0, 5.0, 5.0, 5.0]


def test_a_true_answer_of_the_callback_stops():
    seen = []
    (status, _history), state = run(
        Stop(tol=1e-12), lambda check, s: seen.append((check, s)) or check.n_iter == 3
    )
    assert status is Status.STOPPED
    assert [check.n_iter for check, _ in seen] == [0, 1, 2, 3]
    assert all(s is state for _, s in seen)


def test_a_time_limit_is_of_the_wall_clock(monkeypatch):
    # A second passes at every look: at the start, around a step, after a certificate.
    clock = itertools.count()
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    (status, history), _ = run(Stop(tol=1e-300, deadline=Deadline(7.0)))
    assert status is Status.TIME_LIMIT
    assert history[-1].n_iter == 2
    assert history[-1].seconds == 2.0


def test_a_bound_that_is_not_finite_is_a_divergence_and_not_a_gap_of_zero():
    for primal, dual in ((np.nan, 0.0), (np.inf, 0.0)):
        status, history = drive(State(), lambda: None, lambda p=primal, d=dual: Certificate(p, d), Stop())
        assert status is Status.DIVERGED
        assert not history[-1].gap <= 1.0


def test_certificates_do_not_count_as_time(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    (_, history), _ = run(Stop(tol=1e-12, max_iter=5))
    assert history[-1].seconds == 5.0


def test_a_negative_gap_is_a_failure_and_rounding_is_not():
    status, _ = drive(State(), lambda: None, lambda: Certificate(primal=1.0, dual=1.1), Stop())
    assert status is Status.FAILED
    status, _ = drive(State(), lambda: None, lambda: Certificate(primal=1.0, dual=1.0 + 1e-12), Stop())
    assert status is Status.CONVERGED
    status, _ = drive(State(), lambda: None, lambda: Certificate(primal=np.nan, dual=0.0), Stop())
    assert status is Status.DIVERGED


def test_a_step_that_sees_no_way_on_stalls():
    status, history = drive(State(), lambda: True, lambda: Certificate(primal=1.0), Stop())
    assert status is Status.STALLED
    assert history[-1].n_iter == 1


def test_a_step_that_names_a_status_ends_the_loop_for_good():
    state = State()
    status, history = drive(state, lambda: Status.BUDGET_FULL, lambda: Certificate(primal=1.0), Stop())
    assert status is Status.BUDGET_FULL
    assert history[-1].n_iter == 1
    status, history = drive(state.copy(), lambda: None, lambda: Certificate(primal=1.0), Stop())
    assert status is Status.BUDGET_FULL
    assert [check.n_iter for check in history] == [1]


def test_certificates_come_when_they_are_due_and_at_the_limits():
    state = State(x=np.ones(1))
    step, certify = halving(state)
    _, history = drive(
        state, step, certify, Stop(tol=1e-300, max_iter=10), due=lambda: state.x[0] in (0.5**3, 0.5**4)
    )
    assert [check.n_iter for check in history] == [0, 3, 4, 10]


def test_cancel_stops():
    stop = Stop(tol=1e-300)
    state = State(x=np.ones(1))
    step, certify = halving(state)

    def cancelling():
        step()
        stop.cancel[0] = 1

    status, _ = drive(state, cancelling, certify, stop)
    assert status is Status.STOPPED


def test_a_resumed_state_goes_on_where_it_was():
    copies = []
    (_, whole), state = run(Stop(tol=1e-6), lambda check, s: copies.append(s.copy()) and False)
    resumed_state = copies[4]
    step, certify = halving(resumed_state)
    _, resumed = drive(resumed_state, step, certify, Stop(tol=1e-6))
    assert resumed_state.x[0] == state.x[0]
    assert [c.n_iter for c in resumed] == [c.n_iter for c in whole[4:]]
    assert [c.gap for c in resumed] == [c.gap for c in whole[4:]]


def test_a_state_holds_only_what_a_checkpoint_can_store():
    state = State(a=np.zeros(3), n=np.int64(4), x=1.5, name="hinge")
    assert type(state.n) is int
    for thing in (object(), [1, 2], np.array([object()]), lambda: None):
        with pytest.raises(TypeError, match="arrays, numbers and strings"):
            state.thing = thing
    copy = state.copy()
    copy.a[0] = 1.0
    assert state.a[0] == 0.0
    with pytest.raises(AttributeError):
        _ = state.nothing


def test_relative_gap_of_nothing_is_zero():
    assert Check(n_iter=0, primal=0.0, dual=0.0, seconds=0.0).gap == 0.0
    assert Check(n_iter=0, primal=2.0, dual=1.0, seconds=0.0).gap == 0.5
    assert Check(n_iter=0, primal=1e-20, dual=-1e-20, seconds=0.0, tiny=1.0).gap == pytest.approx(2e-20)


def test_a_provisional_certificate_is_no_end_however_small_the_gap():
    state = State(x=np.zeros(1))

    def certify():
        return Certificate(primal=1.0, dual=1.0, provisional=state.get("n_iter", 0) == 0)

    status, history = drive(state, lambda: None, certify, Stop(tol=1e-3))
    assert status is Status.CONVERGED
    assert [check.n_iter for check in history] == [0, 1]
    status, history = drive(state, lambda: None, certify, Stop(tol=1e-3))
    assert [check.n_iter for check in history] == [1]  # a state that has taken the step
