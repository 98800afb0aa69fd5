"""Several estimators on the same rows: accuracy, time, size, gap, side by side."""

from __future__ import annotations

import pickle
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ..data import check_number
from ..io.readers import Block, Source
from ..metrics import Interval, share_interval
from ..table import TablePreparation, roles_of, shuffled_folds, taken, whole
from ..training import HeldOut, named_estimator
from .answers import classifier_of

__all__ = ["ComparedModel", "compare", "n_bytes_of", "n_support_of"]

Split = tuple[np.ndarray, np.ndarray]  # rows to train on, rows to judge by
Progress = Callable[[str, int, int], None]  # a model's name, fits done, fits in all


@dataclass(frozen=True)
class ComparedModel:
    """One estimator's row of the table; None for what is not known, ``error`` where it failed.

    Attributes
    ----------
    name : str
    accuracy : float or None
        On rows that it was not trained on; with folds, over the rows of all of them.
    accuracy_interval : tuple of float or None
        By Clopper and Pearson. With folds it is too narrow: models of two folds share training rows.
    fold_accuracies : list of float
    fit_seconds, predict_seconds : float or None
        Medians over all fits; preparing the rows is done once for all and not counted.
    n_support : int or None
        Support vectors, for kernel machines.
    n_bytes : int or None
        Of the model file, preparation included; of a pickle for estimators of other libraries.
    gap : float or None
        The largest relative duality gap, where the estimator gives one.
    p_value : float or None
        Of McNemar's exact test: how likely at least as uneven a split of the rows that just one of this model
        and the most accurate one is right about, were both equally good. None for the most accurate.
    warnings : list of str
    error : str or None

    Examples
    --------
    >>> from maxmargin.evaluation import ComparedModel
    >>> ComparedModel("linear", accuracy=0.9).accuracy
    0.9
    """

    name: str
    accuracy: float | None = None
    accuracy_interval: Interval | None = None
    fold_accuracies: list[float] = field(default_factory=list)
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    n_support: int | None = None
    n_bytes: int | None = None
    gap: float | None = None
    p_value: float | None = None
    warnings: list[str] = field(default_factory=list)
    error: str | None = None


