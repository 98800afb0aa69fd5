"""The first pass: which classes there are, what they weigh, and a sample of the rows.

A row is in the sample by a hash of its entries and its label, so the sample does not depend on how the rows
are cut into blocks, nor on their order. Its chance is proportional to its weight (Efraimidis and Spirakis
2006). The first rows of each class by that hash are always in it, so no class gets lost.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._native import hash_rows
from ...data import check_label_types, class_weights, mixed
from ...kernels import join_points
from .rows import RowBlock

__all__ = ["Look", "LookTask", "exponentials", "look", "shown"]

MIN_ROWS_PER_CLASS = 20
MAX_CLASSES = 10_000


@dataclass(frozen=True)
class LookTask:
    """How many rows to sample, and the seed."""

    n_rows: int
    seed: int


@dataclass(frozen=True, eq=False)
class Look:
    """What a pass has seen: rows and weight of each class, and a sample."""

    counts: dict[Any, int]
    weights: dict[Any, float]
    X: Any
    y: np.ndarray
    weight: np.ndarray
    keys: np.ndarray  # the smallest are in the sample
    task: LookTask

    def copy(self) -> Look:
        """Itself: nothing changes it."""
        return self

    def plus(self, other: Look) -> Look:
        """What both have seen."""
        if not len(other.y) or not len(self.y):
            return self if len(self.y) else other
        if self.X.shape[1] != other.X.shape[1]:
            raise ValueError(
                f"blocks have {self.X.shape[1]} and {other.X.shape[1]} features; all must have the same ones."
            )
        if type(self.X) is not type(other.X) or self.X.dtype != other.X.dtype:
            raise ValueError(
                f"blocks are {_kind(self.X)} and {_kind(other.X)}; all must have one type and layout."
            )
        check_label_types([*self.counts, *other.counts])
        counts, weights = dict(self.counts), dict(self.weights)
        for label, n in other.counts.items():
            counts[label] = counts.get(label, 0) + n
            weights[label] = weights.get(label, 0.0) + other.weights[label]
        _check_classes(counts)
        joined = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("y", "weight", "keys")
        }
        X = join_points(self.X, other.X)
        return Look(counts, weights, X, task=self.task, **joined).cut()

    def cut(self) -> Look:
        """The rows with the smallest keys, and the first of each class, in the order of their keys."""
        order = np.argsort(self.keys, kind="stable")
        stays = np.zeros(len(order), dtype=bool)
        stays[: self.task.n_rows] = True
        if len(order) > self.task.n_rows:
            for label in self.counts:
                stays[np.flatnonzero(self.y[order] == label)[:MIN_ROWS_PER_CLASS]] = True
        kept = order[stays]
        return Look(
            self.counts,
            self.weights,
            self.X[kept],
            self.y[kept],
            self.weight[kept],
            self.keys[kept],
            self.task,
        )

    @property
    def n_rows(self) -> int:
        """Rows seen, of positive weight."""
        return sum(self.counts.values())

    @property
    def is_complete(self) -> bool:
        """Whether all rows are in the sample."""
        return len(self.y) == self.n_rows

    @property
    def classes(self) -> np.ndarray:
        """The classes of all rows, in ascending order."""
        return np.unique(np.array(list(self.counts)))

    def class_totals(self, class_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Of each class the weight of its rows, and the factor that ``class_weight`` multiplies them by."""
        totals = np.array([self.weights[label] for label in self.classes.tolist()])
        return totals, class_weights(class_weight, self.classes, totals)

    def sample_weight(self) -> np.ndarray:
        """Weights with which the sample stands for all rows: those of a class add up to its share."""
        if self.is_complete:
            return self.weight
        totals = self.class_totals(None)[0]
        return self.by_class(np.ones(len(self.y))) * (len(self.y) / totals.sum())

    def block(self) -> RowBlock:
        """The sample, with weights that add up to those of all rows."""
        weight = self.sample_weight()
        return RowBlock(self.X, self.y, weight * (self.class_totals(None)[0].sum() / weight.sum()))

    def by_class(self, weight: np.ndarray) -> np.ndarray:
        """Weights of the rows of the sample, so multiplied that those of a class add up to all its rows'."""
        number = np.searchsorted(self.classes, self.y)
        totals = self.class_totals(None)[0]
        each = totals / np.bincount(number, weights=weight, minlength=len(totals))
        return np.asarray(each[number] * weight)


def look(block: RowBlock, task: LookTask) -> Look:
    """What one block shows."""
    kept = np.flatnonzero(block.weight > 0.0)
    X, y, weight = block.X[kept], block.y[kept], block.weight[kept]
    return shown(X, y, weight, exponentials(X, y, task.seed) / weight, task)


def exponentials(X: Any, y: np.ndarray, seed: int) -> np.ndarray:
    """A draw from the exponential distribution for each row, by a hash of its entries and its label."""
    labels, number = np.unique(y, return_inverse=True)
    salts = np.array([zlib.crc32(repr(name).encode()) for name in labels.tolist()], dtype=np.uint64)
    drawn = mixed(hash_rows(X) ^ salts[number], np.uint64(seed))
    return np.asarray(-np.log((drawn.astype(np.float64) + 0.5) / 2.0**64))


def shown(X: Any, y: np.ndarray, weight: np.ndarray, keys: np.ndarray, task: LookTask) -> Look:
    """Rows and weight of each class, and the rows with the smallest keys."""
    labels, number = np.unique(y, return_inverse=True)
    names = labels.tolist()
    counts = dict(zip(names, np.bincount(number, minlength=len(names)).tolist()))
    weights = dict(zip(names, np.bincount(number, weights=weight, minlength=len(names)).tolist()))
    _check_classes(counts)
    return Look(counts, weights, X, y, weight, keys, task).cut()


def _check_classes(counts: dict[Any, int]) -> None:
    if len(counts) > MAX_CLASSES:
        raise ValueError(f"y has more than {MAX_CLASSES:,} classes; is it the right column?")


def _kind(X: Any) -> str:
    return f"{type(X).__name__} of {X.dtype}"
