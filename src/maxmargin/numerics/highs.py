"""Linear programs by HiGHS, run on a separate thread so that Ctrl-C reaches the caller at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal

import highspy
import numpy as np

from .._native import started_thread
from ..solving import Deadline

Options = dict[str, bool | int | float | str]
Outcome = Literal["optimal", "interrupted", "infeasible", "failed"]
OUTCOMES: dict[Any, Outcome] = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInterrupt: "interrupted",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
}
SERIAL_SIMPLEX: Options = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "presolve": "off",
    "solver": "simplex",
    "simplex_strategy": 1,  # dual, serial
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}
STATUSES = highspy.HighsBasisStatus
LOWER, BASIC = int(STATUSES.kLower), int(STATUSES.kBasic)
STATUS_OF = {int(s): s for s in (STATUSES.kLower, STATUSES.kBasic, STATUSES.kUpper, STATUSES.kZero)}
STATUS_OF[int(STATUSES.kNonbasic)] = STATUSES.kNonbasic


def new_highs(options: Options) -> Any:
    """A HiGHS instance with these options and no program."""
    highs = highspy._core._Highs()
    for name, value in options.items():
        highs.setOptionValue(name, value)
    return highs


def set_basis(highs: Any, columns: np.ndarray, rows: np.ndarray) -> None:
    """Start from the basis with these column and row statuses."""
    basis = highspy.HighsBasis()
    basis.col_status = [STATUS_OF[s] for s in columns.tolist()]
    basis.row_status = [STATUS_OF[s] for s in rows.tolist()]
    basis.valid = True
    highs.setBasis(basis)


def basis_of(highs: Any) -> tuple[np.ndarray, np.ndarray]:
    """The column and row statuses of the basis; empty arrays if HiGHS has none."""
    basis = highs.getBasis()
    columns, rows = (basis.col_status, basis.row_status) if basis.valid else ([], [])
    return np.fromiter(map(int, columns), dtype=np.int8), np.fromiter(map(int, rows), dtype=np.int8)


def outcome_of(highs: Any) -> Outcome:
    """How the last run ended."""
    return OUTCOMES.get(highs.getModelStatus(), "failed")


def run_highs(highs: Any, deadline: Deadline) -> None:
    """Solve until done or the deadline passes; Ctrl-C stops the solve and is raised."""
    halt = np.zeros(1, dtype=np.uint8)
    highs.setCallback(_interrupter(halt, deadline), None)
    highs.startCallback(highspy.cb.HighsCallbackType.kCallbackSimplexInterrupt)
    done = threading.Event()  # after an interrupted join, a Thread counts as ended while it still runs

    errors: list[BaseException] = []

    def work() -> None:
        try:
            highs.run()
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    if started_thread(work) is None:
        work()
    try:
        done.wait()
    except BaseException:
        halt[0] = 1
        done.wait()
        raise
    if errors:
        raise errors[0]


def _interrupter(halt: np.ndarray, deadline: Deadline) -> Callable[..., None]:
    def call(kind: Any, message: str, given: Any, answer: Any, data: Any) -> None:
        if answer is not None and (halt[0] or deadline.passed()):
            answer.user_interrupt = True

    return call
