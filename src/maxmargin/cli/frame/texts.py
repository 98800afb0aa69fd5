"""Texts about a model, from its record or its evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .decision_texts import decision_text, threshold_parts
from .messages import command
from .number_texts import target_text, task_text, validation_text
from .output import facts, short, table

if TYPE_CHECKING:
    from rich.table import Table

    from ...evaluation import Calibration, Evaluation
    from ...metrics import Interval

Record = Mapping[str, Any]
INDEX_NAME = "(index)"  # as the readers of CSV call a first column without a name
MAX_CLASSES_LISTED = 12


def of_training(record: Record, out: Path, data: Path, replaced: bool) -> tuple[dict[str, Any], list[Any]]:
    """The answer of ``train``: as a document and as parts for people."""
    size = out.stat().st_size
    document = {"out": out, "n_bytes": size, "replaced": replaced, **record}
    written = f"{out} ({bytes_text(size)}{', replaced' if replaced else ''})"
    pairs = {
        "task": task_text(record),
        **data_facts(record),
        **model_facts(record),
        "held out": (record.get("split") or {}).get("text"),
        "validation": validation_text(record) or accuracy_text(record.get("validation")),
        "decision": decision_text(record.get("decision")),
        "seconds": seconds_text(record.get("seconds") or {}),
        "written": written,
        "fingerprint": record.get("fingerprint"),
    }
    new = command("evaluate", out, "NEW" + "".join(data.suffixes[-2:]))
    return document, [facts("Trained", pairs), f"next, with new rows: {new}"]


def data_facts(record: Record) -> dict[str, object]:
    """What the model was trained on."""
    data = record.get("data") or {}
    counts = data.get("class_counts") or {}
    n_out = data.get("n_features_out")
    features = count_text(data.get("n_features"))
    if features and n_out is not None and n_out != data.get("n_features"):
        features += f", {count_text(n_out)} after preparation"
    dropped = data.get("dropped") or {}
    numbered = INDEX_NAME in ((data.get("options") or {}).get("drop") or ())
    index = {INDEX_NAME: "the first column, which has no name"} if numbered else {}
    return {
        "data": data.get("file"),
        "rows": rows_text(data, record.get("memory_mb")),
        "features": features,
        "left out": "; ".join(f"{name} ({why})" for name, why in {**index, **dropped}.items()) or None,
        "dates": dates_text(data.get("dates") or {}),
        "free text": "; ".join(f"{name}: {n:,} words" for name, n in (data.get("texts") or {}).items())
        or None,
        "target": target_text(record),
        "classes": classes_text(counts) if counts else None,
    }


def dates_text(dates: Mapping[str, Sequence[str]]) -> str | None:
    """``when: month, weekday, days since 2026-01-30; ...``."""
    said = [
        f"{name}: {', '.join(used.removeprefix(f'{name}: ') for used in numbers)}"
        for name, numbers in dates.items()
    ]
    return "; ".join(said) or None


def model_facts(record: Record) -> dict[str, object]:
    """What it is, and how far from the optimum its fit stopped."""
    fit = record.get("fit") or {}
    given = record.get("given_parameters") or {}
    found = {name: f"{fit[name]:.3g}" for name in ("alpha", "gamma") if isinstance(fit.get(name), float)}
    words = [f"{name}={value}" for name, value in {**given, **found}.items()]
    return {
        "model": ", ".join([str(record.get("model")), *words]) if record.get("model") else None,
        "chosen": record.get("chosen"),
        "weights": weights_text(record.get("groups")),
        "fitted on": record.get("fitted_on"),
        "support vectors": count_text(_total(fit.get("n_support"))),
        "gap": gap_text(record.get("gap"), record.get("status")),
    }


def weights_text(groups: Any) -> str | None:
    """The weight of each group of columns: ``0.50 (age, height); 0.50 (income)``; – for what is none."""
    said = []
    for group in groups if isinstance(groups, list) else ():
        if isinstance(group, Mapping):
            columns, weight = group.get("columns"), group.get("weight")
            names = ", ".join(map(str, columns)) if isinstance(columns, list) else "–"
            is_share = isinstance(weight, int | float) and abs(weight) <= 1.0
            said.append(f"{f'{weight:.2f}' if is_share else '–'} ({names})")
    return "; ".join(said) or None


def gap_text(gap: Any, status: Any) -> str | None:
    """How much of the objective could still be gained, and why the fit stopped."""
    if gap is None:
        return None if status is None else str(status)
    gaps = gap if isinstance(gap, Sequence) else [gap]
    worst = max((value for value in gaps if value is not None), default=None)
    if worst is None:
        return None if status is None else str(status)
    reasons = sorted(
        {str(one).replace("_", " ") for one in (status if isinstance(status, list) else [status]) if one}
    )
    return f"{worst:.1e}" + (f" ({', '.join(reasons)})" if reasons else "")


def accuracy_text(validation: Record | None) -> str | None:
    """Accuracy on rows held out, with its interval, beside that of no model at all."""
    if not validation:
        return None
    low, high = validation["accuracy_interval"]
    return (
        f"{100 * validation['accuracy']:.2f} % accuracy on {validation['n_rows']:,} held-out rows "
        f"(95 %: {100 * low:.1f} to {100 * high:.1f}); majority class: "
        f"{100 * validation['majority_accuracy']:.1f} %"
    )


def seconds_text(seconds: Mapping[str, float]) -> str | None:
    """``1.20: reading 0.31, solver 0.72, ...``."""
    parts = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items() if name != "total")
    return f"{seconds['total']:.2f} ({parts})" if "total" in seconds else parts or None


def rows_text(data: Record, memory_mb: float | None = None) -> str | None:
    """How many the file has; if training was done with fewer, how many, and what would hold them all."""
    n, kept, share = data.get("n_rows"), data.get("n_rows_kept"), data.get("share_kept")
    if n is None or not kept or share in (None, 1.0):
        return count_text(n)
    said = f"{n:,}, of which a sample of {kept:,} ({100 * kept / n:.2g} %) fits in memory"
    if not isinstance(memory_mb, int | float) or not isinstance(share, float):
        return said
    needed = math.ceil(memory_mb / share)
    return f"{said} ({memory_mb:,.0f} MiB); the others are left out, and --memory {needed} would hold all"


def classes_text(counts: Mapping[str, int]) -> str:
    """How many classes, and which."""
    from ...metrics import natural_order

    names = list(counts)
    first = [names[k] for k in natural_order(names)[:MAX_CLASSES_LISTED]]
    shown = [f"{short(name)} {counts[name]:,}" for name in first]
    return f"{len(counts)}: {', '.join(shown)}{', ...' if len(counts) > MAX_CLASSES_LISTED else ''}"


def count_text(count: Any) -> str | None:
    """A number of things with commas."""
    return None if count is None else f"{count:,}"


def bytes_text(n_bytes: float) -> str:
    """A size for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if n_bytes < 1024:
            return f"{n_bytes:,.0f} {unit}" if unit == "bytes" else f"{n_bytes:,.1f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:,.1f} GiB"


