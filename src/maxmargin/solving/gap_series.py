"""The duality gap of a fit over time: of one column, and the largest over all columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .result import FLOAT_EPS, Check

GapSeries = tuple[np.ndarray, np.ndarray]  # positions of the certificates, and the gaps there


def gap_series(column: Sequence[Check], against: str, floor: float = FLOAT_EPS) -> GapSeries:
    """The gaps of a column against its "seconds" or "iterations".

    Gaps below ``floor`` are raised to it; infinite gaps become NaN.
    """
    x = [check.seconds if against == "seconds" else check.n_iter for check in column]
    gaps = np.array([check.gap for check in column])
    return np.array(x, dtype=np.float64), np.where(np.isfinite(gaps), np.maximum(gaps, floor), np.nan)


def largest_gap(columns: Sequence[GapSeries]) -> GapSeries:
    """The largest gap over all columns after every certificate; a column's gap holds until its next one."""
    x = np.unique(np.concatenate([at for at, _ in columns]))
    held = [gaps[np.maximum(np.searchsorted(at, x, side="right") - 1, 0)] for at, gaps in columns]
    known = np.where(np.isnan(held), -np.inf, held).max(axis=0)
    return x, np.where(np.isfinite(known), known, np.nan)
