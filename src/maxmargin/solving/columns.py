"""Columns of a code solved in parallel: one thread per column, or all threads for a single column."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, wait
from typing import TypeVar

from .._native import Cancelled, ThreadPool
from .result import Stop

Result = TypeVar("Result")


def solve_columns(
    solve: Callable[[int, Stop, int], Result],
    n_columns: int,
    stop: Stop,
    n_threads: int,
    at_once: int = 1 << 30,
    unsolved: Callable[[int], Result] | None = None,
) -> list[Result]:
    """Call ``solve(column, stop, n_threads)`` for every column, under one common deadline.

    At most ``at_once`` columns are solved at the same time. ``unsolved(column)``, if given, is the result of
    a column that was cut by the deadline before its first step, unless it is the first column.
    An exception in one column, or Ctrl-C, cancels the others and is raised here.
    """

    def solve_one(column: int, n_inner: int) -> Result:
        try:
            return solve(column, stop.part(f"column-{column}"), n_inner)
        except Cancelled:
            if unsolved is None or column == 0 or not stop.deadline.has_cut:
                raise
            return unsolved(column)

    n_outer = min(n_threads, n_columns, at_once)
    if n_outer <= 1:
        return [solve_one(column, n_threads) for column in range(n_columns)]
    with ThreadPool(n_outer) as executor:
        try:
            jobs = [executor.submit(solve_one, column, n_threads // n_outer) for column in range(n_columns)]
            done, _ = wait(jobs, return_when=FIRST_EXCEPTION)
            for job in done:
                job.result()  # re-raises the exception of a column while others may still be running
            return [job.result() for job in jobs]
        except BaseException:
            stop.deadline.cancel()
            executor.shutdown(cancel_futures=True)
            raise
