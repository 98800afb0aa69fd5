"""A fitted preparation as the plain values that a model file has, and back, every value checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data import check_choice
from .dates import DatePlan
from .numeric import NumberPlan
from .plans import Plan, WordsPlan
from .texts import TextPlan
from .written_dates import PARTS

__all__ = ["state_of", "with_state"]

KINDS = {"number": NumberPlan, "words": WordsPlan, "date": DatePlan, "text": TextPlan}
MAX_DAYS = 10_000_000  # from 1970, beyond any date


def state_of(preparation: Any) -> dict[str, Any]:
    """All that prediction needs."""
    names = getattr(preparation, "feature_names_in_", None)
    given: dict[str, Any] = {} if preparation.roles is None else {"roles": dict(preparation.roles)}
    if any(isinstance(plan, TextPlan) for plan in preparation.plans_):
        given["max_text_words"] = int(preparation.max_text_words)
    return given | {
        "max_words": int(preparation.max_words),
        "dtype": preparation.dtype,
        "layout": preparation.layout_,
        "n_features": int(preparation.n_features_in_),
        "n_samples": int(preparation.n_samples_seen_),
        "names": None if names is None else names.tolist(),
        "plans": [plan_state(plan) for plan in preparation.plans_],
        "dropped": dict(preparation.dropped_),
        "scale": preparation.scale_,
    }


def with_state(out: Any, state: dict[str, Any]) -> Any:
    """The preparation ``out``, new, with a state that is checked."""
    check_choice("layout", state["layout"], ("table", "matrix", "sparse"))
    out.layout_, out.n_features_in_ = state["layout"], int(state["n_features"])
    out.n_samples_seen_, out.dropped_ = int(state["n_samples"]), dict(state["dropped"])
    out.plans_ = [plan_from_state(plan) for plan in state["plans"]]
    out.scale_ = np.asarray(state["scale"], dtype=np.float64)
    is_sparse, names, n = out.layout_ == "sparse", state["names"], out.n_features_in_
    lengths = len(out.plans_), len(out.scale_), -1 if names is None else len(names)
    wanted = (0 if is_sparse else n, n if is_sparse else 0, n if out.layout_ == "table" else -1)
    if lengths != wanted or not ((out.scale_ > 0.0) & np.isfinite(out.scale_)).all():
        raise ValueError(f"the state of a TablePreparation does not fit its {n} columns.")
    if names is not None:
        if len(set(names)) < n or not all(isinstance(name, str) for name in names):
            raise ValueError("the state of a TablePreparation must have different strings as names.")
        out.feature_names_in_ = np.array(names, dtype=object)
    return out


def plan_state(plan: Plan) -> dict[str, Any]:
    """A plan as plain values."""
    if isinstance(plan, NumberPlan):
        return {
            "kind": "number",
            "mean": plan.mean,
            "scale": plan.scale,
            "kept": plan.kept,
            "indicator": plan.indicator,
        }
    if isinstance(plan, DatePlan):
        return {
            "kind": "date",
            "parts": [plan_state(part) for part in plan.parts],
            "origin": plan.origin,
            "day_first": plan.day_first,
            "missing": plan.missing,
        }
    if isinstance(plan, TextPlan):
        return {
            "kind": "text",
            "words": list(plan.words),
            "idf": list(plan.idf),
            "n_words": plan.n_words,
            "missing": plan.missing,
        }
    return {
        "kind": "words",
        "categories": list(plan.categories),
        "other": plan.other,
        "missing": plan.missing,
    }


def plan_from_state(state: Mapping[str, Any]) -> Plan:
    """What ``plan_state`` gave, with every value checked."""
    given = dict(state)
    kind = given.pop("kind", None)
    _check(isinstance(kind, str) and kind in KINDS, "kind", kind)
    if kind == "number":
        return _number(given)
    if kind == "date":
        return _date(given)
    if kind == "text":
        return _text(given)
    words = given.pop("categories")
    _check_words(words, "categories")
    _check_flags(given, "other", "missing")
    return WordsPlan(tuple(words), **given)


def _number(given: Mapping[str, Any]) -> NumberPlan:
    plan = NumberPlan(**given)
    _check(isinstance(plan.mean, float) and math.isfinite(plan.mean), "mean", plan.mean)
    _check(isinstance(plan.scale, float) and 0.0 < plan.scale < math.inf, "scale", plan.scale)
    _check_flags(given, "kept", "indicator")
    return plan


def _date(given: dict[str, Any]) -> DatePlan:
    parts, origin = given.pop("parts"), given["origin"]
    whole = isinstance(parts, list) and len(parts) == len(PARTS) and all(isinstance(p, dict) for p in parts)
    _check(whole, "parts", parts)
    plans = tuple(plan_from_state(part) for part in parts)
    _check(all(isinstance(part, NumberPlan) and not part.indicator for part in plans), "parts", parts)
    _check(type(origin) is int and abs(origin) < MAX_DAYS, "origin", origin)
    _check_flags(given, "day_first", "missing")
    return DatePlan(plans, **given)  # type: ignore[arg-type]


def _text(given: dict[str, Any]) -> TextPlan:
    words, idf = given.pop("words"), given.pop("idf")
    _check_words(words, "words")
    numbers = isinstance(idf, list) and len(idf) == len(words) and all(_is_positive(value) for value in idf)
    _check(numbers, "idf", idf)
    n_words = given["n_words"]
    _check(isinstance(n_words, float) and 0.0 <= n_words <= len(words), "n_words", n_words)
    _check_flags(given, "missing")
    return TextPlan(tuple(words), tuple(idf), **given)


def _is_positive(value: Any) -> bool:
    return isinstance(value, float) and 0.0 < value < math.inf


def _check_words(words: Any, name: str) -> None:
    _check(isinstance(words, list) and all(isinstance(word, str) for word in words), name, words)
    _check(len(set(words)) == len(words), name, words)


def _check_flags(given: Mapping[str, Any], *names: str) -> None:
    _check(all(type(given[name]) is bool for name in names), " and ".join(names), given)


def _check(good: bool, name: str, value: Any) -> None:
    if not good:
        raise ValueError(f"the state of a prepared column has a bad {name}: {value!r:.200}.")
