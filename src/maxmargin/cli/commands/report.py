"""``maxmargin report``: one page about a model, evaluated on a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ..frame import (
    Reading,
    Show,
    bar,
    between,
    check_options,
    check_out,
    facts,
    only_for_classes,
    open_rows,
    percent,
    texts,
)
from .evaluate import Cost, Renaming, UnknownLabels, costs_of, renamed, trained_on
from .without_classes import write_number_page


def report(
    model: Annotated[Path, Parameter(help="The model file.")],
    data: Annotated[Path, Parameter(help="Rows to evaluate it on, with the target; preferably new rows.")],
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="The page to write [MODEL.html, or MODEL-explore.html with --explore].")
    ] = None,
    label: Renaming = None,
    training: Annotated[
        Path | None, Parameter(help="The training file, for more bounds (up to 5,000 rows).")
    ] = None,
    learning_curve: Annotated[
        bool,
        Parameter(
            help="Also show what more rows and support vectors would bring: fits the model several times.",
            show_default=False,
            negative=(),
        ),
    ] = False,
    unknown_labels: UnknownLabels = "error",
    cost: Cost = None,
    explore: Annotated[
        bool,
        Parameter(help="A page to explore: sliders, rows, columns; it has one script.", show_default=False),
    ] = False,
    reading: Reading = Reading(),  # noqa: B008
    show: Show = Show(),  # noqa: B008
) -> None:
    """Write one self-contained HTML page about a model.

    It shows the data, the training, metrics with intervals, the confusion matrix, calibration, mistakes,
    influential training rows, the duality gap, error bounds, and how to reproduce it. The page loads nothing
    and, without --explore, runs nothing; it shows some rows of both files.
    """
    options: dict[str, Any] = {
        "label": label,
        "training": training,
        "learning_curve": learning_curve,
        "unknown_labels": unknown_labels,
        "cost": cost,
    }
    write_page(model, data, out, reading, show, explore=explore, **options)


def write_page(
    model: Path,
    data: Path,
    out: Path | None,
    reading: Reading,
    show: Show,
    *,
    label: list[str] | None,
    training: Path | None,
    unknown_labels: Any,
    cost: list[str] | None,
    explore: bool,
    learning_curve: bool = False,
) -> None:
    """Evaluate a model on a file and write the page; a page to explore does not replace the report."""
    from ... import io
    from ...archive import whole_file
    from ...report import build, page
    from ...report.html import alarms
    from ...training import task_of

    out = out or model.with_name(f"{model.stem}-explore.html" if explore else f"{model.stem}.html")
    check_out(out, model, data, training)
    fitted, record = io.load(model), io.read_record(model)
    if (task := task_of(fitted)) != "classification":
        if explore:
            only_for_classes(task, "explore")
        check_options(
            task, "report", label=label, training=training, unknown_labels=unknown_labels != "error",
            cost=cost, learning_curve=learning_curve,
        )  # fmt: skip
        source = open_rows(reading, data, fitted, record, task)
        write_number_page(fitted, record, source, out, {"model": model, "data": data}, show)
        return
    source = reading.open_for(data, fitted, record)
    rows = None if training is None else reading.open_for(training, fitted, record)
    with bar(show) as line:
        line.start("evaluating the model")
        found = build(
            fitted,
            record,
            source,
            training=rows,
            command=show.invocation.again(),
            learning_curve=learning_curve,
            explore=explore,
            labels=renamed(label or (), [str(name) for name in fitted.classes_]),
            unknown_labels=unknown_labels,
            costs=costs_of(cost, fitted),
            progress=lambda n: line.tell("evaluating the model", n, None, f"{n:,} rows"),
        )
        text = page(found)
    with whole_file(out) as file:
        file.write(text.encode("utf-8"))
    for warning in [trained_on(data)] * found.seen + alarms(found):
        show.invocation.warn(warning)
    e = found.evaluation
    document = {"model": model, "data": data, "out": out, "rows": e.n_rows, "accuracy": e.accuracy}
    pairs = {
        "rows": f"{e.n_rows:,}",
        "accuracy": f"{percent(e.accuracy)}   (95 %: {between(e.accuracy_interval)})",
        "written": f"{out} ({texts.bytes_text(out.stat().st_size)})",
    }
    title = "Page to explore" if explore else "Report"
    show.answer(document, facts(title, pairs), "next: open it in a browser")
