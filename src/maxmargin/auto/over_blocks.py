"""``AutoSVC.fit_blocks``: the choice on a sample, the chosen model on all rows in passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from ..checkpoints import FitRecord
from ..data import is_number
from ..methods.blocks import BlockFeatures, BlockPlan, BlockProblem, Look, Point, RowBlock, fit_blocks
from ..solving import Deadline, SolverResult, Status, Stop
from .candidates import Candidate, candidates_for
from .scaling import ColumnScaling

__all__ = ["AutoPlan", "FitsBlocks", "ScaledFeatures", "block_candidates"]

BLOCK_BUDGET = 200  # support vectors where none are given: rows are many, and every pass computes all values
SAMPLE_ROWS = 50_000
PASS_SECONDS = 3600.0  # for passes, as the chosen models have


@dataclass(frozen=True)
class ScaledFeatures:
    """The features of rows whose columns are scaled first."""

    inner: BlockFeatures
    scaling: ColumnScaling

    @property
    def n_features(self) -> int:
        """Those of the scaled rows."""
        return self.inner.n_features

    def parts(self, block: RowBlock, double: bool, dense: bool = True) -> Iterator[tuple[slice, Any]]:
        """The features of some rows at a time."""
        scaled = RowBlock(self.scaling.transform(block.X), block.y, block.weight, block.cancel)
        return self.inner.parts(scaled, double, dense)


class AutoPlan:
    """A choice on the sample among linear and budgeted models, and then the plan of the chosen one."""

    def check(self, model: Any) -> None:
        """Raise for parameters that are about rows which are all in memory."""
        if not is_number(model.cv):
            raise ValueError(
                f"fit_blocks holds out rows of a sample, so cv must be a number of folds; got {model.cv!r}."
            )

    def seconds(self, model: Any) -> float:
        """The time of the whole fit; the choice has ``max_seconds``."""
        return float(model.max_seconds) + PASS_SECONDS

    def sample_rows(self, model: Any) -> int:
        """Rows of the sample, where the caller does not say."""
        return SAMPLE_ROWS

    def start(self, model: Any, found: Look, record: FitRecord, deadline: Deadline) -> None:
        """Choose, and fit the chosen model to the sample."""
        model._n_rows_in_blocks = found.n_rows
        try:
            with Deadline(model.max_seconds) as until:
                model._fit(found.X, found.y, found.sample_weight(), None, until, record)
        finally:
            del model._n_rows_in_blocks
        model.estimator_.set_params(class_weight=model.class_weight, max_seconds=PASS_SECONDS)

    def attempts(self, model: Any) -> int:
        """Those of the chosen model."""
        return int(_plan(model).attempts(model.estimator_))

    def problem(self, model: Any, found: Look, attempt: int = 0) -> tuple[BlockProblem, Any]:
        """The chosen model's problem over scaled rows."""
        scaled = replace(found, X=model.scaling_.transform(found.X))
        problem, V = _plan(model).problem(model.estimator_, scaled, attempt)
        return replace(problem, features=ScaledFeatures(problem.features, model.scaling_)), V

    def store(
        self, model: Any, problem: BlockProblem, result: SolverResult, point: Point | None, before: Status
    ) -> None:
        """The chosen model with the coefficients of all rows."""
        features: Any = problem.features
        _plan(model).store(model.estimator_, replace(problem, features=features.inner), result, point, before)
        model.status_ = model.estimator_.status_
        del model._seed


def block_candidates(views: list[str], n_classes: int, budget: int | None) -> list[Candidate]:
    """Linear and budgeted models: an exact kernel has no passes."""
    linear = candidates_for(views, n_classes, None)[: len(views)]
    return linear + candidates_for(views, n_classes, budget or BLOCK_BUDGET)


class FitsBlocks:
    """What the passes over blocks ask of ``AutoSVC``."""

    estimator_: Any
    _n_rows_in_blocks: int | None = None  # of all blocks, while a sample of them is fitted
    _block_plan = AutoPlan()

    def fit_blocks(
        self,
        source: Any,
        *,
        sample_rows: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Self:
        """Choose on a sample of the rows, and fit the chosen model to all rows of a source, in passes.

        Candidates are linear models and kernel models with ``budget`` support vectors, 200 by default.
        ``max_seconds`` is the time of the choice; the passes have an hour. ``scaling_`` and the calibration
        of probabilities are those of the sample; ``dual_gap_`` holds over all rows.

        Parameters
        ----------
        source : sequence or callable
            As for :meth:`SparseKernelClassifier.fit_blocks`.
        sample_rows : int, optional
            50,000 by default, but no more than 128 MiB.
        progress : callable, optional
            Called with the number of passes and of blocks read.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from maxmargin import AutoSVC
        >>> X, y = load_iris(return_X_y=True)
        >>> blocks = [(X[i::3], y[i::3]) for i in range(3)]
        >>> model = AutoSVC(budget=10, random_state=0).fit_blocks(blocks)
        >>> model.n_rows_, bool(model.dual_gap_ <= 1e-3)
        (150, True)
        """
        return fit_blocks(self, source, sample_rows=sample_rows, progress=progress)

    def _seed_of(self, record: FitRecord) -> int:
        raise NotImplementedError

    def _draw_seed(self, record: FitRecord) -> None:
        self._seed = self._seed_of(record)

    def _stop(self, deadline: Deadline) -> Stop:
        """The limits of the chosen model's passes."""
        stop: Stop = self.estimator_._stop(deadline)
        return stop


def _plan(model: Any) -> BlockPlan:
    plan: BlockPlan = model.estimator_._block_plan
    return plan
