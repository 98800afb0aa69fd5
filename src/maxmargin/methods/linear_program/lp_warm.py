"""What a program ended with, in terms of the given rows, so that the next fit can begin with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solving import State
from .generation import new_state
from .program import HingeProgram


@dataclass(frozen=True)
class WorkingSet:
    """Coefficients and pairs at work, pairs held, and the basis; rows by their place in the given X.

    ``by_row`` says that features are rows as well, as kernel columns are. What it ended with is a guess for
    another program: pairs and coefficients that this one does not have are left out.
    """

    coefficients: np.ndarray
    pairs: np.ndarray
    held: np.ndarray
    pair_status: np.ndarray
    row_status: np.ndarray
    by_row: bool

    @classmethod
    def of(cls, state: State, index: np.ndarray, width: int, by_row: bool) -> WorkingSet:
        """From the last state of a program whose sample i is row ``index[i]`` of X."""
        coefficients = state.coefficients.copy()
        if by_row:
            coefficients[:, 1] = index[coefficients[:, 1]]
        pairs, held = (index[p // width] * width + p % width for p in (state.pairs, state.held))
        return cls(coefficients, pairs, held, state.pair_status, state.row_status, by_row)

    def state(self, program: HingeProgram, index: np.ndarray) -> State:
        """A start for a program on rows ``index`` of X; the basis is kept if nothing is gone."""
        width = program.pairs.width
        place = np.full(int(index.max()) + 1, -1)
        place[index] = np.arange(len(index))
        pairs, known_pairs = _renumbered(self.pairs, place, width)
        held, _ = _renumbered(self.held, place, width)
        exists = program.pairs.exists().ravel()
        outputs, features = self.coefficients.T
        known = np.ones(len(features), dtype=bool)
        if self.by_row:
            features, known = _renumbered(features, place, 1)
        coefficients = np.stack([outputs[known], features], axis=1)
        state = new_state(program, pairs[exists[pairs]], coefficients)
        state.held = held[exists[held]]
        if known.all() and known_pairs.all() and exists[pairs].all():
            state.pair_status, state.row_status = self.pair_status, self.row_status
        return state


def _renumbered(numbers: np.ndarray, place: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of X's rows as pairs of samples, and which of them are still there."""
    rows = numbers // width
    samples = np.where(rows < len(place), place[np.minimum(rows, len(place) - 1)], -1)
    known = samples >= 0
    return samples[known] * width + numbers[known] % width, known
