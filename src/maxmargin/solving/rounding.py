"""What rounding can do to a certificate: how far outputs are off, and how a gap includes it.

Both bounds depend on the outputs of the training rows. An output is a sum, and where its terms are large and
cancel, as on features far from 0, it is off by the size of the terms times the unit roundoff. A problem
bounds these errors from the sizes of the terms (``linear_size``, ``kernel_errors``), works out what they can
change in its losses and in its dual value, and adds it to its certificate (``with_rounding``): the gap grows
by it, and a fit whose gap cannot fall below it ends "stalled" with a gap that is true.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .drive import Certificate
from .result import FLOAT_EPS, UNCOUNTED_ROUNDING

__all__ = [
    "ERRORS_PER_BOUND",
    "KERNEL_ERRORS",
    "LINEAR_ROUNDING",
    "UNCOUNTED_ROUNDING",
    "SampledErrors",
    "counted_rounding",
    "kernel_errors",
    "linear_size",
    "rounding_decides",
    "with_rounding",
]

LINEAR_ROUNDING = 4 * FLOAT_EPS  # error of <w, x> + b, summed in blocks, relative to the size of its terms
KERNEL_ERRORS = 8.0  # the same for sum_j a_j k(x_j, x), with the errors of kernel values
ERRORS_PER_BOUND = 2.0  # root mean squares that bound a sum of errors measured on a sample


@dataclass(frozen=True)
class SampledErrors:
    """What rounding of features does, measured on a sample of rows; numbers are one for each column.

    ``noise`` is the root mean square of the errors of outputs, ``value`` what they can add to the losses at
    slopes u, ``gradient`` how far they can move ``sum_i u_i phi_i``, but for changes of the slopes.
    """

    noise: np.ndarray
    value: np.ndarray
    gradient: np.ndarray

    @classmethod
    def of(cls, d: np.ndarray, e: np.ndarray, sign: np.ndarray, u: np.ndarray) -> SampledErrors:
        """From errors d of features and e of outputs and the signs of u on the sample, and u on all rows.

        Errors that do not share a sign add up like a random walk; their mean along u is a bias.
        """
        size, spread = np.abs(u).sum(axis=0), np.sqrt(np.square(u).sum(axis=0))
        noise, d2 = np.sqrt(np.mean(e * e, axis=0)), np.square(d).sum(axis=1).mean()
        drift = np.square(sign.T @ d / len(d)).sum(axis=1)  # squared
        bias = size * np.sqrt(np.maximum(drift - ERRORS_PER_BOUND * d2 / len(d), 0.0))
        value = ERRORS_PER_BOUND * spread * noise + size * np.abs(np.mean(sign * e, axis=0))
        return cls(noise, value, ERRORS_PER_BOUND * spread * np.sqrt(d2) + bias)


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
