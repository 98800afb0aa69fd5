"""``maxmargin inspect``: what a model file holds, without any data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ..frame import Show, facts, table, task_text, validation_text
from ..frame import texts as summary

MAX_COLUMNS_SHOWN = 30


def inspect(
    model: Annotated[Path, Parameter(help="The model file.")],
    /,
    *,
    show: Show = Show(),  # noqa: B008
) -> None:
    """Show what is in a model file: what it predicts, from which columns, how it was trained and how well."""
    from ... import io

    fitted, record = io.load(model), io.read_record(model) or {}
    fingerprint = io.fingerprint(fitted)
    classifier = fitted[-1] if hasattr(fitted, "named_steps") else fitted
    document = {
        "file": model,
        "n_bytes": model.stat().st_size,
        "fingerprint": fingerprint,
        "estimator": type(classifier).__name__,
        "parameters": _parameters(classifier),
        "classes": getattr(classifier, "classes_", None),
        "n_support": getattr(classifier, "n_support_", None),
        "gap": getattr(classifier, "dual_gap_", None),
        "status": getattr(classifier, "status_", None),
        "columns": _columns(fitted),
        "record": record,
    }
    show.answer(document, *_parts(document, record))


def _parts(document: dict[str, Any], record: dict[str, Any]) -> list[Any]:
    about = {
        "file": f"{document['file']} ({summary.bytes_text(document['n_bytes'])})",
        "estimator": document["estimator"],
        "task": task_text(record),
        **summary.data_facts(record),
        **summary.model_facts(record),
        "validation": validation_text(record) or summary.accuracy_text(record.get("validation")),
        "command": record.get("command"),
        "versions": ", ".join(
            f"{name} {version}" for name, version in (record.get("versions") or {}).items()
        ),
        "fingerprint": document["fingerprint"],
    }
    parts = [facts("Model", about), facts("Parameters", document["parameters"])]
    if columns := document["columns"]:
        rows = [(column["name"], column["kind"], column["becomes"]) for column in columns[:MAX_COLUMNS_SHOWN]]
        if len(columns) > MAX_COLUMNS_SHOWN:
            rows.append((f"... and {len(columns) - MAX_COLUMNS_SHOWN} more", "", ""))
        parts.append(table("Expected columns", ["name", "holds", "becomes"], rows, words=3))
    return parts


def _parameters(classifier: Any) -> dict[str, Any]:
    values = classifier.get_params(deep=False)
    return {name: value if _is_plain(value) else str(value) for name, value in values.items()}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _columns(fitted: Any) -> list[dict[str, Any]] | None:
    """Names and kinds of the columns of a table, and what the preparation makes of each."""
    prepared: Any = getattr(fitted, "named_steps", {}).get("table")
    if getattr(prepared, "layout_", None) != "table":
        return None
    return [
        {"name": name, "kind": kind, "becomes": _becomes(name, plan, kind, prepared.dropped_.get(name))}
        for (name, kind), plan in zip(prepared.kinds_.items(), prepared.plans_)
    ]


def _becomes(name: str, plan: Any, kind: str, dropped: str | None) -> str:
    if dropped is not None:
        return f"left out: {dropped}"
    if kind == "number":
        return "standardised" if plan.width == 1 else "standardised, plus a missing-value indicator"
    if hasattr(plan, "used"):
        return ", ".join(used.removeprefix(f"{name}: ") for used in plan.used(name))
    if hasattr(plan, "idf"):
        return f"weights of {len(plan.words):,} words"
    return f"{plan.width} indicators"
