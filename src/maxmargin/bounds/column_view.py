"""The input of the bounds: outputs, norms, costs and dual variables of a model on its training rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .._native import effective_n_threads, is_sparse
from ..base import CodedClassifier, KernelClassifier
from ..data import WeightedRows, check_label_types, check_sample_weight, class_weights
from ..kernels import (
    FromFunction,
    Kernel,
    KernelData,
    Linear,
    OnColumns,
    Precomputed,
    Scaled,
    Sum,
    _OfDistance,
    depends_on_data,
)
from ..methods.baselines import BudgetPerceptron, KernelMatchingPursuit, KernelPegasos, KernelPerceptron
from ..methods.budget import SparseKernelClassifier
from ..methods.kernel_svm import LOSSES, KernelSVC
from ..methods.lagrangian import LagrangianSVC
from ..methods.linear import LinearSVC
from .kinds import DoesNotApply, FloatArray, MarginSample, check_counts

Intercept = Literal["none", "free", "penalised"]
WITHOUT_INTERCEPT = (
    BudgetPerceptron,
    KernelMatchingPursuit,
    KernelPegasos,
    KernelPerceptron,
    SparseKernelClassifier,
)
LOSS_AT_ZERO = {"hinge": 1.0, "squared-hinge": 0.5}  # the loss of f = 0


@dataclass(frozen=True)
class ColumnView:
    """A fitted model on its training rows: ``n`` canonical rows, ``T`` columns of outputs.

    ``outputs`` and ``targets`` are (n, T), with target 0 where a row takes no part in a column; ``counts``
    are numbers of observations, ``factor`` is the class weight of each row. ``loss`` is that of an SVM whose
    problem is ``1/2 ||f||^2 + C sum_i s_i loss``, or None for models that solve another problem. ``norms``
    are ``||f_t||``, NaN where the kernel defines none; ``shifts`` are ``b_t``.
    """

    model: Any
    kernel: KernelData
    labels: np.ndarray
    counts: FloatArray
    factor: FloatArray
    outputs: FloatArray
    targets: FloatArray
    norms: FloatArray
    shifts: FloatArray
    diagonal: FloatArray
    intercept: Intercept
    loss: str | None

    @property
    def n_samples(self) -> int:
        """The number of observations."""
        return int(self.counts.sum())

    @property
    def majority_error(self) -> float:
        """The share of observations outside the most frequent class."""
        shares = np.bincount(self.labels, weights=self.counts) / self.counts.sum()
        return float(1.0 - shares.max())

    @property
    def positive(self) -> bool:
        """Whether the kernel may be positive semi-definite."""
        known = isinstance(self.kernel.kernel, Precomputed | FromFunction) or self.kernel.kernel.positive
        if isinstance(self.model, KernelSVC) and self.model.dual_gap_ == np.inf:  # the fit has refuted it
            return False
        return known and not np.isnan(self.norms).any()

    @property
    def constant(self) -> float:
        """What a penalised intercept adds to the kernel."""
        return 1.0 if self.intercept == "penalised" else 0.0

    def rows(self, t: int) -> np.ndarray:
        """The rows that take part in a column."""
        return np.flatnonzero(self.targets[:, t])

    def sample(self, t: int) -> MarginSample:
        """Margins, norm and diagonal of a column."""
        if not self.positive:
            raise DoesNotApply("the kernel is not positive semi-definite, so f has no norm.")
        which, b = self.rows(t), float(self.shifts[t])
        y, counts = self.targets[which, t], self.counts[which]
        sides = float(counts[y > 0.0].sum()), float(counts[y < 0.0].sum())
        return MarginSample(
            y * self.outputs[which, t],
            self.diagonal[which] + self.constant,
            float(np.hypot(self.norms[t], b)) if self.constant else float(self.norms[t]),
            b if self.intercept == "free" else None,
            counts,
            self.n_samples,
            min(sides) / self.n_samples,
        )

    def cost(self, t: int) -> FloatArray:
        """``C s_i`` of one observation, for the rows of a column."""
        return float(self.model.C) * self.factor[self.rows(t)]

    def svm_loss(self) -> str:
        """The loss of the SVM problem; raises for models that solve another problem."""
        if self.loss is None:
            raise DoesNotApply(f"{type(self.model).__name__} does not minimise 1/2 ||f||^2 + C sum_i loss_i.")
        if getattr(self.model, "nu", None) is not None:
            raise DoesNotApply("with nu, C depends on the rows; the bound holds for a C that does not.")
        return self.loss

    def radius(self) -> float:
        """A bound on ``||f||`` of every column, known before the sample is drawn: f is no worse than 0.

        ``1/2 ||f||^2`` is at most the objective at 0, which is ``C loss(0)`` times the sum of the class
        weights: the number of observations, times the largest class weight where weights are numbers.
        """
        value, weights = LOSS_AT_ZERO[self.svm_loss()], self.model.class_weight
        largest = max([1.0, *map(float, weights.values())]) if isinstance(weights, dict) else 1.0
        return float(np.sqrt(2.0 * value * self.model.C * self.n_samples * largest))

    def max_norm(self, given: float | None) -> float:
        """A bound on ``sqrt(k(x, x))``, including the intercept, for all possible rows."""
        known = largest_norm(self.kernel.kernel) if given is None else float(given)
        if known is None:
            raise DoesNotApply("no bound on sqrt(k(x, x)) over all possible rows is known; pass max_norm.")
        return float(np.hypot(known, self.constant))

    def duals(self, t: int) -> tuple[FloatArray, bool]:
        """The dual variable of one observation of each row, and whether the values are exact.

        For the squared hinge they follow from the margins. For the hinge, kernel machines store them. For
        other models only bounds are known: 0 above margin 1, at most the cost below.
        """
        loss, which, sample = self.svm_loss(), self.rows(t), self.sample(t)
        cost = self.cost(t)
        if loss == "squared-hinge":
            return cost * np.maximum(0.0, 1.0 - sample.margins), True
        if isinstance(self.model, KernelSVC):
            given = np.zeros(len(self.labels))
            given[self._places()] = self._dual_coef[t]
            return np.maximum(given[which] * self.targets[which, t], 0.0) / self.counts[which], True
        return np.where(sample.margins > 1.0 + 1e-3, 0.0, cost), False

    @cached_property
    def _dual_coef(self) -> np.ndarray:
        return np.asarray(self.model.dual_coef_)  # of one-vs-one it is made at each access

    def _places(self) -> np.ndarray:
        """Positions of the support vectors among the canonical rows."""
        place = np.full(self.kernel.X.shape[0], -1)
        place[self.kernel.index] = np.arange(len(self.kernel.index))
        return place[self.model.support_]

    def excess(self, t: int) -> float:
        """An upper bound on how far a column's objective is above its minimum."""
        last = self.model.history_[t][-1]
        return max(0.0, float(last.primal - last.dual))

    def notes(self) -> tuple[str, ...]:
        """Assumptions about the kernel that cannot be checked here."""
        kernel, notes = self.kernel.kernel, []
        if isinstance(self.model, KernelClassifier) and depends_on_data(self.model._kernel_parameter()):
            notes.append(
                "gamma was computed from the training rows; no bound allows for this dependence on the data"
            )
        if isinstance(kernel, Precomputed | FromFunction):
            notes.append("the kernel is assumed to be positive semi-definite")
        return tuple(notes)


