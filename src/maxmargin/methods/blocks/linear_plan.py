"""How a linear SVM is fitted over blocks: a sample gives the start, all rows give the coefficients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..._native import is_sparse
from ...checkpoints import FitRecord
from ...losses import loss_from_name
from ...solving import Check, Deadline, SolverResult, Status, relative_gap, summary_of
from .features import LinearFeatures
from .newton import Point
from .sample import Look
from .sums import BlockProblem

__all__ = ["LinearPlan"]

SAMPLE_ROWS = 50_000


class LinearPlan:
    """The problem of ``LinearSVC``, in its own scale: alpha = 1, and costs C times the weights."""

    def check(self, model: Any) -> None:
        """Nothing but the loss restricts it."""

    def seconds(self, model: Any) -> float:
        """The time limit."""
        return float(model.max_seconds)

    def sample_rows(self, model: Any) -> int:
        """Rows of the sample, where the caller does not say."""
        return SAMPLE_ROWS

    def start(self, model: Any, found: Look, record: FitRecord, deadline: Deadline) -> None:
        """Fit to the sample, whose weights add up to those of all rows."""
        model._fit(found.X, found.y, found.block().weight, record=record, deadline=deadline)

    def attempts(self, model: Any) -> int:
        """C is given: a solve is not tried again with another."""
        return 1

    def problem(self, model: Any, found: Look, attempt: int = 0) -> tuple[BlockProblem, np.ndarray]:
        """The problem over all rows, and the sample's solution in its coordinates."""
        free = model.fit_intercept and not model.penalize_intercept
        centre = None
        if free and not is_sparse(found.X):
            centre = np.average(found.X, axis=0, weights=found.sample_weight()).astype(found.X.dtype)
        totals, factors = found.class_totals(model.class_weight)
        problem = BlockProblem(
            LinearFeatures(found.X.shape[1], bool(model.fit_intercept), centre),
            model.code_,
            model.classes_,
            factors,
            np.full(model.code_.n_columns, 1.0 / model.C),
            loss_from_name(model.loss),  # type: ignore[arg-type]
            alpha=1.0,
            free_intercept=free,
            by_column=True,
        )
        V = model.coef_.T
        if model.fit_intercept:
            shift = 0.0 if centre is None else centre.astype(np.float64) @ V
            V = np.vstack([V, model.intercept_ + shift])
        return self.weighed(model, problem, totals, factors), V

    def weighed(
        self, model: Any, problem: BlockProblem, totals: np.ndarray, factors: np.ndarray
    ) -> BlockProblem:
        """The problem over rows whose classes have these weights, before they are multiplied by factors."""
        taking_part = np.abs(problem.code.matrix.T.astype(np.float64)) @ (totals * factors)
        return replace(problem, class_weight=factors, total_costs=model.C * taking_part)

    def store(
        self, model: Any, problem: BlockProblem, result: SolverResult, point: Point | None, before: Status
    ) -> None:
        """Replace the sample's coefficients and certificates by those of all rows."""
        features: Any = problem.features
        d, V = features.n_columns, result.coef
        model.coef_ = np.ascontiguousarray(V[:d].T)
        model.intercept_ = V[d] if features.intercept else np.zeros(V.shape[1])
        if features.centre is not None:
            model.intercept_ = model.intercept_ - features.centre.astype(np.float64) @ V[:d]
        known = point is not None and np.array_equal(point.V, V)
        model.n_support_ = int(point.sums.n_active[0]) if point is not None else 0
        last, bounds = result.history[-1], [(np.inf, -np.inf, 0.0)] * V.shape[1]
        if known and point is not None and last.primal < np.inf:
            bounds = list(zip(point.primal.tolist(), point.dual.tolist(), point.tiny.tolist()))
        columns = []
        for t, (primal, dual, tiny) in enumerate(bounds):
            check = Check(last.n_iter, primal, dual, last.seconds, tiny=tiny)
            status = _status(result.status, check, model.tol)
            columns.append(SolverResult(model.coef_[t], float(model.intercept_[t]), status, (check,)))
        model._certify(summary_of(columns))
        model.n_iter_ = max(model.n_iter_, 1)  # a start that is the optimum has a pass, too


def _status(status: Status, check: Check, tol: float) -> Status:
    """Of one column, where the solve of all of them ended with ``status``."""
    done = relative_gap(check.primal, check.dual) <= tol
    return Status.CONVERGED if done and status is not Status.STOPPED else status
