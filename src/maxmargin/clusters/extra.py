"""The error of an import that needs the extra `dask`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["with_dask"]


def with_dask(imported: Callable[[str], Any]) -> Callable[[str], Any]:
    """A module's ``__getattr__`` that names the extra if dask or distributed is missing."""

    def found(name: str) -> Any:
        try:
            return imported(name)
        except ModuleNotFoundError as error:
            raise ImportError(
                "maxmargin.dask needs dask and distributed: pip install 'maxmargin[dask]'."
            ) from error

    return found
