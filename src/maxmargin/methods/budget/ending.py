"""The stopping rules of a budgeted fit and its final status, for both methods.

The library's own method (``greedy.py``) works in phases. Each is ended by a rule below:

    growth      the budget is full (``budget_is_full``), candidates are used up
                (``candidates_are_used_up``), or the loss on the held-out rows no longer falls
                (``held_out_loss_has_settled``)
    swaps       small ones have failed (``swaps_are_over``), or enough have been tried (``most_swaps``)
    moves       of the centres: the objective hardly falls (``moves_are_over``)
    last refit  always: ``greedy_status`` is the status of the fit

The published method (``incremental.py``) asks ``incremental_status`` after each step.

A step of the published method whose coefficients overflow ends it as "diverged" (``incremental.py``). Also,
``max_iter``, ``max_seconds`` or a callback ("stopped") can end either method early; these limits are common
to all solvers and belong to ``solving.drive``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...solving import Status
from .path import EVERY_BUDGET_UP_TO

MIN_PROMISE = 1e-3  # predicted decrease that a candidate needs, in units of tol times objective
MAX_EMPTY_ROUNDS = 3  # rounds of growth in a row that add no support vector
MAX_EMPTY_DRAWS = 10  # draws in a row, of the published method, in which no candidate has a loss
BUDGETS_WITHOUT_PROGRESS = 6  # stated budgets (two doublings) over which the held-out loss must fall
MIN_PROGRESS = 1e-3  # share of the held-out loss by which it must fall
MIN_SAVING_PER_EXCHANGE = 0.08  # share of the objective saved, as a part of the share of the set exchanged
SMALLEST_SWAP_SHARE = 32  # swaps exchange at least the budget divided by this
MAX_FAILED_SINGLE_SWAPS = 8  # in a row: one candidate for one support vector takes luck
SWAPS_TIMES_BUDGET = 5000  # swaps tried, times the budget
MIN_SWAPS, MAX_SWAPS = 2, 100
MAX_WORK_OF_SWAPS = 1e10  # products in the Hessians of all swaps together
MIN_DECREASE_BY_MOVES = 1e-3  # relative decrease of the objective that a round of moves must reach


def budget_is_full(n_support: int, budget: int) -> bool:
    """Whether no support vector may be added. A budget is a promise: nothing adds one after this."""
    return n_support >= budget


def is_promising(promise: float, objective: float, tol: float) -> bool:
    """Whether the best candidate is worth a support vector."""
    return promise > MIN_PROMISE * tol * objective


def candidates_are_used_up(n_empty_rounds: int, n_support: int, n_rows: int) -> bool:
    """Whether growth ends because nothing promising is left, or no row at all."""
    return n_empty_rounds >= MAX_EMPTY_ROUNDS or n_support >= n_rows


def held_out_loss_has_settled(losses: Sequence[float]) -> bool:
    """Whether growth ends because these losses, one for each stated budget, no longer fall."""
    if len(losses) <= BUDGETS_WITHOUT_PROGRESS + EVERY_BUDGET_UP_TO:
        return False
    earlier, late = losses[:-BUDGETS_WITHOUT_PROGRESS], losses[-BUDGETS_WITHOUT_PROGRESS:]
    return min(late) > (1.0 - MIN_PROGRESS) * min(earlier)


def swap_has_failed(saved: float, n_exchanged: int, budget: int) -> bool:
    """Whether a swap has saved too small a share of the objective for the support vectors it exchanged."""
    return saved < MIN_SAVING_PER_EXCHANGE * n_exchanged / budget


def most_swaps(budget: int, n_numbers: int) -> int:
    """Swaps that may be tried for a budget, where ``n_numbers`` is the number of rows times columns."""
    affordable = int(MAX_WORK_OF_SWAPS / (float(budget) ** 2 * n_numbers))
    return min(affordable, int(np.clip(SWAPS_TIMES_BUDGET // budget, MIN_SWAPS, MAX_SWAPS)))


def swaps_are_over(n_failed: int, swap_size: int, budget: int) -> bool:
    """Whether to stop swapping because small swaps, the last ``n_failed`` of this size, fail."""
    smallest = max(1, budget // SMALLEST_SWAP_SHARE)
    return swap_size <= smallest and n_failed >= (MAX_FAILED_SINGLE_SWAPS if smallest == 1 else 1)


def moves_are_over(before: float, after: float) -> bool:
    """Whether a round of moves has hardly lowered the objective."""
    return not after < (1.0 - MIN_DECREASE_BY_MOVES) * before


def greedy_status(n_support: int, budget: int, relative_gap: float, tol: float) -> Status:
    """The status of a fit by the library's own method, after the last refit on all rows."""
    if relative_gap > tol:
        return Status.STALLED
    return Status.BUDGET_FULL if budget_is_full(n_support, budget) else Status.NO_LOSS_LEFT


def incremental_status(n_support: int, budget: int, n_candidates: int, n_empty_draws: int) -> Status | None:
    """The status of a fit by the published method; None if it is not finished."""
    if budget_is_full(n_support, budget):
        return Status.BUDGET_FULL
    return Status.NO_LOSS_LEFT if n_candidates == 0 or n_empty_draws >= MAX_EMPTY_DRAWS else None
