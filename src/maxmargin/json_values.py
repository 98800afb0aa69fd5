"""Values in the types that JSON has."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

__all__ = ["plain"]


def _refused(value: Any) -> Any:
    raise TypeError(f"a {type(value).__name__} cannot be part of a JSON answer")


def plain(value: Any, otherwise: Callable[[Any], Any] = _refused) -> Any:
    """``value`` in the types that JSON has: arrays as lists, NaN and infinite numbers as null.

    What has no such type becomes ``otherwise(value)``, and is refused by default.
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
