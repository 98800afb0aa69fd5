"""``--set C=10``: parameters of a model by name, as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .problems import UsageError

_WORDS = {"true": True, "false": False, "none": None, "null": None}


def parsed(settings: Sequence[str]) -> dict[str, Any]:
    """Names and values: numbers, true, false, none and JSON lists as such, the rest is text."""
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--set takes NAME=VALUE, such as --set C=10; got {setting!r}.")
        if name.strip() in parameters:
            raise UsageError(f"--set {name.strip()} is given twice.")
        parameters[name.strip()] = _value(value.strip())
    return parameters


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    try:
        return float(text)  # 1. and .5, which JSON does not know
    except ValueError:
        return text
