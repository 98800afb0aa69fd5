"""Fits on a Dask cluster: passes over the partitions, computed by its workers; they need the extra `dask`.

A fit has the bits of ``fit_blocks`` on the same blocks, whatever the number of workers and whichever of them
die on the way.
"""

from typing import TYPE_CHECKING

from .._lazy import lazy
from ..clusters import with_dask

if TYPE_CHECKING:
    from .estimators import DaskLinearSVC, DaskSparseKernelClassifier

__all__ = ["DaskLinearSVC", "DaskSparseKernelClassifier"]

__getattr__ = with_dask(lazy(__name__, {"estimators": ["DaskLinearSVC", "DaskSparseKernelClassifier"]}))