def column_view(model: Any, X: Any, y: Any, sample_weight: Any = None) -> ColumnView:
    """The view of a fitted classifier of this library on its training rows."""
    inner = _coded(model)
    X, labels, counts = labelled(inner, X, y, sample_weight, "sample_weight")
    n_threads = effective_n_threads(inner.n_jobs)
    data = inner._canonical(X, labels, counts, n_threads)
    _refuse_other_rows(inner, X, data)
    kernel = KernelData(kernel_of(inner), X, data.rows.index, n_threads)
    everyone = np.arange(len(data.labels))
    factors = class_weights(inner.class_weight, inner.classes_[labels], counts)
    return ColumnView(
        inner,
        kernel,
        data.labels,
        data.weight,
        factors[data.rows.index],
        inner._column_outputs(X)[data.rows.index],
        inner.code_.targets(data.labels).astype(np.float64),
        column_norms(inner, X),
        _differences(inner, np.asarray(inner.intercept_, dtype=np.float64)[:, None])[:, 0],
        kernel.lengths(everyone) ** 2,
        intercept_of(inner),
        loss_of(inner),
    )


def _coded(model: Any) -> Any:
    """The model itself, or the model inside it that predicts."""
    inner = getattr(model, "estimator_", model)
    if not isinstance(inner, CodedClassifier) or not (
        hasattr(inner, "coef_") or hasattr(inner, "dual_coef_")
    ):
        raise ValueError(
            f"bounds are for fitted classifiers of maxmargin with coefficients; got {model!r}. Fit it first, "
            "or call the single bounds with a MarginSample of margins, norm and diagonal."
        )
    return inner


