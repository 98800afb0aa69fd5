"""How a budgeted kernel classifier is fitted over blocks: centres and alpha from a sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...base import SUCCESS
from ...checkpoints import FitRecord
from ...kernels import Precomputed
from ...losses import loss_from_name
from ...solving import Deadline, SolverResult, Status, summary_of
from .features import KernelFeatures
from .newton import Point
from .sample import Look
from .sums import BlockProblem

__all__ = ["KernelPlan"]

MIN_SAMPLE_ROWS = 50_000
SAMPLE_ROWS_PER_CENTRE = 32
MAX_ALPHA_STEPS = 8
ALPHA_FACTOR = 10.0**0.5  # by which an alpha that is not given grows until its fit can be certified


class KernelPlan:
    """The sample gives centres and alpha, all rows give the coefficients."""

    def check(self, model: Any) -> None:
        """Raise if Newton's method over blocks cannot solve what these parameters ask for."""
        if model.refit != "newton":
            raise ValueError(
                f"fit_blocks needs refit='newton'; got {model.refit!r}. For streams, use partial_fit."
            )
        if isinstance(model._kernel_parameter(), Precomputed):
            raise ValueError(
                "fit_blocks cannot work with kernel='precomputed'; use a kernel that computes values."
            )

    def seconds(self, model: Any) -> float:
        """The time limit."""
        return float(model.max_seconds)

    def sample_rows(self, model: Any) -> int:
        """Rows of the sample, where the caller does not say."""
        return int(max(MIN_SAMPLE_ROWS, SAMPLE_ROWS_PER_CENTRE * model.budget))

    def start(self, model: Any, found: Look, record: FitRecord, deadline: Deadline) -> None:
        """Fit to the sample."""
        model._fit(found.X, found.y, found.sample_weight(), record=record, deadline=deadline)

    def attempts(self, model: Any) -> int:
        """How often a solve that stalls is tried again, with more penalty."""
        return MAX_ALPHA_STEPS if model.alpha == "auto" else 1

    def problem(self, model: Any, found: Look, attempt: int = 0) -> tuple[BlockProblem, np.ndarray]:
        """The problem over all rows, and the sample's solution in its coordinates."""
        features = KernelFeatures.of(model.kernel_, model.support_vectors_)
        totals, factors = found.class_totals(model.class_weight)
        alpha = float(model.alpha_ if model.alpha == "auto" else model.alpha) * ALPHA_FACTOR**attempt
        if model.alpha == "auto":
            alpha *= len(found.y) / found.n_rows
        problem = BlockProblem(
            features,
            model.code_,
            model.classes_,
            factors,
            totals,
            loss_from_name(model.loss),  # type: ignore[arg-type]
            alpha,
        )
        return self.weighed(model, problem, totals, factors), features.own(model.dual_coef_.T)

    def weighed(
        self, model: Any, problem: BlockProblem, totals: np.ndarray, factors: np.ndarray
    ) -> BlockProblem:
        """The problem over rows whose classes have these weights, before they are multiplied by factors."""
        taking_part = np.abs(problem.code.matrix.T.astype(np.float64)) @ (totals * factors)
        return replace(problem, class_weight=factors, totals=taking_part)

    def store(
        self, model: Any, problem: BlockProblem, result: SolverResult, point: Point | None, before: Status
    ) -> None:
        """Replace the sample's coefficients and certificate, and its status, by those of all rows."""
        features: Any = problem.features
        model._keep(model.support_vectors_, features.coefficients(result.coef), None)
        model.alpha_, model._training = problem.alpha, model._training.without_rows()
        model._certify(summary_of([result]))
        model.n_iter_ = max(model.n_iter_, 1)  # a start that is the optimum has a pass, too
        if result.status is Status.CONVERGED and before in (*SUCCESS, Status.TIME_LIMIT):
            model.status_ = str(before)
