"""The top-k SVM: its primal and dual, for rows and for kernels, and the certificate of any dual point.

    P(W) = alpha/2 ||W||^2 + (1/N) sum_i w_i Phi(s_i; y_i),    s_i = W' x_i,   N = sum_i w_i,

with Phi a :class:`~.loss.TopKHinge`. Dual variables are *shares* A of shape (n, m): the
slope -a_i lies in the domain of Phi*, whatever the weight of sample i. With costs c_i = w_i / (alpha N),

    D(A) = (1/N) sum_i w_i a_{i,y_i} - alpha/2 ||W(A)||^2,     W(A) = sum_i c_i x_i a_i',

and P(W(A)) - D(A), the duality gap, is a sum of non-negative terms, one for each sample:

    (w_i / N) (Phi(s_i; y_i) - a_{i,y_i} + <a_i, s_i>).

A linear fit takes these terms from the core (``_native.topk_look``, called by ``scores.py``); tests compare.

An intercept is a feature that is 1 everywhere, penalised with the rest: ``constant=1`` adds 1 to every
product <x, z> or kernel value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._native import one_blas_thread
from ...data import Rows
from ...kernels import KernelData
from ...solving import FLOAT_EPS, Certificate, SolverResult, State
from .loss import TopKHinge

MIN_SIGNIFICANT_NORM = 1e-6  # smaller negative norms are rounding, since P(0) = 1
SCORE_ROUNDING = 8 * FLOAT_EPS  # error of a difference of scores, sums in blocks, relative to their terms
SCORES_PER_BLOCK = 1 << 19  # scores that a certificate holds at a time


@dataclass(frozen=True)
class TopKPoint:
    """A primal point. ``coef`` is W (n_features, m), or with a kernel the coefficients c_i a_i (n, m).

    Scores are ``<x, coef> + offset``, or ``K coef + offset``.
    """

    coef: np.ndarray
    offset: np.ndarray


@dataclass(frozen=True)
class TopKResult(SolverResult):
    """``coef`` and ``offset`` are those of a :class:`TopKPoint`, ``dual_coef`` are the shares A."""

    offset: np.ndarray = None  # type: ignore[assignment]
    problem: TopKProblem = None  # type: ignore[assignment]


@dataclass(frozen=True)
class WarmShares:
    """Shares A of a fit, which are feasible for every problem with the same loss and labels."""

    loss: TopKHinge
    labels: np.ndarray
    A: np.ndarray

    def state(self, problem: TopKProblem) -> State | None:
        """A start of another problem at these shares, or None where they are not feasible."""
        fits = self.loss == problem.loss and np.array_equal(self.labels, problem.labels)
        return State(A=self.A.copy()) if fits else None


@dataclass(frozen=True)
class TopKProblem:
    """Rows or kernel values, labels ``0 .. n_classes-1``, weights > 0, alpha and the loss.

    ``constant`` is what an intercept adds to every product: 1 with it, 0 without.
    """

    data: Rows | KernelData
    labels: np.ndarray
    weight: np.ndarray
    alpha: float
    loss: TopKHinge
    n_classes: int
    constant: float = 0.0

    @property
    def is_linear(self) -> bool:
        """Whether there are rows, rather than kernel values."""
        return isinstance(self.data, Rows)

    @cached_property
    def mass(self) -> np.ndarray:
        """w_i / N, the share of each sample in the mean loss."""
        return self.weight / self.weight.sum()

    @cached_property
    def cost(self) -> np.ndarray:
        """c_i = w_i / (alpha N)."""
        return self.mass / self.alpha

    @cached_property
    def sqnorms(self) -> np.ndarray:
        """||x_i||^2 or k(x_i, x_i), the constant included."""
        if isinstance(self.data, Rows):
            return self.data.sqnorms() + self.constant
        return np.square(self.data.lengths(np.arange(len(self.labels)))) + self.constant

    def zeros(self) -> np.ndarray:
        """The dual point A = 0, at which W = 0, P = 1 and D = 0."""
        return np.zeros((len(self.labels), self.n_classes))

    def blocks(self) -> Iterator[slice]:
        """Samples, a block at a time; fixed by the problem."""
        n, size = len(self.labels), max(16, SCORES_PER_BLOCK // self.n_classes)
        return (slice(i, min(i + size, n)) for i in range(0, n, size))

    def point(self, A: np.ndarray) -> TopKPoint:
        """W(A)."""
        offset = self.constant * (self.cost @ A)
        if not isinstance(self.data, Rows):
            return TopKPoint(self.cost[:, None] * A, offset)
        W = np.zeros((self.data.n_features, self.n_classes))
        with one_blas_thread():
            for some in self.blocks():
                W += self.data.X[self.data.index[some]].T @ (self.cost[some, None] * A[some])
        return TopKPoint(W, offset)

    def scores(self, point: TopKPoint, some: slice = slice(None)) -> np.ndarray:
        """S of some of the samples."""
        if isinstance(self.data, Rows):
            return self.data.take(some).dot(point.coef) + point.offset
        return self._products(self.data, point.coef, some) + point.offset

    def _products(self, kernel: KernelData, B: np.ndarray, some: slice) -> np.ndarray:
        """``K B`` for some samples, summed in double whatever the precision of K, as the bounds need."""
        if not B.any():  # the start: no kernel value matters
            return np.zeros((len(np.arange(len(kernel))[some]), B.shape[1]))
        if kernel.dtype == np.float64:
            return kernel.matmul(some, slice(None), B)
        which = np.arange(len(kernel))[some]
        size = max(16, SCORES_PER_BLOCK // len(kernel))
        with one_blas_thread():
            parts = [
                kernel.between(which[i : i + size], slice(None)).astype(np.float64) @ B
                for i in range(0, len(which), size)
            ]
        return np.concatenate(parts)

    def gaps(self, A: np.ndarray, S: np.ndarray, some: slice = slice(None)) -> np.ndarray:
        """The contribution of each of some samples, with shares A and scores S, to the duality gap P - D."""
        y = self.labels[some]
        own = np.take_along_axis(A, y[:, None], axis=1)[:, 0]
        return self.mass[some] * (self.loss.value(S, y) - own + np.einsum("ij,ij->i", A, S))

    def certificate(self, A: np.ndarray, point: TopKPoint | None = None) -> Certificate:
        """Both bounds at A and W(A); ``point``, where given, is ``self.point(A)`` up to rounding."""
        point = self.point(A) if point is None else point
        gap = sqnorm = 0.0
        for some in self.blocks():
            S = self.scores(point, some)
            gap += float(self.gaps(A[some], S, some).sum())
            sqnorm += float(self.cost[some] @ np.einsum("ij,ij->i", A[some], S))
        return self.bounds(A, gap, sqnorm)

    def bounds(self, A: np.ndarray, gap: float, sqnorm: float) -> Certificate:
        """Both bounds at A from the duality gap P - D and ||W(A)||^2.

        A squared norm that is negative by more than rounding proves that the kernel is not positive
        semi-definite: then there is no lower bound.
        """
        own = np.take_along_axis(A, self.labels[:, None], axis=1)[:, 0]
        dual = float(self.mass @ own) - 0.5 * self.alpha * sqnorm
        rounding = self._rounding(A, own, sqnorm)
        refuted = 0.5 * self.alpha * sqnorm < -MIN_SIGNIFICANT_NORM
        return Certificate(
            primal=dual + gap,
            dual=-np.inf if refuted else dual,
            n_support=int(np.count_nonzero(own)),
            kernel_values=0 if isinstance(self.data, Rows) else self.data.n_values,
            tiny=FLOAT_EPS,  # P(0) = 1
            rounding=rounding,
        )

    def _rounding(self, A: np.ndarray, own: np.ndarray, sqnorm: float) -> float:
        """What rounding errors of scores can add to the gap, on samples that have a share."""
        largest = float(self.sqnorms.max(initial=0.0))
        if self.is_linear:
            size = np.sqrt(largest * max(sqnorm, 0.0))
        else:
            size = largest * float((self.cost @ np.abs(A)).max(initial=0.0))
        return SCORE_ROUNDING * (1.0 + float(size)) * float(self.mass[own > 0.0].sum())

    def primal(self, point: TopKPoint) -> float:
        """P at any point."""
        sqnorm = loss = 0.0
        if isinstance(self.data, Rows):
            sqnorm = float(np.sum(np.square(point.coef)))
            sqnorm += float(np.sum(np.square(point.offset))) / self.constant if self.constant else 0.0
        for some in self.blocks():
            S = self.scores(point, some)
            loss += float(self.mass[some] @ self.loss.value(S, self.labels[some]))
            if not isinstance(self.data, Rows):
                sqnorm += float(np.sum(point.coef[some] * S))
        return 0.5 * self.alpha * sqnorm + loss
