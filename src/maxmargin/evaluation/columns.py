"""Which columns matter: the model's own importance, shuffled columns, correlated ones, effects."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from .._native import is_sparse
from ..inspection import importance
from ..io.readers import Source
from ..metrics import Interval, normal_interval
from ..table import TablePreparation
from .answers import answers, classifier_of, prepared
from .effects import Effect, effect_of
from .labels import LabelMatch
from .sampled import sampled_rows

__all__ = ["ColumnImportance", "ColumnStudy", "column_importance"]

MIN_ROWS, MAX_ROWS = 200, 2_000
MAX_KERNEL_VALUES = 2_000_000_000  # between rows and support vectors, in all
MAX_PERMUTED = 40  # columns; those of the largest importance by the model's own formula
N_REPEATS = 5
CORRELATED = 0.8  # absolute correlation from which on columns are named together
N_EFFECTS = 4
MAX_CORRELATED_COLUMNS = 400  # of the matrix


@dataclass(frozen=True)
class ColumnImportance:
    """A column of the table.

    Attributes
    ----------
    name : str
    own : float or None
        Its share in what the outputs depend on, by :func:`maxmargin.importance`; None for a model without.
    drop : float or None
        How much accuracy is lost when the values of the column are shuffled among the rows; None where it
        was not measured.
    drop_interval : tuple of float or None
        95 %.
    correlated : list of str
        Columns that can stand in for it: alone, each of them seems to matter less than it does.
    drop_together : float or None
        What is lost when the column and its correlated ones are shuffled together.
    """

    name: str
    own: float | None
    drop: float | None
    drop_interval: Interval | None
    correlated: list[str] = field(default_factory=list)
    drop_together: float | None = None


@dataclass(frozen=True)
class ColumnStudy:
    r"""The columns of a table, the most important first, and the effects of the first few.

    Attributes
    ----------
    n_rows : int
        Rows that this was measured on.
    accuracy : float
        On them.
    columns : list of ColumnImportance
    n_columns : int
        Of the table.
    effects : list of Effect
    notes : list of str

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k % 10},{k % 7},{'high' if k % 10 > 4 or k % 13 == 0 else 'low'}" for k in range(200)]
    >>> size = Path("old.csv").write_text("\n".join(["width,noise,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> source = open_source("old.csv", target="kind")
    >>> model = train(source, model="linear").model
    >>> from maxmargin.evaluation import column_importance
    >>> column_importance(model, source).n_columns
    2
    """

    n_rows: int
    accuracy: float
    columns: list[ColumnImportance]
    n_columns: int
    effects: list[Effect]
    notes: list[str] = field(default_factory=list)


def column_importance(
    model: Any,
    source: Source,
    *,
    labels: Mapping[str, str] | None = None,
    n_repeats: int = N_REPEATS,
    n_effects: int = N_EFFECTS,
    seed: int = 0,
) -> ColumnStudy | None:
    r"""The importance of the columns of a table, measured on rows that were not used in training.

    Parameters
    ----------
    model : Pipeline
        That begins with a :class:`TablePreparation` and has no other step before the classifier.
    source : Source
        Rows with their classes; up to 2,000 of them are used.
    labels : mapping of str to str, optional
        Labels of the file, and the class that each stands for.
    n_repeats : int, default=5
        Shuffles of each column.
    n_effects : int, default=4
        Columns whose effects are computed, the most important ones.
    seed : int, default=0

    Returns
    -------
    ColumnStudy or None
        None for other models.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k % 10},{k % 7},{'high' if k % 10 > 4 or k % 13 == 0 else 'low'}" for k in range(200)]
    >>> size = Path("old.csv").write_text("\n".join(["width,noise,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> source = open_source("old.csv", target="kind")
    >>> model = train(source, model="linear").model
    >>> from maxmargin.evaluation import column_importance
    >>> column_importance(model, source).columns[0].name
    'width'
    """
    steps = list(model[:-1]) if hasattr(model, "steps") else []
    if len(steps) != 1 or not isinstance(steps[0], TablePreparation) or source.target is None:
        return None
    n_shuffles = n_repeats * min(steps[0].n_features_in_, MAX_PERMUTED)
    points = getattr(classifier_of(model), "support_vectors_", None)
    n_support = 1 if points is None else max(1, points.shape[0])
    n_rows = int(np.clip(MAX_KERNEL_VALUES // (n_shuffles * n_support), MIN_ROWS, MAX_ROWS))
    block = sampled_rows(source, n_rows, seed)
    match = LabelMatch(classifier_of(model).classes_, labels, "wrong")
    truth = match.numbers(block.target)
    X = prepared(model, block)[0]
    study = _Study(model, steps[0], X, truth, np.random.default_rng(seed), n_repeats)
    return study.result(n_effects)


class _Study:
    """Shuffles groups of columns of the prepared matrix; each group comes from one column of the table."""

    def __init__(
        self,
        model: Any,
        table: TablePreparation,
        X: Any,
        truth: np.ndarray,
        rng: np.random.Generator,
        n_repeats: int,
    ) -> None:
        self.model, self.table, self.X, self.truth = classifier_of(model), table, X, truth
        self.rng, self.n_repeats = rng, n_repeats
        self.source = np.asarray(table.sources_)
        given = getattr(table, "feature_names_in_", None)
        n = table.n_features_in_
        self.names = [f"x{j}" for j in range(n)] if given is None else [str(name) for name in given]
        self.right = answers(self.model, X).predicted == truth
        self.notes: list[str] = []

    def result(self, n_effects: int) -> ColumnStudy:
        """Everything, the most important columns first."""
        own = self._own()
        present = np.unique(self.source)
        order = present if own is None else present[np.argsort(-own[present], kind="stable")]
        if len(order) > MAX_PERMUTED:
            which = "in the file" if own is None else "in importance by the model's formula"
            self.notes.append(f"the first {MAX_PERMUTED} {which}, of {len(present):,} columns, were shuffled")
        shuffled = order[:MAX_PERMUTED].tolist()
        relatives = self._relatives(shuffled)
        found = [self._column(j, own, relatives.get(j, [])) for j in shuffled]
        found.sort(key=lambda column: -(column.drop or 0.0))
        place = {name: j for j, name in enumerate(self.names)}
        effects = [self._effect(place[column.name]) for column in found[:n_effects]]
        return ColumnStudy(
            len(self.truth),
            float(self.right.mean()),
            found,
            len(self.names),
            [effect for effect in effects if effect is not None],
            self.notes,
        )

    def _own(self) -> np.ndarray | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                shares = importance(self.model, self.X)
        except (ValueError, TypeError, AttributeError) as error:
            self.notes.append(f"the model has no importance of its own: {error}")
            return None
        return np.bincount(self.source, weights=shares, minlength=len(self.names))

    def _column(self, j: int, own: np.ndarray | None, relatives: list[int]) -> ColumnImportance:
        drop, interval = self._dropped([j])
        together = self._dropped([j, *relatives])[0] if relatives else None
        names = [self.names[k] for k in relatives]
        share = None if own is None else float(own[j])
        return ColumnImportance(self.names[j], share, drop, interval, names, together)

    def _dropped(self, columns: list[int]) -> tuple[float, Interval]:
        """Accuracy lost with the values of some columns shuffled, all in the same way."""
        which = np.flatnonzero(np.isin(self.source, columns))
        lost = np.zeros(len(self.truth))
        for _ in range(self.n_repeats):
            order = self.rng.permutation(len(self.truth))
            lost += self.right.astype(float) - (self._shuffled(which, order) == self.truth)
        lost /= self.n_repeats
        error = float(lost.std(ddof=1) / np.sqrt(len(lost))) if len(lost) > 1 else np.nan
        return float(lost.mean()), normal_interval(float(lost.mean()), error)

    def _shuffled(self, which: np.ndarray, order: np.ndarray) -> np.ndarray:
        return np.asarray(answers(self.model, with_shuffled(self.X, which, order)).predicted)

    def _relatives(self, columns: list[int]) -> dict[int, list[int]]:
        """Columns of the table that are correlated with each of these."""
        which = np.flatnonzero(np.isin(self.source, columns))
        if is_sparse(self.X) or not 1 < len(which) <= MAX_CORRELATED_COLUMNS:
            return {}
        X = np.asarray(self.X[:, which], dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            strong = np.abs(np.nan_to_num(np.corrcoef(X, rowvar=False))) >= CORRELATED
        owner = self.source[which]
        found: dict[int, list[int]] = {}
        for a, b in zip(*np.nonzero(strong)):
            j, k = int(owner[a]), int(owner[b])
            if j != k and k not in found.setdefault(j, []):
                found[j].append(k)
        return found

    def _effect(self, j: int) -> Effect | None:
        if is_sparse(self.X):
            return None
        which = np.flatnonzero(self.source == j)
        return effect_of(self.model, self.X, which, self.table.plans_[j], self.names[j])


def with_shuffled(X: Any, which: np.ndarray, order: np.ndarray) -> Any:
    """The matrix with some of its columns in another order of the rows; a sparse one stays CSR throughout."""
    if not is_sparse(X):
        X, given = X.copy(), X
        X[:, which] = given[order][:, which]
        return X
    chosen = np.zeros(X.shape[1], dtype=X.dtype)
    chosen[which] = 1.0
    mixed = (X @ sparse.diags_array(1.0 - chosen) + X[order] @ sparse.diags_array(chosen)).tocsr()
    mixed.eliminate_zeros()
    mixed.sort_indices()
    return mixed
