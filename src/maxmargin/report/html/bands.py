"""May the model be trusted: a red band for each reason not to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..content import ModelReport
from .drift import promise_band
from .markup import Child, Element, datum, node
from .text import count, number, percent

__all__ = ["alarms", "bands", "leak_warnings"]

BAD_CALIBRATION = 0.1  # expected calibration error from which on probabilities mislead
MIN_CALIBRATION_ROWS = 100
MIN_SHARE_OF_ROWS = 0.5
UNCERTIFIED = {
    "diverged": "its coefficients grew without bound, and the best point on the way was kept",
    "failed": "its certificate contradicted itself",
    "max_iter": "the iteration limit came before the requested gap",
    "time_limit": "the time limit came before the requested gap",
    "stalled": "no further progress was possible before the requested gap",
}
LARGE_GAP = 0.1  # of the objective, from which on a fit that was cut short may predict otherwise


def bands(report: ModelReport) -> list[Element]:
    """One band for each reason, the gravest first."""
    found = [_certificate(report), promise_band(report), _calibration(report), _left_out(report)]
    return [band for band in found if band is not None]


def alarms(report: ModelReport) -> list[str]:
    """The same as texts."""
    return ["".join(band.itertext()) for band in bands(report)]


def _certificate(report: ModelReport) -> Element | None:
    """The fit is far from its optimum."""
    facts = report.model.facts
    gap, status = facts.get("dual_gap_"), str(report.record.get("status") or facts.get("status_") or "")
    failed = status in ("diverged", "failed")
    cut_short = status in UNCERTIFIED and isinstance(gap, float | int) and not gap <= LARGE_GAP
    if not (failed or cut_short):
        return None
    shown = f" Its duality gap is {number(gap, 2)}." if isinstance(gap, float | int) else ""
    return _band(
        "The fit is not certified: ",
        f"{UNCERTIFIED[status]}.{shown} Another run may give another model; raise the limit, scale the "
        "columns or choose a smaller C before relying on it.",
    )


def _calibration(report: ModelReport) -> Element | None:
    c = report.evaluation.calibration
    if c is None or c.n_rows < MIN_CALIBRATION_ROWS or c.expected_calibration_error < BAD_CALIBRATION:
        return None
    return _band(
        "Badly calibrated probabilities: ",
        f"they are {percent(c.expected_calibration_error)} off on average over {count(c.n_rows, 'row')}. Use "
        "the predicted classes, not the probabilities.",
    )


def _left_out(report: ModelReport) -> Element | None:
    data: Any = report.record.get("data") or {}
    n: Any
    kept: Any
    share: Any
    n, kept, share = data.get("n_rows"), data.get("n_rows_kept"), data.get("share_kept")
    sampled = isinstance(n, int) and isinstance(kept, int) and isinstance(share, float) and kept > 0
    if not sampled or share >= 1.0 or kept >= MIN_SHARE_OF_ROWS * n:
        return None
    return _band(
        "Most rows were left out: ",
        f"the model was trained on a sample of {count(kept, 'row')} of {n:,}, since the others did not fit "
        f"in memory. Train with more memory (--memory), or with a model that reads the file in passes.",
    )


def leak_warnings(record: Mapping[str, Any]) -> list[Element]:
    """Why the validation may promise too much."""
    found = record.get("leaks") or {}
    out = [
        _warning(datum(name), " numbers the rows: what a model learns from it does not hold for new rows.")
        for name in found.get("ids") or ()
    ]
    out += [
        _warning(datum(name), " alone predicts the target: it may be a copy of it, or known only afterwards.")
        for name in found.get("target_copies") or ()
    ]
    if n := found.get("n_copies"):
        share, rest = found.get("share_of_copies"), found.get("accuracy_without_copies")
        others = "" if rest is None else f"; on the others the accuracy is {percent(rest)}"
        out.append(
            _warning(f"{count(n, 'held-out row')} ({percent(share)}) are copies of training rows{others}.")
        )
    return out


def _warning(*words: Child) -> Element:
    return node("p", node("b", "Caution: "), *words, class_="warn")


def _band(title: str, text: str) -> Element:
    return node("p", node("b", title), text, class_="alarm")
