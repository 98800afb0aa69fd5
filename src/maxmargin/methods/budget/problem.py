"""The problem that all methods with a budget of support vectors share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...kernels import KernelData
from ...losses import Loss
from ...solving import SolverResult

EVERY_BUDGET_UP_TO = 16
RATIO = 2.0 ** (1.0 / 3.0)


@dataclass(frozen=True)
class BudgetProblem:
    """Minimise over the columns a_t of a matrix with at most ``budget`` non-zero rows the sum over t of

        (1/n_t) sum_i w_i loss(y_it f_t(x_i)) + alpha/2 a_t' K a_t,    f_t(x) = sum_j a_jt k(x, x_j).

    Sample i takes part in column t where y_it is not 0, and n_t is the weight of those that do.
    """

    kernel: KernelData
    targets: np.ndarray  # y, (n_samples, n_columns), entries -1, 0, +1
    weight: np.ndarray  # w, (n_samples,), positive
    loss: Loss
    alpha: float

    @property
    def n_samples(self) -> int:
        """Rows."""
        return int(self.targets.shape[0])

    @property
    def n_columns(self) -> int:
        """Two-class problems that share the support vectors."""
        return int(self.targets.shape[1])


@dataclass(frozen=True)
class BudgetResult(SolverResult):
    """Coefficients (n_support, n_columns) of the rows at the positions ``support``, in the order chosen.

    A support vector that is no row of the problem has position -1. ``path`` maps the stated budgets b to the
    coefficients (b, n_columns) that belong to the first b of them, and ``path_values`` holds their losses,
    gaps and held-out scores, in the same order. ``t``, where a method counts its steps, is the number of the
    next one in each column. ``points`` are the support vectors where they are no rows of the problem;
    ``calibration`` are rows and the outputs on them of a model that was not trained on them.
    """

    support: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    points: Any = None
    calibration: tuple[np.ndarray, np.ndarray] | None = None
    path: dict[int, np.ndarray] = field(default_factory=dict)
    path_values: dict[str, np.ndarray] = field(default_factory=dict)
    alpha: float = np.nan
    t: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def stated_budgets(budget: int) -> list[int]:
    """The budgets whose models are kept: every small one, then three to each doubling, then the last.

    There are O(log B) of them, so their coefficients take O(B log B) numbers a column.
    """
    budgets = set(range(1, min(budget, EVERY_BUDGET_UP_TO) + 1)) | {budget}
    b = float(EVERY_BUDGET_UP_TO)
    while b < budget:
        budgets.add(round(b))
        b *= RATIO
    return sorted(budgets)
