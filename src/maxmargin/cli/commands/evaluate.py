"""``maxmargin evaluate``: how good a model is on the rows of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ..frame import ClusterOptions, Reading, Show, UsageError, bar, check_options, open_rows
from .without_classes import evaluate_without_classes

if TYPE_CHECKING:
    from ...evaluation import BudgetAccuracy, Drift, Evaluation, LearningCurve, ValidationPromise
    from ...io.readers import Source
    from ...metrics import Costs

Renaming = Annotated[
    list[str] | None,
    Parameter(help="A label of the file and the class it stands for, OLD=NEW; may be repeated."),
]
UnknownLabels = Annotated[
    Literal["error", "wrong"],
    Parameter(help="Refuse labels that are not classes of the model, or count their rows as errors."),
]
Cost = Annotated[
    list[str] | None,
    Parameter(
        help="The cost of errors: false-positive=1 false-negative=5, or a CSV file with a matrix.",
        consume_multiple=True,
        negative=(),
    ),
]


def evaluate(
    model: Annotated[Path, Parameter(help="The model file.")],
    data: Annotated[Path, Parameter(help="Rows with their true classes, or numbers.")],
    /,
    *,
    top_k: Annotated[
        list[int] | None,
        Parameter(
            help="Report how often the true class is among the k highest scores [1 3 5].",
            consume_multiple=True,
        ),
    ] = None,
    label: Renaming = None,
    unknown_labels: UnknownLabels = "error",
    cost: Cost = None,
    columns: Annotated[
        bool, Parameter(help="Also report which columns matter.", show_default=False, negative=())
    ] = False,
    learning_curve: Annotated[
        bool,
        Parameter(
            help="Also report what more rows and support vectors would bring: fits the model several times.",
            show_default=False,
            negative=(),
        ),
    ] = False,
    training: Annotated[
        Path | None, Parameter(help="The training file: which columns have moved since?")
    ] = None,
    cluster: ClusterOptions = ClusterOptions(),  # noqa: B008
    reading: Reading = Reading(),  # noqa: B008
    show: Show = Show(),  # noqa: B008
) -> None:
    """Evaluate a model on a file: accuracy, classes, confusion matrix, calibration, worst mistakes.

    Of a model of numbers: mean absolute error, R^2, how often intervals contain the true number, largest
    errors. Of a model of what is usual: how many rows are outside, and with a target of two labels the area
    under the ROC curve.

    The file is read like the training file, unless options say otherwise, in constant memory. Intervals have
    95 % confidence, for rows that were not used in training.
    """
    from ... import io
    from ...evaluation import column_importance
    from ...training import is_training_file, task_of
    from ..frame import column_parts, drift_parts, learning_parts, parts_of

    fitted = io.load(model)
    record = io.read_record(model)
    source = open_rows(reading, data, fitted, record, task := task_of(fitted))
    seen = is_training_file(source.name, record)
    if seen:
        show.invocation.warn(trained_on(data))
    if task != "classification":
        check_options(
            task, "evaluate", top_k=top_k, label=label, unknown_labels=unknown_labels != "error", cost=cost,
            columns=columns, learning_curve=learning_curve, training=training,
            workers=cluster.workers, cluster=cluster.cluster,
        )  # fmt: skip
        evaluate_without_classes(fitted, source, task, {"model": model, "data": data}, show)
        return
    names = renamed(label or (), [str(name) for name in fitted.classes_])
    with cluster.client() as client:
        found = answers(
            fitted, record, source, show,
            top_k=(1, 3, 5) if top_k is None else top_k, client=client,
            labels=names, unknown_labels=unknown_labels, costs=costs_of(cost, fitted),
        )  # fmt: skip
    matter = column_importance(fitted, source, labels=names) if columns else None
    promise, moved = None, None
    old = None if training is None else reading.open_for(training, fitted, record)
    curve, budgets = learned(fitted, record, old, source, names, show) if learning_curve else (None, None)
    if not seen:
        promise, moved = since_training(fitted, record, found, source, old, show)
    document: dict[str, Any] = {"columns": matter and asdict(matter)} if columns else {}
    if learning_curve:
        document |= {
            "learning_curve": curve and asdict(curve),
            "budget_accuracy": budgets and asdict(budgets),
        }
    document |= {"promise": promise and asdict(promise), "drift": moved and asdict(moved)}
    document = {"model": model, "data": data, **found.as_dict(), **document}
    more = [*column_parts(matter), *learning_parts(curve, budgets), *(drift_parts(moved) if moved else ())]
    show.answer(document, *parts_of(found), *more)


def trained_on(data: Path) -> str:
    """A warning that an evaluation is one of memory."""
    return (
        f"{data} is the file that the model was trained on: these numbers show how well it memorised "
        "its rows, not how well it does on new ones."
    )


def answers(model: Any, record: Any, source: Source, show: Show, **options: Any) -> Evaluation:
    """The evaluation of a model on all rows of a source, under a progress bar; its notes become remarks."""
    from ...evaluation import evaluate as judge
    from ...evaluation import stored_decision

    with bar(show) as line:
        found = judge(
            model,
            source,
            decision=stored_decision(record, model),
            progress=lambda n: line.tell("evaluating", n, None, f"{n:,} rows"),
            **options,
        )
    for note in found.notes:
        show.remark(note)
    return found


def since_training(
    model: Any, record: Any, found: Evaluation, source: Source, training: Source | None, show: Show
) -> tuple[ValidationPromise | None, Drift | None]:
    """Whether validation kept its promise; if not, or if the training file was given, which columns moved."""
    from ...evaluation import drift, promise_of, recorded_training

    n_errors = found.n_rows - round(found.accuracy * found.n_rows)
    promise = promise_of(record, n_errors, found.n_rows)
    broken = promise is not None and not promise.kept
    if promise is not None and broken:
        show.invocation.warn(promise.text)
    if training is None and broken:
        training = recorded_training(model, record)
        if training is None:
            show.remark("to see which columns have moved, give the training file: --training FILE")
    return promise, None if training is None else drift(training, source)


def learned(
    model: Any, record: Any, training: Source | None, source: Source, labels: dict[str, str], show: Show
) -> tuple[LearningCurve, BudgetAccuracy | None]:
    """The learning curve of a model on new rows, and the accuracy of the smaller models inside it."""
    from ...evaluation import budget_accuracy, learning_curve, recorded_training

    old = training or recorded_training(model, record)
    if old is None:
        raise UsageError(
            "--learning-curve fits the model again, and its training file has changed or is not where it "
            "was. Give it: --training FILE."
        )
    with bar(show) as line:
        line.start("fitting to fewer rows")
        return learning_curve(model, old, source, labels=labels), budget_accuracy(
            model, old, source, labels=labels
        )


def costs_of(texts: Sequence[str] | None, model: Any) -> Costs | None:
    """The costs between the classes of a model that an option names."""
    from ...metrics import Costs
    from ...training import cost_from_text

    return None if not texts else Costs.of(cost_from_text(texts), model.classes_)


def renamed(texts: Sequence[str], classes: Sequence[str]) -> dict[str, str]:
    """``OLD=NEW``, each; labels may contain "=", so the split is where NEW is one of the classes."""
    found: dict[str, str] = {}
    for text in texts:
        places = [i for i, sign in enumerate(text) if sign == "=" and text[i + 1 :] in classes]
        if len(places) != 1:
            raise UsageError(f"--label takes OLD=NEW, NEW being one of {', '.join(classes)}; got {text!r}.")
        old, new = text[: places[0]], text[places[0] + 1 :]
        if found.setdefault(old, new) != new:
            raise UsageError(f"--label gives {old!r} two classes: {found[old]!r} and {new!r}.")
    return found
