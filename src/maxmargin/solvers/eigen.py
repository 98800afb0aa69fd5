"""Eigenvectors of a symmetric matrix, found where Ctrl-C can still be seen."""

from __future__ import annotations

import threading

import numpy as np

from .. import _native

SMALL = 400  # rows of a matrix that takes a few hundredths of a second
GLANCE_SECONDS = 0.05


def eigh_descending(A: np.ndarray, cancel: np.ndarray = _native.NEVER) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues of A, in descending order, and their eigenvectors as columns.

    Only NumPy's call lets other threads run: it works in one of its own, while this one waits for it or for
    Ctrl-C. The thread cannot be stopped, and after Ctrl-C ends by itself.
    """
    with _native.one_blas_thread():
        values, vectors = np.linalg.eigh(A) if len(A) <= SMALL else _in_a_thread(A, cancel)
    return values[::-1], vectors[:, ::-1]


def _in_a_thread(A: np.ndarray, cancel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    results: list[tuple[np.ndarray, np.ndarray]] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            results.append(np.linalg.eigh(A))
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
