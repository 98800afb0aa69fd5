"""Groups of columns: the parameter ``column_groups``, and a weighted sum of kernels, one a group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..kernels import Kernel, OnColumns, kernel_from_name

__all__ = ["ColumnGroups", "check_column_groups", "grouped_positions"]


@dataclass(frozen=True)
class ColumnGroups:
    """``sum_g weights[g] k(x[columns[g]], z[columns[g]])``, with gamma times ``factors[g]`` in group g."""

    columns: tuple[tuple[int, ...], ...]
    factors: tuple[float, ...]
    weights: tuple[float, ...]

    def kernel(self, name: str, gamma: float) -> Kernel:
        """The sum; groups of weight 0 are left out."""
        parts = zip(self.columns, self.factors, self.weights)
        return reduce(
            add,
            [
                weight * OnColumns(kernel_from_name(name, gamma=gamma * factor), columns)
                for columns, factor, weight in parts
                if weight > 0.0
            ],
        )

    @property
    def n_kernels(self) -> int:
        """How many kernels are summed."""
        return sum(weight > 0.0 for weight in self.weights)

    def __str__(self) -> str:
        return ", ".join(f"{weight:.2f}" for weight in self.weights)


def check_column_groups(groups: Any) -> None:
    """Raise unless the parameter is None or lists of names or positions, each column at most once."""
    if groups is None:
        return
    are_lists = isinstance(groups, list | tuple) and all(
        isinstance(g, list | tuple | np.ndarray) for g in groups
    )
    if not are_lists or not groups or not all(len(group) for group in groups):
        raise ValueError(
            f"column_groups must be None or lists of columns, none of them empty; got {groups!r:.200}."
        )
    every = [column for group in groups for column in group]
    if not all(isinstance(c, str) or (isinstance(c, int | np.integer) and c >= 0) for c in every):
        raise ValueError(f"column_groups must hold names or positions from 0 on; got {groups!r:.200}.")
    if len(set(every)) < len(every):
        twice = next(column for column in every if every.count(column) > 1)
        raise ValueError(f"column_groups has the column {twice!r} twice; each belongs to one group.")


def grouped_positions(groups: Any, n_columns: int, names: Iterable[str] | None) -> list[list[int]]:
    """Positions of the columns of each group, and of those of no group as the last one, if there are any."""
    place = {} if names is None else {str(name): k for k, name in enumerate(names)}
    found = [[_position(column, place, n_columns) for column in group] for group in groups]
    taken = [k for group in found for k in group]
    if len(set(taken)) < len(taken):
        raise ValueError("column_groups names a column and gives its position; each belongs to one group.")
    rest = sorted(set(range(n_columns)) - set(taken))
    return [*found, rest] if rest else found


def _position(column: Any, place: dict[str, int], n_columns: int) -> int:
    if isinstance(column, str):
        if not place:
            raise ValueError(f"column_groups names {column!r}, but X has no column names. Give positions.")
        if column not in place:
            raise ValueError(f"column_groups names {column!r}, which X does not have.")
        return place[column]
    if column >= n_columns:
        raise ValueError(f"column_groups has the position {column}, but X has {n_columns} columns.")
    return int(column)
