"""Sequential minimal optimisation on working sets, and operations on stored kernel rows.

Most arrays are changed in place, so none is ever converted or copied. The guarantees:

- The bindings (``cpp/bindings/kernel_svm.cpp``) accept an array of exactly the dtype, the number of
  dimensions and the C-contiguous layout that the step needs, writeable where it is written to
  (``TypeError``). They check that all lengths match, that row, column and slot numbers exist, and that
  ``cancel`` is one byte (``ValueError``). They also check the slots that ``fetch`` returns.
- ``SvmProblem`` guarantees the numbers: ``lower <= a <= upper``, ``cost > 0``, y of -1 and 1, and a gradient
  that belongs to the coefficients. With other numbers a result is meaningless, but memory access stays valid.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .arguments import NEVER
from .kernels import RowFiller

__all__ = [
    "compact_rows",
    "gather_rows",
    "pack_rows",
    "packed_size",
    "smo_block",
    "subtract_rows",
    "svm_dual",
    "svm_look",
    "svm_packed_block",
    "svm_pairs",
    "svm_paths",
    "svm_polish",
    "svm_rounds",
    "svm_small_rounds",
]

smo_block = _core.smo_block  # one block, to a tolerance
svm_dual = _core.svm_dual  # the dual value
svm_look = _core.svm_look  # intercept, gap and violation
svm_rounds = _core.svm_rounds  # blocks in turn, whose rows `fetch` computes
svm_small_rounds = _core.svm_small_rounds  # the same, with the rows computed by a RowFiller's source
svm_paths = _core.svm_paths  # small columns over one stored matrix, each for several costs
svm_polish = _core.svm_polish  # small problems to machine precision
pack_rows = _core.pack_rows  # kernel values as 16-bit numbers
packed_size = _core.packed_size  # how many, for a block of n samples
svm_packed_block = _core.svm_packed_block  # one block, by conjugate gradients on packed values
subtract_rows = _core.subtract_rows  # gradients after a change of coefficients
gather_rows = _core.gather_rows  # selected entries of rows


def compact_rows(
    rows: NDArray[Any], which: NDArray[Any], length: NDArray[Any], kept: NDArray[Any], n_threads: int
) -> None:
    """``rows[s, :m] = rows[s, kept[:m]]`` for s in which, with m the number of ``kept < length[s]``.

    ``kept`` is ascending, so the operation works in place.
    """
    counts = np.searchsorted(kept, length[which])
    _core.compact_rows(rows, which, counts, kept, n_threads, NEVER)
    length[which] = counts


def svm_pairs(
    filler: RowFiller,
    index: NDArray[Any],
    starts: NDArray[Any],
    cost: NDArray[Any],
    length: NDArray[Any],
    squared: bool,
    **options: Any,
) -> None:
    """The columns of all pairs of classes, whose rows are ``index``, one class after the other.

    ``options`` are ``rules``, a dict of numbers, the arrays of results, ``n_threads`` and ``cancel``.
    """
    _core.svm_pairs(filler.source, index, starts, cost, length, squared, **options)
