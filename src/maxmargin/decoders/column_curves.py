"""Each column's own curve: from its output to the probability of its classes with +1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..calibration import IsotonicCalibrator, SigmoidCalibrator
from ..codes import Code

__all__ = ["Curve", "column_curves", "column_probabilities"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Curve = SigmoidCalibrator | IsotonicCalibrator


def column_curves(
    F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None, method: str = "sigmoid"
) -> tuple[Curve, ...]:
    """A curve for each column, fitted to outputs for the rows of its own classes; others are not looked at.

    The outputs (n, n_columns) are for rows that the columns were not trained on, labels are ``0, 1, ...``.
    """
    weight = np.ones(len(F)) if sample_weight is None else sample_weight
    curves: list[Curve] = []
    for t in range(code.n_columns):
        which, targets = code.column(y, t)
        if not weight[which].any():
            raise ValueError(
                f"column {t} has nothing to learn a curve from: it tells apart the classes "
                f"{np.flatnonzero(code.matrix[:, t]).tolist()}, and no row of y with a weight is of these. "
                "Give rows of every class of the code."
            )
        curve = SigmoidCalibrator() if method == "sigmoid" else IsotonicCalibrator()
        curves.append(curve.fit(F[which, t], targets > 0.0, weight[which]))
    return tuple(curves)


def column_probabilities(curves: tuple[Curve, ...], F: FloatArray) -> FloatArray:
    """(n, n_columns): with which probability a row of one of a column's classes is of one with +1."""
    return np.column_stack([curve.predict(F[:, t]) for t, curve in enumerate(curves)])
