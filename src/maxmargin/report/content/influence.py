"""The rows of the training table, or the features, that a model's answers hang on most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._native import is_sparse
from ...table import TablePreparation
from .model_words import fitted_inside
from .readable import feature_names, readable_row

MOST_SHOWN = 20


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
    inner = fitted_inside(model)
    points, coef = getattr(inner, "support_vectors_", None), getattr(inner, "dual_coef_", None)
    if points is None or coef is None or getattr(points, "ndim", 0) != 2 or points.dtype.kind != "f":
        return None
    coef = _dense(coef)
    sizes = np.linalg.norm(coef, axis=0)
    order = np.argsort(-sizes, kind="stable")[:MOST_SHOWN]
    support = file_rows if file_rows is not None else getattr(inner, "support_", None)
    support = support if support is not None and len(support) == len(sizes) else None
    rows = []
    for j in order.tolist():
        t = int(np.argmax(np.abs(coef[:, j])))
        vector = _dense(points[[j]])[0]
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
    for j in np.argsort(-sizes, kind="stable")[:MOST_SHOWN].tolist():
        t = int(np.argmax(np.abs(coef[:, j])))
        if sizes[j] > 0:
            value = float(coef[t, j])
            rows.append(Weight(names[j], float(sizes[j]), value, pull(inner, t, value)))
    return Weights(rows, len(names), int(np.count_nonzero(sizes)))


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
