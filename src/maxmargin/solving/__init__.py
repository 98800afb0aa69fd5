"""From a problem to a certified result: stopping rules, history, solver states, parallel columns.

A ``State`` holds everything a solver remembers, as arrays and numbers, so a solver resumed from a copy gives
identical bits. ``Check.dual`` is the best bound so far. A gap that is negative beyond rounding ends a solve
with the status "failed" and indicates a bug.

``Stop`` carries the journal of a resumable fit. ``Stop.part(name)`` stands for a column or a fold, and the
solves of one part are numbered in the order in which they begin. A solver gets its initial state from
``stop.resumed(state)``. The state at a certificate forced by a time limit or a cancellation is not stored,
because an uninterrupted fit has no certificate there. Solves that only compute a warm start have no journal.
"""

from .columns import solve_columns
from .drive import Callback, Certificate, drive
from .gap_series import GapSeries, gap_series, largest_gap
from .indefinite import NOT_ROUNDING, is_indefinite, most_important, without_bound, without_bound_words
from .journal import Journal, JournalEntry, JournalPart
from .result import FLOAT_EPS, Check, SolverResult, State, Status, Stop, relative_gap, worst_status
from .row_pool import ROWS_PER_BLOCK, RowPool, row_blocks

__all__ = [
    "FLOAT_EPS",
    "NOT_ROUNDING",
    "ROWS_PER_BLOCK",
    "Callback",
    "Certificate",
    "Check",
    "GapSeries",
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
