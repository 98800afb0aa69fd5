"""Conversion of values to JSON types."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

__all__ = ["plain"]


def _refused(value: Any) -> Any:
    raise TypeError(f"a value of type {type(value).__name__} cannot be written as JSON")


def plain(value: Any, otherwise: Callable[[Any], Any] = _refused) -> Any:
    """``value`` in JSON types: arrays become lists, NaN and infinite numbers become null.

    Anything else becomes ``otherwise(value)``, which raises by default.
    """
    if isinstance(value, Mapping):
        return {str(plain(key, otherwise)): plain(entry, otherwise) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry, otherwise) for entry in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist(), otherwise)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, PurePath):
        return str(value)
    return otherwise(value)
