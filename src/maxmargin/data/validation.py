"""scikit-learn's validation of the rows that a method is given, behind our own check of sparse matrices.

scikit-learn's and SciPy's code crashes on a sparse matrix whose indices point outside it, so no such matrix
may reach it. A small array that is already in the core's layout passes without scikit-learn, whose checks
would take longer than a prediction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .._native import LAYOUT, as_rows, check_structure, is_sparse

__all__ = ["check_rows", "checked_input", "validate_rows"]

MAX_ENTRIES_OF_PLAIN_ROWS = 1 << 18  # beyond that scikit-learn's checks take no time that counts


def checked_input(X: Any) -> Any:
    """X itself; a malformed sparse matrix raises."""
    if is_sparse(X):
        check_structure(X)
    return X


def check_rows(X: Any, **options: Any) -> Any:
    """A matrix in the core's layout, checked with these options of scikit-learn's ``check_array``."""
    return as_rows(check_array(checked_input(X), **LAYOUT, **options), checked=True)


def validate_rows(estimator: Any, X: Any, **options: Any) -> Any:
    """X in the core's layout, and y if it is given, checked by scikit-learn's ``validate_data``.

    Without y, ``reset=False`` compares X with the rows of the fit.
    """
    if _is_plain(X, options) and not hasattr(estimator, "feature_names_in_"):
        if "y" in options and len(options["y"]) == X.shape[0]:
            estimator.n_features_in_ = X.shape[1]
            return as_rows(X, checked=True), options["y"]
        if "y" not in options and getattr(estimator, "n_features_in_", None) == X.shape[1]:
            return as_rows(X, checked=True)
    found = validate_data(estimator, checked_input(X), **LAYOUT, **options)
    if "y" not in options:
        return as_rows(found, checked=True)
    return as_rows(found[0], checked=True), found[1]


def _is_plain(X: Any, options: dict[str, Any]) -> bool:
    """Whether scikit-learn would return these very numbers: finite floats, and labels of integers or
    strings, or finite targets."""
    if "y" in options:
        y, numeric = options["y"], options.get("y_numeric", False)
        kinds = "iubf" if numeric else "iubU"
        if set(options) - {"y", "y_numeric"} or type(y) is not np.ndarray or y.ndim != 1:
            return False
        if y.dtype.kind not in kinds or (numeric and not np.isfinite(y).all()):
            return False
    elif options != {"reset": False}:
        return False
    if is_sparse(X) and X.format == "csr" and X.dtype in (np.float64, np.float32) and min(X.shape) > 0:
        check_structure(X)
        return X.data.size <= MAX_ENTRIES_OF_PLAIN_ROWS and bool(np.isfinite(X.data).all())
    return bool(
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and X.flags.c_contiguous
        and 0 < X.size <= MAX_ENTRIES_OF_PLAIN_ROWS
        and np.isfinite(X).all()
    )
