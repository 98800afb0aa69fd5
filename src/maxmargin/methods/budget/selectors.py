"""Selectors: which of the candidates just drawn becomes the next support vector.

A selector is a plain function ``pick(candidates, rng) -> int | None``: the position of its choice, or None
if it chooses by loss and no candidate has a loss. A candidate has a loss if its update u is not 0: at f = 0
the perceptron loss is 0, but its update is not. A draw is in random order, so its first candidate is random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...losses import Loss

__all__ = ["SELECTORS", "Candidates", "Selector", "selector_from_name", "several"]


@dataclass(frozen=True)
class Candidates:
    """What a selector may use: arrays of shape (n_candidates, n_columns), and numbers derived from them.

    A candidate takes part in the columns where its target is not 0; no other columns count.
    """

    scores: np.ndarray  # f_t
    targets: np.ndarray  # y_t
    losses: np.ndarray  # loss(y_t f_t), or 0
    update: np.ndarray  # u_t = -y_t loss'(y_t f_t)

    @classmethod
    def of(cls, scores: np.ndarray, targets: np.ndarray, loss: Loss) -> Candidates:
        """Candidates of these scores and targets."""
        margins = targets * scores
        losses = np.where(targets != 0.0, loss.value(margins), 0.0)
        return cls(scores, targets, losses, -targets * loss.slope(margins))

    @property
    def loss(self) -> np.ndarray:
        """Each candidate's loss, summed over its columns."""
        return self.losses.sum(axis=1)

    @property
    def distance(self) -> np.ndarray:
        """``|f|`` in the column where a candidate is closest to the boundary."""
        return np.where(self.targets != 0.0, np.abs(self.scores), np.inf).min(axis=1)

    @property
    def has_loss(self) -> np.ndarray:
        """Which candidates would change f."""
        return (self.update != 0.0).any(axis=1)


Selector = Callable[[Candidates, np.random.Generator], int | None]


def pick_random(candidates: Candidates, rng: np.random.Generator) -> int | None:
    """Any candidate, whether it has a loss or not."""
    return 0


def pick_perceptron(candidates: Candidates, rng: np.random.Generator) -> int | None:
    """The first candidate with a loss."""
    having = candidates.has_loss
    return int(having.argmax()) if having.any() else None


def pick_loss(candidates: Candidates, rng: np.random.Generator) -> int | None:
    """The largest loss."""
    loss = candidates.loss
    return int(loss.argmax()) if loss.any() else _any_with_loss(candidates, rng)


def pick_active(candidates: Candidates, rng: np.random.Generator) -> int | None:
    """The smallest ``|f|``."""
    return int(candidates.distance.argmin())


def pick_loss_probabilistic(candidates: Candidates, rng: np.random.Generator) -> int | None:
    """A candidate drawn with probability ``loss_k / sum loss``: a mislabelled row is never certain."""
    loss = candidates.loss
    largest = loss.max()
    if not largest > 0.0:
        return _any_with_loss(candidates, rng)
    # Infinite losses share the probability among them.
    shares = loss / largest if largest < np.inf else 1.0 * (loss == np.inf)
    cumulative = shares.cumsum()
    below_total = min(rng.random() * cumulative[-1], np.nextafter(cumulative[-1], 0.0))
    return int(cumulative.searchsorted(below_total, side="right"))


def _any_with_loss(candidates: Candidates, rng: np.random.Generator) -> int | None:
    """Any candidate with a loss, where all losses are 0 and do not rank them."""
    having = np.flatnonzero(candidates.has_loss)
    return int(rng.choice(having)) if len(having) else None


SELECTORS: dict[str, Selector] = {
    "random": pick_random,
    "perceptron": pick_perceptron,
    "loss": pick_loss,
    "active": pick_active,
    "loss-probabilistic": pick_loss_probabilistic,
}


def selector_from_name(selection: str | Selector) -> Selector:
    """The selector of that name; a function is returned unchanged."""
    if isinstance(selection, str) and selection in SELECTORS:
        return SELECTORS[selection]
    if callable(selection) and not isinstance(selection, type):
        return selection
    raise ValueError(f"selection must be a selector or one of {sorted(SELECTORS)}; got {selection!r}.")


def several(
    selection: str | Selector, loss: Loss
) -> Callable[[np.ndarray, np.ndarray, int, np.random.Generator], np.ndarray]:
    """A selector applied several times: ``pick(scores, targets, n_picks, rng) -> positions``."""
    select = selector_from_name(selection)

    def pick(scores: np.ndarray, targets: np.ndarray, n_picks: int, rng: np.random.Generator) -> np.ndarray:
        left, picks = rng.permutation(len(scores)), []
        for _ in range(min(n_picks, len(scores))):
            i = select(Candidates.of(scores[left], targets[left], loss), rng)
            if i is None:
                break
            picks.append(int(left[i]))
            left = np.delete(left, i)
        return np.array(picks, dtype=np.int64)

    return pick
