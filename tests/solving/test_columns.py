"""Columns solved side by side: one clock, one failure for all."""

import threading
import time

import pytest

from maxmargin.solving.columns import solve_columns
from maxmargin.solving.deadline import Deadline
from maxmargin.solving.result import Check, SolverResult, Status, Stop


def result(column):
    return SolverResult(column, 0.0, Status.CONVERGED, (Check(n_iter=0, primal=1.0, dual=1.0, seconds=0.0),))


@pytest.mark.parametrize(("n_threads", "inner"), [(1, 1), (2, 1), (4, 1), (12, 2)])
def test_results_come_in_order_and_threads_are_shared_out(n_threads, inner):
    seen = []

    def solve(column, stop, n_inner):
        seen.append(n_inner)
        return result(column)

    assert [r.coef for r in solve_columns(solve, 5, Stop(), n_threads)] == [0, 1, 2, 3, 4]
    assert set(seen) == {inner}


def test_a_failure_in_one_column_cancels_the_others():
    stopped = threading.Event()

    def solve(column, stop, n_inner):
        if column == 1:
            raise FloatingPointError("column 1")
        while not stop.cancel[0]:
            time.sleep(0.001)
        stopped.set()
        return result(column)

    with pytest.raises(FloatingPointError, match="column 1"):
        solve_columns(solve, 3, Stop(), 2)
    assert stopped.is_set()


def test_all_columns_share_one_clock(monkeypatch):
    now, left = [100.0], []
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def solve(column, stop, n_inner):
        left.append(stop.deadline.left())
        now[0] += 0.25
        return result(column)

    solve_columns(solve, 3, Stop(deadline=Deadline(1.0)), 1)
    assert left == [1.0, 0.75, 0.5]
