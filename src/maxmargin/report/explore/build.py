"""A report, with or without the data that its page's script shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...evaluation import classifier_of
from ...io.readers import Source
from ..content import ModelReport
from ..content import build as build_content
from .document import explored
from .gather import GatheredRows

__all__ = ["build"]

N_THRESHOLDS = 1_000
N_EFFECTS = 20


def build(
    model: Any,
    record: Mapping[str, Any] | None,
    source: Source,
    *,
    training: Source | None = None,
    command: str | None = None,
    learning_curve: bool = False,
    explore: bool = False,
    **judged: Any,
) -> ModelReport:
    r"""Gather the numbers and texts of a report on a fitted model.

    Parameters
    ----------
    model : fitted classifier, or pipeline that ends in one
    record : dict or None
        How it was trained, as ``maxmargin.io.read_record`` gives it.
    source : Source
        Rows to evaluate it on, with their target; preferably new rows.
    training : Source, optional
        The rows that it was trained on. Most bounds need them, and so does drift.
    command : str, optional
        The command that makes this page.
    learning_curve : bool, default=False
        Whether to fit the model to fewer rows, which shows what more would bring; needs the training file.
    explore : bool, default=False
        Also gather what the page needs to be explored: sliders for the budget and the threshold, rows and
        their support vectors, a map, columns. Nothing of that is seen in a browser without scripts.
    **judged
        To :func:`maxmargin.evaluation.evaluate`: ``labels``, ``unknown_labels``, ``progress`` ...

    Returns
    -------
    ModelReport

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.training import train
    >>> trained = train(source, model="linear")
    >>> from maxmargin.report import build
    >>> report = build(trained.model, trained.record, source)
    >>> report.evaluation.n_rows
    40
    """
    given: dict[str, Any] = {"training": training, "command": command, "learning_curve": learning_curve}
    given |= judged
    if not explore:
        return build_content(model, record, source, **given)
    gathered = GatheredRows(classifier_of(model), source.n_features)
    options: dict[str, Any] = {"n_effects": N_EFFECTS, "curve_points": N_THRESHOLDS, "watch": gathered}
    report = build_content(model, record, source, **given, **options)
    return replace(report, exploration=explored(model, report, gathered))
