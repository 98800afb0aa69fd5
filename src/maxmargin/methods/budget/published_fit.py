"""A fit by the published method: its grid for alpha, its path, its held-out scores."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...data import WeightedRows
from ...kernels import join_points
from ...solving import Callback, Stop
from .data import SplitRows, WarmStart, positions_of
from .growth_sample import kernel_scale
from .incremental import Expansion, incremental
from .problem import BudgetResult, UntrainedOutputs, accuracy, budget_problem

if TYPE_CHECKING:
    from .estimator import SparseKernelClassifier

ALPHA_GRID = 10.0 ** -np.arange(0.0, 8.0)  # in units of the mean of k(x, x)
DEFAULT_ALPHA = 1e-4  # in the same units, where there are no rows to choose on
MIN_ROWS_TO_CALIBRATE = 20


class PublishedFit:
    """Algorithms 1 and 2 on the rows to train on; alpha and budgets are scored on those held out."""

    def __init__(
        self, model: SparseKernelClassifier, rows: SplitRows, start: WarmStart | None, stop: Stop
    ) -> None:
        self.model, self.data, self.start, self.stop = model, rows.data, start, stop
        self.deadline = time.perf_counter() + stop.max_seconds  # of the grid and the model together
        self.n_trained, self.held_out = rows.n_trained, rows.held_out
        self.start_rows = None if start is None else positions_of(rows.data, start.points, start.support)

    def fit(self, callback: Callback | None) -> BudgetResult:
        """The best alpha of the grid where it is "auto", then the model itself."""
        alpha, n_rows = self.model.alpha, self.n_trained
        if alpha == "auto":
            alpha = self._best_alpha()
            n_rows = n_rows if self.model.validation_fraction is not None else len(self.data.labels)
        result = self._run(float(alpha), n_rows, callback)
        return self._with_path_values(result, float(alpha), n_rows)

    def fit_batch(self, alpha: float | None, callback: Callback | None) -> BudgetResult:
        """One more batch of a stream, with the alpha of the first one: the grid needs a whole data set."""
        if alpha is None:
            alpha = DEFAULT_ALPHA * self._scale() if self.model.alpha == "auto" else float(self.model.alpha)
        result = self._run(alpha, self.n_trained, callback)
        return self._with_path_values(result, alpha, self.n_trained)

    def _run(self, alpha: float, n_rows: int, callback: Callback | None, share: float = 1.0) -> BudgetResult:
        """The method for one alpha, in a share of the time that is left."""
        model, back_fit = self.model, self.model.back_fit
        if back_fit == "n/B":
            back_fit = max(1, n_rows // model.budget)
        return incremental(
            budget_problem(model, self._rows(n_rows), alpha),
            budget=model.budget,
            selection=model.selection,
            back_fit=int(back_fit) if back_fit else None,
            n_candidates=model.n_candidates,
            stop=replace(self.stop, max_seconds=max(share * (self.deadline - time.perf_counter()), 1e-9)),
            seed=model._seed,
            start=self._expansion(n_rows),
            callback=callback,
        )

    def _expansion(self, n_rows: int) -> Expansion | None:
        """The model to start from; its support vectors are no candidates if all are among these rows."""
        start, rows = self.start, self.start_rows
        if start is None:
            return None
        here = rows if rows is not None and (rows < n_rows).all() else None
        return Expansion(start.points, start.coef, start.t, here)

    def _rows(self, n_rows: int) -> WeightedRows:
        return self.data.take(np.arange(n_rows), self.data.rows.n_threads, self.stop.cancel)

    def _best_alpha(self) -> float:
        """The first of the grid with the best score on the held-out rows; the default if there are none."""
        if len(self.held_out) == 0:
            return DEFAULT_ALPHA * self._scale()
        alphas = ALPHA_GRID * self._scale()
        score, scores = accuracy(self.model, self.data), []
        for turn, alpha in enumerate(alphas):
            result = self._run(alpha, self.n_trained, None, 1.0 / (len(alphas) + 1 - turn))
            scores.append(score(self._outputs(result, self.held_out, result.coef), self.held_out))
        return float(alphas[int(np.argmax(scores))])

    def _scale(self) -> float:
        return kernel_scale(budget_problem(self.model, self.data, 1.0))

    def _outputs(self, result: BudgetResult, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        kernel = self.model._kernel_data(self.data)
        points = self.points(result)[: len(coef)]
        return kernel.block(rows, points).astype(np.float64) @ coef

    def points(self, result: BudgetResult) -> np.ndarray:
        """The support vectors: those of the warm start, then rows."""
        new = self.model._kernel_data(self.data).points(result.support[result.support >= 0])
        if self.start is None or not (result.support < 0).any():
            return new
        return join_points(self.start.points, new)

    def _with_path_values(self, result: BudgetResult, alpha: float, n_rows: int) -> BudgetResult:
        """Losses as the history has them, and scores on the held-out rows, unless these were trained on."""
        losses = {check.n_support: check.primal for check in result.history}
        path = {b: replace(point, loss=losses.get(b, np.nan)) for b, point in sorted(result.path.items())}
        rows, calibration = self.held_out if n_rows == self.n_trained else self.held_out[:0], None
        if len(rows):
            score = accuracy(self.model, self.data)
            for b, point in path.items():
                path[b] = replace(point, score=score(self._outputs(result, rows, point.coef), rows))
        if len(rows) >= MIN_ROWS_TO_CALIBRATE:
            calibration = UntrainedOutputs(rows, self._outputs(result, rows, result.coef))
        points = self.points(result) if (result.support < 0).any() else None
        return replace(result, alpha=alpha, path=path, calibration=calibration, points=points)
