"""Bounds on the training error of Hamming decoding from the errors of a code's columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .distances import minimum_distance, row_margins

__all__ = ["TrainingErrorBound", "training_error_bound"]

FloatArray = NDArray[np.float64]


class TrainingErrorBound(NamedTuple):
    """Bounds on the share of samples that Hamming decoding gets wrong; above 1 a bound says nothing.

    ``printed`` is ``(2 / rho) sum_t e_t``, with ``e_t`` the share of wrong outputs of column t, where a
    sample whose class has a 0 there counts one half (``column_errors``).

    ``refined`` is ``mean_i min(1, e_i / ceil(r_{y_i} / 2))``, with ``e_i`` the wrong outputs of sample i at
    non-zero entries of its row; a sample whose class has ``r_y <= 0`` counts 1.
    """

    printed: float
    refined: float
    column_errors: FloatArray


def training_error_bound(
    matrix: NDArray[np.int8], F: FloatArray, labels: NDArray[Any], weight: FloatArray
) -> TrainingErrorBound:
    """Both bounds; an output of 0 at a non-zero entry is wrong."""
    targets = matrix[labels]
    wrong = (targets != 0) & (np.sign(F) != targets)
    column_errors = weight @ (wrong + 0.5 * (targets == 0)) / weight.sum()
    r = row_margins(matrix)[labels]
    n_wrong = wrong.sum(axis=1)
    share = np.where(r > 0, np.minimum(1.0, n_wrong / np.maximum(np.ceil(r / 2), 1.0)), 1.0)
    printed = 2 / float(minimum_distance(matrix)) * float(column_errors.sum())
    return TrainingErrorBound(printed, float(weight @ share / weight.sum()), column_errors)
