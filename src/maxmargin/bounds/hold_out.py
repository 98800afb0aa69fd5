"""Bounds from counting: errors on held-out rows, and finite function classes."""

from __future__ import annotations

import math

from scipy.stats import beta

from ..data import check_number
from .kinds import Bound, bound_of_terms, check_delta

__all__ = ["finite_class_bound", "finite_class_excess", "hold_out_bound", "union_excess"]


def hold_out_bound(
    n_errors: int, n_samples: int, delta: float = 0.05, *, majority_error: float = 0.5
) -> Bound:
    """The Clopper-Pearson upper limit: the largest error with which so few mistakes have probability delta.

    Parameters
    ----------
    n_errors, n_samples : int
        Wrong predictions and all predictions, on rows that took no part in any choice about the model.
    delta : float, default=0.05
    majority_error : float, default=0.5

    Returns
    -------
    Bound

    Examples
    --------
    >>> from maxmargin.bounds import hold_out_bound
    >>> round(hold_out_bound(5, 200).value, 3)
    0.052
    """
    check_delta(delta)
    check_number("n_samples", n_samples, at_least=1, integer=True)
    check_number("n_errors", n_errors, at_least=0, integer=True)
    if n_errors > n_samples:
        raise ValueError(f"n_errors={n_errors} must be at most n_samples={n_samples}.")
    error = n_errors / n_samples
    limit = 1.0 if n_errors == n_samples else float(beta.ppf(1.0 - delta, n_errors + 1, n_samples - n_errors))
    return bound_of_terms(
        "hold-out", {"hold-out error": error, "confidence": limit - error}, delta, majority_error
    )


def finite_class_bound(
    error: float, n_functions: int, n_samples: int, delta: float = 0.05, *, majority_error: float = 0.5
) -> Bound:
    """``e <= error + sqrt(log(|H| / delta) / (2n))`` for every function of a finite class at once.

    Parameters
    ----------
    error : float
        The share of errors on the sample, of the function that was chosen.
    n_functions, n_samples : int
    delta : float, default=0.05
    majority_error : float, default=0.5

    Returns
    -------
    Bound

    Examples
    --------
    >>> from maxmargin.bounds import finite_class_bound
    >>> round(finite_class_bound(0.1, n_functions=20, n_samples=1000).value, 3)
    0.155
    """
    _check_class(n_functions, n_samples, delta)
    check_number("error", error, at_least=0.0)
    width = math.sqrt(math.log(n_functions / delta) / (2 * n_samples))
    return bound_of_terms("finite-class", {"training error": error, "union": width}, delta, majority_error)


def finite_class_excess(n_functions: int, n_samples: int, delta: float = 0.05) -> Bound:
    """``e(h) - min_H e <= 2 sqrt(2 log|H| / n) + 4 sqrt(log(3/delta) / (2n))`` for the least training error.

    The proof uses the Rademacher complexity of the class, which is at most ``sqrt(2 log|H| / n)``.

    Parameters
    ----------
    n_functions, n_samples : int
    delta : float, default=0.05

    Returns
    -------
    Bound

    Examples
    --------
    >>> from maxmargin.bounds import finite_class_excess
    >>> round(finite_class_excess(n_functions=20, n_samples=1000).value, 3)
    0.336
    """
    _check_class(n_functions, n_samples, delta)
    terms = {
        "complexity": 2.0 * math.sqrt(2.0 * math.log(n_functions) / n_samples),
        "confidence": 4.0 * math.sqrt(math.log(3.0 / delta) / (2.0 * n_samples)),
    }
    return bound_of_terms("finite-class-excess", terms, delta, 0.5, of="error above the best of the class")


def union_excess(
    n_functions: int, n_samples: int, delta: float = 0.05, *, best_error: float = 0.0, bias: float = 0.0
) -> Bound:
    """``e(h) <= e(h0) + bias + sqrt((2/n) log((|H| + 1) / delta))`` for the least training error.

    Parameters
    ----------
    n_functions, n_samples : int
    delta : float, default=0.05
    best_error : float, default=0.0
        ``e(h0)``, the error of the best possible rule, where it is known.
    bias : float, default=0.0
        The excess error of the best function of the class.

    Returns
    -------
    Bound

    Examples
    --------
    >>> from maxmargin.bounds import union_excess
    >>> round(union_excess(n_functions=20, n_samples=1000).value, 3)
    0.11
    """
    _check_class(n_functions, n_samples, delta)
    check_number("best_error", best_error, at_least=0.0)
    check_number("bias", bias, at_least=0.0)
    width = math.sqrt(2.0 / n_samples * math.log((n_functions + 1) / delta))
    return bound_of_terms("union", {"best error": best_error, "bias": bias, "union": width}, delta, 0.5)


def _check_class(n_functions: int, n_samples: int, delta: float) -> None:
    check_delta(delta)
    check_number("n_functions", n_functions, at_least=1, integer=True)
    check_number("n_samples", n_samples, at_least=1, integer=True)
