"""The page about a model of numbers, or of what is usual: the sections that make sense for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from ...evaluation import NoveltyEvaluation, NumberEvaluation
from ..content import DataFacts, NumberReport
from .bands import leak_warnings
from .candidates import candidates
from .charts import Axis, Line, bar_chart, line_chart
from .machinery import gap_section, model_section, reproduce_section
from .markup import Child, Element, datum, facts, figure, node, table
from .number_charts import MAX_POINTS_DRAWN, scatter_chart
from .opening import preparation_parts, times_table
from .quality import mark
from .text import count, number, percent

__all__ = ["NUMBER_SECTIONS", "number_header", "number_title"]

MAX_COLUMNS, MAX_CANDIDATES, MAX_ROWS_LISTED, MAX_BARS = 8, 12, 12, 20


def number_title(report: NumberReport) -> str:
    """What the page is called."""
    return f"{_about(report)} from {PurePath(report.data.file).name}"


def _about(report: NumberReport) -> str:
    return "novelty" if report.task == "novelty" else str(report.data.target or "target")


def number_header(report: NumberReport) -> Element:
    """The title, the answer in a sentence or two, and cards of numbers."""
    e = report.evaluation
    if isinstance(e, NumberEvaluation):
        title: list[Child] = ["Predicting ", datum(report.data.target or "the target", 60)]
        lead, found = _number_lead(e, report), _number_cards(e)
    else:
        title, lead, found = ["Rows unlike the others"], _novelty_lead(e), _novelty_cards(e)
    if "dual_gap_" in report.model.facts:
        gap = number(report.model.facts["dual_gap_"], 2)
        found.append(("duality gap", gap, "other coefficients lower the objective by at most this share"))
    parts: list[Child] = [
        node("p", "maxmargin report", class_="over"),
        node("h1", *title),
        node("p", lead, class_="lead"),
    ]
    if report.seen:
        parts.append(
            node(
                "p",
                node("b", "Caution: "),
                "By its SHA-256, this is the file that the model was trained on: the numbers show how well "
                "the model memorised its rows, not how well it does on new ones.",
                class_="warn",
            )
        )
    items = [node("li", node("i", name), node("b", value), node("span", text)) for name, value, text in found]
    return node("header", parts, node("ul", items, class_="cards"))


def _number_lead(e: NumberEvaluation, report: NumberReport) -> list[Child]:
    s = e.scores
    sure = (
        ""
        if report.seen
        else _between(s.mae_interval, "; with 95 % confidence between {} and {} on new rows")
    )
    return [
        f"On {count(e.n_rows, 'row')} the predictions are off by ",
        node("b", f"{number(s.mae)} on average"),
        f"{sure}. Always predicting the median would be off by {number(s.spread)}.",
    ]


def _number_cards(e: NumberEvaluation) -> list[tuple[str, str, str]]:
    s = e.scores
    found = [
        ("mean absolute error", number(s.mae), _between(s.mae_interval, "95 %: {} to {}")),
        ("root mean squared error", number(s.rmse), _between(s.rmse_interval, "95 %: {} to {}")),
    ]
    if s.r2 is not None:
        words = _between(s.r2_interval, "95 %: {} to {}; 1 is perfect, 0 the mean")
        found.append(("R²", number(s.r2), words or "1 is perfect, 0 the mean"))
    found += [
        (
            f"{percent(c.asked, 0)} intervals",
            percent(c.share),
            f"contain the true number; mean width {number(c.width)}",
        )
        for c in e.coverages
        if c.asked == 0.9
    ]
    return found


def _novelty_lead(e: NoveltyEvaluation) -> list[Child]:
    low, high = map(percent, e.share_interval)
    lead: list[Child] = [
        f"Of {count(e.n_rows, 'row')} ",
        node("b", f"{percent(e.share_outside)} are outside"),
        f" what the model takes for usual; with 95 % confidence between {low} and {high} of rows like these.",
    ]
    return lead


def _novelty_cards(e: NoveltyEvaluation) -> list[tuple[str, str, str]]:
    found = [("rows outside", number(e.n_outside), f"of {count(e.n_rows, 'row')}")]
    if e.auc is not None:
        words = _between(e.auc_interval, "95 %: {} to {}; a novel row has a lower score than a usual one")
        found.append(("area under ROC", number(e.auc, 3), words))
    return found


def _between(interval: Any, words: str) -> str:
    return "" if interval is None else words.format(number(interval[0]), number(interval[1]))


def _data_section(report: NumberReport) -> list[Child]:
    data, trained = report.data, dict(report.record.get("data") or {})
    ends = report.record.get("target_range")
    kinds = [sum(c.kind == kind for c in data.columns) for kind in ("number", "words")]
    missing = sum(c.n_missing or 0 for c in data.columns)
    parts: list[Child] = [
        facts(
            [
                ("evaluated on", datum(data.file, 90)),
                ("rows", count(data.n_rows, "row")),
                ("features", _features(data, kinds)),
                ("missing values", f"{missing:,}" if missing else None),
                ("target", datum(data.target) if data.target is not None else None),
                (
                    "in training from",
                    f"{number(ends[0])} to {number(ends[2])}, median {number(ends[1])}" if ends else None,
                ),
                ("trained on", datum(trained.get("file", "not recorded"), 90)),
                ("training rows", count(trained["n_rows"], "row") if "n_rows" in trained else None),
            ]
        )
    ]
    return parts + [node("p", "Note: ", datum(note, 400), class_="note") for note in report.evaluation.notes]


def _features(data: DataFacts, kinds: list[int]) -> str:
    said = count(data.n_features, "column")
    return f"{said}, {kinds[0]:,} numeric and {kinds[1]:,} categorical" if data.columns else said


def _training_section(report: NumberReport) -> list[Child]:
    record = report.record
    if not record:
        return [node("p", "The model file was saved without a record of the training.")]
    given = "; ".join(f"{k} = {v}" for k, v in (record.get("given_parameters") or {}).items())
    parts: list[Child] = [
        node(
            "p",
            "Model type: ",
            node("b", datum(record.get("model", "–"))),
            f" with {given}." if given else ".",
        ),
        node("p", f"It was trained on {record['fitted_on']}.") if record.get("fitted_on") else None,
        *leak_warnings(record),
        *preparation_parts(record),
        *candidates(record),
        *_candidate_table(record.get("candidates")),
        *times_table(record),
    ]
    return parts


def _candidate_table(found: Any) -> list[Child]:
    """The best candidates of a search over held-out rows."""
    if not isinstance(found, list) or not all(
        isinstance(c, Mapping) and _is_number(c.get("loss")) for c in found
    ):
        return []
    best = sorted(found, key=lambda each: each["loss"])[:MAX_CANDIDATES]
    names = [n for n in ("kernel", "C", "gamma", "epsilon", "delta") if any(n in each for each in best)]
    rows = [
        [*(_cell(each.get(name)) for name in names), number(each["loss"]), number(each.get("error"), 2)]
        for each in best
    ]
    if not names:
        return []
    caption = f"Candidates, the best {len(rows)} of {len(found)} by their error on held-out rows"
    heads = [*names, "held-out error", "standard error"]
    return [table(heads, rows, caption=caption, numbers=range(1, len(heads)))]


def _cell(value: Any) -> Any:
    return "–" if value is None else number(value) if _is_number(value) else datum(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def _error_section(report: NumberReport) -> list[Child]:
    """Residuals against predictions, predicted against true numbers."""
    e = report.evaluation
    if not isinstance(e, NumberEvaluation):
        return []
    some = f" {MAX_POINTS_DRAWN} of the rows at most are drawn." if e.n_rows > MAX_POINTS_DRAWN else ""
    told = f"mean absolute error {number(e.scores.mae)}, bias {number(e.scores.bias)}"
    true = scatter_chart(
        "true",
        "Predicted against true",
        told,
        e.true,
        e.predicted,
        Axis("true"),
        Axis("predicted"),
        equal=True,
    )
    residuals = scatter_chart(
        "residuals", "Residuals against predictions", told, e.predicted, e.true - e.predicted,
        Axis("predicted"), Axis("true − predicted"),
    )  # fmt: skip
    words = "On the dashed line a prediction is exact."
    about = (
        "A shape that is not level and even says what the model misses: a bend, or noise that grows with the "
        "prediction."
    )
    return [
        node(
            "div",
            figure(true, "Predicted against true", words + some),
            figure(residuals, "Residuals against predictions", about),
            class_="figures",
        )
    ]


def _coverage_section(report: NumberReport) -> list[Child]:
    e = report.evaluation
    if not isinstance(e, NumberEvaluation):
        return []
    if not e.coverages:
        text = (
            "The model has no intervals: too few rows, or none, were held out in training to calibrate them."
        )
        return [node("p", text)]
    rows: list[list[Any]] = []
    for c in e.coverages:
        low, high = map(percent, c.interval)
        kept = c.interval[1] >= c.asked
        verdict = mark("kept", True) if kept else mark("too narrow here", False)
        rows.append([percent(c.asked, 0), percent(c.share), f"{low} to {high}", number(c.width), verdict])
    return [
        node(
            "p",
            "An interval is made to contain the true number with the probability asked for, over the draw of "
            "the training rows and of new rows like them. Counted here: how often it does on these rows.",
        ),
        table(
            ["asked for", "contains the true number", "95 %", "mean width", "verdict"],
            rows,
            caption="Intervals",
            numbers=[0, 1, 3],
        ),
    ]


def _worst_section(report: NumberReport) -> list[Child]:
    """The rows with the largest errors, or the lowest scores."""
    e = report.evaluation
    if isinstance(e, NumberEvaluation):
        heads = ["row", "true", "predicted", "error"]
        own = {w.row: [number(w.true), number(w.predicted), number(w.predicted - w.true, 3)] for w in e.worst}
        text = (
            "Look at these first: the target may be wrong, a column may have changed its meaning, or the row "
            "is unusual."
        )
    else:
        heads, text = (
            ["row", "score"],
            "The rows that are least like the training rows; a negative score is outside.",
        )
        own = {each.row: [number(each.score, 3)] for each in e.lowest}
    listed = list(own)[:MAX_ROWS_LISTED]
    names = _names_shown(report, listed)
    rows = [
        [number(row + 1), *own[row], *(_value(report.values.get(row, {}).get(name)) for name in names)]
        for row in listed
    ]
    caption = f"{len(rows)} rows, counted from 1"
    numeric = {column.name for column in report.data.columns if column.kind == "number"}
    right = [j for j, name in enumerate([*heads, *names]) if j < len(heads) or name in numeric]
    return [node("p", text), table([*heads, *names], rows, caption=caption, numbers=right)]


def _names_shown(report: NumberReport, listed: list[int]) -> list[str]:
    """The columns that matter most, of the rows listed."""
    there = dict.fromkeys(name for row in listed for name in report.values.get(row, {}))
    ranked = [name for name, _ in report.columns or [] if name in there]
    return list(ranked or there)[:MAX_COLUMNS]


def _value(value: Any) -> Any:
    return datum("(missing)" if value is None else number(value) if _is_number(value) else value, 28)


def _column_section(report: NumberReport) -> list[Child]:
    found = report.columns
    if not found or not any(share > 0.0 for _, share in found):
        return []
    shown = found[:MAX_BARS]
    drawing = bar_chart(
        "importance",
        "Importance of the columns",
        "; ".join(f"{name}: {percent(share)}" for name, share in shown),
        [(name, 100.0 * share) for name, share in shown],
        unit="per cent",
    )
    some = f" The first {len(shown)} of {len(found):,} columns." if len(found) > len(shown) else ""
    words = f"Per cent of what the output depends on, by the model's gradients on these rows.{some}"
    return [node("div", figure(drawing, "Importance of the columns", words), class_="figures")]


def _score_section(report: NumberReport) -> list[Child]:
    """The distribution of the scores."""
    e = report.evaluation
    if not isinstance(e, NoveltyEvaluation):
        return []
    shares = np.linspace(0.0, 1.0, 101)
    line = Line("score", shares.tolist(), np.quantile(e.scores, shares).tolist())
    drawing = line_chart(
        "scores",
        "Scores",
        f"{percent(e.share_outside)} of the rows have a negative score",
        [line],
        Axis("share of the rows with a lower score", share=True),
        Axis("score"),
        limit=("outside below", 0.0),
    )
    words = "Where the line is below zero, rows are outside what is usual."
    return [node("div", figure(drawing, "Scores of these rows", words), class_="figures")]


def _shared(section: Callable[[Any], list[Child]]) -> Callable[[NumberReport], list[Child]]:
    """A section of the page about classes that needs nothing of classes."""
    return section


NUMBER_SECTIONS: tuple[tuple[str, str, Callable[[NumberReport], list[Child]]], ...] = (
    ("data", "Data", _data_section),
    ("choice", "How the model was trained", _training_section),
    ("errors", "Errors", _error_section),
    ("scores", "Scores", _score_section),
    ("intervals", "Intervals", _coverage_section),
    ("rows", "Rows to look at first", _worst_section),
    ("columns", "Which columns matter", _column_section),
    ("model", "Model", _shared(model_section)),
    ("gap", "Duality gap", _shared(gap_section)),
    ("reproduce", "How to reproduce it", _shared(reproduce_section)),
)
