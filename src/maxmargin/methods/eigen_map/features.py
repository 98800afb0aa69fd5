"""Eigen features, whose products approximate a kernel: leading eigenvectors of K or of an approximation.

For rows with weights w (a weight of 2 is a row given twice) the features D, (n, S), have

    D D' ~ K,    D' diag(w) D = diag(l),    l_1 >= l_2 >= ... > 0,

and those of any x are ``k(x, landmarks) @ projection``. With the exact eigenvectors of K, D D' is its best
approximation of rank S. Otherwise it is ``F F'`` for some F of few columns, turned by the eigenvectors of
``F' diag(w) F``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ...data import check_kernel_sums
from ...kernels import KernelData, n_points
from ...numerics import eigh_descending, tall
from ...solving import RowPool
from .landmarks import MIN_FINISHED_COLUMNS, LandmarkPanel, add_random_pivots

__all__ = ["EIGEN_METHODS", "EigenFeatures", "find_eigen_features"]

EIGEN_METHODS = ("auto", "exact", "landmarks", "pivoted-cholesky", "randomized")
MAX_AUTO_EXACT_ROWS = 1000  # rows up to which "auto" is exact
MAX_EXACT_ROWS = 5000  # rows of which "exact" holds the kernel matrix
OVERSAMPLING, POWER_ITERATIONS = 10, 1  # of "randomized"
SMALLEST_SHARE = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-13}  # of the largest eigenvalue
MAX_GRAM_ROUNDING = {np.dtype(np.float32): 2e-5, np.dtype(np.float64): 1e-11}  # of the entries of D'D / l_S
LANDMARKS_PER_BLOCK = 512  # added to the panel at a time


@dataclass(frozen=True)
class EigenFeatures:
    """Features of the training rows, and the projection that gives those of other points.

    Eigenvalues below 1e-13 of the largest (1e-6 for float32 data) are dropped with their features, so there
    may be fewer than asked for, and none at all where the kernel matrix is zero.
    """

    features: np.ndarray  # D, (n_rows, S), in the precision of the data unless asked for in double
    eigenvalues: np.ndarray  # l, (S,), descending
    index: np.ndarray | None  # which rows are the landmarks; None where points were given
    projection: np.ndarray  # (n_landmarks, S), in double
    trace_captured: float  # sum(l) / sum_i w_i k(x_i, x_i)
    points: Any  # the landmarks
    method: str  # the one that was used


def find_eigen_features(
    kernel: KernelData,
    n_components: int,
    *,
    method: str = "auto",
    rng: np.random.Generator,
    landmarks: Any = None,
    weight: np.ndarray | None = None,
    place: tuple[int, np.ndarray] | None = None,
    in_double: bool = False,
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
        How many landmarks: by default as many as components, and a tenth more for "pivoted-cholesky". Or
        the landmarks themselves.
    weight : array, optional
        Weights of the rows, positive.
    place : (n_rows, index), optional
        Store the features of row i in row ``index[i]`` of n_rows; other rows are not set.
    in_double : bool
        Compute in double whatever the precision of the rows. How small an eigenvalue is dropped does not
        change, since kernel values at new points are in the precision of the rows.
    """
    rows, share = kernel, SMALLEST_SHARE[kernel.dtype]
    kernel = rows.in_double() if in_double else rows
    given = landmarks is not None and not isinstance(landmarks, Integral)
    method = _chosen(method, landmarks, given, len(kernel))
    weight = np.ones(len(kernel)) if weight is None else weight
    diagonal = kernel.lengths(np.arange(len(kernel))) ** 2
    trace = _checked_trace(weight, diagonal, kernel.dtype)
    with RowPool(kernel.n_threads, kernel.cancel) as pool:
        if method == "exact":
            basis = _exact(kernel, n_components, weight, share)
        elif method == "randomized":
            basis = _randomized(kernel, n_components, weight, rng, pool, share)
        elif given:
            basis = _from_points(kernel, landmarks, pool)
        else:
            n_landmarks = _default_landmarks(method, n_components) if landmarks is None else int(landmarks)
            panel = LandmarkPanel(kernel, min(n_landmarks, len(kernel)), pool)
            basis = _from_rows(panel, diagonal, weight, method, rng)
        values, V = _turn(basis.F, weight, n_components, pool, share)
        F, W = (basis.F.phi, basis.F.finished(V)) if isinstance(basis.F, LandmarkPanel) else (basis.F, V)
        features = tall.dot(F, W, pool, place).astype(kernel.dtype, copy=False)
        projection = basis.projected(V)
    captured = min(1.0, float(values.sum()) / trace) if trace > 0.0 else 0.0
    points = basis.points if kernel is rows or basis.index is None else rows.points(basis.index)
    return EigenFeatures(features, values, basis.index, projection, captured, points, method)


def _chosen(method: str, landmarks: Any, given: bool, n_rows: int) -> str:
    """The method that "auto" stands for; raises if it does not take the given landmarks."""
    if method == "auto":
        few = n_rows <= MAX_AUTO_EXACT_ROWS and landmarks is None
        method = "landmarks" if given else "exact" if few else "pivoted-cholesky"
    if landmarks is not None and (method in ("exact", "randomized") or (given and method != "landmarks")):
        accepted = "'landmarks'" if given else "'landmarks' or 'pivoted-cholesky'"
        raise ValueError(f"with landmarks the method must be {accepted}; got {method!r}.")
    return method


