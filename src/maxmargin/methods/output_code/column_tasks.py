"""Column tasks: clones of a binary classifier, fitted to the columns of a code by joblib workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from ...checkpoints import FitRecord
from ...codes import Code
from .warning_log import record_warnings, thread_warnings, warn_summary

__all__ = [
    "ColumnTask",
    "Columns",
    "TrainingData",
    "check_binary_classifier",
    "column_output",
    "rows_of",
    "run_tasks",
    "seeded",
    "takes_kernel_matrix",
    "weight_parameter",
]


@dataclass(frozen=True)
class TrainingData:
    """Rows in whatever form the estimator takes, labels ``0, 1, ...`` of ``classes``, and weights.

    ``params`` are passed to the estimator's ``fit`` or ``partial_fit`` beside X and y; ``record`` is what a
    fit stores.
    """

    X: Any
    labels: np.ndarray
    weight: np.ndarray
    classes: np.ndarray
    params: dict[str, Any]
    record: FitRecord = field(default_factory=FitRecord)

    @property
    def kept(self) -> np.ndarray:
        """Rows with a positive weight; the others are ignored."""
        return np.flatnonzero(self.weight > 0.0)


@dataclass(frozen=True)
class Columns:
    """Estimators that give the outputs of a code's columns; none before the fit.

    ``who`` is the name that warnings begin with.
    """

    estimator: Any
    code: Code
    seed: int
    n_jobs: int | None
    who: str
    estimators: tuple[Any, ...] = ()


@dataclass(frozen=True)
class ColumnTask:
    """One two-class problem: a clone of the estimator and some rows of X (None: all) with targets 0 and 1.

    ``held`` are held-out rows: the task then returns their outputs instead of the fitted clone. If
    ``goes_on``, the task updates the estimator itself by ``partial_fit`` instead of a clone.
    """

    column: int
    estimator: Any
    seed: tuple[int, ...]
    rows: np.ndarray | None
    targets: np.ndarray
    held: np.ndarray | None = None
    goes_on: bool = False

    @property
    def name(self) -> str:
        """The name of the task in warnings."""
        return f"column {self.column}" + ("" if self.held is None else " without a fold")


def check_binary_classifier(estimator: Any) -> None:
    """Raise if the estimator cannot fit a column: a class, a regressor, or no real-valued outputs."""
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise ValueError(
            f"estimator must be an instance of a classifier with scikit-learn's interface; got {estimator!r}."
        )
    if is_regressor(estimator):
        raise ValueError(f"estimator must be a classifier; got the regressor {estimator!r}.")
    if not (hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")):
        raise ValueError(
            f"estimator must have decision_function or predict_proba, to be decoded; got "
            f"{estimator!r}. Wrap it in sklearn.calibration.CalibratedClassifierCV."
        )


def weight_parameter(estimator: Any, method: str) -> str:
    """The name of the weight parameter of the estimator's method, or of a pipeline's last step."""
    prefix, taker = "", estimator
    while isinstance(taker, Pipeline):
        prefix, taker = f"{prefix}{taker.steps[-1][0]}__", taker.steps[-1][1]
    if "sample_weight" in signature(getattr(taker, method)).parameters:
        return f"{prefix}sample_weight"
    raise ValueError(
        f"sample_weight and class_weight need an estimator whose {method} takes sample_weight; that of "
        f"{taker!r} does not. Leave the weights out, or choose another estimator."
    )


def takes_kernel_matrix(estimator: Any) -> bool:
    """Whether X is a matrix of kernel values or distances, whose columns are the training rows."""
    return bool(get_tags(estimator).input_tags.pairwise)


def seeded(estimator: Any, seed: tuple[int, ...]) -> Any:
    """A clone in which every ``random_state`` of None, nested ones included, is drawn from the seed.

    A ``random_state`` that was given is kept.
    """
    model = clone(estimator)
    parameters = model.get_params(deep=True)
    open_ones = [
        name
        for name in sorted(parameters)
        if name.split("__")[-1] == "random_state" and parameters[name] is None
    ]
    draws = np.random.default_rng(seed).integers(2**31 - 1, size=len(open_ones))
    return model.set_params(**{name: int(draw) for name, draw in zip(open_ones, draws)})


def column_output(model: Any, X: Any) -> np.ndarray:
    """``decision_function``, or ``2 p - 1`` with p the probability of target 1."""
    if hasattr(model, "decision_function"):
        values = np.asarray(model.decision_function(X), dtype=np.float64)
        if values.ndim == 2:
            return values[:, -1] if values.shape[1] == 1 else values[:, 1] - values[:, 0]
        return values
    return 2.0 * np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1] - 1.0


def rows_of(X: Any, rows: np.ndarray | None, columns: np.ndarray | None) -> Any:
    """The rows, and for a pairwise matrix also the columns, at these positions; None means all."""
    some = X if rows is None else _safe_indexing(X, rows)
    return some if columns is None else _safe_indexing(some, columns, axis=1)


def run_tasks(
    tasks: list[ColumnTask], X: Any, params: dict[str, Any], n_jobs: int | None, who: str
) -> list[Any]:
    """Fitted estimators, or outputs of held-out rows, in the order of the tasks; warnings are summarised.

    ``params`` go to ``fit`` or ``partial_fit``; those with an entry for each row are cut to the task's rows.
    """
    with thread_warnings():
        outcomes = Parallel(n_jobs=n_jobs)(delayed(record_warnings)(_run, task, X, params) for task in tasks)
    warn_summary(who, [(task.name, warned) for task, (_, warned) in zip(tasks, outcomes)])
    return [result for result, _ in outcomes]


def _run(task: ColumnTask, X: Any, params: dict[str, Any]) -> Any:
    if task.held is not None and len(np.unique(task.targets)) < 2:  # the other side is all in this fold
        return np.full(len(task.held), 2.0 * task.targets[0] - 1.0 if len(task.targets) else 0.0)
    columns = task.rows if takes_kernel_matrix(task.estimator) else None
    given = rows_of(X, task.rows, columns), task.targets
    own = _check_method_params(X, params=params, indices=task.rows)
    if task.goes_on:
        return task.estimator.partial_fit(*given, classes=np.array([0, 1]), **own)
    model = seeded(task.estimator, task.seed).fit(*given, **own)
    return model if task.held is None else column_output(model, rows_of(X, task.held, columns))
