"""The model: its problem, its budget path, its duality gap, error bounds, how to reproduce it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..content import DELTA, BudgetPath, Curve, GapHistory, ModelReport
from .charts import Axis, Line, line_chart
from .markup import Child, Element, datum, facts, figure, formula, node, table, values_list
from .quality import mark
from .text import number, percent


def model_section(report: ModelReport) -> list[Child]:
    """The model in words and in symbols, and what its parameters were."""
    m = report.model
    lines = [
        node("div", formula(line), node("span", f" — {words}", class_="soft") if words else None)
        for line, words in m.symbols
    ]
    told = m.facts
    parts: list[Child] = [node("p", m.words)]
    if lines:
        parts.append(node("div", lines, class_="formula"))
    if m.where:
        parts.append(node("p", m.where, class_="note"))
    code = None
    if told.get("n_classes", 2) > 2 and "code" in told:
        code = f"{told['n_columns']:,} two-class problems ({told['code']}) for {told['n_classes']:,} classes"
    parts.append(
        facts(
            [
                ("estimator", datum(m.name)),
                ("multiclass", code),
                ("support vectors", told.get("n_support_")),
                ("objective", told.get("objective_")),
                ("status", datum(str(told.get("status_", "–")).replace("_", " "))),
            ]
        )
    )
    parts.append(node("h3", "Parameters"))
    parts.append(
        node("p", "As given; for a rule such as “auto”, with the value that it chose.", class_="note")
    )
    parts.append(values_list({name: _plain(value) for name, value in m.parameters.items()}, 60))
    return parts


def _plain(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def path_section(report: ModelReport) -> list[Child]:
    """Accuracy or loss against support vectors."""
    path = report.budget_path
    if path is None:
        return []
    figures = []
    if path.has_scores:
        words = "Where the line is flat, more support vectors make the model larger but not better."
        up = Axis("accuracy on held-out rows", share=True)
        figures.append(_path_figure(path.budget, path.score, "accuracy", up, words))
    words = "The objective without the penalty; lower is a closer fit to the training rows."
    up = Axis("mean training loss", log=min(path.loss) > 0.0)
    figures.append(_path_figure(path.budget, path.loss, "loss", up, words))
    figures.append(_path_table(path))
    return [
        node(
            "p",
            "A fit contains smaller models, made of its first support vectors. How good is each?",
        ),
        node("div", figures, class_="figures"),
    ]


def _path_figure(budgets: list[int], values: list[float], what: str, up: Axis, words: str) -> Element:
    title = f"{what.capitalize()} against support vectors"
    across = Axis("support vectors (logarithmic)", log=True, whole=True)
    line = Line(what, budgets, values)
    drawing = line_chart(f"path-{what}", title, _ends(budgets, values, what), [line], across, up)
    return figure(drawing, title, words)


def _path_table(path: BudgetPath) -> Element:
    every = max(1, math.ceil(len(path.budget) / 12))
    kept = sorted({*range(0, len(path.budget), every), len(path.budget) - 1})
    names = ["support vectors", "loss"] + (["accuracy"] if path.has_scores else [])
    rows = [
        [number(path.budget[i]), number(path.loss[i]), percent(path.score[i])][: len(names)] for i in kept
    ]
    return table(names, rows, caption="Some points of the path", numbers=range(len(names)))


def _ends(x: Sequence[float], y: Sequence[float], what: str) -> str:
    return f"from {number(y[0])} {what} at {number(x[0])} to {number(y[-1])} at {number(x[-1])}"


def gap_section(report: ModelReport) -> list[Child]:
    """The duality gap against time and iterations."""
    gaps = report.gaps
    if gaps is None:
        words = "This model has no certificates: its method does not bound the distance from the optimum."
        return [node("p", words)]
    words = (
        " For a budgeted model it refers to the coefficients of the support vectors chosen so far, so "
        "it rises when one is added."
    )
    return [
        node(
            "p",
            "The duality gap is a certificate: no other coefficients lower the objective by more than "
            "this share of it. The fit ended with a gap of ",
            node("b", number(report.model.facts.get("dual_gap_", gaps.worst_by_time.gap[-1]), 2)),
            f"; the tolerance was {number(gaps.tol, 2)}." if gaps.tol else ".",
            words if report.budget_path is not None else None,
        ),
        node("div", [_gap_figure(gaps, axis) for axis in ("seconds", "iterations")], class_="figures"),
    ]


def _gap_figure(gaps: GapHistory, axis: str) -> Element:
    curve = gaps.worst_by_time if axis == "seconds" else gaps.worst_by_iteration
    name, factor = "iterations (rounds, epochs or steps)", 1.0
    if axis == "seconds":
        name, factor = ("milliseconds", 1e3) if curve.seconds[-1] < 1.0 else ("seconds", 1.0)

    def line(each: Curve, faint: bool) -> Line:
        return Line(each.name, [factor * v for v in getattr(each, axis)], each.gap, faint)

    drawing = line_chart(
        f"gap-{axis}",
        f"Duality gap against {axis}",
        _ends(getattr(curve, axis), curve.gap, "gap"),
        [*(line(each, True) for each in gaps.columns), line(curve, False)],
        Axis(name, zero=True, whole=axis == "iterations"),
        Axis("relative duality gap (logarithmic)", log=True),
        limit=("tolerance", gaps.tol) if gaps.tol else None,
    )
    words = "Lower is closer to the optimum. "
    if min(curve.gap) <= gaps.floor:
        words += f"Gaps below {number(gaps.floor, 1)} are drawn there. "
    if gaps.n_columns > 1:
        words += f"Bold: the largest of {gaps.n_columns:,} columns; grey: {len(gaps.columns)} of them."
    return figure(drawing, f"Gap against {axis}", words)


def promise_section(report: ModelReport) -> list[Child]:
    """Bounds and estimates: value, confidence, whether they are informative."""
    p = report.promises
    rows: list[list[Child]] = []
    for each in p.told:
        chance = (
            "an estimate"
            if each.delta is None
            else "always"
            if each.delta == 0
            else percent(1 - each.delta, 0)
        )
        sign = "about " if each.delta is None else "at most "
        verdict = mark("vacuous", False) if each.vacuous else mark("informative", True)
        about = "" if each.of in ("error", "leave-one-out error") else f" (of the {each.of})"
        words = node("span", f"{each.words}{about}", class_="soft")
        value = percent(each.value) if each.value <= 1.0 else f"100 % ({number(each.value, 3)})"
        rows.append([each.name, sign + value, chance, verdict, words])
    parts: list[Child] = [
        node(
            "p",
            "How large can the error on new rows be? A bound holds with the given probability over the "
            "draw of "
            "the rows; an estimate has no guarantee. Always predicting the most frequent class has an "
            "error of "
            f"{percent(p.majority_error)}: a bound that is not below that, or not below half, is vacuous.",
        )
    ]
    if rows:
        columns = ["bound", "error", "holds with", "verdict", "basis"]
        parts.append(table(columns, rows, caption="Bounds on the error on new rows", numbers=[1]))
    notes = dict.fromkeys(note for each in p.told for note in each.notes)
    if any(each.name != "hold-out" for each in p.told):
        notes["bounds from training rows assume that the preparation of the table was fixed beforehand."] = (
            None
        )
    parts += [node("p", f"Note: {note}", class_="note") for note in notes]
    parts += [node("p", f"Not available ({names}): {reason}", class_="note") for names, reason in p.not_told]
    if any(each.delta for each in p.told):
        text = f"Each bound alone fails with probability {number(DELTA)}; several together fail more often."
        parts.append(node("p", text, class_="note"))
    return parts


def reproduce_section(report: ModelReport) -> list[Child]:
    """Commands, seed, versions, hashes."""
    record = report.record
    trained = record.get("command")
    trained = " ".join(map(str, trained)) if isinstance(trained, list | tuple) else trained
    commands = [str(c) for c in (trained, *report.commands) if c]
    versions = record.get("versions") or {}
    versions = (
        ", ".join(f"{k} {v}" for k, v in versions.items()) if isinstance(versions, dict) else str(versions)
    )
    data = record.get("data") or {}
    parts: list[Child] = [
        node(
            "p",
            "The same data, commands and seed give the same model, with the same fingerprint, for any "
            "number of threads. The fingerprint covers everything but clock times.",
        )
    ]
    parts += [node("pre", node("code", command)) for command in commands]
    seed = record.get("seed")
    parts.append(
        facts(
            [
                ("seed", None if seed is None else str(seed)),
                ("versions", datum(versions, 300) if versions else None),
                ("model fingerprint", node("code", report.fingerprint) if report.fingerprint else None),
                ("training data SHA-256", node("code", str(data["sha256"])) if data.get("sha256") else None),
                ("evaluation data SHA-256", node("code", report.data.sha256) if report.data.sha256 else None),
            ]
        )
    )
    return parts
