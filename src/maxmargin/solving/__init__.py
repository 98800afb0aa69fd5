"""From a problem to a certified result: stopping rules, history, solver states, parallel columns.

A ``State`` holds everything a solver remembers, as arrays and numbers, so a solver resumed from a copy gives
identical bits. ``Check.dual`` is the best bound so far. What rounding can do to both bounds is subtracted
from it, so that it adds to the gap (``rounding.py``). A gap that is negative all the same ends a solve with
the status "failed" and indicates a bug. Values that are not finite end it as "diverged", which is also the
status of a result that is worse than zero coefficients (``divergence.py``), unless it was interrupted.

``Stop`` carries the deadline of the fit, which counts from the start of ``fit`` for all its parts, and the
journal of a resumable fit. ``Stop.part(name)`` stands for a column or a fold, and the solves of one part are
numbered in the order in which they begin. A solver gets its initial state from ``stop.resumed(state)``. The
state at a certificate forced by a time limit or a cancellation is not stored, because an uninterrupted fit
has no certificate there. Solves that only compute a warm start have no journal.
"""

from .columns import solve_columns
from .deadline import Deadline, enclosing_deadline, ended_in_time, too_late, until_cut
from .divergence import OwnRows, best_point
from .drive import Callback, Certificate, drive
from .gap_series import GapSeries, gap_series, largest_gap
from .histories import CLOCKS, COUNTS, Histories
from .indefinite import (
    NOT_ROUNDING,
    bounds_cross,
    is_indefinite,
    most_important,
    without_bound,
    without_bound_words,
)
from .journal import Journal, JournalEntry, JournalPart
from .result import (
    FLOAT_EPS,
    Check,
    SolverResult,
    State,
    Status,
    Stop,
    Summary,
    certified,
    relative_gap,
    summary_of,
    unsolved,
    worst_status,
)
from .rounding import (
    ERRORS_PER_BOUND,
    KERNEL_ERRORS,
    LINEAR_ROUNDING,
    UNCOUNTED_ROUNDING,
    SampledErrors,
    counted_rounding,
    kernel_errors,
    linear_size,
    rounding_decides,
    with_rounding,
)
from .row_pool import ROWS_PER_BLOCK, RowPool, row_blocks
from .share_done import DoneShare, is_asked_for_shares, share_listener, tell_share

__all__ = [
    "CLOCKS",
    "COUNTS",
    "ERRORS_PER_BOUND",
    "FLOAT_EPS",
    "KERNEL_ERRORS",
    "LINEAR_ROUNDING",
    "NOT_ROUNDING",
    "ROWS_PER_BLOCK",
    "UNCOUNTED_ROUNDING",
    "Callback",
    "Certificate",
    "Check",
    "Deadline",
    "DoneShare",
    "GapSeries",
    "Histories",
    "Journal",
    "JournalEntry",
    "JournalPart",
    "OwnRows",
    "RowPool",
    "SampledErrors",
    "SolverResult",
    "State",
    "Status",
    "Stop",
    "Summary",
    "best_point",
    "bounds_cross",
    "certified",
    "counted_rounding",
    "drive",
    "enclosing_deadline",
    "ended_in_time",
    "gap_series",
    "is_asked_for_shares",
    "is_indefinite",
    "kernel_errors",
    "largest_gap",
    "linear_size",
    "most_important",
    "relative_gap",
    "rounding_decides",
    "row_blocks",
    "share_listener",
    "solve_columns",
    "summary_of",
    "tell_share",
    "too_late",
    "unsolved",
    "until_cut",
    "with_rounding",
    "without_bound",
    "without_bound_words",
    "worst_status",
]