def _checked_trace(weight: np.ndarray, diagonal: np.ndarray, dtype: Any) -> float:
    """``sum_i w_i k(x_i, x_i)``, which bounds all later sums; raises if these would overflow."""
    with np.errstate(over="ignore"):
        trace = float(weight @ diagonal)
        check_kernel_sums(dtype, np.asarray(100.0 * trace).astype(dtype))
    return trace


def _default_landmarks(method: str, n_components: int) -> int:
    """As many as components; for pivots a tenth more, so that the weakest directions can be dropped."""
    return n_components if method == "landmarks" else -(-11 * n_components // 10)


@dataclass(frozen=True)
class _Basis:
    """Features F of the rows, (n_rows, m), with ``F F' ~ K``, that are yet to be turned."""

    F: np.ndarray | LandmarkPanel
    index: np.ndarray | None
    points: Any
    projected: Callable[[np.ndarray], np.ndarray]  # A -> B with F A = K(rows, points) B


def _n_kept(values: np.ndarray, share: float, n_components: int) -> int:
    """How many of all eigenvalues, in descending order, are positive by more than rounding."""
    largest = float(np.abs(values).max(initial=0.0))
    return min(n_components, int(np.count_nonzero(values > max(share * largest, 1e-300))))


def _turn(
    F: np.ndarray | LandmarkPanel, weight: np.ndarray, n_components: int, pool: RowPool, share: float
) -> tuple[np.ndarray, np.ndarray]:
    """The leading eigenvalues and eigenvectors of ``F' diag(w) F``."""
    G, rounding = F.whole_gram(weight) if isinstance(F, LandmarkPanel) else (tall.gram(F, weight, pool), 0.0)
    check_kernel_sums(F.dtype, G)
    values, V = eigh_descending(G, cancel=pool.cancel)
    S = _n_kept(values, share, n_components)
    if S and isinstance(F, LandmarkPanel) and rounding > MAX_GRAM_ROUNDING[F.dtype] * values[S - 1]:
        F.finish()
        return _turn(F, weight, n_components, pool, share)
    return values[:S], V[:, :S]


# ---- exact, or nearly ----


def _exact(kernel: KernelData, n_components: int, weight: np.ndarray, share: float) -> _Basis:
    """``diag(s) K diag(s) = P diag(l) P'`` for the roots s of the weights; F = diag(1/s) P diag(sqrt(l))."""
    n = len(kernel)
    if n > MAX_EXACT_ROWS:
        raise ValueError(
            f"method='exact' holds the kernel matrix and is for at most {MAX_EXACT_ROWS:,} different rows; "
            f"got {n:,}. Use 'pivoted-cholesky', 'landmarks' or 'randomized'."
        )
    index, s = np.arange(n), np.sqrt(weight)
    points = kernel.points(index)
    K = kernel.gram(points)
    check_kernel_sums(kernel.dtype, K)
    K *= s
    K *= s[:, None]
    values, P = eigh_descending(0.5 * (K + K.T), cancel=kernel.cancel)
    S = _n_kept(values, share, n_components)
    P, roots = P[:, :S], np.sqrt(values[:S])
    back = P / roots * s[:, None]
    return _Basis(P * roots / s[:, None], index, points, lambda A: back @ A)


def _randomized(
    kernel: KernelData,
    n_components: int,
    weight: np.ndarray,
    rng: np.random.Generator,
    pool: RowPool,
    share: float,
) -> _Basis:
    """``(K Q) (Q' K Q)^{-1} (K Q)'`` for an orthonormal basis Q of the range of products with K."""
    n, s = len(kernel), np.sqrt(weight)[:, None]
    every = np.arange(n)
    Q = rng.standard_normal((n, min(n, n_components + OVERSAMPLING)))
    for _ in range(1 + POWER_ITERATIONS):
        Q = tall.orthonormal(s * kernel.matmul(every, every, s * Q), pool)
    Y = kernel.matmul(every, every, s * Q)
    C = tall.tdot(Q, s * Y, pool)
    check_kernel_sums(kernel.dtype, C)
    values, U = eigh_descending(0.5 * (C + C.T), cancel=pool.cancel)
    m = _n_kept(values, share, n)
    U = U[:, :m] / np.sqrt(values[:m])
    return _Basis(tall.dot(Y, U, pool), every, kernel.points(every), lambda A: s * tall.dot(Q, U @ A, pool))


# ---- from landmarks ----


def _from_rows(
    panel: LandmarkPanel, diagonal: np.ndarray, weight: np.ndarray, method: str, rng: np.random.Generator
) -> _Basis:
    """``F = K(rows, Z) L^{-T}`` for landmarks Z among the rows, drawn with pivots or uniformly."""
    kernel = panel.kernel
    if method == "pivoted-cholesky":
        index = add_random_pivots(panel, diagonal, weight, rng)
    else:
        drawn = rng.choice(len(kernel), size=panel.room, replace=False, p=weight / weight.sum())
        index = drawn[_appended(panel, kernel.points(drawn))]
    return _Basis(panel, index, kernel.points(index), panel.coef)


def _from_points(kernel: KernelData, points: Any, pool: RowPool) -> _Basis:
    """The same for landmarks that are given."""
    panel = LandmarkPanel(kernel, n_points(points), pool)
    added = _appended(panel, points)
    return _Basis(panel, None, points[added], panel.coef)


def _appended(panel: LandmarkPanel, points: Any) -> np.ndarray:
    """Add points block by block; returns a mask of those that were added."""
    n = n_points(points)
    starts = [0, *range(min(n, MIN_FINISHED_COLUMNS), n, LANDMARKS_PER_BLOCK)]
    return np.concatenate([panel.append(points[i:j]) for i, j in zip(starts, [*starts[1:], n])])
