"""Empirical Rademacher complexity of a ball of functions: from the kernel diagonal, or by random signs.

For the functions with norm at most r in the space of a kernel, and signs s drawn at random,

    R = (1/n) E sup_f sum_i s_i f(x_i) = (r/n) E sqrt(s'K s)  <=  (r/n) sqrt(trace K).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import as_rows
from ..data import check_number, check_sample_weight
from ..kernels import Kernel, KernelData, Linear
from .kinds import Estimate, check_counts

__all__ = ["rademacher_complexity", "rademacher_monte_carlo"]

DRAWS_PER_PRODUCT = 32


def rademacher_complexity(diagonal: Any, radius: float = 1.0) -> float:
    """``radius sqrt(sum_i k(x_i, x_i)) / n``, an upper bound on the ball's empirical Rademacher complexity.

    Parameters
    ----------
    diagonal : array-like of shape (n_samples,)
        ``k(x_i, x_i)``.
    radius : float, default=1.0

    Returns
    -------
    float

    Examples
    --------
    >>> from maxmargin.bounds import rademacher_complexity
    >>> rademacher_complexity([1.0] * 100, radius=2.0)
    0.2
    """
    values = np.asarray(diagonal, dtype=np.float64)
    check_number("radius", radius, at_least=0.0)
    if values.ndim != 1 or not len(values) or not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise ValueError("diagonal must hold finite numbers >= 0, k(x, x) of at least one row.")
    return ball_complexity(float(values.sum()), radius, len(values))


def ball_complexity(trace: float, radius: float, n_samples: int) -> float:
    """``radius sqrt(trace) / n``."""
    return radius * float(np.sqrt(trace)) / n_samples


def rademacher_monte_carlo(
    kernel: Kernel,
    X: Any,
    radius: float = 1.0,
    *,
    sample_weight: Any = None,
    n_draws: int = 100,
    random_state: int = 0,
) -> Estimate:
    """A Monte Carlo estimate of the empirical Rademacher complexity of the ball.

    Parameters
    ----------
    kernel : Kernel
        All its parameters must be numbers.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        For kernels that accept them, a sequence of objects or a square matrix.
    radius : float, default=1.0
    sample_weight : array-like of whole numbers, optional
        How often each row was observed.
    n_draws : int, default=100
        At least 2. The kernel matrix is not stored; it is computed once for every 32 draws.
    random_state : int, default=0

    Returns
    -------
    Estimate
        With its ``standard_error``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import rademacher_complexity, rademacher_monte_carlo
    >>> from maxmargin.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> rademacher_monte_carlo(RBF(gamma=1.0), X).value < rademacher_complexity(np.ones(100))
    True
    """
    check_number("radius", radius, at_least=0.0)
    check_number("n_draws", n_draws, at_least=2, integer=True)
    X = as_rows(X) if getattr(X, "ndim", 2) == 2 else X
    counts = check_sample_weight(sample_weight, X.shape[0])
    check_counts("sample_weight", counts)
    index = np.flatnonzero(counts)
    return complexity_estimate(KernelData(kernel, X, index), counts[index], radius, n_draws, random_state)


def complexity_estimate(
    rows: KernelData,
    counts: np.ndarray,
    radius: float,
    n_draws: int = 100,
    seed: int = 0,
    constant: float = 0.0,
) -> Estimate:
    """``(radius / n) E sqrt(s'K s)``, for rows with these counts; ``constant`` is added to K."""
    lengths = _lengths(rows, counts, n_draws, seed, constant) * (radius / counts.sum())
    return Estimate(
        float(lengths.mean()),
        {"draws": n_draws},
        name="rademacher-monte-carlo",
        of="empirical Rademacher complexity",
        standard_error=float(lengths.std(ddof=1) / np.sqrt(n_draws)),
    )


def _lengths(rows: KernelData, counts: np.ndarray, n_draws: int, seed: int, constant: float) -> np.ndarray:
    """``sqrt(s'K s)`` of each draw; the signs of c equal rows sum to 2 Binomial(c, 1/2) - c."""
    rng = np.random.default_rng(seed)
    everyone, squares = np.arange(len(rows)), []
    for start in range(0, n_draws, DRAWS_PER_PRODUCT):
        size = (min(DRAWS_PER_PRODUCT, n_draws - start), len(rows))
        signs = (2.0 * rng.binomial(counts.astype(np.int64), 0.5, size=size) - counts).T
        squares.append(constant * np.square(signs.sum(axis=0)))
        if isinstance(rows.kernel, Linear):
            squares[-1] += np.square(rows.X[rows.index].T @ signs).sum(axis=0)
        else:
            squares[-1] += (signs * rows.matmul(everyone, everyone, signs)).sum(axis=0)
    return np.sqrt(np.maximum(np.concatenate(squares), 0.0))
