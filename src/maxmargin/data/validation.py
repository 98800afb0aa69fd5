"""scikit-learn's validation of the rows that a method is given, behind our own check of sparse matrices.

scikit-learn's and SciPy's code crashes on a sparse matrix whose indices point outside it, so no such matrix
may reach it.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .._native import LAYOUT, as_rows, check_structure, is_sparse

__all__ = ["check_rows", "checked_input", "validate_rows"]


def checked_input(X: Any) -> Any:
    """X itself; a malformed sparse matrix raises."""
    if is_sparse(X):
        check_structure(X)
    return X


def check_rows(X: Any, **options: Any) -> Any:
    """A matrix in the core's layout, checked with these options of scikit-learn's ``check_array``."""
    return as_rows(check_array(checked_input(X), **LAYOUT, **options), checked=True)


def validate_rows(estimator: Any, X: Any, **options: Any) -> Any:
    """X in the core's layout, and y if it is given, checked by scikit-learn's ``validate_data``."""
    found = validate_data(estimator, checked_input(X), **LAYOUT, **options)
    if "y" not in options:
        return as_rows(found, checked=True)
    return as_rows(found[0], checked=True), found[1]
