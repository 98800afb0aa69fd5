"""Samples of a kernel SVM that are not active: at a bound, with a gradient of an earlier iterate.

When f moves from u to w, f(x) changes by at most ``||w - u|| sqrt(k(x, x))``, and ``||w - u||`` is at most
the length of the path that the solver has taken in between. A sample that is further than that on the safe
side of b is settled for sure, with nothing to be computed: its coefficient stays, and it adds exactly 0 to
the duality gap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...solving import State
from .problem import SvmProblem

ROUNDING = {4: 1e-3, 8: 1e-6}  # of a gradient, by the bytes of a kernel value


def unmoved(a: np.ndarray, known: bool) -> dict[str, Any]:
    """What a state remembers of settled samples before the first step; ``a`` is what its gradients belong to.

    ``snapshots[reference[i]]`` are the coefficients that the gradient of sample i belongs to, and
    ``row_path[i]`` is how far the solver had come then.
    """
    return {
        "snapshots": a[None].copy(),
        "reference": np.zeros(len(a), dtype=np.int64),
        "row_path": np.full(len(a), 0.0 if known else -np.inf),
    }


class SettledSamples:
    """What is known about the samples that are not active."""

    def __init__(self, problem: SvmProblem, state: State) -> None:
        self.problem, self.state = problem, state
        self.rounding = ROUNDING[np.dtype(problem.kernel.dtype).itemsize]

    def by(self, slack: float, which: np.ndarray, a: np.ndarray, g: np.ndarray, b: float) -> np.ndarray:
        """Who is at a bound and would go beyond it, with some slack."""
        lowest, highest = a <= self.problem.lower[which], a >= self.problem.upper[which]
        return (lowest & (g < b - slack)) | (highest & (g > b + slack))

    def fresh(self, which: np.ndarray) -> np.ndarray:
        """Whose gradient belongs to the present coefficients."""
        return np.asarray(self.state.row_path[which] == self.state.path)

    def leave(self, which: np.ndarray) -> None:
        """These samples, whose gradients are fresh, are active no more."""
        state = self.state
        used, state.reference = np.unique(state.reference, return_inverse=True)
        state.snapshots = np.vstack([state.snapshots[used], state.a])
        state.reference[which], state.row_path[which] = len(state.snapshots) - 1, state.path

    def unsure(self, which: np.ndarray, b: float) -> np.ndarray:
        """Those that may not be settled."""
        state = self.state
        if not self.problem.kernel.kernel.positive:  # where squared lengths can be negative nothing is sure
            return which[~self.fresh(which)]
        drift = (state.path - state.row_path[which]) * self.problem.kernel.lengths(which)
        safe = self.by(0.0, which, state.a[which], state.g[which], b)
        safe &= np.abs(state.g[which] - b) > drift + self.rounding
        return which[~safe & ~self.fresh(which)]

    def evaluate(self, which: np.ndarray) -> None:
        """Fresh gradients for these samples."""
        state, problem = self.state, self.problem
        which = which[~self.fresh(which)]
        if not len(which):
            return
        support = np.flatnonzero(state.a)
        for r in np.unique(state.reference[which]):
            rows = which[state.reference[which] == r]
            change = state.a - state.snapshots[r]
            moved = np.flatnonzero(change)
            if len(moved) > len(support):  # from nothing is less work than from what was known
                state.g[rows] = problem.y[rows]
                change, moved = state.a, support
            state.g[rows] -= problem.ridge[rows] * change[rows]
            if len(moved):
                state.g[rows] -= problem.kernel.matmul(rows, moved, change[moved, None])[:, 0]
        self.leave(which)
