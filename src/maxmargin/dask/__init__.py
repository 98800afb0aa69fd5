"""Fits on a Dask cluster: passes over the partitions, computed by its workers; they need the extra `dask`.

A fit has the bits of ``fit_blocks`` on the same blocks, whatever the number of workers and whichever of them
die on the way.
"""

from typing import TYPE_CHECKING, Any

from .._lazy import lazy

if TYPE_CHECKING:
    from .clients import connected, fit_on_cluster, shared
    from .estimators import DaskLinearSVC, DaskSparseKernelClassifier

__all__ = ["DaskLinearSVC", "DaskSparseKernelClassifier", "connected", "fit_on_cluster", "shared"]

_imported = lazy(
    __name__,
    {
        "clients": ["connected", "fit_on_cluster", "shared"],
        "estimators": ["DaskLinearSVC", "DaskSparseKernelClassifier"],
    },
)


def __getattr__(name: str) -> Any:
    try:
        return _imported(name)
    except ModuleNotFoundError as error:
        raise ImportError(
            "maxmargin.dask needs dask and distributed: pip install 'maxmargin[dask]'."
        ) from error