def _total(n_support: Any) -> int | None:
    return sum(n_support) if isinstance(n_support, list) else n_support


MAX_CONFUSION_CLASSES = 15  # classes of a confusion matrix that can be read
MAX_CLASS_ROWS = 40
MAX_MISTAKES_SHOWN = 10


def parts_of(found: Evaluation) -> Iterator[Table | str]:
    """What ``evaluate`` prints."""
    yield facts(f"{found.file}, {found.n_rows:,} rows", _facts(found))
    yield _classes(found)
    yield _confusions(found)
    yield from threshold_parts(found.curves, found.costs)
    if found.calibration is not None:
        yield _reliability(found.calibration)
    if found.mistakes:
        yield _mistakes(found)


def percent(share: float | None) -> str:
    """Of a share; "-" where it is not known."""
    return "-" if share is None or math.isnan(share) else f"{100 * share:.2f} %"


def between(interval: Interval | None) -> str:
    """The ends of an interval of shares."""
    return "-" if interval is None else f"{100 * interval[0]:.2f} - {100 * interval[1]:.2f} %"


def number(value: float | None, places: str = ".4f") -> str:
    """A number, or "-"."""
    return "-" if value is None or math.isnan(value) else format(value, places)


def _facts(found: Evaluation) -> dict[str, object]:
    shown: dict[str, object] = {
        "accuracy": f"{percent(found.accuracy)}   (95 %: {between(found.accuracy_interval)})",
        "balanced accuracy": percent(found.balanced_accuracy),
        "most frequent class": f"{percent(found.majority_share)} if always predicted",
    }
    for row in found.top_k:
        if row.k > 1:
            shown[f"top-{row.k} accuracy"] = f"{percent(row.accuracy)}   (95 %: {between(row.interval)})"
    if (rank := found.ranking) is not None:
        low, high = rank.roc_auc_interval
        shown["area under ROC curve"] = f"{rank.roc_auc:.4f}   (95 %: {low:.4f} - {high:.4f})"
        shown["average precision"] = f"{rank.average_precision:.4f} for {short(rank.positive)!r}"
    if (p := found.calibration) is not None:
        shown["log loss"] = f"{p.log_loss:.4f}"
        shown["Brier score"] = f"{p.brier:.4f}"
        shown["calibration error"] = percent(p.expected_calibration_error)
    return shown


