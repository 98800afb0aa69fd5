"""Everything that the report on a model without classes shows: of numbers, or of what is usual."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline

from ...evaluation import NoveltyEvaluation, NumberEvaluation, evaluate_novelty, evaluate_numbers
from ...inspection import importance
from ...io.readers import Source
from ...table import TablePreparation, taken
from ...training import digest_of, task_of
from .curves import GapHistory, gap_history
from .data import DataFacts, Watched, rows_by_number
from .description import Described, describe

__all__ = ["NumberReport", "build_numbers"]

MAX_IMPORTANCE_ROWS = 2000
MAX_LISTED_ROWS = 12


@dataclass(frozen=True, eq=False)
class NumberReport:
    r"""The numbers and texts of a report on a model without classes, by :func:`build_numbers`.

    Attributes
    ----------
    task : {"regression", "novelty"}
    record : dict
        How the model was trained; empty if it has no record.
    data : DataFacts
        The file that it was evaluated on.
    seen : bool
        Whether that is the training file, by its hash.
    model : Described
    evaluation : NumberEvaluation or NoveltyEvaluation
    values : dict
        From numbers of the rows listed to their values.
    columns : list of (name, share) or None
        The importance of the columns, the largest first; None for models without.
    gaps : GapHistory or None
    commands : tuple of str
    fingerprint : str or None

    Examples
    --------
    >>> from pathlib import Path
    >>> size = Path("line.csv").write_text("\n".join(["x,y", *(f"{k},{2.5 * k}" for k in range(40))]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.report import build_numbers
    >>> from maxmargin.training import train
    >>> source = open_source("line.csv", target="y")
    >>> trained = train(source)
    >>> report = build_numbers(trained.model, trained.record, source)
    >>> report.task
    'regression'
    """

    task: str
    record: Mapping[str, Any]
    data: DataFacts
    seen: bool
    model: Described
    evaluation: NumberEvaluation | NoveltyEvaluation
    values: dict[int, dict[str, Any]]
    columns: list[tuple[str, float]] | None
    gaps: GapHistory | None
    commands: tuple[str, ...] = ()
    fingerprint: str | None = None
    budget_path: ClassVar[None] = None  # that the page's shared sections ask for


def build_numbers(
    model: Any,
    record: Mapping[str, Any] | None,
    source: Source,
    *,
    command: str | None = None,
    **judged: Any,
) -> NumberReport:
    r"""Gather the numbers and texts of a report on a regressor or an outlier detector.

    Parameters
    ----------
    model : fitted estimator, or pipeline that ends in one
    record : dict or None
        How it was trained, as ``maxmargin.io.read_record`` gives it.
    source : Source
        Rows to evaluate it on.
    command : str, optional
        The command that makes the page.
    **judged
        To the evaluation: ``progress``.

    Returns
    -------
    NumberReport

    Examples
    --------
    >>> from pathlib import Path
    >>> size = Path("line.csv").write_text("\n".join(["x,y", *(f"{k},{2.5 * k}" for k in range(40))]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.report import build_numbers
    >>> from maxmargin.training import train
    >>> source = open_source("line.csv", target="y")
    >>> trained = train(source)
    >>> report = build_numbers(trained.model, trained.record, source)
    >>> report.task
    'regression'
    """
    record, task = dict(record or {}), task_of(model)
    watched = Watched(source, counts_classes=False)
    evaluation: Any
    with digest_of(source.name) as digest:
        if task == "novelty":
            evaluation = evaluate_novelty(model, watched, **judged)
        else:
            evaluation = evaluate_numbers(model, watched, **judged)
        data = watched.facts(digest()["sha256"])
    last = model[-1] if isinstance(model, Pipeline) else model
    listed = evaluation.lowest if task == "novelty" else evaluation.worst
    return NumberReport(
        task=task,
        record=record,
        data=data,
        seen=data.sha256 is not None and data.sha256 == record.get("data", {}).get("sha256"),
        model=describe(last),
        evaluation=evaluation,
        values=rows_by_number(source, [each.row for each in listed[:MAX_LISTED_ROWS]]),
        columns=_columns(model, source),
        gaps=gap_history(last),
        commands=() if command is None else (command,),
        fingerprint=record.get("fingerprint"),
    )


def _columns(model: Any, source: Source) -> list[tuple[str, float]] | None:
    """The importance of the columns of a table, on up to 2,000 of its first rows, evenly spaced."""
    table: Any = getattr(model, "named_steps", {}).get("table")
    if not isinstance(table, TablePreparation) or table.layout_ != "table":
        return None
    block = next(iter(source.blocks()))
    some = np.unique(
        np.linspace(0, block.n_rows - 1, min(block.n_rows, MAX_IMPORTANCE_ROWS)).astype(np.int64)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the evaluation has noted what is unlike the training
        try:
            shares = importance(model, taken(block, some))
        except ValueError:  # a kernel without a gradient
            return None
    names = [str(name) for name in table.feature_names_in_]
    order = np.argsort(-shares, kind="stable")
    return [(names[j], float(shares[j])) for j in order]