def labelled(model: Any, X: Any, y: Any, weight: Any, name: str) -> tuple[Any, np.ndarray, FloatArray]:
    """Valid rows, labels ``0, 1, ...`` of the model's classes, and counts."""
    check_label_types(y)
    X, y = model._validated(X), np.asarray(y)
    if y.shape != (X.shape[0],):
        raise ValueError(f"y must have one label for each of the {X.shape[0]} rows; got shape {y.shape}.")
    unknown = np.setdiff1d(y, model.classes_)
    if unknown.size:
        raise ValueError(f"y has labels {unknown.tolist()[:5]} that the model was not trained on.")
    counts = check_sample_weight(weight, X.shape[0])
    check_counts(name, counts)
    return X, np.searchsorted(model.classes_, y), counts


def _refuse_other_rows(model: Any, X: Any, data: WeightedRows) -> None:
    """Raise if the rows are not the training rows of a kernel machine, as far as its support vectors show."""
    support = getattr(model, "support_", None)
    if not isinstance(model, KernelSVC) or support is None:
        return
    points, vectors = (
        (X[support], model.support_vectors_) if support.size and support.max() < X.shape[0] else (X, X)
    )
    if isinstance(model.kernel_, Precomputed):
        points = vectors
    same = np.isin(support, data.rows.index).all() and points.shape == vectors.shape
    if same and is_sparse(points):
        same = (points != vectors).nnz == 0
    elif same:
        same = bool((points == vectors).all())
    if not same:
        raise ValueError(
            "X, y and sample_weight must be those of the fit: the support vectors are not among these rows. "
            "Pass held-out rows as X_test and y_test."
        )


def kernel_of(model: Any) -> Kernel:
    """The kernel whose space f lives in."""
    return Linear() if _is_linear(model) else model.kernel_


def _is_linear(model: Any) -> bool:
    """Whether the model has weights of columns and no support vectors."""
    return hasattr(model, "coef_") and not hasattr(model, "dual_coef_")


def column_norms(model: Any, X: Any) -> FloatArray:
    """``||f_t||`` of each column, NaN where its square is negative."""
    if _is_linear(model):
        return np.linalg.norm(_differences(model, model.coef_), axis=1)
    if not model.n_support_:
        return np.zeros(model.code_.n_columns)
    points = X[model.support_vectors_] if isinstance(model.kernel_, Precomputed) else model.support_vectors_
    outputs = model._column_outputs(points) - _differences(model, np.asarray(model.intercept_)[:, None])[:, 0]
    squares = np.einsum("ts,st->t", _differences(model, model.dual_coef_), outputs)
    tiny = 1e-6 * float(np.abs(squares).max())
    return np.sqrt(np.where(squares < -tiny, np.nan, np.maximum(squares, 0.0)))


def _differences(model: Any, rows: np.ndarray) -> np.ndarray:
    """A joint program of two classes has two functions; its one output is their difference."""
    return rows if len(rows) == model.code_.n_columns else rows[1:] - rows[:1]


def intercept_of(model: Any) -> Intercept:
    """How the model treats the intercept: none, free or penalised."""
    if isinstance(model, WITHOUT_INTERCEPT) or not getattr(model, "fit_intercept", True):
        return "none"
    if isinstance(model, LagrangianSVC) or getattr(model, "penalize_intercept", False):
        return "penalised"
    return "free"


def loss_of(model: Any) -> str | None:
    """The loss, where the problem is that of an SVM in the kernel's own space."""
    if isinstance(model, LagrangianSVC):
        return None if model.space_ == "eigen" else "squared-hinge"
    loss = LOSSES.get(model.loss) if isinstance(model, KernelSVC | LinearSVC) else None
    return None if loss == "ramp" else loss  # a stationary point, and not the optimum of one problem


def largest_norm(kernel: Kernel) -> float | None:
    """The largest possible ``sqrt(k(x, x))``, where it is known."""
    if isinstance(kernel, _OfDistance):
        return 1.0
    if isinstance(kernel, OnColumns):
        return largest_norm(kernel.kernel)
    if isinstance(kernel, Sum):
        left, right = largest_norm(kernel.left), largest_norm(kernel.right)
        return None if left is None or right is None else float(np.hypot(left, right))
    if isinstance(kernel, Scaled):
        inner = largest_norm(kernel.kernel)
        return None if inner is None else float(np.sqrt(kernel.factor)) * inner
    return None
