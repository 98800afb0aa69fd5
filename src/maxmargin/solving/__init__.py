"""From a problem to a certified result: stopping, history, states, columns side by side.

A ``State`` is a solver's whole memory as arrays and numbers, so a copy of it resumes bit for bit.
``Check.dual`` is the best bound so far; a gap that is negative beyond rounding is the status "failed",
which is a bug.

The journal of a resumable fit goes with ``Stop``: ``Stop.part(name)`` is a column or a fold, and solves
below one name are numbered in the order in which they begin. A solver asks ``stop.resumed(state)`` for its
start. A certificate caused by a time limit or a cancel is not at a place of the uninterrupted fit, so its
state is not stored. Solves whose outcome is only a start have no journal.
"""

from .columns import solve_columns
from .drive import Callback, Certificate, drive
from .gap_series import gap_series, largest_gap
from .indefinite import NOT_ROUNDING, is_indefinite, most_important, without_bound, without_bound_words
from .journal import Journal, JournalEntry, JournalPart
from .result import FLOAT_EPS, Check, SolverResult, State, Status, Stop, relative_gap, worst_status
from .row_pool import BLOCK, RowPool, row_blocks

__all__ = [
    "BLOCK",
    "FLOAT_EPS",
    "NOT_ROUNDING",
    "Callback",
    "Certificate",
    "Check",
    "Journal",
    "JournalEntry",
    "JournalPart",
    "RowPool",
    "SolverResult",
    "State",
    "Status",
    "Stop",
    "drive",
    "gap_series",
    "is_indefinite",
    "largest_gap",
    "most_important",
    "relative_gap",
    "row_blocks",
    "solve_columns",
    "without_bound",
    "without_bound_words",
    "worst_status",
]
