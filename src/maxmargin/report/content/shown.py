"""Which classes have room in a matrix of counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...metrics import natural_order

__all__ = ["shown_classes"]

MAX_CONFUSION_CLASSES = 26  # of a heat map; 20 of those with most mistakes where there are more
CLASSES_OF_PARTIAL_MATRIX = 20


def shown_classes(counts: np.ndarray, names: Sequence[str]) -> list[int]:
    """All classes, or of very many those with most mistakes, in natural order.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_classes)
    names : sequence of str

    Returns
    -------
    list of int
    """
    which = natural_order(names)
    if len(names) <= MAX_CONFUSION_CLASSES:
        return which
    off = counts - np.diag(np.diagonal(counts))
    wrong = off.sum(axis=0) + off.sum(axis=1)
    most = set(np.argsort(-wrong, kind="stable")[:CLASSES_OF_PARTIAL_MATRIX].tolist())
    return [k for k in which if k in most]
