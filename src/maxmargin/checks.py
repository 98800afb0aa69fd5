"""Rules for parameters and data: every refusal says what was given, what is accepted and what to do."""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_number(
    name: str, value: Any, *, above: float = -np.inf, at_least: float = -np.inf, integer: bool = False
) -> None:
    """Refuse what is not a finite number in the range."""
    kind, wanted = (Integral, "an integer") if integer else (Real, "a finite number")
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    if not is_number or not _is_finite(value) or value <= above or value < at_least:
        bound = f" > {above:g}" if above > -np.inf else f" >= {at_least:g}" if at_least > -np.inf else ""
        raise ValueError(f"{name} must be {wanted}{bound}; got {value!r}.")


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False


def check_choice(name: str, value: Any, accepted: Collection[str]) -> None:
    """Refuse a name that is not on the list."""
    if not isinstance(value, str) or value not in accepted:
        raise ValueError(f"{name} must be one of {sorted(accepted)}; got {value!r}.")


def check_flag(name: str, value: Any) -> None:
    """Refuse what is not a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}.")


def check_sample_weight(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Weights as a float64 array: one for each row, finite, none negative, not all zero; ones when None."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array.")
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one entry for each of the {n_samples} rows; got {weight.shape}."
        )
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight must be finite; it contains NaN or infinity.")
    if (weight < 0.0).any():
        row = int(np.argmin(weight))
        raise ValueError(f"sample_weight must be >= 0; got {weight[row]:g} for row {row}.")
    if not weight.any():
        raise ValueError(
            "sample_weight is zero for every row, so there is nothing to fit; give some row a weight."
        )
    return weight


def class_weights(
    class_weight: Any, classes: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """The factor of each class: 1, from a dict, or "balanced": total / (n_classes * class's weight)."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        return weight.sum() / (len(classes) * np.bincount(labels, weights=weight))
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict; got {class_weight!r}.")
    unknown = [label for label in class_weight if label not in classes]
    if unknown:
        raise ValueError(f"class_weight names {unknown!r}, but the classes in y are {classes.tolist()}.")
    factors = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    if not (np.isfinite(factors) & (factors > 0.0)).all():
        raise ValueError(f"class_weight must hold finite numbers > 0; got {class_weight!r}.")
    return factors


def check_scale(sqnorms: np.ndarray, total_cost: float) -> None:
    """Refuse rows so long that sums of their squares would overflow."""
    with np.errstate(over="ignore"):
        total = float(sqnorms.sum() * max(total_cost, 1.0))
    if not total < 1e300:
        raise ValueError(
            f"the features are too large: a row of X has squared norm {sqnorms.max():.3g}, and sums of these "
            "overflow. Scale the features, for example with sklearn.preprocessing.StandardScaler."
        )
