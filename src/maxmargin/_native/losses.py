"""The compiled losses, entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .arguments import as_real

__all__ = [
    "loss_conjugate",
    "loss_slope",
    "loss_value",
]


def _entrywise(core_map: Callable[..., None], name: str, values: ArrayLike) -> NDArray[Any]:
    values = as_real("margins and slopes", values, np.float64)
    out = np.empty(values.shape)
    core_map(name, values.reshape(-1), out.reshape(-1))
    return out


def loss_value(name: str, margins: ArrayLike) -> NDArray[Any]:
    """The compiled loss of that name at each margin."""
    return _entrywise(_core.loss_value, name, margins)


def loss_slope(name: str, margins: ArrayLike) -> NDArray[Any]:
    """Its derivative in the margin."""
    return _entrywise(_core.loss_slope, name, margins)


def loss_conjugate(name: str, slopes: ArrayLike) -> NDArray[Any]:
    """Its convex conjugate at each slope."""
    return _entrywise(_core.loss_conjugate, name, slopes)
