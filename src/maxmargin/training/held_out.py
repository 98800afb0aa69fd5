"""Which rows are held out: a share of each class, drawn in one pass, independent of the blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..data import check_number


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

    def of_block(self, labels: Sequence[Any], codes: np.ndarray) -> np.ndarray:
        """Which of the next rows are held out; row i has the label ``labels[codes[i]]``."""
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


def key_of(text: str) -> np.uint64:
    """What :func:`mixed` mixes in: a hash of some text."""
    return np.uint64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))


def mixed(x: np.ndarray, key: np.uint64) -> np.ndarray:
    """Numbers that look random, one for each x (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        z = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) ^ key
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
