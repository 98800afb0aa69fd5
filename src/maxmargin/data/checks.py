"""Checks of parameters and data: every error says what was given, what is accepted and what to do."""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_number(
    name: str, value: Any, *, above: float = -np.inf, at_least: float = -np.inf, integer: bool = False
) -> None:
    """Raise unless the value is a finite number in the range."""
    kind, wanted = (Integral, "an integer") if integer else (Real, "a finite number")
    is_number = isinstance(value, kind) and not isinstance(value, bool) and _is_finite(value)
    if not is_number or value <= above or value < at_least:
        bound = f" > {above:g}" if above > -np.inf else f" >= {at_least:g}" if at_least > -np.inf else ""
        raise ValueError(f"{name} must be {wanted}{bound}; got {value!r}.")


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def check_choice(name: str, value: Any, accepted: Collection[str]) -> None:
    """Raise unless the value is one of the accepted names."""
    if not isinstance(value, str) or value not in accepted:
        raise ValueError(f"{name} must be one of {sorted(accepted)}; got {value!r}.")


def check_flag(name: str, value: Any) -> None:
    """Raise unless the value is a Boolean."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}.")


def check_grid(name: str, values: Any, *, zero: bool = False) -> np.ndarray:
    """The values as a float64 array of at least one positive number, or non-negative one."""
    try:
        grid = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        grid = np.empty(0)
    inside = np.isfinite(grid) & ((grid >= 0.0) if zero else (grid > 0.0))
    if grid.ndim != 1 or not len(grid) or not inside.all():
        sign = ">=" if zero else ">"
        raise ValueError(f"{name} must be a list of at least one finite number {sign} 0; got {values!r}.")
    return grid


def numeric_targets(y: Any) -> Any:
    """``y`` itself or, of objects, text and records, their numbers; a target that is not a number raises."""
    given = None if y is None else np.asarray(y)
    if given is None or given.ndim == 0 or given.dtype.kind not in "OUSV":
        return y
    try:
        return given.astype(np.float64)
    except (TypeError, ValueError):
        wrong = next((target for target in given.ravel().tolist() if not _is_real(target)), None)
    raise ValueError(f"y must be numbers; got {wrong!r}. For classes, use a classifier, such as KernelSVC.")


def _is_real(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None  # a missing number
    return True


def check_sample_weight(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Weights as a float64 array, one per row: finite, non-negative, not all zero; ones for None."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array.")
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one entry for each of the {n_samples} rows; got shape {weight.shape}."
        )
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight must be finite; it contains NaN or infinity.")
    if (weight < 0.0).any():
        row = int(np.argmin(weight))
        raise ValueError(f"sample_weight must be >= 0; got {weight[row]:g} for row {row}.")
    if not weight.any():
        raise ValueError(
            "sample_weight is zero for every row, so there is nothing to fit; give some row a weight > 0."
        )
    return weight


def class_weights(class_weight: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Each row's factor: 1, its class's entry in a dict, or (balanced) total / (n_classes * class total)."""
    if class_weight is None:
        return np.ones(len(y))
    classes, labels = np.unique(y, return_inverse=True)
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(labels, weights=weight / weight.max())
        given = totals > 0.0
        factors = np.where(given, totals.sum() / (given.sum() * np.where(given, totals, 1.0)), 0.0)
        return factors[labels]
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict; got {class_weight!r}.")
    names = classes.tolist()
    unknown = [label for label in class_weight if label not in names]
    if unknown and not all(name in class_weight for name in names):
        raise ValueError(f"class_weight names {unknown!r}, but the classes in y are {names}.")
    factors = np.array([float(class_weight.get(name, 1.0)) for name in names])
    if not (np.isfinite(factors) & (factors >= 0.0)).all():
        raise ValueError(f"class_weight must hold finite numbers >= 0; got {class_weight!r}.")
    return factors[labels]


def check_costs(C: float, weight: np.ndarray) -> None:
    """Raise if costs C * weight are out of range for double precision."""
    with np.errstate(over="ignore", under="ignore"):
        smallest, total = C * float(weight.min()), C * float(weight.sum())
    if not (smallest >= 1e-290 and total <= 1e145):
        raise ValueError(
            "C times the weights (sample weights times class weights) must each be at least 1e-290 and sum "
            f"to at most 1e145; got C={C:g} and weights from {weight.min():g} to {weight.max():g}. Rescale "
            "the weights by a common factor."
        )


