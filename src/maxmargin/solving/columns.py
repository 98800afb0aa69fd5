"""Columns of a code solved in parallel: one thread per column, or all threads for a single column."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TypeVar

from .result import Stop

Result = TypeVar("Result")


def solve_columns(
    solve: Callable[[int, Stop, int], Result],
    n_columns: int,
    stop: Stop,
    n_threads: int,
    at_once: int = 1 << 30,
) -> list[Result]:
    """Call ``solve(column, stop, n_threads)`` for every column, under one common time limit.

    At most ``at_once`` columns are solved at the same time. An exception in one column, or Ctrl-C, cancels
    the others and is raised here.
    """
    deadline = time.perf_counter() + stop.max_seconds

    def solve_one(column: int, n_inner: int) -> Result:
        left = max(deadline - time.perf_counter(), 0.0)
        return solve(column, replace(stop.part(f"column-{column}"), max_seconds=left), n_inner)

    n_outer = min(n_threads, n_columns, at_once)
    if n_outer <= 1:
        return [solve_one(column, n_threads) for column in range(n_columns)]
    with ThreadPoolExecutor(n_outer) as executor:
        try:
            jobs = [executor.submit(solve_one, column, n_threads // n_outer) for column in range(n_columns)]
            done, _ = wait(jobs, return_when=FIRST_EXCEPTION)
            for job in done:
                job.result()  # re-raises the exception of a column while others may still be running
            return [job.result() for job in jobs]
        except BaseException:
            stop.cancel[0] = 1
            executor.shutdown(cancel_futures=True)
            raise
