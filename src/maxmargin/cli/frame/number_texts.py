"""Texts about models without classes: of numbers, and of what is usual."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .output import facts, table

if TYPE_CHECKING:
    from ...evaluation import NoveltyEvaluation, NumberEvaluation

Record = Mapping[str, Any]
MAX_ROWS_SHOWN = 10


def task_text(record: Record) -> str | None:
    """What the training was for, and why; nothing for classes."""
    task, why = record.get("task"), record.get("task_because")
    return None if task is None else f"{task} ({why})" if why else str(task)


def target_text(record: Record) -> str | None:
    """The target and, of numbers, their range; a model of what is usual has not looked at it."""
    target, ends = (record.get("data") or {}).get("target"), record.get("target_range")
    if target is None or record.get("task") == "novelty":
        return None if target is None else f"{target}, not used"
    return str(target) if not ends else f"{target}: {ends[0]:.4g} to {ends[2]:.4g}, median {ends[1]:.4g}"


def validation_text(record: Record) -> str | None:
    """What held-out rows say of a model without classes."""
    found, of_task = record.get("validation"), _VALIDATIONS.get(str(record.get("task")))
    return None if not found or of_task is None else of_task(found)


def _numbers_text(found: Record) -> str:
    r2 = "" if found["r2"] is None else f", R^2 {found['r2']:.4f}"
    return (
        f"mean absolute error {_measured(found['mae'], found['mae_interval'])}{r2} on "
        f"{found['n_rows']:,} held-out rows; the best constant: {found['spread']:.4g}"
    )


def _novelty_text(found: Record) -> str:
    low, high = found["share_interval"]
    return (
        f"{100 * found['share_outside']:.2f} % of {found['n_rows']:,} held-out rows are outside "
        f"(95 %: {100 * low:.1f} to {100 * high:.1f})"
    )


_VALIDATIONS: dict[str, Callable[[Record], str]] = {"regression": _numbers_text, "novelty": _novelty_text}


def _measured(value: float, interval: Sequence[float] | None) -> str:
    return f"{value:.4g}" + ("" if interval is None else f" (95 %: {interval[0]:.4g} to {interval[1]:.4g})")


def number_parts(found: NumberEvaluation) -> Iterator[Any]:
    """What ``evaluate`` prints of a model of numbers."""
    s = found.scores
    shown: dict[str, object] = {
        "mean absolute error": _measured(s.mae, s.mae_interval),
        "root mean squared error": _measured(s.rmse, s.rmse_interval),
        "R^2": None if s.r2 is None else _measured(s.r2, s.r2_interval),
        "median absolute error": f"{s.median_error:.4g}",
        "bias": f"{s.bias:+.3g}",
        "best constant": f"{s.spread:.4g} mean absolute error, if the median is always predicted",
    }
    yield facts(f"{found.file}, {found.n_rows:,} rows", shown)
    if found.coverages:
        rows = [
            (
                f"{100 * each.asked:g} %",
                f"{100 * each.share:.2f} %",
                f"{100 * each.interval[0]:.2f} - {100 * each.interval[1]:.2f} %",
                f"{each.width:.4g}",
            )
            for each in found.coverages
        ]
        yield table("Intervals: how often they contain the true number", COVERAGE_COLUMNS, rows)
    worst = [
        (f"{w.row + 1:,}", f"{w.true:.5g}", f"{w.predicted:.5g}", f"{w.predicted - w.true:+.4g}")
        for w in found.worst[:MAX_ROWS_SHOWN]
    ]
    yield table("Largest errors", ("row (from 1)", "true", "predicted", "error"), worst)


COVERAGE_COLUMNS = ("asked for", "of the rows", "95 %", "mean width")


def novelty_parts(found: NoveltyEvaluation) -> Iterator[Any]:
    """What ``evaluate`` prints of a model of what is usual."""
    low, high = found.share_interval
    shown: dict[str, object] = {
        "outside": f"{found.n_outside:,} rows, {100 * found.share_outside:.2f} %   "
        f"(95 %: {100 * low:.2f} - {100 * high:.2f} %)",
        "area under ROC curve": None if found.auc is None else _measured(found.auc, found.auc_interval),
        "novel rows": None if found.novel is None else f"those with the label {found.novel!r}",
    }
    yield facts(f"{found.file}, {found.n_rows:,} rows", shown)
    rows = [(f"{each.row + 1:,}", f"{each.score:.4g}") for each in found.lowest[:MAX_ROWS_SHOWN]]
    yield table("Lowest scores (negative: outside)", ("row (from 1)", "score"), rows)


def result_facts(found: NumberEvaluation | NoveltyEvaluation) -> dict[str, object]:
    """The result in one line."""
    if (share := getattr(found, "share_outside", None)) is not None:
        return {"outside": f"{100 * share:.2f} %"}
    scores: Any = found.scores
    return {"mean absolute error": _measured(scores.mae, scores.mae_interval)}
