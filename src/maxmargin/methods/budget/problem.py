"""The problem that both budgeted methods solve, and what they return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import WeightedRows
from ...decoders import decision_values, predicted_classes
from ...kernels import KernelData
from ...losses import Hinge, Loss, Ramp, loss_from_name
from ...residual_losses import MARGIN, Argument
from ...solving import SolverResult
from .path import PathPoint

if TYPE_CHECKING:
    from .estimator import SparseKernelClassifier


@dataclass(frozen=True)
class BudgetProblem:
    """Minimise over the columns a_t of a matrix with at most ``budget`` non-zero rows the sum over t of

        (1/n_t) sum_i w_i loss(y_it f_t(x_i)) + alpha/2 a_t' K a_t,    f_t(x) = sum_j a_jt k(x, x_j).

    Sample i takes part in column t where y_it is not 0, and n_t is the weight of those that do. With the
    argument ``ERROR`` the loss is one of f_t(x_i) - y_it. ``unit`` is the value of one unit of the objective
    in the problem as given.
    """

    kernel: KernelData
    targets: np.ndarray  # y, (n_samples, n_columns), entries -1, 0, +1, or real
    weight: np.ndarray  # w, (n_samples,), positive
    loss: Loss
    alpha: float
    ramp: bool = False  # the last refit cuts the hinge off: see final_refit.py
    argument: Argument = MARGIN
    unit: float = 1.0

    @property
    def n_samples(self) -> int:
        """Rows."""
        return int(self.targets.shape[0])

    @property
    def n_columns(self) -> int:
        """Problems that share the support vectors."""
        return int(self.targets.shape[1])

    @property
    def at_zeros(self) -> float:
        """The objective without support vectors."""
        if self.argument is MARGIN:
            return self.n_columns * float(self.loss.value(np.zeros(1))[0])
        losses = self.loss.value(self.argument.of(self.targets, np.zeros(self.targets.shape)))
        return float(np.average(losses, axis=0, weights=self.weight).sum())


@dataclass(frozen=True)
class UntrainedOutputs:
    """Outputs (len(rows), n_columns) on rows of the problem by models not trained on them."""

    rows: np.ndarray
    outputs: np.ndarray


ALPHA_SEARCH = ("budget", "alpha", "loss", "standard_error", "gap")


@dataclass(frozen=True)
class BudgetResult(SolverResult):
    """Coefficients (n_support, n_columns) of the rows at the positions ``support``, in the order chosen.

    A support vector that is not a row of the problem has position -1. ``points`` are the support vectors
    themselves where some are not rows of the problem. ``path`` holds the models of smaller budgets, in
    ascending order. ``t``, where a method counts its steps, is the number of the next one in each column.
    ``calibration`` is what probabilities can be calibrated on. ``alpha_search`` has a row for each alpha
    tried, with the columns ``ALPHA_SEARCH``.
    """

    support: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    points: Any = None
    path: dict[int, PathPoint] = field(default_factory=dict)
    alpha: float = np.nan
    alpha_search: np.ndarray = field(default_factory=lambda: np.zeros((0, 5)))
    t: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    calibration: UntrainedOutputs | None = None


def budget_problem(model: SparseKernelClassifier, data: WeightedRows, alpha: float) -> BudgetProblem:
    """The problem that these rows are, with the model's code, kernel and loss."""
    targets, loss = model.code_.targets(data.labels), loss_from_name(model.loss)
    ramp = isinstance(loss, Ramp)
    convex = Hinge() if ramp else loss
    return BudgetProblem(model._kernel_data(data), targets, data.weight, convex, alpha, ramp)


def accuracy(model: SparseKernelClassifier, data: WeightedRows) -> Callable[[np.ndarray, np.ndarray], float]:
    """The weighted accuracy of outputs on some of the rows, as ``score(outputs, rows)``."""

    def score(outputs: np.ndarray, rows: np.ndarray) -> float:
        chosen = predicted_classes(decision_values(outputs, model.code_, model.decoder_))
        return float(np.average(chosen == data.labels[rows], weights=data.weight[rows]))

    return score
