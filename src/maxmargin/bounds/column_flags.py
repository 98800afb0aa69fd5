"""Leave-one-out flags: samples that may be wrong when left out, by column and for the decoded class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..kernels import _OfDistance
from .code_combination import combined_share
from .column_view import ColumnView
from .kinds import DoesNotApply, Entry, FloatArray, Inapplicable
from .leave_one_out import (
    jaakkola_haussler_flags,
    refuse_intercept,
    share,
    span_flags,
    support_vector_flags,
    xi_alpha_flags,
)
from .span import BOUND_SLACK, SupportProblem, margins_left_out

__all__ = ["column_flags", "column_shares", "combined_shares"]

Flags = dict[str, FloatArray | Inapplicable]
MAX_SPREAD_ROWS = 20_000  # up to so many rows, all pairwise kernel values are computed


def column_flags(view: ColumnView, t: int) -> Flags:
    """For each rule, 1.0 for every row of the column that may be wrong, or why the rule does not apply."""
    rules = {
        "support-vectors": lambda view, t: support_vector_flags(view.duals(t)[0]),
        "xi-alpha": _xi_alpha,
        "jaakkola-haussler": _jaakkola_haussler,
        "span": _span,
    }
    return {name: _tried(name, rule, view, t) for name, rule in rules.items()}


def _tried(
    name: str, rule: Callable[[ColumnView, int], np.ndarray], view: ColumnView, t: int
) -> FloatArray | Inapplicable:
    try:
        if isinstance(view.model.class_weight, str):
            raise DoesNotApply("balanced class weights change when a row is left out.")
        return rule(view, t).astype(np.float64)
    except DoesNotApply as reason:
        return Inapplicable(name, str(reason))


def _xi_alpha(view: ColumnView, t: int) -> np.ndarray:
    sample, (duals, _) = view.sample(t), view.duals(t)
    spread, margins = _spread(view), sample.margins
    if sample.intercept is None:  # then Jaakkola and Haussler's rule must imply this one
        spread = max(spread, 0.5 * float(sample.diagonal.max()))
    elif view.loss == "squared-hinge":  # a hinge without losses, with the kernel K + diag(1/c)
        spread, margins = spread + 1.0 / float(view.cost(t).min()), np.ones_like(margins)
    return xi_alpha_flags(margins, duals, spread)


def _jaakkola_haussler(view: ColumnView, t: int) -> np.ndarray:
    sample, (duals, _) = view.sample(t), view.duals(t)
    refuse_intercept(sample)
    return jaakkola_haussler_flags(sample.margins, duals, sample.diagonal)


def _span(view: ColumnView, t: int) -> np.ndarray:
    sample, (duals, exact) = view.sample(t), view.duals(t)
    if not exact:
        raise DoesNotApply(f"{type(view.model).__name__} does not store the dual variables of the hinge.")
    problem = SupportProblem(
        view.kernel.take(view.rows(t)),
        sample.margins,
        duals,
        view.cost(t),
        sample.counts,
        squared=view.loss == "squared-hinge",
        constant=view.constant,
        bordered=sample.intercept is not None,
    )
    return span_flags(margins_left_out(problem))


def _spread(view: ColumnView) -> float:
    """An upper bound on the largest minus the smallest kernel value between rows."""
    if isinstance(view.kernel.kernel, _OfDistance):
        return 1.0
    n, largest = len(view.kernel), float(view.diagonal.max())
    if n > MAX_SPREAD_ROWS:
        return 2.0 * largest
    everyone, step = np.arange(n), max(1, (4 << 20) // n)
    blocks = (view.kernel.between(everyone[i : i + step], everyone) for i in range(0, n, step))
    return largest - min(float(block.min()) for block in blocks)


def column_shares(view: ColumnView, t: int, flags: Flags) -> dict[str, Entry]:
    """The leave-one-out estimates of one column."""
    found: dict[str, Entry] = {}
    for name, own in flags.items():
        if isinstance(own, Inapplicable):
            found[name] = own
        else:
            found[name] = replace(share(name, own > 0.0, view.sample(t)), notes=_notes(view, t, name))
    return found


def combined_shares(view: ColumnView, flags: list[Flags]) -> dict[str, Entry]:
    """The leave-one-out estimates for the decoded class."""
    found: dict[str, Entry] = {}
    for name in flags[0]:
        try:
            estimate = combined_share(view, _together(view, [column[name] for column in flags]), name)
        except DoesNotApply as reason:
            found[name] = Inapplicable(name, str(reason))
            continue
        notes = dict.fromkeys(note for t in range(len(flags)) for note in _notes(view, t, name))
        found[name] = replace(estimate, notes=tuple(notes))
    return found


def _together(view: ColumnView, columns: list[FloatArray | Inapplicable]) -> FloatArray:
    """The flags of all columns, (n_rows, n_columns)."""
    every = np.zeros_like(view.outputs)
    for t, own in enumerate(columns):
        if isinstance(own, Inapplicable):
            raise DoesNotApply(own.reason)
        every[view.rows(t), t] = own
    return every


def _notes(view: ColumnView, t: int, name: str) -> tuple[str, ...]:
    """Assumptions of a rule that were not checked."""
    if name == "span":
        return ("span: assumes that no other sample changes its kind when one is left out",)
    duals, exact = view.duals(t)
    notes = [] if exact else ["dual variables of the hinge are unknown; bounds from the margins are used"]
    if view.intercept == "free" and view.loss == "hinge" and exact and not _is_fixed(view, t, duals):
        notes.append(
            f"{name}: few support vectors are below their bounds, so b may not be unique once one is left "
            "out, and this estimate may be too low"
        )
    return tuple(notes)


def _is_fixed(view: ColumnView, t: int, duals: FloatArray) -> bool:
    """Whether the free dual variables can replace any sample left out without all ending at their bounds."""
    cost = view.cost(t)
    room = view.counts[view.rows(t)] @ np.minimum(duals, cost - duals).clip(min=0.0)
    return bool(room > cost.max() * (1.0 + BOUND_SLACK))
