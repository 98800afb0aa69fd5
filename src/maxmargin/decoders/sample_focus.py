"""Focus: how much a sample counts where decoding weights are learned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..codes import Code

__all__ = ["FOCUSES", "sample_focus"]

FloatArray = NDArray[np.float64]
FOCUSES = ("support-vectors",)
STEP = 2.0**-30  # sums of so many bits are exact, so that they do not depend on the order of the rows


def sample_focus(F: FloatArray, labels: NDArray[np.intp], code: Code, floor: float) -> FloatArray:
    """``omega_i``: how many columns have a sample on the wrong side, but less than one from the boundary.

    With the slack ``s = max(0, 1 - c_yq f_q)`` of a column, ``2 - s`` where 1 < s < 2 and 0 elsewhere, summed
    over the columns and divided by their number at non-zero entries of row y; at least ``floor``.
    """
    with np.errstate(over="ignore"):
        slack = 1.0 - code.matrix[labels] * np.clip(F, -2.0, 2.0)
    near = np.where((slack > 1.0) & (slack < 2.0), 2.0 - slack, 0.0)
    omega = near.sum(axis=1) / np.abs(code.matrix).sum(axis=1, dtype=np.float64)[labels]
    return np.maximum(np.round(omega / STEP) * STEP, floor)
