"""A row of the prepared matrix as a person would write it: numbers in their own units, words as words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...table import NumberPlan, TablePreparation, WordsPlan


def readable_row(preparation: TablePreparation | None, vector: np.ndarray) -> dict[str, Any]:
    """Values by the names of the table's columns; None where a value was missing.

    ``preparation`` is a fitted ``TablePreparation``, or None for rows that were not prepared. Words that the
    model does not tell apart read "(another)". Of a sparse row only what is not 0 is told.
    """
    vector = np.asarray(vector, dtype=np.float64)
    if preparation is None:
        return {f"x{j}": _rounded(v) for j, v in enumerate(vector.tolist())}
    names = _names_in(preparation)
    if preparation.layout_ == "sparse":
        whole = vector * preparation.scale_[: len(vector)]
        return {names[j]: _rounded(whole[j]) for j in np.flatnonzero(whole).tolist()}
    values, at = {}, 0
    for name, plan in zip(names, preparation.plans_):
        part = vector[at : at + plan.width]
        at += plan.width
        if plan.width:
            values[name] = _word(plan, part) if isinstance(plan, WordsPlan) else _number(plan, part)
    return values


def feature_names(preparation: TablePreparation | None, n_features: int) -> list[str]:
    """Of the columns of the prepared matrix."""
    if preparation is None:
        return [f"x{j}" for j in range(n_features)]
    return [str(name) for name in preparation.get_feature_names_out()]


def _names_in(preparation: TablePreparation) -> list[str]:
    given = getattr(preparation, "feature_names_in_", None)
    return [f"x{j}" for j in range(preparation.n_features_in_)] if given is None else [str(n) for n in given]


def _number(plan: NumberPlan, part: np.ndarray) -> float | None:
    if plan.indicator and part[-1] > 0.5:
        return None
    if not plan.kept:
        return _rounded(plan.mean)
    move = float(part[0]) * plan.scale
    return _rounded(plan.mean + move, abs(plan.mean) + abs(move))


def _word(plan: WordsPlan, part: np.ndarray) -> str | None:
    place = int(np.argmax(part))
    if part[place] <= 0.5:
        return "(another)"
    if place < len(plan.categories):
        return str(plan.categories[place])
    return None if plan.missing and place == plan.width - 1 else "(another)"


def _rounded(value: float, size: float | None = None) -> float:
    """What single precision has kept, six digits of the largest number that the value was computed from."""
    size = abs(value) if size is None else size
    return round(value, 5 - math.floor(math.log10(size))) + 0.0 if size > 0.0 else 0.0
