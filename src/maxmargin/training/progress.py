"""Progress events and timings of a training."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..solving import share_listener


@dataclass(frozen=True)
class Progress:
    """How far a phase has come; ``total`` is None if unknown."""

    phase: str  # "read", "choose", "fit", "validate", "refit"; streams: "gather", "learn", "validate"
    done: int  # rows read or validated, choices tried, support vectors or iterations of a fit
    total: int | None = None
    gap: float | None = None  # relative duality gap, of a fit
    passes: int | None = None  # the number of a pass over all rows, of which ``done`` blocks are read
    tol: float | None = None  # the gap at which the fit ends
    share: float | None = None  # of the fit that is done, about, where the solver tells


class Reporter:
    """Passes events to the callback and adds up the seconds of each kind of work."""

    def __init__(self, callback: Callable[[Progress], object] | None = None) -> None:
        self.callback = callback
        self.seconds: dict[str, float] = {}

    def say(
        self,
        phase: str,
        done: int,
        total: int | None = None,
        gap: float | None = None,
        passes: int | None = None,
        **more: float | None,
    ) -> None:
        """Call the callback, if there is one."""
        if self.callback is not None:
            self.callback(Progress(phase, done, total, gap, passes, **more))

    @contextmanager
    def clock(self, work: str) -> Iterator[None]:
        """Count the time within as ``work``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[work] = self.seconds.get(work, 0.0) + time.perf_counter() - start

    @contextmanager
    def watching(self, estimator: Any, phase: str) -> Iterator[None]:
        """Certificates of the estimator's fit become events."""
        inner: Any = (
            estimator if hasattr(estimator, "set_callbacks") else getattr(estimator, "estimator", None)
        )
        if self.callback is None:
            yield
            return
        if not hasattr(inner, "set_callbacks"):

            def tell_search(share: float, work: str) -> None:
                if work == "search":
                    self.say(phase, 0, share=share)

            with share_listener(tell_search):
                yield
            return
        budget, tol = getattr(inner, "budget", None), getattr(inner, "tol", None)

        def tell(check: Any, state: Any) -> None:
            done = check.n_iter if budget is None else check.n_support
            last.update(done=done, gap=float(check.gap))
            self.say(phase, done, budget, last["gap"], tol=tol)

        def tell_share(share: float, work: str) -> None:
            if inner is estimator and n_columns(inner) == 1:  # not of a fold, nor one of many columns
                self.say(phase, last["done"], budget, last["gap"], tol=tol, share=share)

        def n_columns(fitted: Any) -> int:
            return fitted.code_.n_columns if hasattr(fitted, "code_") else 1

        last: dict[str, Any] = {"done": 0, "gap": 1.0}
        inner.set_callbacks(tell)
        try:
            with share_listener(tell_share):
                yield
        finally:
            inner.set_callbacks()
