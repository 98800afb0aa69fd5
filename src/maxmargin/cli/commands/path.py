"""``maxmargin path``: what more support vectors, or another C, would give."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ..frame import Reading, Show, UsageError, bar, between, check_out, number, percent, table

if TYPE_CHECKING:
    from rich.table import Table

    from ...evaluation import StudiedPath

PLOTS = (".svg", ".png", ".pdf")
BUDGETED = "sparse-kernel"


def path(
    data: Annotated[Path, Parameter(help="Rows with a target.")],
    /,
    *,
    model: Annotated[
        str, Parameter(help="sparse-kernel: over budgets; kernel, linear, ...: over C or alpha.")
    ] = BUDGETED,
    budget: Annotated[int | None, Parameter(help="Largest budget of the path [200].")] = None,
    validate: Annotated[
        float | None, Parameter(help="Share of the rows held out to evaluate budgets [0.2].")
    ] = None,
    tolerance: Annotated[
        float | None, Parameter(help="Extra error accepted for a smaller budget [0.002].")
    ] = None,
    folds: Annotated[
        int | None, Parameter(help="Number of cross-validation folds over C or alpha [5].")
    ] = None,
    rule: Annotated[
        Literal["best", "one-standard-error"] | None, Parameter(help="How C or alpha is chosen [best].")
    ] = None,
    values: Annotated[
        list[float] | None, Parameter(help="Values of C or alpha.", consume_multiple=True)
    ] = None,
    plot: Annotated[Path | None, Parameter(help="Draw the path into this file: .svg, .png or .pdf.")] = None,
    seed: Annotated[int, Parameter(help="Random seed.")] = 0,
    reading: Reading = Reading(),  # noqa: B008
    show: Show = Show(),  # noqa: B008
) -> None:
    """Compute the error over budgets of support vectors, or over C, and recommend one."""
    if plot is not None and plot.suffix.lower() not in PLOTS:
        raise UsageError(f"--plot takes a file that ends in {', '.join(PLOTS)}; got {plot}.")
    if plot is not None:
        _check_plots()
        check_out(plot, data, option="--plot")
    of_budgets: dict[str, Any] = {"budget": budget, "validate": validate, "tolerance": tolerance}
    of_costs: dict[str, Any] = {"folds": folds, "rule": rule, "values": values}
    given, others = (of_budgets, of_costs) if model == BUDGETED else (of_costs, of_budgets)
    if stray := [f"--{name}" for name, value in others.items() if value is not None]:
        raise UsageError(f"a path of --model {model} does not take {', '.join(stray)}.")
    found = _found(data, model, {k: v for k, v in given.items() if v is not None}, seed, reading, show)
    for note in found.notes:
        show.remark(note)
    if plot is not None:
        _draw(found, plot)
    show.answer({"data": data, "model": model, "plot": plot, **found.as_dict()}, *_parts(found, plot))


def _found(
    data: Path, model: str, given: dict[str, Any], seed: int, reading: Reading, show: Show
) -> StudiedPath:
    from ...evaluation import budget_path, cost_path
    from ...training import named_estimator

    source = reading.open(data)
    with bar(show) as line:
        line.start("computing the path")
        if model == BUDGETED:
            return budget_path(source, seed=seed, **given)
        return cost_path(source, named_estimator(model, seed), seed=seed, **given)


def _check_plots() -> None:
    """Before the work, not after it: pictures need an extra."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib, which is not installed: pip install 'maxmargin[plots]'.")


def _draw(found: StudiedPath, file: Path) -> None:
    import matplotlib

    from ...archive import whole_file

    matplotlib.use("Agg")
    display = found.plot()
    with whole_file(file) as picture:
        display.figure_.savefig(picture, format=file.suffix[1:].lower(), dpi=150)


def _parts(found: StudiedPath, plot: Path | None) -> list[Table | str]:
    drawn = [] if plot is None else [f"drawn: {plot}"]
    return [_budgets(found) if found.kind == "budget" else _costs(found), *drawn]


def _budgets(found: StudiedPath) -> Table:
    columns = ("support vectors", "error", "95 %", "training loss", "gap", "")
    rows = [
        (
            p.budget,
            percent(p.error),
            between(p.error_interval),
            number(p.loss),
            number(p.gap, ".1e"),
            "<- take" if p.chosen else "",
        )
        for p in found.points
    ]
    return table(f"Error on held-out rows, {found.n_rows:,} rows in all", columns, rows, words=0)


def _costs(found: StudiedPath) -> Table:
    names = list(found.points[0].parameters)
    columns = (*names, "lambda", "error", "standard error", "fit s", "gap", "")
    rows = [
        (
            *(f"{p.parameters[name]:.4g}" for name in names),
            number(p.regularisation, ".3g"),
            percent(p.error),
            percent(p.standard_error),
            number(p.fit_seconds, ".3f"),
            number(p.gap, ".1e"),
            "<- take" if p.chosen else "",
        )
        for p in found.points
    ]
    return table(f"Cross-validated error, {found.n_rows:,} rows", columns, rows, words=0)
