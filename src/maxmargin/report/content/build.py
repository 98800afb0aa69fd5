"""Everything that a report shows, as numbers and texts, apart from its looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from ...data import ParameterError
from ...evaluation import (
    BudgetAccuracy,
    ColumnStudy,
    Drift,
    Evaluation,
    LearningCurve,
    Mistake,
    ValidationPromise,
    budget_accuracy,
    classifier_of,
    column_importance,
    drift,
    evaluate,
    prepared,
    promise_of,
    recorded_training,
    stored_decision,
)
from ...evaluation import learning_curve as learning_curve_of
from ...io.readers import Source
from ...table import TablePreparation
from ...training import digest_of
from .curves import BudgetPath, GapHistory, budget_path, gap_history
from .data import DataFacts, Watched, rows_by_number
from .description import Described, describe, fitted_inside
from .influence import Influence, Weights, influential_features, influential_rows
from .promises import MAX_ROWS, NO_TRAINING_ROWS, OTHER_FILE, OTHER_ROWS, Promises, promises

__all__ = ["N_EFFECTS", "ModelReport", "ShownMistake", "build"]

N_EFFECTS = 4  # drawn


@dataclass(frozen=True)
class ShownMistake:
    """A mistake with its row of the file."""

    mistake: Mistake
    values: dict[str, Any]


@dataclass(frozen=True, eq=False)
class ModelReport:
    r"""The numbers and texts of a report, by :func:`build`; :func:`maxmargin.report.html.page` shows it.

    Attributes
    ----------
    record : dict
        How the model was trained, from the model file; empty if it has no record.
    data : DataFacts
        The file that the model was evaluated on.
    seen : bool
        Whether that is the file that the model was trained on, by its hash.
    model : Described
    evaluation : Evaluation
    mistakes : list of ShownMistake
    budget_path : BudgetPath or None
    gaps : GapHistory or None
    support : Influence or None
    weights : Weights or None
    promises : Promises
    promise : ValidationPromise or None
        Whether the accuracy is what validation promised.
    drift : Drift or None
        How the rows differ from the training rows, if these are known and the promise is not kept.
    columns : ColumnStudy or None
        Which columns matter, for models of tables.
    learning_curve : LearningCurve or None
        What more rows would bring, if asked for.
    budget_accuracy : BudgetAccuracy or None
        What more support vectors would bring, if asked for.
    commands : tuple of str
        The command that made this page, if one did.
    fingerprint : str or None
        Of the model.
    exploration : mapping or None
        What the page's script shows, if it has one.

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
    >>> report.seen
    True
    """

    record: Mapping[str, Any]
    data: DataFacts
    seen: bool
    model: Described
    evaluation: Evaluation
    mistakes: list[ShownMistake]
    budget_path: BudgetPath | None
    gaps: GapHistory | None
    support: Influence | None
    weights: Weights | None
    promises: Promises
    promise: ValidationPromise | None = None
    drift: Drift | None = None
    columns: ColumnStudy | None = None
    learning_curve: LearningCurve | None = None
    budget_accuracy: BudgetAccuracy | None = None
    commands: tuple[str, ...] = ()
    fingerprint: str | None = None
    exploration: Mapping[str, Any] | None = None


def build(
    model: Any,
    record: Mapping[str, Any] | None,
    source: Source,
    *,
    training: Source | None = None,
    command: str | None = None,
    learning_curve: bool = False,
    n_effects: int = N_EFFECTS,
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
        The rows that it was trained on. Most bounds need them.
    command : str, optional
        The command that makes this page.
    learning_curve : bool, default=False
        Whether to fit the model to fewer rows, which shows what more would bring; needs the training file.
    n_effects : int, default=4
        Columns whose effects are computed; the page draws the first four.
    **judged
        To :func:`maxmargin.evaluation.evaluate.evaluate`: ``labels``, ``unknown_labels``, ``progress`` ...

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
    record = dict(record or {})
    watched = Watched(source)
    with digest_of(source.name) as digest:
        decision = stored_decision(record, model)
        evaluation = evaluate(model, watched, decision=decision, **judged)
        data = watched.facts(digest()["sha256"])
    seen = data.sha256 is not None and data.sha256 == record.get("data", {}).get("sha256")
    rows = rows_by_number(source, [m.row for m in evaluation.mistakes])
    classifier = classifier_of(model)
    steps = list(model[:-1]) if isinstance(model, Pipeline) else []
    readable = not steps or (len(steps) == 1 and isinstance(steps[0], TablePreparation))
    table = steps[0] if readable and steps else None
    n_errors = evaluation.n_rows - round(evaluation.accuracy * evaluation.n_rows)
    promise = None if seen else promise_of(record, n_errors, evaluation.n_rows)
    old = training
    if old is None and (learning_curve or (promise is not None and not promise.kept)):
        old = recorded_training(model, record)
    if learning_curve and old is None:
        raise ParameterError(
            "a learning curve fits the model again, and its training file has changed or is not where it "
            "was.",
            "Give it ({training}).",
            training=None,
        )
    learned = (model, old, source) if learning_curve and old is not None else None
    return ModelReport(
        record=record,
        data=data,
        seen=seen,
        model=describe(classifier),
        evaluation=evaluation,
        mistakes=[ShownMistake(m, rows.get(m.row, {})) for m in evaluation.mistakes],
        budget_path=budget_path(classifier),
        gaps=gap_history(classifier),
        support=influential_rows(classifier, table, _fit(record).get("support_rows")) if readable else None,
        weights=influential_features(classifier, table) if readable else None,
        promises=promises(
            fitted_inside(classifier),
            n_errors,
            evaluation.n_rows,
            1.0 - evaluation.majority_share,
            seen=seen,
            training=_training_rows(model, record, training),
        ),
        promise=promise,
        drift=None if old is None or seen else drift(old, source),
        columns=column_importance(model, source, labels=judged.get("labels"), n_effects=n_effects),
        learning_curve=learned and learning_curve_of(*learned, labels=judged.get("labels")),
        budget_accuracy=learned and budget_accuracy(*learned, labels=judged.get("labels")),
        commands=() if command is None else (command,),
        fingerprint=record.get("fingerprint"),
    )


def _fit(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return record.get("fit") or {}


def _training_rows(model: Any, record: Mapping[str, Any], training: Source | None) -> tuple[Any, Any] | str:
    """The training rows, prepared, or why there are none; no more than show that they are too many."""
    if training is None:
        return NO_TRAINING_ROWS
    if not record.get("fitted_on", "all rows").startswith("all rows"):
        return OTHER_ROWS
    known = (record.get("data") or {}).get("sha256")
    with digest_of(training.name) as digest:
        block = next(training.blocks(MAX_ROWS + 1))
        rows = prepared(model, block)[0], block.target
        return rows if known in (None, digest()["sha256"]) else OTHER_FILE
