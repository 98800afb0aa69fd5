"""Training of a regressor: parameters chosen on held-out rows, intervals calibrated on others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ..data import key_of, mixed
from ..json_values import plain
from ..metrics import CONFIDENCE
from ..table import TablePreparation
from .gather import Gathered
from .in_memory import LabelledRows, Outcome, Training, held_out_of, prepared
from .leaks import id_columns
from .regression import RegressionSearch, number_scores

__all__ = ["NumberTraining", "exact_rows", "more_time", "sampled"]

DEFAULT_SECONDS = 60.0
SEARCH_SHARE = 0.5  # of the seconds; the fit has the rest
ROWS_IN_A_SECOND = 3000  # that an exact fit takes, with few columns: its time grows with their square
COLUMNS_PER_KERNEL_VALUE = 100  # whose products take as long as the rest of a kernel value


def exact_rows(seconds: float, n_columns: int) -> int:
    """How many rows an exact fit can take in this time, roughly; the same on every machine."""
    return int(ROWS_IN_A_SECOND * math.sqrt(seconds / (1.0 + n_columns / COLUMNS_PER_KERNEL_VALUE)))


def more_time(seconds: float) -> str:
    """What would let an exact fit take more rows."""
    return f"an exact fit to more takes longer than max_seconds={seconds:g} allows"


def sampled(data: LabelledRows, n_rows: int, seed: int) -> LabelledRows:
    """All rows, or so many of them: those with the smallest hashes of their numbers."""
    if len(data.rows) <= n_rows:
        return data
    order = np.argsort(mixed(data.rows.astype(np.uint64), key_of(f"sample of {seed}")), kind="stable")
    return data.take(np.sort(order[:n_rows]))


class NumberTraining(Training):
    """One fit, to the rows that are not held out.

    The intervals of its predictions hold because they are calibrated on rows that the fit did not use, so the
    held-out rows stay out: there is no second fit to all rows.
    """

    def run(self, found: Gathered, preparation: TablePreparation) -> Outcome:
        """Choose parameters on training rows, fit, calibrate and validate on those held out."""
        held_out = held_out_of(found.parts)
        self.leaks = {"ids": id_columns(found.parts), "target_copies": []}
        with self.reporter.clock("preparation"):
            data = prepared(preparation, found.parts)
        if (data.y == data.y[0]).all():
            raise ValueError(
                f"the target is {data.y[0]:g} in all {len(data.y):,} rows, so there is nothing to learn; is "
                "it the right column?"
            )
        rest = data.take(np.flatnonzero(~held_out)) if held_out.any() else data
        training_rows = sampled(rest, exact_rows(self._seconds / 2, data.X.shape[1]), self.request.seed)
        chosen, search = self._chosen(training_rows)
        estimator = self._fit_chosen(training_rows, chosen)
        validation = None
        if held_out.any():
            validation = self._validated(estimator, data.take(np.flatnonzero(held_out)))
        fitted_on = self._fitted_on(found, len(data.rows), training_rows, rest)
        outcome = self._outcome(estimator, training_rows, fitted_on, validation)
        outcome.record = {
            "chosen": search.text or None,
            "candidates": plain(search.candidates) or None,
            "target_range": [float(data.y.min()), float(np.median(data.y)), float(data.y.max())],
        }
        return outcome

    @property
    def _seconds(self) -> float:
        return float(self.request.parameters.get("max_seconds", DEFAULT_SECONDS))

    def _chosen(self, rows: LabelledRows) -> tuple[dict[str, Any], RegressionSearch]:
        def watch(done: int, total: int) -> None:
            self.reporter.say("choose", done, total, share=done / total)

        search = RegressionSearch(
            self._make, self.request.parameters, self.request.seed, SEARCH_SHARE * self._seconds, watch
        )
        with self.reporter.clock("search"):
            return search.run(rows.X, rows.y), search

    def _make(self, parameters: Mapping[str, Any]) -> Any:
        return self.request.estimator(parameters)

    def _fit_chosen(self, rows: LabelledRows, chosen: Mapping[str, Any]) -> Any:
        estimator = self._make({**chosen, "max_seconds": (1.0 - SEARCH_SHARE) * self._seconds})
        self._set_checkpoint(estimator, "fit")
        with self.reporter.clock("solver"), self.reporter.watching(estimator, "fit"):
            return estimator.fit(rows.X, rows.y)

    def _validated(self, estimator: Any, held: LabelledRows) -> dict[str, Any]:
        with self.reporter.clock("validation"):
            estimator.calibrate(held.X, held.y)
            scores = number_scores(held.y, estimator.predict(held.X))
        self.reporter.say("validate", len(held.y), len(held.y))
        return plain(asdict(scores)) | {"confidence": CONFIDENCE}

    def _fitted_on(self, found: Gathered, n_kept: int, rows: LabelledRows, rest: LabelledRows) -> str:
        kept = "all rows" if found.share == 1.0 else f"a uniform sample of {n_kept:,} rows"
        if len(rest.rows) < n_kept:
            kept += " but those held out, on which its intervals are calibrated"
        if len(rows.rows) == len(rest.rows):
            return kept
        return f"a uniform sample of {len(rows.rows):,} rows of {kept}; {more_time(self._seconds)}"
