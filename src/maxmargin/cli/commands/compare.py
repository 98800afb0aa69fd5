"""``maxmargin compare``: several estimators on the same rows, side by side."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..frame import EXIT_FAILED, EXIT_OK, Reading, Show, bar, between, number, percent, table

if TYPE_CHECKING:
    from rich.table import Table

    from ...evaluation import ComparedModel

KIB = 1024


def compare(
    data: Annotated[Path, Parameter(help="Rows with a target.")],
    /,
    *,
    models: Annotated[
        list[str] | None,
        Parameter(
            help="Names as train takes them; sklearn-svc, sklearn-linear-svc, sklearn-logistic "
            "[sparse-kernel linear].",
            consume_multiple=True,
        ),
    ] = None,
    validate: Annotated[float, Parameter(help="Share of the rows held out.")] = 0.2,
    folds: Annotated[int | None, Parameter(help="Number of folds, for cross-validation instead.")] = None,
    repeats: Annotated[int, Parameter(help="Fits of each model, for more stable times.")] = 1,
    seed: Annotated[int, Parameter(help="Random seed.")] = 0,
    reading: Reading = Reading(),  # noqa: B008
    show: Show = Show(),  # noqa: B008
) -> int:
    """Fit several models to the same rows and evaluate them on the same held-out rows.

    Each model has the default parameters of train; those of scikit-learn have its defaults. Repeated fits are
    interleaved. A model that fails is a row with its error; the exit code is 1 if all fail.
    """
    from ...evaluation import compare as measured

    source = reading.open(data)
    with bar(show) as line:
        rows = measured(
            source,
            models or ["sparse-kernel", "linear"],
            validate=validate,
            folds=folds,
            repeats=repeats,
            seed=seed,
            progress=lambda name, done, total: line.tell("fitting", done, total, name),
        )
    for row in rows:
        for text in row.warnings:
            show.remark(f"{row.name}: {text}")
        if row.error is not None:
            show.remark(f"{row.name} failed: {row.error}")
    how = f"{folds} folds" if folds is not None else f"{percent(validate)} held out"
    document = {"data": data, "validate": None if folds else validate, "folds": folds, "seed": seed}
    show.answer({**document, "models": [asdict(row) for row in rows]}, _table(f"{data}, {how}", rows))
    return EXIT_FAILED if all(row.error is not None for row in rows) else EXIT_OK


def _table(title: str, rows: list[ComparedModel]) -> Table:
    columns = ("model", "accuracy", "95 %", "p", "fit s", "predict s", "support vectors", "KiB", "gap")
    return table(title, columns, [_cells(row) for row in rows])


def _cells(row: ComparedModel) -> tuple[str, ...]:
    if row.error is not None:
        return (row.name, "failed", *[""] * 7)
    return (
        row.name,
        percent(row.accuracy),
        between(row.accuracy_interval),
        "best" if row.p_value is None else number(row.p_value, ".2g"),
        number(row.fit_seconds, ".3f"),
        number(row.predict_seconds, ".3f"),
        "-" if row.n_support is None else f"{row.n_support:,}",
        "-" if row.n_bytes is None else f"{row.n_bytes / KIB:,.1f}",
        number(row.gap, ".1e"),
    )
