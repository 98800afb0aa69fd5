"""Leave-one-out outputs of ridge, from one fit.

Leaving out an amount of weight is a change of the linear system by a matrix of rank one, so the residual
without it is r_i / (1 - t_i h_i), where h_i is the row's leverage and t_i the part of its weight that leaves.
Where a row is fitted almost exactly both are tiny, so wide data take r from the dual solution and 1 - h from
the inverse of its matrix, neither of them as a difference (`solvers/squares_columns.py`).
What leaves is one unit of sample weight, or the whole row where it has less: a row of weight 3 is three rows
of which one is left out, so weights equal repetitions here too.
"""

from __future__ import annotations

import numpy as np

from ...data import WeightedRows, canonical


def places(data: WeightedRows, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """For every given row its place among the canonical ones, -1 for a row of weight 0."""
    apart = canonical(
        data.rows.X, labels, weight, merge_duplicates=False, n_threads=data.rows.n_threads
    ).rows.index
    place = np.full(len(labels), -1)
    place[apart] = np.cumsum(np.isin(apart, data.rows.index)) - 1
    return place


def units(labels: np.ndarray, given: np.ndarray, weight: np.ndarray, n_classes: int) -> np.ndarray:
    """The weight of one unit of each class: its class weight. ``weight`` is ``given`` times that."""
    unit = np.ones(n_classes)
    for label in range(n_classes):
        rows = np.flatnonzero((labels == label) & (weight > 0.0))
        unit[label] = weight[rows[0]] / given[rows[0]]
    return unit
