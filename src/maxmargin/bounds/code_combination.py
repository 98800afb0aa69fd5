"""From the columns of a code to the error of the decoded class.

A decoder errs only where at least q outputs are wrong, or where the columns' hinge losses sum to at least
rho. There the sum of the columns' losses, divided by q or rho, is at least 1. So bounds on the columns'
losses also bound the error of the decoded class.
"""

from __future__ import annotations

import math

import numpy as np

from ..codes import Code, one_vs_one, one_vs_rest
from ..decoders import Hamming, LossBased, Margins, Votes
from ..losses import LOSSES
from .column_view import ColumnView
from .kinds import Bound, DoesNotApply, Estimate, FloatArray, bound_of_terms, is_vacuous
from .margin import ball_around, complexity_terms, confidence, ramp

__all__ = ["combined_margin_bound", "combined_share", "summed_bound", "wrong_outputs_needed"]


def wrong_outputs_needed(code: Code, decoder: object) -> int:
    """The smallest number of wrong outputs, at non-zero entries of the class, with which decoding can err.

    For the nearest row it is ``ceil(r / 2)``. The largest output of one-vs-rest and the votes of one-vs-one
    err only if at least one output is wrong.
    """
    if code.n_classes == 2:
        return 1
    if isinstance(decoder, Hamming):
        least = float(code.row_margins().min())
        if least <= 0.0:
            raise DoesNotApply("some class can be decoded wrongly from perfect outputs: row_margins() <= 0.")
        return math.ceil(least / 2.0)
    for kind, family in ((Votes, one_vs_one), (Margins, one_vs_rest)):
        if isinstance(decoder, kind) and np.array_equal(code.matrix, family(code.n_classes).matrix):
            return 1
    raise DoesNotApply(
        f"decoder {getattr(decoder, 'name', decoder)!r} of code {code.name!r} may err though all outputs are "
        "right; use decoder='hamming'."
    )


def _losses(columns: ColumnView) -> tuple[str, FloatArray, float]:
    """Name of the columns' losses, the losses (n_rows, n_columns), their least sum where decoding errs."""
    code, decoder = columns.model.code_, columns.model.decoder_
    margins, takes_part = columns.targets * columns.outputs, columns.targets != 0.0
    if isinstance(decoder, LossBased) and decoder.loss == LOSSES["hinge"] and code.n_classes > 2:
        return "hinge losses", np.maximum(0.0, 1.0 - margins), code.minimum_distance
    return "ramp losses", ramp(margins) * takes_part, float(wrong_outputs_needed(code, decoder))


def combined_margin_bound(columns: ColumnView, delta: float, radius: float | None = None) -> Bound:
    """The margin bound for all columns at once: the mean of ``min(1, sum_t loss_t / q)`` and two penalties.

    The complexity of a sum of function classes is at most the sum of their complexities; dividing by q or
    taking the minimum with 1 does not increase it. The balls of all columns are chosen together, each from
    its own grid.
    """
    name, losses, needed = _losses(columns)
    samples = [columns.sample(t) for t in range(losses.shape[1])]
    balls = [ball_around(sample, radius) for sample in samples]
    mean = float(columns.counts @ np.minimum(1.0, losses.sum(axis=1) / needed)) / columns.n_samples
    parts = [complexity_terms(sample, ball) for sample, ball in zip(samples, balls)]
    terms = {name: mean} | {term: math.fsum(part[term] for part in parts) / needed for term in parts[0]}
    terms["confidence"] = confidence(columns.n_samples, delta, math.fsum(ball.price for ball in balls))
    return bound_of_terms("margin", terms, delta, columns.majority_error)


def summed_bound(columns: ColumnView, bounds: list[Bound]) -> Bound:
    """The sum of the columns' bounds divided by q; its delta is the sum of theirs."""
    needed = wrong_outputs_needed(columns.model.code_, columns.model.decoder_)
    terms = {f"column {t}": bound.value / needed for t, bound in enumerate(bounds)}
    delta = math.fsum(bound.delta for bound in bounds)
    return bound_of_terms(bounds[0].name, terms, delta, columns.majority_error, of=bounds[0].of)


def combined_share(columns: ColumnView, flags: FloatArray, name: str) -> Estimate:
    """The mean of ``min(1, n_flags / q)`` over samples; ``flags`` is (n_rows, n_columns)."""
    needed = wrong_outputs_needed(columns.model.code_, columns.model.decoder_)
    n_flagged = float(columns.counts @ np.minimum(1.0, flags.sum(axis=1) / needed))
    value = n_flagged / columns.n_samples
    terms = {"flagged": n_flagged, "of": float(columns.n_samples)}
    return Estimate(value, terms, is_vacuous(value, columns.majority_error), columns.majority_error, name)
