"""Bounds and estimates of the error on new rows, each in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...bounds import Bound, Entry, Inapplicable, hold_out_bound
from ...bounds import report as bounds_report

DELTA = 0.05
MAX_ROWS = 5_000  # of training rows, for bounds that need all of them
MEANINGS = {
    "hold-out": "counted on new rows; the number to quote",
    "margin": "from the margins and the norm of the function",
    "margin-a-priori": "from the margins and the largest norm that the problem allows",
    "margin-scaled": "from the margins, for the best multiple of the function",
    "hinge": "from the mean hinge loss and the norm of the function",
    "pac-bayes": "twice the bound for a random classifier around the model",
    "pac-bayes-gibbs": "for a random classifier around the model, not for the model itself",
    "stability": "from how little one row can change the model",
    "support-vectors": "leaving a row out changes nothing unless it is a support vector",
    "xi-alpha": "from slacks and coefficients, without refitting",
    "jaakkola-haussler": "from coefficients, for models without an intercept",
    "span": "from how well the other support vectors can replace one",
    "leave-one-out": "computed exactly: each row predicted by a fit without it",
    "ecoc-printed": "on the training error, from errors of the code's columns",
    "ecoc-refined": "on the training error, from wrong outputs of the code's columns",
}
OTHER_FILE = (
    "by its SHA-256, the file given as the training file is not the one that the model was trained on."
)
OTHER_ROWS = "the model was trained on only a part of the training file."
NO_TRAINING_ROWS = (
    "bounds from margins, norms and leave-one-out errors need the training rows, which this report was not "
    "given."
)


@dataclass(frozen=True)
class Promise:
    """One bound (with a probability of failing) or estimate (without one), for a reader."""

    name: str
    words: str
    value: float
    delta: float | None  # None for an estimate
    vacuous: bool
    of: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Promises:
    """The bounds and estimates, and why the others are not available."""

    told: list[Promise]
    not_told: list[tuple[str, str]]  # names, reason
    majority_error: float


def promises(
    model: Any,
    n_errors: int,
    n_rows: int,
    majority_error: float,
    *,
    seen: bool,
    training: tuple[Any, Any] | str = NO_TRAINING_ROWS,
) -> Promises:
    """The hold-out bound for new rows, and the bounds that need the training rows.

    ``training`` are these rows, X and y, or the reason why there are none.
    """
    entries: dict[str, Entry] = {}
    if seen:
        reason = "these are the training rows; evaluate on new rows."
        entries["hold-out"] = Inapplicable("hold-out", reason)
    else:
        entries["hold-out"] = hold_out_bound(n_errors, n_rows, DELTA, majority_error=majority_error)
    if isinstance(training, str):
        entries["others"] = Inapplicable("others", training)
    else:
        entries |= _from_training(model, *training)
    found = [_promise(entry) for entry in entries.values() if not isinstance(entry, Inapplicable)]
    silent: dict[str, list[str]] = {}
    for entry in entries.values():
        if isinstance(entry, Inapplicable):
            silent.setdefault(entry.reason, []).append(entry.name)
    return Promises(found, [(", ".join(names), why) for why, names in silent.items()], majority_error)


def _from_training(model: Any, X: Any, y: Any) -> dict[str, Entry]:
    if X.shape[0] > MAX_ROWS:
        reason = (
            f"there are more than {MAX_ROWS:,} training rows; these bounds are computed for at most so many."
        )
        return {"others": Inapplicable("others", reason)}
    try:
        found = dict(bounds_report(model, X, y, delta=DELTA).entries)
    except (ValueError, TypeError) as error:
        return {"others": Inapplicable("others", str(error))}
    found.pop("hold-out", None)
    return {name: entry for name, entry in found.items() if "rademacher" not in name}


def _promise(entry: Bound | Any) -> Promise:
    delta = entry.delta if isinstance(entry, Bound) else None
    words = MEANINGS.get(entry.name, entry.name.replace("-", " "))
    return Promise(entry.name, words, entry.value, delta, entry.vacuous, entry.of, tuple(entry.notes))
