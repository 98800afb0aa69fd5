"""Randomly pivoted Cholesky: landmarks drawn where the approximation is still worst.

Given a positive semi-definite K of n rows with weights w, pivots are drawn one after the other with

    P(next = i) proportional to w_i R_ii,   R = K - K_{:,P} K_PP^{-1} K_{P,:},

so that k pivots cost (k + 1) n kernel values. Drawn a block at a time: candidates come from R_ii as it is at
the beginning of the block, and one of them is kept with the probability (R_ii now) / (R_ii then), which gives
the very law of one pivot after the other (Epperly, Tropp and Webber 2024). Then all rows are brought up to
date by one product.
"""

from __future__ import annotations

import numpy as np

from ...numerics import FeaturePanel

MIN_BLOCK, MAX_BLOCK = 16, 768  # candidates at a time
FIRST = 96  # of the first block, where there is much room: then most residuals have fallen, and more are kept
MARGIN = 2.0  # rows whose residual is within this factor of the least pivot are as good as in the span


def add_random_pivots(
    panel: FeaturePanel, diagonal: np.ndarray, weight: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Fill the panel with random pivots, until it is full or every row is in their span; which rows they are.

    ``diagonal`` is that of K, ``weight`` says how often each row counts.
    """
    residual = np.maximum(diagonal, 0.0)
    least = MARGIN * panel.least_pivot * residual
    pivots: list[np.ndarray] = []
    while panel.room:
        mass = np.where(residual > least, weight * residual, 0.0)
        sums = np.cumsum(mass)
        if not sums[-1] > 0.0:
            break
        many = FIRST if panel.size == 0 and panel.room > 2 * FIRST else 3 * panel.room // 2
        block = max(MIN_BLOCK, min(MAX_BLOCK, many))
        drawn = np.searchsorted(sums, sums[-1] * rng.random(block), side="right")
        drawn = np.minimum(drawn, np.flatnonzero(mass)[-1])
        added = panel.append(panel.kernel.points(drawn), least=rng.random(block) * residual[drawn])
        chosen = drawn[added]
        pivots.append(chosen)
        if not panel.room:
            break
        if len(chosen):
            residual -= panel.sqnorms(panel.size - len(chosen))
            np.maximum(residual, 0.0, out=residual)
        # A pivot has no residual. Where none was kept, the first has none that rounding has not made.
        residual[chosen if len(chosen) else drawn] = 0.0
    return np.concatenate([np.zeros(0, dtype=np.int64), *pivots])
