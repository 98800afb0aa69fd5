"""Which rows are held out: a share of each class, drawn in one pass, independent of the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..data import check_number, key_of, mixed

__all__ = ["HeldOut", "mixed"]


class HeldOut:
    """One row of every ``1 / share`` rows of each class, in the order of the file.

    Which one of them is drawn by a hash of the seed, the class and how many such groups went by. The first
    row of a class is never held out, so that training has every class.

    Parameters
    ----------
    share : float
        At least 0 and below 1.
    seed : int
    """

    def __init__(self, share: float, seed: int) -> None:
        check_number("validate", share, at_least=0.0)
        if share >= 1.0:
            raise ValueError(
                f"validate is the share of rows held out, at least 0 and below 1; got {share!r}."
            )
        self.share, self.seed = Fraction(share).limit_denominator(10_000), int(seed)
        self._seen: dict[Any, tuple[int, np.uint64]] = {}

    def of_block(self, labels: Sequence[Any], codes: np.ndarray, block: Any = None) -> np.ndarray:
        """Which of the next rows are held out; row i has the label ``labels[codes[i]]``, all that counts."""
        out = np.zeros(len(codes), dtype=bool)
        if not self.share:
            return out
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(labels)))
        for label, rows in zip(labels, np.split(order, ends[:-1])):
            before, key = self._seen.get(label) or (0, key_of(f"{self.seed} {label}"))
            out[rows] = self._drawn(np.arange(before, before + len(rows)), key)
            self._seen[label] = before + len(rows), key
        return out

    def _drawn(self, i: np.ndarray, key: np.uint64) -> np.ndarray:
        """Which of the rows i of a class are held out."""
        p, q = self.share.numerator, self.share.denominator
        group = i * p // q
        first, end = -(-group * q // p), -(-(group + 1) * q // p)  # rows of the group
        first = np.where((first == 0) & (end > 1), 1, first)
        size = (end - first).astype(np.uint64)
        return (i == first + (mixed(group.astype(np.uint64), key) % size).astype(np.int64)) & (i > 0)
