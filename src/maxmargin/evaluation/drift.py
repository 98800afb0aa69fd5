"""Is the new file like the old one: columns that moved, and a classifier of old against new rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from threadpoolctl import threadpool_limits

from .._native import is_sparse
from ..io.readers import Source, Words
from ..metrics import Interval
from .drift_columns import Days, comparable, matrices
from .probabilities import RankingTally
from .sampled import sampled_rows

__all__ = ["ColumnDrift", "Drift", "drift"]

SIGNIFICANCE = 0.01
MAX_ROWS = 5_000  # of each file, that are compared
MAX_CLASSIFIER_COLUMNS = 200  # of dense rows; evenly spaced ones of more
MAX_SHOWN = 20
MIN_EXPECTED = 5  # rows of a category in a chi-squared test; rarer ones are put together


@dataclass(frozen=True)
class ColumnDrift:
    """How far a column has moved.

    ``statistic`` is between 0 and 1: the largest distance of the distribution functions (Kolmogorov and
    Smirnov) of a numeric column, the total variation distance of a categorical one. ``p_value`` is adjusted
    for the number of columns (Benjamini and Hochberg).
    """

    name: str
    kind: str
    statistic: float
    p_value: float
    old: str  # median, or the most frequent category that changed
    new: str
    missing_old: float
    missing_new: float


@dataclass(frozen=True)
class Drift:
    r"""The comparison of two files, on up to 5,000 rows of each.

    Attributes
    ----------
    old, new : str
        Names of the files.
    n_old, n_new : int
        Rows compared.
    columns : list of ColumnDrift
        Those that moved (adjusted p below 1 %), farthest first; the first 20.
    n_moved, n_columns : int
    auc : float
        Of a classifier that tells old from new rows, out of fold; 1/2 if they are alike.
    auc_interval : tuple of float
        95 %, by DeLong's variance.
    notes : list of str

    Examples
    --------
    >>> from pathlib import Path
    >>> for name, shift in (("old.csv", 0), ("new.csv", 3)):
    ...     rows = [f"{k % 10 + shift},{k % 7},{k % 2}" for k in range(300)]
    ...     size = Path(name).write_text("\n".join(["width,noise,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.evaluation import drift
    >>> found = drift(open_source("old.csv", target="kind"), open_source("new.csv", target="kind"))
    >>> found.n_moved, found.n_columns
    (1, 2)
    """

    old: str
    new: str
    n_old: int
    n_new: int
    columns: list[ColumnDrift]
    n_moved: int
    n_columns: int
    auc: float
    auc_interval: Interval
    notes: list[str] = field(default_factory=list)

    @property
    def found(self) -> bool:
        """Whether rows differ: a column moved, or the classifier does better than chance."""
        return self.n_moved > 0 or self.auc_interval[0] > 0.5


def drift(old: Source, new: Source, *, seed: int = 0) -> Drift:
    r"""Compare the columns of two files.

    Parameters
    ----------
    old, new : Source
        Such as the training file and the one that a model is evaluated on.
    seed : int, default=0
        Decides which rows are compared, where there are many, and the classifier's folds.

    Returns
    -------
    Drift

    Examples
    --------
    >>> from pathlib import Path
    >>> for name, shift in (("old.csv", 0), ("new.csv", 3)):
    ...     rows = [f"{k % 10 + shift},{k % 7},{k % 2}" for k in range(300)]
    ...     size = Path(name).write_text("\n".join(["width,noise,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.evaluation import drift
    >>> found = drift(open_source("old.csv", target="kind"), open_source("new.csv", target="kind"))
    >>> [column.name for column in found.columns]
    ['width']
    """
    first, second = sampled_rows(old, MAX_ROWS, seed), sampled_rows(new, MAX_ROWS, seed + 1)
    notes: list[str] = []
    a: Any = first.features
    b: Any = second.features
    if isinstance(a, Mapping):
        pairs = {name: comparable(a[name], b[name]) for name in a if name in b}
        found = [_column(name, *pair) for name, pair in pairs.items()]
        a, b = matrices(pairs.values())
    else:
        width = min(a.shape[1], b.shape[1])
        a, b = a[:, :width], b[:, :width]
        found = _matrix_columns(a, b)
    moved = _adjusted(found)
    auc, interval = _told_apart(a, b, seed, notes)
    return Drift(
        str(old.name),
        str(new.name),
        first.n_rows,
        second.n_rows,
        moved[:MAX_SHOWN],
        len(moved),
        len(found),
        auc,
        interval,
        notes,
    )


def _column(name: str, old: Any, new: Any) -> tuple[ColumnDrift, float]:
    """The column, and its p-value, not adjusted yet."""
    if isinstance(old, Days) and isinstance(new, Days):
        found, p = _numbers(name, old.days, new.days)
        return replace(found, kind="date", old=old.middle, new=new.middle), p
    if isinstance(old, Words) and isinstance(new, Words):
        return _words(name, old, new)
    if isinstance(old, Words) or isinstance(new, Words):
        return ColumnDrift(name, "mixed", 1.0, 0.0, _kind(old), _kind(new), math.nan, math.nan), 0.0
    return _numbers(name, old, new)


def _kind(values: Any) -> str:
    return "categories" if isinstance(values, Words) else "numbers"


def _numbers(name: str, old: np.ndarray, new: np.ndarray) -> tuple[ColumnDrift, float]:
    gone = [np.isnan(values) for values in (old, new)]
    left = [values[~missing] for values, missing in zip((old, new), gone)]
    share = [float(missing.mean()) for missing in gone]
    statistic, p_values = abs(share[0] - share[1]), []
    if any(missing.any() for missing in gone):
        p_values.append(_chi_squared(np.array([[(~m).sum(), m.sum()] for m in gone])))
    if all(len(values) for values in left):
        test: Any = stats.ks_2samp(left[0], left[1], method="asymp")
        statistic = max(statistic, float(test.statistic))
        p_values.append(float(test.pvalue))
    p = min(1.0, len(p_values) * min(p_values)) if p_values else 1.0
    middle = [f"{np.median(values):.4g}" if len(values) else "-" for values in left]
    return ColumnDrift(name, "number", statistic, p, middle[0], middle[1], share[0], share[1]), p


def _words(name: str, old: Words, new: Words) -> tuple[ColumnDrift, float]:
    places = {word: k for k, word in enumerate(dict.fromkeys((*old.values, *new.values)))}
    counts = np.zeros((2, len(places) + 1))
    for row, words in zip(counts, (old, new)):
        at = np.array([*(places[word] for word in words.values), len(places)])[words.codes]
        row += np.bincount(at, minlength=len(row))
    shares = counts / counts.sum(axis=1, keepdims=True)
    change = int(np.argmax(np.abs(shares[0] - shares[1])))
    word = [*places, "(missing)"][change]
    shown = [f"{word}: {100 * share:.1f} %" for share in shares[:, change]]
    statistic = float(np.abs(shares[0] - shares[1]).sum() / 2.0)
    p = _chi_squared(counts)
    gone = shares[:, -1].tolist()
    return ColumnDrift(name, "words", statistic, p, shown[0], shown[1], gone[0], gone[1]), p


def _chi_squared(counts: np.ndarray) -> float:
    """The p-value for equal distributions in the two rows; rare categories are put together."""
    totals = counts.sum(axis=1)
    rare = counts.sum(axis=0) * totals.min() / totals.sum() < MIN_EXPECTED
    table = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return 1.0 if table.shape[1] < 2 else float(stats.chi2_contingency(table, correction=False)[1])


def _matrix_columns(old: Any, new: Any) -> list[tuple[ColumnDrift, float]]:
    def column(matrix: Any, j: int) -> np.ndarray:
        return matrix[:, [j]].toarray().ravel() if is_sparse(matrix) else np.asarray(matrix[:, j])

    old, new = (part.tocsc() if is_sparse(part) else part for part in (old, new))
    return [_numbers(f"x{j}", column(old, j), column(new, j)) for j in range(old.shape[1])]


def _adjusted(found: list[tuple[ColumnDrift, float]]) -> list[ColumnDrift]:
    """The columns that moved, with adjusted p-values, farthest first."""
    if not found:
        return []
    adjusted = stats.false_discovery_control([min(p, 1.0) for _, p in found])
    moved = [replace(column, p_value=float(p)) for (column, _), p in zip(found, adjusted) if p < SIGNIFICANCE]
    return sorted(moved, key=lambda column: -column.statistic)


def _told_apart(old: Any, new: Any, seed: int, notes: list[str]) -> tuple[float, Interval]:
    """AUC, out of fold, of a classifier of old against new rows."""
    label = np.r_[np.zeros(old.shape[0]), np.ones(new.shape[0])]
    if np.bincount(label.astype(int)).min() < 10:
        notes.append("too few rows for a classifier of old against new rows")
        return math.nan, (math.nan, math.nan)
    model: Any
    if is_sparse(old):
        X: Any = sparse.vstack([old, new], format="csr")
        model = LogisticRegression(max_iter=200)
    else:
        X = np.concatenate([np.asarray(old), np.asarray(new)])
        if X.shape[1] > MAX_CLASSIFIER_COLUMNS:
            notes.append(f"the classifier has seen {MAX_CLASSIFIER_COLUMNS} of {X.shape[1]:,} columns")
            X = X[:, np.linspace(0, X.shape[1] - 1, MAX_CLASSIFIER_COLUMNS).astype(int)]
        model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=15, random_state=seed)
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    with threadpool_limits(1):  # the trees are small: threads would wait for one another
        scores = cross_val_predict(model, X, label, cv=folds, method="predict_proba")[:, 1]
    tally = RankingTally("new")
    tally.add(np.arange(len(label)), scores, label == 1)
    ranking = tally.result()
    assert ranking is not None
    return ranking.roc_auc, ranking.roc_auc_interval
