"""Decompositions of a matrix, found where Ctrl-C can still be seen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from .. import _native

Result = TypeVar("Result")

SMALL = 400  # rows of a matrix that takes a few hundredths of a second
GLANCE_SECONDS = 0.05


def eigh_descending(A: np.ndarray, cancel: np.ndarray = _native.NEVER) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues of A, in descending order, and their eigenvectors as columns."""
    with _native.one_blas_thread():
        values, vectors = interruptible(lambda: np.linalg.eigh(A), len(A), cancel)
    return values[::-1], vectors[:, ::-1]


def interruptible(decompose: Callable[[], Result], order: int, cancel: np.ndarray = _native.NEVER) -> Result:
    """``decompose()``; of a matrix that is not small, while this thread waits for it or for Ctrl-C.

    Only NumPy's calls let other threads run. The thread cannot be stopped, and after Ctrl-C ends by itself.
    """
    if order <= SMALL:
        return decompose()
    results: list[Result] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            results.append(decompose())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(GLANCE_SECONDS)
        if cancel[0]:
            raise RuntimeError("cancelled")
    if errors:
        raise errors[0]
    return results[0]
