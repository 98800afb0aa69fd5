"""Training of a regressor: parameters chosen on held-out rows, intervals from rows that fits did not use."""

from __future__ import annotations

import math
import time
import warnings
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
from .regression import RegressionSearch, number_scores, one_prediction

__all__ = ["NumberTraining", "exact_rows", "more_time", "sampled"]

DEFAULT_SECONDS = 60.0
SEARCH_SHARE = 0.5  # of the seconds; the fits have the rest
N_FOLDS = 5  # of the intervals; the held-out rows are one of them
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
    """A fit that is validated on held-out rows, then one on all rows.

    The residuals that the intervals are made of are those of rows that a fit did not use: the held-out rows,
    and four parts of the others, each predicted by a fit to all rows but those. These fits have fewer rows
    than the model, so its intervals are rather too wide than too narrow; that is measured, not proven. What
    split conformal prediction guarantees holds for a model that is not fitted again: without ``refit``, and
    where there are more rows than six fits can take in the time.
    """

    def run(self, found: Gathered, preparation: TablePreparation) -> Outcome:
        """Choose parameters on training rows, fit, calibrate, validate and, if it is worth it, fit again."""
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
        rows = sampled(rest, exact_rows(self._seconds / 2, data.X.shape[1]), self.request.seed)
        chosen, search = self._chosen(rows)
        start = time.perf_counter()
        estimator = self._fit_chosen(rows, chosen, "fit")
        fit_seconds = time.perf_counter() - start
        validation, fitted_on = None, self._fitted_on(found, len(data.rows), rows, rest)
        if held_out.any():
            validation = self._validated(estimator, data.take(np.flatnonzero(held_out)))
            again = self._fits_again(data, fit_seconds)
            refitted = self._refitted(estimator, data, held_out, chosen) if again else None
            if refitted is not None:
                estimator, rows = refitted, data
                fitted_on = self._refitted_on(found, data, held_out)
        outcome = self._outcome(estimator, rows, fitted_on, validation)
        outcome.record = {
            "chosen": search.text or None,
            "candidates": plain(search.candidates) or None,
            "target_range": [float(data.y.min()), float(np.median(data.y)), float(data.y.max())],
        }
        return outcome

    def _fits_again(self, data: LabelledRows, fit_seconds: float) -> bool:
        """Whether there is time for a fit to all rows and those of the folds.

        The number of rows decides, which is the same on every machine that is not far slower than expected.
        """
        seconds = (1.0 - SEARCH_SHARE) * self._seconds / (N_FOLDS + 1)
        return (
            self.request.refit
            and len(data.rows) <= exact_rows(seconds, data.X.shape[1])
            and fit_seconds <= seconds
        )

    def _refitted(
        self, validated: Any, data: LabelledRows, held_out: np.ndarray, chosen: Mapping[str, Any]
    ) -> Any:
        """A fit to all rows, calibrated by the residuals of fits to other rows than those in question.

        None if a fit takes too long, or if the one to all rows diverges and the first did not: a held-out row
        may be far from all others, and the model that was validated is complete.
        """
        scores = [validated.calibration_scores_]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                with self.reporter.clock("validation"):
                    scores += [self._scores_of(fold, data, chosen) for fold in self._folds(data, held_out)]
                warned.clear()
                estimator = self._fit_chosen(data, chosen, "refit")
            except TimeoutError:
                return None
        if estimator.status_ == "diverged" != validated.status_:
            return None
        for each in warned:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        estimator.calibration_scores_ = np.sort(np.concatenate(scores))
        return estimator

    def _scores_of(self, fold: np.ndarray, data: LabelledRows, chosen: Mapping[str, Any]) -> np.ndarray:
        """The residuals of a fit to all rows outside a fold."""
        other = data.take(np.setdiff1d(np.arange(len(data.rows)), fold))
        fitted = self._make(self._fit_parameters(chosen)).fit(other.X, other.y)
        return np.asarray(fitted.calibrate(data.X[fold], data.y[fold]).calibration_scores_)

    def _folds(self, data: LabelledRows, held_out: np.ndarray) -> list[np.ndarray]:
        """Parts of the rows that are not held out; none where rows are held out by group or by time."""
        if self.request.split is not None:
            return []
        rest = np.flatnonzero(~held_out)
        key = key_of(f"{self.request.seed} intervals")
        order = np.argsort(mixed(data.rows[rest].astype(np.uint64), key), kind="stable")
        return [np.sort(fold) for fold in np.array_split(rest[order], min(N_FOLDS - 1, len(rest)))]

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

    def _fit_parameters(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        return {**chosen, "max_seconds": (1.0 - SEARCH_SHARE) * self._seconds}

    def _fit_chosen(self, rows: LabelledRows, chosen: Mapping[str, Any], phase: str) -> Any:
        estimator = self._make(self._fit_parameters(chosen))
        self._set_checkpoint(estimator, phase)
        with self.reporter.clock("solver"), self.reporter.watching(estimator, phase):
            return estimator.fit(rows.X, rows.y)

    def _validated(self, estimator: Any, held: LabelledRows) -> dict[str, Any]:
        with self.reporter.clock("validation"):
            estimator.calibrate(held.X, held.y)
            scores = number_scores(held.y, one_prediction(estimator, held.X))
        self.reporter.say("validate", len(held.y), len(held.y))
        return plain(asdict(scores)) | {"confidence": CONFIDENCE}

    def _refitted_on(self, found: Gathered, data: LabelledRows, held_out: np.ndarray) -> str:
        kept = "all rows" if found.share == 1.0 else f"a uniform sample of {len(data.rows):,} rows"
        n_folds = 1 + len(self._folds(data, held_out))
        if n_folds == 1:
            return f"{kept}; intervals from the rows held out, by the fit without them"
        return f"{kept}; intervals from {n_folds} fits, each to the rows outside one of {n_folds} parts"

    def _fitted_on(self, found: Gathered, n_kept: int, rows: LabelledRows, rest: LabelledRows) -> str:
        kept = "all rows" if found.share == 1.0 else f"a uniform sample of {n_kept:,} rows"
        if len(rest.rows) < n_kept:
            kept += " but those held out, on which its intervals are calibrated"
        if len(rows.rows) == len(rest.rows):
            return kept
        return f"a uniform sample of {len(rows.rows):,} rows of {kept}; {more_time(self._seconds)}"
