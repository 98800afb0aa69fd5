"""What rounding can do to a certificate: how far outputs are off, and how a gap includes it.

Both bounds depend on the outputs of the training rows. An output is a sum, and where its terms are large and
cancel, as on features far from 0, it is off by the size of the terms times the unit roundoff. A problem
bounds these errors from the sizes of the terms (``linear_size``, ``kernel_errors``), works out what they can
change in its losses and in its dual value, and adds it to its certificate (``with_rounding``): the gap grows
by it, and a fit whose gap cannot fall below it ends "stalled" with a gap that is true.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .drive import Certificate
from .result import FLOAT_EPS

__all__ = [
    "KERNEL_ERRORS",
    "LINEAR_ROUNDING",
    "UNCOUNTED_ROUNDING",
    "counted_rounding",
    "kernel_errors",
    "linear_size",
    "rounding_decides",
    "with_rounding",
]

LINEAR_ROUNDING = 4 * FLOAT_EPS  # error of <w, x> + b, summed in blocks, relative to the size of its terms
KERNEL_ERRORS = 8.0  # the same for sum_j a_j k(x_j, x), with the errors of kernel values
UNCOUNTED_ROUNDING = 5e-8  # of the objective: less is left out where it is an estimate


def linear_size(largest_norm: float, w: np.ndarray, b: float = 0.0) -> float:
    """A bound on the terms of ``1 - <w, x> - b`` for rows of at most this norm."""
    return largest_norm * float(np.linalg.norm(w)) + abs(b) + 1.0


def kernel_errors(a: np.ndarray, own_lengths: np.ndarray, lengths: np.ndarray, b: float = 0.0) -> np.ndarray:
    """How far ``1 - sum_j a_j k(x_j, x) - b`` can be off at points of these lengths, ``sqrt(k(x, x))``.

    ``own_lengths`` are those of the x_j. The errors of the terms are taken to be independent.
    """
    norm = KERNEL_ERRORS * float(np.linalg.norm(a * own_lengths))
    return FLOAT_EPS * (norm * lengths + 1.0 + abs(b))


def counted_rounding(rounding: float, objective: float) -> float:
    """An estimate of rounding, or 0 if gaps, which are exact to 1e-7 of the objective, are so without it."""
    return rounding if rounding > UNCOUNTED_ROUNDING * abs(objective) else 0.0


def rounding_decides(certificate: Certificate, rounding: float, tol: float) -> bool:
    """Whether the gap is no larger than rounding, and that is too large for the tolerance: no step helps."""
    scale = max(abs(certificate.primal), abs(certificate.dual), certificate.tiny)
    return rounding > tol * scale and certificate.primal - certificate.dual <= rounding


def with_rounding(certificate: Certificate, rounding: float) -> Certificate:
    """The certificate with what rounding can add to primal minus dual, where that matters."""
    scale = max(abs(certificate.primal), abs(certificate.dual), certificate.tiny)
    return replace(certificate, rounding=counted_rounding(rounding, scale))
