"""Sums over the columns of a code matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .arguments import as_real

__all__ = [
    "code_sums",
]


def code_sums(F: NDArray[Any], matrix: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """``F @ matrix.T`` as a sum of two doubles, and ``sign(F) @ matrix.T``, for entries -1, 0 and +1."""
    F = as_real("F", F, np.float64)
    high, low, votes = (np.empty((F.shape[0], matrix.shape[0])) for _ in range(3))
    _core.code_sums(F, np.ascontiguousarray(matrix, dtype=np.int8), high, low, votes)
    return high, low, votes
