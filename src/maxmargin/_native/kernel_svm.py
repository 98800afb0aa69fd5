"""Steps of sequential minimal optimisation within a working set, and the kernel rows that it keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .arguments import NEVER

__all__ = [
    "compact_rows",
    "gather_rows",
    "smo_block",
    "subtract_rows",
    "svm_look",
    "svm_polish",
    "svm_rounds",
    "svm_small_rounds",
]

# Shapes and numbers are checked there; arrays are taken as they are, since most of them are changed in place.
smo_block, svm_look = _core.smo_block, _core.svm_look
svm_rounds, svm_small_rounds = _core.svm_rounds, _core.svm_small_rounds
svm_polish = _core.svm_polish
subtract_rows = _core.subtract_rows
gather_rows = _core.gather_rows


def compact_rows(
    rows: NDArray[Any], which: NDArray[Any], length: NDArray[Any], kept: NDArray[Any], n_threads: int
) -> None:
    """``rows[s, :m] = rows[s, kept[:m]]`` for s in which, m entries of ``kept`` being below ``length[s]``.

    ``kept`` is ascending, so this is done in place.
    """
    counts = np.searchsorted(kept, length[which])
    _core.compact_rows(rows, which, counts, kept, n_threads, NEVER)
    length[which] = counts
