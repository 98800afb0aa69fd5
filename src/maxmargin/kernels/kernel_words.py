"""Which kernels have words for parameters, to which the rows of a fit give numbers."""

from __future__ import annotations

from .algebra import Kernel

__all__ = ["depends_on_data"]

FROM_ROWS = ("median", "scale")


def depends_on_data(kernel: Kernel) -> bool:
    """Whether some gamma is a word that the rows give a number to."""
    parts = [getattr(kernel, name) for name in ("left", "right", "kernel") if hasattr(kernel, name)]
    return getattr(kernel, "gamma", None) in FROM_ROWS or any(map(depends_on_data, parts))