def _classes(found: Evaluation) -> Table:
    from ...metrics import natural_order

    rows, title = [found.per_class[k] for k in natural_order(found.classes)], "Classes"
    if len(rows) > MAX_CLASS_ROWS:
        rows = sorted(rows, key=lambda row: -1.0 if math.isnan(row.f1) else row.f1)[:MAX_CLASS_ROWS]
        title = f"Classes: the {MAX_CLASS_ROWS} of {len(found.per_class)} with the lowest F1"
    columns = ("class", "precision", "recall", "95 %", "F1", "rows", "predicted")
    return table(
        title,
        columns,
        [
            (
                short(row.label),
                percent(row.precision),
                percent(row.recall),
                between(row.recall_interval) if row.support else "-",
                number(row.f1, ".3f"),
                f"{row.support:,}",
                f"{row.predicted:,}",
            )
            for row in rows
        ],
    )


def _confusions(found: Evaluation) -> Table | str:
    from ...metrics import natural_order

    names = found.classes
    if len(names) <= MAX_CONFUSION_CLASSES:
        order = natural_order(names)
        names = [short(names[k]) for k in order]
        rows = [[name, *counts] for name, counts in zip(names, found.confusion[order][:, order].tolist())]
        return table(
            "Confusion matrix: true classes in rows, predicted classes in columns", ["", *names], rows
        )
    pairs = [(short(true), short(predicted), n) for true, predicted, n in found.most_confused]
    return table("Most frequent confusions", ("true", "predicted", "rows"), pairs, words=2)


def _reliability(p: Calibration) -> Table:
    rows = [
        (
            f"{b.low:.2f} - {b.high:.2f}",
            percent(b.confidence),
            percent(b.accuracy),
            between(b.accuracy_interval),
            f"{b.n_rows:,}",
        )
        for b in p.bins
    ]
    columns = ("probability", "mean", "accuracy", "95 %", "rows")
    return table("Calibration: probability of the predicted class, and how often it is right", columns, rows)


def _mistakes(found: Evaluation) -> Table:
    rows = [
        (
            f"{m.row + 1:,}",
            short(m.label),
            short(m.predicted),
            number(m.margin, ".3f"),
            percent(m.probability),
        )
        for m in found.mistakes[:MAX_MISTAKES_SHOWN]
    ]
    columns = ("row (from 1)", "true", "predicted", "margin", "probability")
    return table("Most confident mistakes", columns, rows, words=3)