def check_weights(weight: np.ndarray) -> None:
    """Raise if weights, relative to their sum, are out of range for double precision."""
    with np.errstate(over="ignore"):
        least, total = float(weight[weight > 0.0].min()), float(weight.sum())
    if not (least >= 1e-290 and total <= 1e290):
        raise ValueError(
            "the weights (sample weights times class weights) must each be at least 1e-290 and sum to at "
            f"most 1e290; got weights from {least:g} to {weight.max():g}. Rescale them by a common factor."
        )


def check_scale(X: Any, sqnorms: np.ndarray, total_cost: float) -> None:
    """Raise if the rows are so large that sums of their squared norms would overflow in X's precision."""
    with np.errstate(over="ignore"):
        total = float(sqnorms.sum())
        overflows = not total * max(total_cost, 1.0) < 1e300 or (X.dtype == np.float32 and not total < 1e37)
    if overflows:
        raise ValueError(
            f"the features are too large: a row of X ({X.dtype}) has squared norm {sqnorms.max():.3g}, and "
            "sums of squared norms overflow. Scale the features, for example with "
            "sklearn.preprocessing.StandardScaler."
        )


def check_alpha(alpha: float, largest: float) -> None:
    """Raise if alpha is so small that ``||w||^2``, which can reach ``largest / alpha^2``, would overflow.

    ``largest`` is the largest product or kernel value of two rows.
    """
    if not math.sqrt(max(largest, 1.0)) / alpha <= 1e145:
        raise ValueError(
            f"alpha={alpha:g} is too small for products or kernel values of rows up to {largest:.3g}: "
            "squared norms of coefficients overflow. Raise alpha, or scale the features or the kernel."
        )


@np.errstate(over="ignore")
def check_symmetric(K: np.ndarray, tile: int = 512) -> None:
    """Raise if a square matrix differs from its transpose by more than rounding; it is read tile by tile."""
    worst, largest = 0.0, 0.0
    for i in range(0, len(K), tile):
        for j in range(0, i + 1, tile):
            below, above = K[i : i + tile, j : j + tile], K[j : j + tile, i : i + tile]
            largest = max(largest, float(np.abs(below).max()), float(np.abs(above).max()))
            worst = max(worst, float(np.abs(below - above.T).max()))
    if worst > (1e-3 if K.dtype == np.float32 else 1e-6) * largest:
        raise ValueError(
            f"a precomputed kernel matrix must be symmetric to fit; its entries are up to {largest:.3g} and "
            f"differ from those of its transpose by up to {worst:.3g}. Give k(x_i, x_j) for all training "
            "rows, or pass (K + K.T) / 2 if that is what you mean."
        )


def check_kernel_sums(dtype: Any, *sums: np.ndarray) -> None:
    """Raise if sums of kernel values, or of their squares, are not finite."""
    if not all(np.isfinite(values).all() for values in sums):
        raise ValueError(
            f"kernel values are not finite, or their squares overflow in {dtype}. Scale the features, for "
            "example with sklearn.preprocessing.StandardScaler, or pass X as float64."
        )


def check_label_types(labels: Any, name: str = "y") -> None:
    """Raise if a list, or an array of objects, mixes strings, numbers, Booleans and missing labels.

    NumPy would turn such a list into strings, in which 1 and "1" are one class.
    """
    if isinstance(labels, list | tuple):
        found = {type(label) for label in labels}
        if found and found <= {list, tuple}:  # a column of labels
            found = {type(label) for row in labels for label in row}
    elif hasattr(labels, "__array__") and (given := np.asarray(labels)).dtype == object:
        found = {type(label) for label in given.ravel()}
    else:
        return
    kinds = sorted({_kind_of_label(of) for of in found})
    if kinds == ["missing labels"]:
        raise ValueError(f"{name} has no labels, only missing ones. Leave out rows without a label.")
    if len(kinds) > 1:
        raise ValueError(
            f"{name} mixes labels of different types: {' and '.join(kinds)}. Give labels of one type, for "
            "example all as strings, and leave out rows without a label."
        )


def _kind_of_label(of: type) -> str:
    kinds: list[tuple[Any, str]] = [(bool | np.bool_, "Booleans"), (str, "strings"), (Real, "numbers")]
    missing = of.__name__ in ("NoneType", "NAType", "NaTType")
    known = (name for types, name in kinds if issubclass(of, types))
    return "missing labels" if missing else next(known, f"values of type {of.__name__}")


def label_numbers(y: np.ndarray, classes: np.ndarray, complaint: str) -> np.ndarray:
    """The position of each label among the sorted classes.

    Unknown labels raise ``complaint``, a format string with the fields ``labels`` and ``classes``.
    """
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    strange = np.unique(y[classes[places] != y])
    if len(strange):
        raise ValueError(complaint.format(labels=strange.tolist(), classes=classes.tolist()))
    return places
