"""Features in which a kernel is nearly a product: leading eigenvectors, exact, or of an approximation of K.

For rows with weights w (a weight of 2 is a row given twice) the features D, (n, S), have

    D D' ~ K,    D' diag(w) D = diag(l),    l_1 >= l_2 >= ... > 0,

and those of any x are ``k(x, landmarks) @ projection``. With the exact eigenvectors of K, D D' is its best
approximation of rank S. Otherwise it is ``F F'`` for some F of few columns, turned by the eigenvectors of
``F' diag(w) F``.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .checks import check_kernel_sums
from .kernel_data import KernelData, n_points
from .solvers.eigen import eigh_descending
from .solvers.feature_panel import FeaturePanel
from .solvers.pivoted_cholesky import add_random_pivots
from .solvers.row_pool import RowPool, row_blocks

__all__ = ["METHODS", "EigenFeatures", "eigen_features"]

METHODS = ("auto", "exact", "landmarks", "pivoted-cholesky", "randomized")
SMALL = 1000  # rows up to which "auto" is exact
LARGEST = 5000  # rows of which "exact" holds the kernel matrix
OVERSAMPLING, N_POWERS = 10, 1  # of "randomized"
APPENDED = 256  # landmarks at a time


@dataclass(frozen=True)
class EigenFeatures:
    """Features of the rows of a fit, and how those of other points are computed.

    Eigenvalues below 1e-13 of the largest (1e-6 for float32 data) are dropped with their features, so there
    may be fewer than asked for, and none at all where the kernel matrix is zero.
    """

    features: np.ndarray  # D, (n_rows, S), in the precision of the data
    eigenvalues: np.ndarray  # l, (S,), descending
    index: np.ndarray | None  # which rows are the landmarks; None where points were given
    projection: np.ndarray  # (n_landmarks, S), in double
    trace_captured: float  # sum(l) / sum_i w_i k(x_i, x_i)
    points: Any  # the landmarks
    method: str  # which it was


def eigen_features(
    kernel: KernelData,
    n_components: int,
    *,
    method: str = "auto",
    rng: np.random.Generator,
    landmarks: Any = None,
    weight: np.ndarray | None = None,
) -> EigenFeatures:
    """At most ``n_components`` features of a kernel's rows.

    Parameters
    ----------
    kernel : KernelData
    n_components : int
    method : str
        "exact": eigenvectors of K, which is held; at most 5,000 rows. "randomized": those of a randomised
        approximation, by a few products with K. "pivoted-cholesky": from landmarks drawn where the
        approximation is worst. "landmarks": from landmarks drawn uniformly, or given. "auto": "landmarks"
        where they are given, else "exact" up to 1,000 rows, else "pivoted-cholesky".
    rng : Generator
    landmarks : int or points, optional
        How many landmarks: by default as many as components, and a fifth more for "pivoted-cholesky". Or
        the landmarks themselves.
    weight : array, optional
        Weights of the rows, positive.
    """
    given = landmarks is not None and not isinstance(landmarks, Integral)
    if method == "auto":
        method = "landmarks" if given else "exact" if len(kernel) <= SMALL else "pivoted-cholesky"
    weight = np.ones(len(kernel)) if weight is None else weight
    if landmarks is not None and (method in ("exact", "randomized") or (given and method != "landmarks")):
        accepted = "'landmarks'" if given else "'landmarks' or 'pivoted-cholesky'"
        raise ValueError(f"with landmarks the method must be {accepted}; got {method!r}.")
    with RowPool(kernel.n_threads, kernel.cancel) as pool:
        if method == "exact":
            found = _exact(kernel, n_components, weight)
        elif method == "randomized":
            found = _randomized(kernel, n_components, weight, rng, pool)
        elif given:
            found = _from_points(kernel, n_components, weight, landmarks, pool)
        else:
            m = _default_landmarks(method, n_components) if landmarks is None else int(landmarks)
            found = _from_rows(kernel, n_components, weight, (method, m, rng), pool)
    features, values, index, projection, points = found
    trace = float(weight @ kernel.lengths(np.arange(len(kernel))) ** 2)
    captured = min(1.0, float(values.sum()) / trace) if trace > 0.0 else 0.0
    return EigenFeatures(features, values, index, projection, captured, points, method)


def _default_landmarks(method: str, n_components: int) -> int:
    """For pivots a fifth more than components, which costs little: kernel values are the cheaper part."""
    return n_components if method == "landmarks" else -(-6 * n_components // 5)


Found = tuple[np.ndarray, np.ndarray, "np.ndarray | None", np.ndarray, Any]


def _n_kept(values: np.ndarray, dtype: Any, n_components: int) -> int:
    """How many of descending eigenvalues are more than rounding."""
    share = 1e-6 if dtype == np.float32 else 1e-13
    largest = max(float(values[0]), 0.0) if len(values) else 0.0
    return min(n_components, int(np.count_nonzero(values > max(share * largest, 1e-300))))


def _exact(kernel: KernelData, n_components: int, weight: np.ndarray) -> Found:
    """``diag(s) K diag(s) = P diag(l) P'`` for the roots s of the weights; D = diag(1/s) P diag(sqrt(l))."""
    n = len(kernel)
    if n > LARGEST:
        raise ValueError(
            f"method='exact' holds the kernel matrix and is for at most {LARGEST:,} different rows; "
            f"got {n:,}. Use 'pivoted-cholesky', 'landmarks' or 'randomized'."
        )
    index, s = np.arange(n), np.sqrt(weight)
    points = kernel.points(index)
    K = kernel.gram(points)
    check_kernel_sums(kernel.dtype, K)
    K *= s
    K *= s[:, None]
    values, P = eigh_descending(0.5 * (K + K.T), min(n, n_components), kernel.cancel)
    S = _n_kept(values, kernel.dtype, n_components)
    values, P, roots = values[:S], P[:, :S], np.sqrt(values[:S])
    features = np.ascontiguousarray(P * roots / s[:, None], dtype=kernel.dtype)
    return features, values, index, P / roots * s[:, None], points


