"""All that the page's script shows, as one document of lists, texts and numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...evaluation import ColumnStudy, Drift, Effect, ThresholdCurves
from ...json_values import plain
from ...metrics import natural_order
from ..content import ModelReport, shown_classes
from .gather import GatheredRows
from .machine import Machine
from .path import path_document
from .reasons import preparation_of, reasons
from .rows import column_names, columns_document, date_plans, rows_document

__all__ = ["explored"]

NO_THRESHOLD = "A threshold divides two classes; this model has {n:,}."
ONE_CLASS = "The rows are all of one class, so there is no threshold to choose."
NO_PROBABILITIES = "This model has no probabilities: thresholds are of its score."
NO_COLUMNS = "Which columns matter is known for models of tables only."
NO_DRIFT = "Which columns have moved is known where the training file is given (--training FILE)."


def explored(model: Any, report: ModelReport, gathered: GatheredRows) -> dict[str, Any]:
    """The document; ``left_out`` has a sentence for each control that this model has no data for."""
    evaluation, left_out = report.evaluation, {}
    names, path = evaluation.classes, gathered.path
    if isinstance(path, str):
        left_out["path"] = path
    if evaluation.curves is None:
        left_out["threshold"] = NO_THRESHOLD.format(n=len(names)) if len(names) > 2 else ONE_CLASS
    if report.columns is None:
        left_out["columns"] = NO_COLUMNS
    if report.drift is None:
        left_out["drift"] = NO_DRIFT
    if isinstance(gathered.machine, str):
        left_out["reasons"] = gathered.machine
    if evaluation.calibration is None:
        left_out["probability"] = NO_PROBABILITIES
    shown, n_unknown = shown_classes(evaluation.confusion, names), len(evaluation.unknown_labels)
    return dict(
        plain(
            {
                "classes": names,
                "order": natural_order(names),
                "path": None if isinstance(path, str) else path_document(model, path, shown, n_unknown),
                "threshold": _threshold(report, evaluation.curves),
                "columns": _columns(report.columns, report.drift),
                **_rows(model, report, gathered),
                "decided": bool(report.record.get("decision")),
                "left_out": left_out,
            }
        )
    )


def _rows(model: Any, report: ModelReport, gathered: GatheredRows) -> dict[str, Any]:
    shown, sample = gathered.shown(), gathered.sampled()
    ranked = [] if report.columns is None else [column.name for column in report.columns.columns]
    names, n_columns = column_names(shown.block, ranked)
    why: dict[str, Any] | None = None
    support: list[dict[str, Any]] = []
    if isinstance(gathered.machine, Machine):
        file_rows = (report.record.get("fit") or {}).get("support_rows")
        why, support = reasons(model, gathered.machine, shown, file_rows, names)
    n_classes = len(report.evaluation.classes)
    dates = date_plans(preparation_of(model))
    return {
        "rows": rows_document(shown, gathered.n_rows, gathered.n_wrong),
        "values": columns_document(shown, sample, support, names, ranked, n_classes, dates),
        "n_columns": n_columns,
        "n_sampled": sample.block.n_rows,
        "reasons": why,
    }


def _threshold(report: ModelReport, curves: ThresholdCurves | None) -> dict[str, Any] | None:
    """Counts of both classes at each threshold, the lowest first; they are exact."""
    ranking, costs = report.evaluation.ranking, report.evaluation.costs
    if curves is None or ranking is None:
        return None
    points = curves.points[::-1]
    n = ranking.n_scores
    n_positive = round(points[0].precision * n)  # every row is called positive
    on_curves = costs is not None and costs.on == curves.on and costs.threshold is not None
    chosen = costs.threshold if costs is not None and on_curves else None
    return {
        "on": curves.on,
        "positive": curves.positive,
        "n_positive": n_positive,
        "n_negative": n - n_positive,
        "n_all": int(report.evaluation.confusion.sum()),
        "accuracy": report.evaluation.accuracy,
        "thresholds": [point.threshold for point in points],
        "hits": [round(point.recall * n_positive) for point in points],
        "alarms": [round(point.false_positive_rate * (n - n_positive)) for point in points],
        "chosen": chosen,
        "rule": None if costs is None else costs.rule,
        "costs": [1.0, 1.0] if costs is None else [costs.costs[0][1], costs.costs[1][0]],
    }


def _effect(effect: Effect) -> dict[str, Any]:
    """With a list of lines: names of classes are no keys."""
    lines = [{"name": name, "values": values} for name, values in effect.lines.items()]
    return {**asdict(effect), "lines": lines}


def _columns(study: ColumnStudy | None, drift: Drift | None) -> dict[str, Any] | None:
    """Importance, effect and drift, for each column that one of them is known of."""
    if study is None and drift is None:
        return None
    effects = {} if study is None else {effect.name: _effect(effect) for effect in study.effects}
    moved = {} if drift is None else {column.name: asdict(column) for column in drift.columns}
    own = {} if study is None else {column.name: asdict(column) for column in study.columns}
    names = list(dict.fromkeys([*own, *moved]))
    return {
        "n_rows": None if study is None else study.n_rows,
        "n_columns": max(0 if study is None else study.n_columns, 0 if drift is None else drift.n_columns),
        "notes": [] if study is None else study.notes,
        "drift": None if drift is None else {"n_moved": drift.n_moved, "n_columns": drift.n_columns},
        "list": [
            {"name": name, "own": own.get(name), "effect": effects.get(name), "drift": moved.get(name)}
            for name in names
        ],
    }
