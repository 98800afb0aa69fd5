"""The one door to the compiled core: dtypes, layouts and shapes are checked here, nowhere else."""

from __future__ import annotations

from . import _core

__all__ = ["simd_name"]

simd_name = _core.simd_name
