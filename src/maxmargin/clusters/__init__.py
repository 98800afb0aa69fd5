"""Passes on a Dask cluster, for any model that has ``fit_blocks``; they need the extra `dask`."""

from typing import TYPE_CHECKING

from .._lazy import lazy
from .extra import with_dask

if TYPE_CHECKING:
    from .clients import connected, fit_on_cluster, shared
    from .files import of_files
    from .passes import DaskPasses
    from .results import result_of

__all__ = ["DaskPasses", "connected", "fit_on_cluster", "of_files", "result_of", "shared", "with_dask"]

__getattr__ = with_dask(
    lazy(
        __name__,
        {
            "clients": ["connected", "fit_on_cluster", "shared"],
            "files": ["of_files"],
            "passes": ["DaskPasses"],
            "results": ["result_of"],
        },
    )
)
