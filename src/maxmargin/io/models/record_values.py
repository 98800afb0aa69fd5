"""A record as JSON and back: NumPy's numbers become Python's, numbers that are not finite become words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

DEEPEST = 100  # lists and dicts within one another
WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def record_to_json(value: Any, path: str = "record", depth: int = 0) -> Any:
    """The same with dicts, lists, strings, numbers, booleans and None alone; anything else is refused."""
    _refuse_depth(depth)
    if isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise ValueError(f"{path} has the key {wrong[0]!r:.60}; JSON has strings as keys.")
        return {key: record_to_json(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [record_to_json(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise ValueError(f"{path} is a {type(value).__name__}; a record has only what JSON has.")


def record_from_json(tree: Any, depth: int = 0) -> Any:
    """What ``record_to_json`` was given."""
    _refuse_depth(depth)
    if isinstance(tree, list):
        return [record_from_json(item, depth + 1) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if set(tree) == {"float"} and tree["float"] in WORDS:
        return WORDS[tree["float"]]
    return {key: record_from_json(item, depth + 1) for key, item in tree.items()}


def _refuse_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise ValueError(f"a record has lists and dicts within one another more than {DEEPEST} deep.")
