"""From a problem to a certified result: stopping, history, states, columns side by side."""

from .columns import solve_columns
from .drive import Callback, Certificate, drive
from .indefinite import (
    NOT_ROUNDING,
    is_indefinite,
    most_important,
    without_bound,
    without_bound_words,
)
from .journal import Entry, Journal, Part
from .result import (
    FLOAT_EPS,
    Check,
    SolverResult,
    State,
    Status,
    Stop,
    relative_gap,
    worst_status,
)
from .row_pool import BLOCK, RowPool, row_blocks

__all__ = [
    "BLOCK",
    "FLOAT_EPS",
    "NOT_ROUNDING",
    "Callback",
    "Certificate",
    "Check",
    "Entry",
    "Journal",
    "Part",
    "RowPool",
    "SolverResult",
    "State",
    "Status",
    "Stop",
    "drive",
    "is_indefinite",
    "most_important",
    "relative_gap",
    "row_blocks",
    "solve_columns",
    "without_bound",
    "without_bound_words",
    "worst_status",
]
