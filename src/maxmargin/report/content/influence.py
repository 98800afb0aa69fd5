"""The training rows, or the features, with the largest influence on a model's predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._native import is_sparse
from ...table import DatePlan, NumberPlan, TablePreparation, TextPlan, WordsPlan
from .description import fitted_inside, scalers_inside

MAX_SHOWN = 20
MAX_WORDS_OF_A_TEXT = 12


@dataclass(frozen=True)
class SupportRow:
    """A support vector: its coefficients' norm over the columns, where the largest pulls, and its values."""

    size: float
    coefficient: float  # the largest by absolute value
    towards: str
    row: int | None  # of the training table, from 0
    values: dict[str, Any]


@dataclass(frozen=True)
class Influence:
    """The support vectors with the largest coefficients."""

    rows: list[SupportRow]
    n_support: int
    share: float  # of the sum of all sizes that these have
    prototypes: bool  # moved off the data: no rows of the table


@dataclass(frozen=True)
class Weight:
    """A feature of a linear model: its weights' norm over the columns, and where the largest pulls."""

    feature: str
    size: float
    weight: float
    towards: str


@dataclass(frozen=True)
class Weights:
    """The features with the largest weights."""

    rows: list[Weight]
    n_features: int
    n_nonzero: int


def influential_rows(
    model: Any, preparation: TablePreparation | None, file_rows: list[int] | None = None
) -> Influence | None:
    """None for a model without support vectors that are rows of numbers.

    ``file_rows`` are the places of the support vectors in the training file, where the record has them.
    """
    inner, scalers = fitted_inside(model), scalers_inside(model)
    points, coef = getattr(inner, "support_vectors_", None), getattr(inner, "dual_coef_", None)
    if points is None or coef is None or getattr(points, "ndim", 0) != 2 or points.dtype.kind != "f":
        return None
    coef = _dense(coef)
    sizes = np.linalg.norm(coef, axis=0)
    order = np.argsort(-sizes, kind="stable")[:MAX_SHOWN]
    support = file_rows if file_rows is not None else getattr(inner, "support_", None)
    support = support if support is not None and len(support) == len(sizes) else None
    rows = []
    for j in order.tolist():
        t = int(np.argmax(np.abs(coef[:, j])))
        vector = restored(scalers, _dense(points[[j]]))[0]
        number = None if support is None else int(support[j])
        value = float(coef[t, j])
        values = readable_row(preparation, vector)
        rows.append(SupportRow(float(sizes[j]), value, pull(inner, t, value), number, values))
    total = float(sizes.sum())
    share = float(sizes[order].sum()) / total if total > 0 else 1.0
    return Influence(rows, len(sizes), share, bool(getattr(inner, "move_centers", False)))


def influential_features(model: Any, preparation: TablePreparation | None) -> Weights | None:
    """None for a model without one weight for each feature."""
    inner = fitted_inside(model)
    coef = getattr(inner, "coef_", None)
    names = feature_names(preparation, getattr(inner, "n_features_in_", 0))
    if coef is None:
        return None
    coef = _dense(coef)
    if coef.shape[1] != len(names):
        return None
    sizes = np.linalg.norm(coef, axis=0)
    rows = []
    for j in np.argsort(-sizes, kind="stable")[:MAX_SHOWN].tolist():
        t = int(np.argmax(np.abs(coef[:, j])))
        if sizes[j] > 0:
            value = float(coef[t, j])
            rows.append(Weight(names[j], float(sizes[j]), value, pull(inner, t, value)))
    return Weights(rows, len(names), int(np.count_nonzero(sizes)))


def restored(scalers: list[Any], rows: np.ndarray) -> np.ndarray:
    """Dense rows as they were before the searches around a classifier scaled their columns."""
    for search in reversed(scalers):
        rows = search.scaling_.restored(rows)
    return rows


def _dense(matrix: Any) -> np.ndarray:
    return np.atleast_2d(matrix.toarray() if is_sparse(matrix) else np.asarray(matrix))


def pull(model: Any, column: int, value: float) -> str:
    """The class, or classes, that a coefficient of this sign in this column speaks for."""
    names = [str(label) for label in model.classes_]
    code = getattr(model, "code_", None)
    if code is None or column >= code.n_columns:
        return names[column] if len(names) > 2 and value > 0 else f"column {column}"
    side = code.matrix[:, column] * (1 if value > 0 else -1)
    speaks_for = [names[k] for k in np.flatnonzero(side > 0)]
    against = [names[k] for k in np.flatnonzero(side < 0)]
    if len(speaks_for) <= 2:
        return " or ".join(speaks_for)
    return f"not {against[0]}" if len(against) == 1 else f"{len(speaks_for)} classes (column {column})"


def readable_row(preparation: TablePreparation | None, vector: np.ndarray) -> dict[str, Any]:
    """Values by the names of the table's columns, in the order of the file; None where a value was missing.

    ``preparation`` is a fitted ``TablePreparation``, or None for rows that were not prepared. Words that the
    model does not tell apart read "(another)". Of a sparse row only non-zero values are shown. A column that
    was constant in training has its constant.
    """
    vector = np.asarray(vector, dtype=np.float64)
    if preparation is None:
        return {f"x{j}": _rounded(v) for j, v in enumerate(vector.tolist())}
    names = _names_in(preparation)
    if preparation.layout_ == "sparse":
        whole = vector * preparation.scale_[: len(vector)]
        return {names[j]: _rounded(whole[j]) for j in np.flatnonzero(whole).tolist()}
    constants: dict[str, Any] = preparation.constants_
    values, at = {}, 0
    for name, plan in zip(names, preparation.plans_):
        part = vector[at : at + plan.width]
        at += plan.width
        if plan.width:
            values[name] = _value(plan, part)
        elif name in constants:
            values[name] = constants[name]
    return values


def feature_names(preparation: TablePreparation | None, n_features: int) -> list[str]:
    """Of the columns of the prepared matrix."""
    if preparation is None:
        return [f"x{j}" for j in range(n_features)]
    return [str(name) for name in preparation.get_feature_names_out()]


def _names_in(preparation: TablePreparation) -> list[str]:
    given = getattr(preparation, "feature_names_in_", None)
    return [f"x{j}" for j in range(preparation.n_features_in_)] if given is None else [str(n) for n in given]


def _value(plan: Any, part: np.ndarray) -> Any:
    if isinstance(plan, WordsPlan):
        return _word(plan, part)
    if isinstance(plan, DatePlan):
        return plan.read(part.tolist())
    return _text(plan, part) if isinstance(plan, TextPlan) else _number(plan, part)


def _text(plan: TextPlan, part: np.ndarray) -> str | None:
    """The known words with the largest weights."""
    if plan.missing and part[-1] > 0.5:
        return None
    order = np.argsort(-part[: len(plan.words)], kind="stable")[:MAX_WORDS_OF_A_TEXT].tolist()
    return " ".join(plan.words[k] for k in order if part[k] > 0.0)


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
