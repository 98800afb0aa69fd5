"""How the model was chosen, told from the record that its file carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..content import Report
from .markup import Child, datum, node
from .tables import facts, table, values_list
from .text import (
    count,
    number,
    percent,
    seconds,
)

ENDS = {
    "converged": "the gap that was asked for was reached",
    "budget_full": "all support vectors that were allowed are used",
    "no_loss_left": "more support vectors would not have helped",
    "time_limit": "the time was up before the gap that was asked for",
    "max_iter": "the iterations were up before the gap that was asked for",
    "stalled": "no further progress was possible",
    "stopped": "it was stopped from outside",
}
CLOCKS = {
    "reading": "reading the file",
    "preparation": "words to indicators, numbers standardised",
    "solver": "the fits themselves",
    "validation": "judging on the rows held out",
    "total": "all of it",
}
MOST_DROPPED = 20


def choice_section(report: Report) -> list[Child]:
    """What was asked for, how it was judged, how the fit ended, and how long everything took."""
    record = report.record
    if not record:
        return [
            node("p", "The model file has no record of how the model was made: it was saved without one.")
        ]
    parts: list[Child] = [node("p", _asked(record)), *_validated(record), *_prepared(record)]
    status = str(record.get("status") or report.model.facts.get("status_") or "")
    choice = record.get("choice") or {}
    parts.append(
        facts(
            [
                (
                    "how the fit ended",
                    f"{status.replace('_', ' ')}: {ENDS[status]}" if status in ENDS else None,
                ),
                *((str(k).replace("_", " "), _told(v)) for k, v in choice.items()),
            ]
        )
    )
    clocks = record.get("seconds")
    if isinstance(clocks, Mapping):
        rows = [[datum(k), seconds(v), CLOCKS.get(str(k), "")] for k, v in clocks.items() if _is_number(v)]
        caption = "Where the time of the training went"
        parts.append(table(["work", "time", "what it is"], rows, caption=caption, numbers=[1]))
    return parts


def _asked(record: Mapping[str, Any]) -> list[Child]:
    words: list[Child] = [
        "The training was asked for a model of the kind ",
        node("b", datum(record.get("model", "–"))),
    ]
    given = record.get("given_parameters") or {}
    if given:
        words.append(" with ")
        words += [node("span", datum(f"{k} = {v}"), "; ") for k, v in list(given.items())[:-1]]
        name, value = list(given.items())[-1]
        words.append(datum(f"{name} = {value}"))
    words.append("." if given else " with its default parameters.")
    if "seed" in record:
        words.append(f" Everything random followed from the seed {record['seed']}.")
    return words


def _validated(record: Mapping[str, Any]) -> list[Child]:
    """One paragraph: what was held out, what came of it, what the model was then fitted to."""
    held = record.get("validation")
    fitted = (
        f" The model of this page was learnt from {record['fitted_on']}." if record.get("fitted_on") else ""
    )
    if not isinstance(held, Mapping) or not _is_number(held.get("accuracy")):
        return [node("p", f"No rows were held out to judge it during the training.{fitted}")]
    low, high = held.get("accuracy_interval") or (None, None)
    between = "" if low is None else f" (with 95 % confidence {percent(low)} to {percent(high)})"
    share = record.get("validate")
    said = f"{percent(share, 0)} of the rows, " if _is_number(share) else ""
    return [
        node(
            "p",
            f"{said}{count(int(held.get('n_rows', 0)), 'row')} of all classes, were held out during the "
            "training. A model learnt from the others named the right class for "
            f"{percent(held['accuracy'])} of them{between}; always naming the most frequent one would have "
            f"been right for {percent(held.get('majority_accuracy'))}.{fitted}",
        )
    ]


def _prepared(record: Mapping[str, Any]) -> list[Child]:
    """How the table became a matrix."""
    data = record.get("data") or {}
    n_in, n_out = data.get("n_features"), data.get("n_features_out")
    if not (isinstance(n_in, int) and isinstance(n_out, int)):
        return []
    text = (
        f"The {count(n_in, 'column')} of features became {n_out:,} numbers a row: words as "
        "indicators, numbers standardised, gaps filled with the mean and marked."
    )
    dropped = data.get("dropped") or {}
    if not dropped:
        return [node("p", text)]
    return [
        node("p", f"{text} {count(len(dropped), 'column was', 'columns were')} left out, for these reasons:"),
        values_list(dict(dropped), MOST_DROPPED),
    ]


def _told(value: Any) -> Child:
    """Any value of the record as text."""
    if isinstance(value, Mapping):
        return facts([(str(k).replace("_", " "), _told(v)) for k, v in list(value.items())[:20]])
    if isinstance(value, list | tuple):
        words = ", ".join(_plain(v) for v in value[:12]) + (" …" if len(value) > 12 else "")
        return datum(words, 300)
    return datum(_plain(value), 300)


def _plain(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float | int) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)
