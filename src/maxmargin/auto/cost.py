"""What fits cost, in operations: decides what is tried, so that results do not depend on the clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._native import is_sparse
from .candidates import Candidate

__all__ = ["MAX_GRADIENT_ROWS", "OPERATIONS_PER_SECOND", "Shape", "affordable_budget", "shape_of"]

OPERATIONS_PER_SECOND = 1e9  # an operation is what a slow core does in a nanosecond
KERNEL_VALUE_OPERATIONS = 4.0  # beyond those of each feature: an exponential, memory
FEATURE_OPERATIONS = {"rbf": 0.02, "exponential": 0.02, "laplacian": 0.3}
SUMMED_VALUE_OPERATIONS = {"rbf": 4.0, "exponential": 5.0, "laplacian": 20.0}  # of each kernel of a sum
SUM_OPERATIONS = 3e6  # of each fit with a sum of kernels, however small
SOLVER_OPERATIONS = 1.5  # for each pair of rows of an exact problem and each value of C
PROBLEM_OPERATIONS = 5e5  # for each exact problem and each value of C, however small
BATCHED_PROBLEM_OPERATIONS = 1e5  # the same where all problems of a fit are solved in one native call
MAX_BATCHED_ROWS = 2000.0
MAX_SHARED_KERNEL_BYTES = 5e8  # of a matrix of all pairs of rows; beyond, no fit shares kernel values
LINEAR_OPERATIONS = 0.5  # for each row, pair of features and column: Newton steps over all values of C
CONVEX_STEPS = 5.0  # of a ramp fit, in the mean
MEDIAN_OPERATIONS = 10.0  # for each pair of rows of a median of distances
MAX_MEDIAN_ROWS = 1000.0
GRADIENT_OPERATIONS = {"rbf": 0.06, "exponential": 0.06, "laplacian": 2.5}  # of a pair, feature and column
OUTER_PRODUCT_OPERATIONS = 0.1  # for each row, pair of features and column
EIGENVALUE_OPERATIONS = 3.0  # times the cube of the number of features
MAX_GRADIENT_ROWS = 2000  # at which the gradients of a model are averaged
CALIBRATION_OPERATIONS = 200.0  # for each row and class
LEAST_CALIBRATION_OPERATIONS = 2e5
MAX_LINEAR_ORDER = 1000.0  # of Newton systems; beyond, a linear fit takes epochs
BUDGET_OPERATIONS = 30.0  # for each row, support vector and column
BUDGETS = (1000, 500, 200)  # where an exact fit would take too long


@dataclass(frozen=True)
class Shape:
    """The size of a problem: stored entries of a row, rows of each class, bytes of a kernel value."""

    n_features: float
    class_sizes: np.ndarray
    value_bytes: int = 8

    @property
    def n_rows(self) -> float:
        """The number of rows."""
        return float(self.class_sizes.sum())

    @property
    def is_shared(self) -> bool:
        """Whether the exact fits to folds of these rows share one matrix of all pairs."""
        return self.value_bytes * self.n_rows**2 <= MAX_SHARED_KERNEL_BYTES

    def scaled(self, factor: float) -> Shape:
        """The same problem with more or fewer rows."""
        return replace(self, class_sizes=self.class_sizes * factor)

    def _value(self, candidate: Candidate) -> float:
        """Operations of one kernel value, or of one of a sum of kernels."""
        own = KERNEL_VALUE_OPERATIONS
        if candidate.groups is not None:
            own = candidate.groups.n_kernels * SUMMED_VALUE_OPERATIONS[candidate.kernel]
        return own + FEATURE_OPERATIONS[candidate.kernel] * self.n_features

    def _n_columns(self, candidate: Candidate) -> float:
        """Binary problems of the code."""
        n_classes = len(self.class_sizes)
        if n_classes <= 2:
            return 1.0
        return n_classes if candidate.code == "one-vs-rest" else n_classes * (n_classes - 1) / 2.0

    def _solves(self, candidate: Candidate, n_values: int) -> float:
        """Operations of the exact problems of all columns, for several values of C."""
        sizes, n, n_columns = self.class_sizes, self.n_rows, self._n_columns(candidate)
        n_pairs = n_columns * n * n
        if len(sizes) > 2 and candidate.code != "one-vs-rest":
            each = sizes[:, None] + sizes[None, :]
            n_pairs = float((each**2).sum() - (4 * sizes**2).sum()) / 2.0
        each_problem = BATCHED_PROBLEM_OPERATIONS if n <= MAX_BATCHED_ROWS else PROBLEM_OPERATIONS
        if candidate.groups is not None:
            each_problem = PROBLEM_OPERATIONS * (1 + candidate.groups.n_kernels)
        return n_values * (SOLVER_OPERATIONS * n_pairs + each_problem * n_columns)

    def fit(self, candidate: Candidate, n_values: int = 1) -> float:
        """Operations of one fit, for several values of C; a ramp loss takes several convex steps."""
        if candidate.loss == "ramp":
            return CONVEX_STEPS * self.fit(replace(candidate, loss=None), n_values)
        n, d, n_columns = self.n_rows, self.n_features, max(len(self.class_sizes), 2) - 1
        if candidate.is_linear:
            order = min(d, n, MAX_LINEAR_ORDER)
            return (LINEAR_OPERATIONS * n * d * order + PROBLEM_OPERATIONS) * n_columns
        value = self._value(candidate)
        if candidate.budget is not None:
            return n * candidate.budget * (value + BUDGET_OPERATIONS * n_columns) * n_values
        start = 0.0 if candidate.groups is None else SUM_OPERATIONS
        return start + n * n * value + self._solves(candidate, n_values)

    def folds(self, candidate: Candidate, n_values: int, n_folds: int, n_splits: int) -> float:
        """Operations of the fits on some folds, which share kernel values where fits are exact.

        Where the matrix of all pairs is too large to be held (``is_shared``), each fold and value of C
        computes its own.
        """
        train = self.scaled(1.0 - 1.0 / max(n_splits, 2))
        if candidate.is_linear or candidate.budget is not None:
            return n_folds * train.fit(candidate, n_values)
        value = self._value(candidate)
        n_pairs = self.n_rows**2 if self.is_shared else n_folds * n_values * train.n_rows**2
        return n_pairs * value + n_folds * train._solves(candidate, n_values)

    def gradients(self, candidate: Candidate, full: bool) -> float:
        """Operations of the average outer product of the gradients of one model, and of its root."""
        rows, d, n_columns = min(self.n_rows, MAX_GRADIENT_ROWS), self.n_features, self._n_columns(candidate)
        each = self._value(candidate) + GRADIENT_OPERATIONS[candidate.kernel] * d * n_columns
        outer = OUTER_PRODUCT_OPERATIONS * rows * n_columns * d * d + EIGENVALUE_OPERATIONS * d**3
        return rows * self.n_rows * each + (outer if full else 0.0)

    def median(self, candidate: Candidate) -> float:
        """Operations of a median of distances."""
        pair = MEDIAN_OPERATIONS + FEATURE_OPERATIONS[candidate.kernel] * self.n_features
        return min(self.n_rows, MAX_MEDIAN_ROWS) ** 2 * pair

    def calibration(self) -> float:
        """Operations of one calibration of the decision values of all rows."""
        n_classes = len(self.class_sizes)
        return LEAST_CALIBRATION_OPERATIONS + CALIBRATION_OPERATIONS * self.n_rows * n_classes


def shape_of(X: Any, labels: np.ndarray, share: float = 1.0) -> Shape:
    """The size of a fit to a share of the rows."""
    width = X.nnz / X.shape[0] if is_sparse(X) else X.shape[1]
    return Shape(float(width), share * np.bincount(labels), 4 if X.dtype == np.float32 else 8)


def affordable_budget(X: Any, labels: np.ndarray, limit: float) -> int | None:
    """None if an exact fit is within the limit, else the largest budget that is, or the smallest of all."""
    shape = shape_of(X, labels)
    exact = [Candidate("rbf", code, "standardised") for code in ("one-vs-one", "one-vs-rest")]
    if min(shape.fit(candidate) for candidate in exact) <= limit:
        return None
    limited = [Candidate("rbf", "one-vs-rest", "standardised", budget) for budget in BUDGETS]
    return next((c.budget for c in limited if shape.fit(c) <= limit), BUDGETS[-1])