def compare(
    source: Source,
    models: Mapping[str, Any] | Sequence[str],
    *,
    validate: float = 0.2,
    folds: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[ComparedModel]:
    r"""Fit several models to the same rows and evaluate them on the same held-out rows.

    All rows are held in memory. Models take turns: each fit of the first is followed by one of the second,
    and who is first changes from turn to turn, so that a busy minute of the machine hurts all alike.

    Parameters
    ----------
    source : Source
        With a target.
    models : mapping of names to estimators, or sequence of names
        Names are those of ``maxmargin.training.models`` and of ``maxmargin.training.models``.
    validate : float, default=0.2
        The share of each class that is held out: the rows that ``train`` would hold out.
    folds : int, optional
        Cross-validation with so many folds, instead of one set of rows held out.
    repeats : int, default=1
        Fits of each model to the same rows, for steadier times.
    seed : int, default=0
        Of the rows held out, and of estimators given by name.
    progress : callable, optional
        Told before each fit.

    Returns
    -------
    list of ComparedModel
        In the order given.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.evaluation import compare
    >>> [model.name for model in compare(source, ["linear", "kernel"])]
    ['linear', 'kernel']
    """
    check_number("repeats", repeats, at_least=1, integer=True)
    estimators = _estimators(models, seed)
    block, labels, numbers = whole(source)
    entries = [_Contender(name, estimator, block.n_rows) for name, estimator in estimators.items()]
    if folds is None:
        splits = _held_out(numbers, HeldOut(validate, seed).of_block(labels, numbers))
    else:
        splits = _folds(numbers, folds, seed)
    n_turns = len(splits) * repeats * len(entries)
    for turn, (number, split) in enumerate((n, s) for n, s in enumerate(splits) for _ in range(repeats)):
        rows = _Rows.of(block, roles_of(getattr(source, "declared", ())), *split)
        first = turn % len(entries)
        for place, entry in enumerate(entries[first:] + entries[:first]):
            if progress is not None:
                progress(entry.name, turn * len(entries) + place, n_turns)
            entry.take_turn(rows, number)
    best = max(entries, key=lambda entry: entry.n_right)
    judged = np.concatenate([test for _, test in splits])
    return [entry.row(judged, best) for entry in entries]


def _estimators(models: Mapping[str, Any] | Sequence[str], seed: int) -> dict[str, Any]:
    if not models:
        raise ValueError("compare needs at least one model; got none.")
    if isinstance(models, Mapping):
        return dict(models)
    return {name: named_estimator(name, seed) for name in models}


def _held_out(numbers: np.ndarray, out: np.ndarray) -> list[Split]:
    if not out.any():
        raise ValueError(f"validate holds out none of the {len(numbers)} rows; raise it, or give folds.")
    return [(np.flatnonzero(~out), np.flatnonzero(out))]


def _folds(numbers: np.ndarray, n_folds: int, seed: int) -> list[Split]:
    check_number("folds", n_folds, at_least=2, integer=True)
    if n_folds > len(numbers):
        raise ValueError(f"folds={n_folds} are more than the {len(numbers)} rows; lower it.")
    fold = shuffled_folds(numbers, n_folds, seed)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


@dataclass(frozen=True, eq=False)
class _Rows:
    """One split, prepared: what is learned about columns comes from the training rows alone."""

    preparation: TablePreparation
    X: Any
    y: np.ndarray
    test_X: Any
    test_y: np.ndarray
    test: np.ndarray  # numbers of the rows held out

    @classmethod
    def of(cls, block: Block, roles: dict[str, str], train: np.ndarray, test: np.ndarray) -> _Rows:
        rows, others = taken(block, train), taken(block, test)
        preparation = TablePreparation(roles=roles or None).fit(rows)
        X, (test_X, _) = preparation.transform(rows), preparation.transform_noting(others)
        assert rows.target is not None
        assert others.target is not None
        return cls(preparation, X, rows.target, test_X, others.target, test)


class _Contender:
    """An estimator, and what has been measured about it so far."""

    def __init__(self, name: str, estimator: Any, n_rows: int) -> None:
        self.name, self.estimator = name, estimator
        self.right = np.zeros(n_rows, dtype=bool)
        self.fits: list[dict[str, Any]] = []
        self.warnings: dict[str, None] = {}
        self.error: str | None = None

    @property
    def n_right(self) -> int:
        """Rows held out whose class it has named; -1 where it has failed."""
        return -1 if self.error is not None else int(self.right.sum())

    def take_turn(self, rows: _Rows, split: int) -> None:
        """Fit, predict and measure; a failure ends its part."""
        if self.error is not None:
            return
        try:
            with _gathered(self.warnings):
                self._measure(rows, split)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"

    def _measure(self, rows: _Rows, split: int) -> None:
        model = clone(self.estimator)
        start = time.perf_counter()
        model.fit(rows.X, rows.y)
        fitted = time.perf_counter()
        predicted = model.predict(rows.test_X)
        done = time.perf_counter()
        self.right[rows.test] = predicted == rows.test_y
        gap = getattr(getattr(model, "best_estimator_", model), "dual_gap_", None)
        self.fits.append(
            {
                "split": split,
                "accuracy": float(self.right[rows.test].mean()),
                "fit_seconds": fitted - start,
                "predict_seconds": done - fitted,
                "n_support": n_support_of(model),
                "n_bytes": n_bytes_of(Pipeline([("table", rows.preparation), ("model", model)])),
                "gap": None if gap is None or not np.isfinite(gap) else float(gap),
            }
        )

    def row(self, judged: np.ndarray, best: _Contender) -> ComparedModel:
        """What the table says; ``judged`` are the rows that were held out."""
        told = list(self.warnings)
        if self.error is not None:
            return ComparedModel(self.name, warnings=told, error=self.error)
        right = self.right[judged]
        return ComparedModel(
            self.name,
            accuracy=float(right.mean()),
            accuracy_interval=share_interval(int(right.sum()), len(right)),
            fold_accuracies=list({fit["split"]: fit["accuracy"] for fit in self.fits}.values()),
            fit_seconds=self._median("fit_seconds"),
            predict_seconds=self._median("predict_seconds"),
            n_support=_rounded(self._median("n_support")),
            n_bytes=_rounded(self._median("n_bytes")),
            gap=max((fit["gap"] for fit in self.fits if fit["gap"] is not None), default=None),
            p_value=None if self is best else _mcnemar(right, best.right[judged]),
            warnings=told,
        )

    def _median(self, name: str) -> float | None:
        known = [fit[name] for fit in self.fits if fit[name] is not None]
        return float(np.median(known)) if known else None


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _mcnemar(right: np.ndarray, best: np.ndarray) -> float:
    """The exact test on rows that just one of the two is right about."""
    only_this, only_best = int((right & ~best).sum()), int((best & ~right).sum())
    return float(binomtest(only_this, only_this + only_best).pvalue) if only_this + only_best else 1.0


@contextmanager
def _gathered(into: dict[str, None]) -> Iterator[None]:
    """Warnings within are kept, once each, instead of shown."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            into.update(dict.fromkeys(str(warning.message) for warning in found))


def n_support_of(model: Any) -> int | None:
    """Support vectors of a kernel machine; None for others."""
    classifier = classifier_of(model)
    points = getattr(getattr(classifier, "best_estimator_", classifier), "support_vectors_", None)
    return None if points is None else int(points.shape[0] if hasattr(points, "shape") else len(points))


def n_bytes_of(model: Any) -> int | None:
    """Of its model file, None where there can be none; of a pickle for models of other libraries."""
    from .. import io

    if not type(classifier_of(model)).__module__.startswith("maxmargin."):
        return len(pickle.dumps(model))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mm"
        try:
            io.save(model, path)
        except (TypeError, ValueError):
            return None
        return path.stat().st_size
