"""A fit by the published method: its grid for alpha, its path, its held-out scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...data import WeightedRows
from ...kernels import join_points
from ...solving import Callback, OwnRows, Status, Stop, best_point, until_cut
from .data import SplitRows, WarmStart, positions_of
from .growth_sample import kernel_scale
from .incremental import BackFit, Expansion, incremental
from .path import PathPoint
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
        self.n_trained, self.held_out = rows.n_trained, rows.held_out
        self.start_rows = None if start is None else positions_of(rows.data, start.points, start.support)

    def fit(self, callback: Callback | None) -> BudgetResult:
        """The best alpha of the grid where it is "auto", then the model itself."""
        alpha, n_rows = self.model.alpha, self.n_trained
        if alpha == "auto":
            alpha = self._best_alpha()
            n_rows = n_rows if self.model.validation_fraction is not None else len(self.data.labels)
        result = self._run(float(alpha), n_rows, self._back_fit(n_rows), callback)
        return self._with_path_values(result, float(alpha), n_rows)

    def fit_batch(self, alpha: float | None, n_seen: int, callback: Callback | None) -> BudgetResult:
        """The last batch of a stream of ``n_seen`` rows, with the alpha of the first batch.

        The grid for alpha needs a whole data set. With n/B back-fitting, n counts the rows of the stream so
        far, and a batch back-fits as many samples as it has rows: a stream makes as many steps as one fit
        to all its rows, however it is split.
        """
        if alpha is None:
            alpha = DEFAULT_ALPHA * self._scale() if self.model.alpha == "auto" else float(self.model.alpha)
        back_fit = self._back_fit(n_seen)
        if self.model.back_fit == "n/B":
            back_fit = replace(back_fit, n_in_all=self.n_trained)
        result = self._run(alpha, self.n_trained, back_fit, callback, part_of_stream=True)
        return self._with_path_values(result, alpha, self.n_trained)

    def _back_fit(self, n_rows: int) -> BackFit:
        """How the parameters say to back-fit when there are so many rows."""
        if self.model.back_fit == "n/B":
            return BackFit(max(1, n_rows // self.model.budget))
        return BackFit(int(self.model.back_fit or 0))

    def _run(
        self,
        alpha: float,
        n_rows: int,
        back_fit: BackFit,
        callback: Callback | None = None,
        share: float = 1.0,
        part_of_stream: bool = False,
    ) -> BudgetResult:
        """The method for one alpha, in a share of the time that is left."""
        model, stop = self.model, replace(self.stop, deadline=self.stop.deadline.part(share))
        problem = budget_problem(model, self._rows(n_rows), alpha)
        result = incremental(
            problem,
            budget=model.budget,
            selection=model.selection,
            back_fit=back_fit,
            n_candidates=model.n_candidates,
            stop=stop,
            seed=model._seed,
            start=self._expansion(n_rows),
            callback=callback,
        )
        if result.status is Status.TIME_LIMIT:  # what follows depends on it: another run does not have it
            self.stop = replace(self.stop, journal=None)
        rows = OwnRows.of(problem.targets, problem.weight, problem.loss, part_of_stream=part_of_stream)
        return self._without_divergence(result, rows)

    def _without_divergence(self, result: BudgetResult, rows: OwnRows) -> BudgetResult:
        """The result itself, or the best point of its path if it diverged."""
        path = [*result.path.values()]
        if self.start is not None:
            path.insert(0, PathPoint(len(self.start.coef), self.start.coef))
        best, diverged = path[-1], False
        with until_cut(self.stop.deadline):
            K = self.model._kernel_data(self.data).block(rows.index, self.points(result))

            def outputs(point: PathPoint) -> np.ndarray:
                with np.errstate(over="ignore", invalid="ignore"):
                    return np.asarray(K[:, : point.budget] @ point.coef.astype(K.dtype))

            score = accuracy(self.model, self.data)
            best, diverged = best_point(
                path,
                lambda point: rows.excess(outputs(point)),
                lambda point: 1.0 - score(outputs(point), rows.index),
            )
        if not diverged and result.status is not Status.DIVERGED:
            return result
        history = tuple(c for c in result.history if c.n_support <= best.budget and np.isfinite(c.primal))
        return replace(
            result,
            coef=best.coef,
            status=Status.DIVERGED,
            history=history,
            support=result.support[: best.budget],
            path={b: point for b, point in result.path.items() if b < best.budget} | {best.budget: best},
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
        """The first of the grid with the best score on the held-out rows; the default if there are none.

        One with which the method diverges is taken only if it diverges with all, and the default is raised
        as long as it does.
        """
        if len(self.held_out) == 0:
            return self._first_that_converges(DEFAULT_ALPHA * self._scale() * 10.0 ** np.arange(5.0))
        alphas = ALPHA_GRID * self._scale()
        score, scores = accuracy(self.model, self.data), []
        for turn, alpha in enumerate(alphas):
            share = 1.0 / (len(alphas) + 1 - turn)
            result = self._run(alpha, self.n_trained, self._back_fit(self.n_trained), share=share)
            found = score(self._outputs(result, self.held_out, result.coef), self.held_out)
            scores.append((result.status is not Status.DIVERGED, found))
        return float(alphas[scores.index(max(scores))])

    def _first_that_converges(self, alphas: np.ndarray) -> float:
        """The first alpha with which the method does not diverge; the first of all if it does with each."""
        for alpha in alphas:
            back_fit = self._back_fit(self.n_trained)
            if self._run(alpha, self.n_trained, back_fit, share=0.1).status is not Status.DIVERGED:
                return float(alpha)
        return float(alphas[0])

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
        with until_cut(self.stop.deadline):
            if len(rows) >= MIN_ROWS_TO_CALIBRATE:
                calibration = UntrainedOutputs(rows, self._outputs(result, rows, result.coef))
            score = accuracy(self.model, self.data)
            for b, point in path.items() if len(rows) else ():
                path[b] = replace(point, score=score(self._outputs(result, rows, point.coef), rows))
        points = self.points(result) if (result.support < 0).any() else None
        return replace(result, alpha=alpha, path=path, calibration=calibration, points=points)
