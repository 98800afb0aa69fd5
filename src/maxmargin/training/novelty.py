"""Training of a model of what is usual: no targets, and a share of rows that may be outside."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..metrics import CONFIDENCE, share_interval
from ..table import TablePreparation
from .gather import Gathered
from .in_memory import LabelledRows, Outcome, Training, held_out_of, prepared
from .leaks import id_columns
from .numbers import DEFAULT_SECONDS, exact_rows, more_time, sampled

__all__ = ["NoveltyTraining"]


class NoveltyTraining(Training):
    """A fit that is validated on held-out rows, then one on all rows."""

    def run(self, found: Gathered, preparation: TablePreparation) -> Outcome:
        """Fit, count how many held-out rows are outside and, if requested, fit again on all rows."""
        held_out = held_out_of(found.parts)
        self.leaks = {"ids": id_columns(found.parts), "target_copies": []}
        with self.reporter.clock("preparation"):
            data = prepared(preparation, found.parts)
        everything = "all rows" if found.share == 1.0 else f"a uniform sample of {found.n_kept:,} rows"
        if not held_out.any():
            return self._fitted_outcome(data, "fit", everything, None)
        rows = data.take(np.flatnonzero(~held_out))
        estimator, used = self._fit_some(rows, "fit")
        validation = self._validated(estimator, data.take(np.flatnonzero(held_out)))
        if not self.request.refit:
            said = self._said(used, rows, f"{everything} but those held out")
            return self._outcome(estimator, used, said, validation)
        return self._fitted_outcome(data, "refit", everything, validation)

    def _fitted_outcome(
        self, data: LabelledRows, phase: str, everything: str, validation: dict[str, Any] | None
    ) -> Outcome:
        estimator, used = self._fit_some(data, phase)
        return self._outcome(estimator, used, self._said(used, data, everything), validation)

    @property
    def _seconds(self) -> float:
        return float(self.request.parameters.get("max_seconds", DEFAULT_SECONDS))

    def _fit_some(self, data: LabelledRows, phase: str) -> tuple[Any, LabelledRows]:
        """A fit to as many rows as the time allows: it grows with rows times support vectors, a share nu."""
        nu = float(self.request.estimator().nu)
        rows = sampled(data, exact_rows(self._seconds / nu, data.X.shape[1]), self.request.seed)
        return self._fit(rows, phase), rows

    def _said(self, used: LabelledRows, data: LabelledRows, everything: str) -> str:
        if len(used.rows) == len(data.rows):
            return everything
        return f"a uniform sample of {len(used.rows):,} rows of {everything}; {more_time(self._seconds)}"

    def _validated(self, estimator: Any, held: LabelledRows) -> dict[str, Any]:
        with self.reporter.clock("validation"):
            n, outside = len(held.rows), int((estimator.predict(held.X) == -1).sum())
        return {
            "n_rows": n,
            "n_outside": outside,
            "share_outside": outside / n,
            "share_interval": list(share_interval(outside, n)),
            "confidence": CONFIDENCE,
        }