def _turned(
    F: np.ndarray, weight: np.ndarray, n_components: int, pool: RowPool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """F V, the eigenvalues and V, the leading eigenvectors of ``F' diag(w) F``."""
    blocks, weighted = row_blocks(len(F)), bool((weight != 1.0).any())

    def gram(rows: slice) -> np.ndarray:
        block = F[rows].astype(np.float64)
        if weighted:
            block *= np.sqrt(weight[rows])[:, None]
        return block.T @ block

    G = np.zeros((F.shape[1], F.shape[1]))
    for first in range(0, len(blocks), 8):  # at most eight partial sums are held
        for part in pool.map(gram, blocks[first : first + 8]):
            G += part
    check_kernel_sums(F.dtype, G)
    values, V = eigh_descending(G, cancel=pool.cancel)
    S = _n_kept(values, F.dtype, n_components)
    values, V = values[:S], np.ascontiguousarray(V[:, :S])
    D, W = np.empty((len(F), S), dtype=F.dtype), V.astype(F.dtype)

    def turn(rows: slice) -> None:
        np.matmul(F[rows], W, out=D[rows])

    pool.map(turn, blocks)
    return D, values, V


def _from_panel(panel: FeaturePanel, n_components: int, weight: np.ndarray) -> tuple:
    D, values, V = _turned(panel.phi, weight, n_components, panel.pool)
    return D, values, panel.coef(V)


def _from_rows(kernel: KernelData, n_components: int, weight: np.ndarray, how: tuple, pool: RowPool) -> Found:
    """From landmarks among the rows, drawn with pivots or uniformly."""
    method, n_landmarks, rng = how
    panel = FeaturePanel(kernel, min(n_landmarks, len(kernel)), pool)
    if method == "pivoted-cholesky":
        index = add_random_pivots(panel, kernel.lengths(np.arange(len(kernel))) ** 2, weight, rng)
    else:
        drawn = rng.choice(len(kernel), size=panel.room, replace=False, p=weight / weight.sum())
        index = drawn[_appended(panel, kernel.points(drawn))]
    D, values, projection = _from_panel(panel, n_components, weight)
    return D, values, index, projection, kernel.points(index)


def _from_points(
    kernel: KernelData, n_components: int, weight: np.ndarray, points: Any, pool: RowPool
) -> Found:
    panel = FeaturePanel(kernel, n_points(points), pool)
    added = _appended(panel, points)
    D, values, projection = _from_panel(panel, n_components, weight)
    return D, values, None, projection, points[added]


def _appended(panel: FeaturePanel, points: Any) -> np.ndarray:
    """Add points some at a time; a mask of those that were added."""
    parts = row_blocks(n_points(points), APPENDED)
    return np.concatenate([panel.append(points[part]) for part in parts])


def _randomized(
    kernel: KernelData, n_components: int, weight: np.ndarray, rng: np.random.Generator, pool: RowPool
) -> Found:
    """``(K Q) (Q' K Q)^{-1} (K Q)'`` for an orthonormal basis Q of the range of products with K."""
    n, s = len(kernel), np.sqrt(weight)[:, None]
    every = np.arange(n)
    Q = rng.standard_normal((n, min(n, n_components + OVERSAMPLING)))
    for _ in range(1 + N_POWERS):
        Q = np.linalg.qr(s * kernel.matmul(every, every, s * Q))[0]
    Y = kernel.matmul(every, every, s * Q)
    C = Q.T @ (s * Y)
    check_kernel_sums(kernel.dtype, C)
    values, U = eigh_descending(0.5 * (C + C.T), cancel=pool.cancel)
    U = U[:, : _n_kept(values, kernel.dtype, n)]
    U /= np.sqrt(values[: U.shape[1]])
    D, values, V = _turned(Y @ U, weight, n_components, pool)
    projection = s * (Q @ (U @ V))
    return D.astype(kernel.dtype), values, every, projection, kernel.points(every)
