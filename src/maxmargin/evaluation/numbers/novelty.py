"""How many rows of a file are outside what is usual and, with labels, whether these are the novel ones."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ...io.readers import Source
from ...metrics import Interval, share_interval
from ...training import plain
from .rows import PreparedRows, classifier_of

__all__ = ["NoveltyEvaluation", "NoveltyRow", "evaluate_novelty"]

MAX_ROWS_SHOWN = 20
# Pairs of labels whose meaning is known: that of usual rows, that of novel ones.
KNOWN_LABELS = (("1", "-1"), ("0", "1"), ("false", "true"), ("no", "yes"), ("inlier", "outlier"))
NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class NoveltyRow:
    """A row, counted from 0, with its score, negative outside.

    Attributes
    ----------
    row : int
    score : float

    Examples
    --------
    >>> from maxmargin.evaluation import NoveltyRow
    >>> NoveltyRow(row=3, score=-0.25).row
    3
    """

    row: int
    score: float


@dataclass(frozen=True, eq=False)
class NoveltyEvaluation:
    r"""The result of :func:`evaluate_novelty`; intervals have 95 % confidence.

    Attributes
    ----------
    file : str
    n_rows : int
    n_outside : int
    share_outside : float
    share_interval : tuple of float
        By Clopper and Pearson.
    novel : str or None
        The label of novel rows, where the file has labels.
    auc : float or None
        The probability that a novel row has a lower score than a usual one (the area under the ROC curve).
    auc_interval : tuple of float, or None
        By DeLong's variance.
    lowest : list of NoveltyRow
        The rows with the lowest scores.
    scores : ndarray
        Of all rows.
    notes : list of str
    seconds : float

    Examples
    --------
    >>> from pathlib import Path
    >>> size = Path("usual.csv").write_text("\n".join(["x", *(f"{0.1 * k:.1f}" for k in range(40))]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> trained = train(open_source("usual.csv"), task="novelty")
    >>> from maxmargin.evaluation import evaluate_novelty
    >>> evaluate_novelty(trained.model, open_source("usual.csv")).n_rows
    40
    """

    file: str
    n_rows: int
    n_outside: int
    share_outside: float
    share_interval: Interval
    novel: str | None
    auc: float | None
    auc_interval: Interval | None
    lowest: list[NoveltyRow]
    scores: np.ndarray
    notes: list[str] = field(default_factory=list)
    seconds: float = math.nan

    def as_dict(self) -> dict[str, Any]:
        """All but the scores, as JSON values."""
        return dict(plain({k: v for k, v in asdict(self).items() if k != "scores"}))


def evaluate_novelty(
    model: Any, source: Source, *, progress: Callable[[int], None] | None = None
) -> NoveltyEvaluation:
    r"""Count the rows of a source that are outside; memory holds a score for each row.

    If the source has a target of two labels, one of them is that of novel rows: of 1 and -1 it is -1, of 0
    and 1 it is 1, likewise of no and yes, false and true; of others it is the rarer.

    Parameters
    ----------
    model : fitted outlier detector, or pipeline that ends in one
    source : Source
    progress : callable, optional
        Told after each block how many rows are done.

    Returns
    -------
    NoveltyEvaluation

    Examples
    --------
    >>> from pathlib import Path
    >>> size = Path("usual.csv").write_text("\n".join(["x", *(f"{0.1 * k:.1f}" for k in range(40))]))
    >>> size = Path("new.csv").write_text("x,odd\n1.0,no\n2.0,no\n50.0,yes\n")
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> trained = train(open_source("usual.csv"), task="novelty")
    >>> from maxmargin.evaluation import evaluate_novelty
    >>> evaluate_novelty(trained.model, open_source("new.csv", target="odd")).auc
    1.0
    """
    start, last, prepared = time.perf_counter(), classifier_of(model), PreparedRows(model, source)
    parts: list[np.ndarray] = []
    labels: list[str] = []
    for block, X in prepared:
        parts.append(np.asarray(last.decision_function(X)))
        if block.target is not None:
            labels += [str(label) for label in np.asarray(block.target).tolist()]
        if progress is not None:
            progress(sum(map(len, parts)))
    if not parts:
        raise ValueError(f"{source.name} has no rows, so there is nothing to evaluate.")
    scores = np.concatenate(parts)
    novel, notes = _novel_label(labels, source)
    auc, interval = (None, None) if novel is None else _auc(scores, np.array(labels) == novel)
    n, outside = len(scores), int((scores < 0.0).sum())
    lowest = np.argsort(scores, kind="stable")[:MAX_ROWS_SHOWN]
    return NoveltyEvaluation(
        file=source.name,
        n_rows=n,
        n_outside=outside,
        share_outside=outside / n,
        share_interval=share_interval(outside, n),
        novel=novel,
        auc=auc,
        auc_interval=interval,
        lowest=[NoveltyRow(int(k), float(scores[k])) for k in lowest],
        scores=scores,
        notes=notes + prepared.notes,
        seconds=time.perf_counter() - start,
    )


def _novel_label(labels: list[str], source: Source) -> tuple[str | None, list[str]]:
    """The label of novel rows, and a note on it."""
    if not labels:
        return None, []
    counts = Counter(labels)
    if len(counts) != 2:
        return None, [
            f"column {source.target!r} has {len(counts)} labels, and usual and novel rows need two: no area "
            "under the ROC curve"
        ]
    plain_text = {label.lower().removesuffix(".0"): label for label in counts}
    for usual, novel in KNOWN_LABELS:
        if set(plain_text) == {usual, novel}:
            return plain_text[novel], []
    rarer = min(counts, key=lambda label: (counts[label], label))
    return rarer, [f"rows with the label {rarer!r}, the rarer one, are taken for the novel ones"]


def _auc(scores: np.ndarray, novel: np.ndarray) -> tuple[float, Interval | None]:
    """The area under the ROC curve, and its interval by DeLong et al. (Biometrics 1988)."""
    low, high = np.sort(scores[novel]), np.sort(scores[~novel])
    above = _share_above(high, scores[novel])  # of usual rows, for each novel one
    below = 1.0 - _share_above(low, scores[~novel])
    auc = float(above.mean())
    if min(len(above), len(below)) < 2:
        return auc, None
    half = NORMAL_95 * math.sqrt(above.var(ddof=1) / len(above) + below.var(ddof=1) / len(below))
    return auc, (max(auc - half, 0.0), min(auc + half, 1.0))


def _share_above(ordered: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The share of the ordered numbers above each value; equal ones count half."""
    left, right = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.asarray(1.0 - 0.5 * (left + right) / len(ordered))
