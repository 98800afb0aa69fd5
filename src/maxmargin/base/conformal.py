"""Intervals that contain a new target with a given probability, by split conformal prediction."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ..data import check_number, numeric_targets

__all__ = ["ConformalIntervals"]


class ConformalIntervals:
    """A regressor with ``calibrate`` and ``predict_interval``, from the two ends that ``_ends`` predicts.

    Where new rows are exchangeable with the m rows of the calibration, which the fit must not have used, the
    interval [low - t, high + t] with t the k-th smallest of max(low_i - y_i, y_i - high_i) and
    k = ceil((m + 1) coverage) contains a new target with a probability of at least ``coverage``, whatever the
    model (Vovk et al. 2005; Romano et al. 2019 for quantiles).
    """

    calibration_scores_: np.ndarray

    @abstractmethod
    def _ends(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The prediction as an interval: its lower and its upper end."""

    def calibrate(self, X: Any, y: Any) -> Self:
        """Learn from held-out rows how wide intervals have to be; sets ``calibration_scores_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Rows that the fit has not used.
        y : array-like of shape (n_rows,)

        Returns
        -------
        self
        """
        low, high = self._ends(X)
        y = np.asarray(column_or_1d(numeric_targets(y)), dtype=np.float64)
        check_consistent_length(low, y)
        if not np.isfinite(y).all():
            raise ValueError("y must be finite; it contains NaN or infinity.")
        self.calibration_scores_ = np.sort(np.maximum(low - y, y - high))
        return self

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Intervals that contain the target of a new row with a probability of at least ``coverage``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        coverage : float, default=0.9
            Between 0 and 1. The model must have been calibrated on at least coverage / (1 - coverage) rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The lower and the upper ends.
        """
        check_number("coverage", coverage, above=0.0)
        if coverage >= 1.0:
            raise ValueError(f"coverage must be a number between 0 and 1; got {coverage!r}.")
        low, high = self._ends(X)
        if not hasattr(self, "calibration_scores_"):
            raise ValueError(
                "predict_interval needs held-out rows: call calibrate(X, y) first, with rows that the fit has"
                " not used."
            )
        m = len(self.calibration_scores_)
        k = math.ceil((m + 1) * coverage - 1e-9)
        if k > m:
            least = math.ceil(coverage / (1.0 - coverage) - 1e-9)
            raise ValueError(
                f"coverage={coverage:g} needs a calibration on at least {least} rows; got {m}. Calibrate on "
                "more rows, or lower coverage."
            )
        t = self.calibration_scores_[k - 1]
        middle = 0.5 * (low + high)  # a negative t may take more than the whole width
        return np.stack([np.minimum(low - t, middle), np.maximum(high + t, middle)], axis=1)
