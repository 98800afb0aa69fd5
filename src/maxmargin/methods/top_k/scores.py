"""Scores that follow the dual variables of a top-k SVM: updated by sweeps, recomputed by certificates."""

from __future__ import annotations

from typing import Protocol, cast

import numpy as np

from ... import _native
from ...data import Rows
from ...kernels import KernelData
from ...solving import Certificate, State
from .problem import TopKPoint, TopKProblem

SAMPLES_PER_TILE = 128  # samples whose steps share kernel rows
PASSES_PER_TILE = 2
OPERATIONS_PER_PIECE = 1 << 26  # of an epoch: about a twentieth of a second
PIECE_MULTIPLE = 32  # pieces are multiples of this many samples, so that they do not change a bit
MAX_HELD_KERNEL_VALUES = 1 << 25  # larger kernel matrices are recomputed in every epoch


class Scores(Protocol):
    """The model that goes with the dual variables, and how sweeps keep the two together."""

    piece: int  # samples whose steps take a small part of a second

    def start(self, state: State) -> None:
        """Put what the model needs into a state that has only A."""

    def sweep(self, state: State, method: str, order: np.ndarray) -> None:
        """Steps for the samples of ``order``."""

    def certify(self, state: State) -> Certificate:
        """Both bounds; ``state.gaps`` are those of all samples."""

    def point(self, state: State) -> TopKPoint:
        """The primal point."""


class LinearScores:
    """``state.W`` and ``state.offset`` follow A; scores are computed when a sample is visited."""

    def __init__(self, problem: TopKProblem, cancel: np.ndarray) -> None:
        self.problem, self.cancel = problem, cancel
        X = cast(Rows, problem.data).X
        length = X.shape[1] if isinstance(X, np.ndarray) else X.nnz / max(X.shape[0], 1)
        work = int((4.0 * length + 100.0) * problem.n_classes)
        self.piece = max(1, OPERATIONS_PER_PIECE // work // PIECE_MULTIPLE) * PIECE_MULTIPLE

    def start(self, state: State) -> None:
        """W(A)."""
        point = self.problem.point(state.A)
        state.W, state.offset = point.coef, point.offset

    def sweep(self, state: State, method: str, order: np.ndarray) -> None:
        """Steps for the samples of ``order``."""
        _native.topk_sweep(self.problem, state, method, order, self.cancel)

    def certify(self, state: State) -> Certificate:
        """Both bounds, at fresh scores."""
        problem = self.problem
        _native.topk_look(problem, state, self.cancel)
        norm = float(np.vdot(state.W, state.W))
        if problem.constant:
            norm += float(state.offset @ state.offset) / problem.constant
        return problem.bounds(state.A, float(problem.mass @ state.gaps), norm)

    def point(self, state: State) -> TopKPoint:
        """W."""
        return TopKPoint(state.W, state.offset)


class KernelScores:
    """``state.scores`` holds those of all samples; each tile's kernel rows bring them up to date."""

    piece = SAMPLES_PER_TILE

    def __init__(self, problem: TopKProblem, cancel: np.ndarray) -> None:
        self.problem, self.cancel = problem, cancel
        self.data = cast(KernelData, problem.data)
        n = len(problem.labels)
        self.K = self._rows(np.arange(n)) if n * n <= MAX_HELD_KERNEL_VALUES else None

    def start(self, state: State) -> None:
        """K B."""
        state.scores = self._fresh(state)

    def _fresh(self, state: State) -> np.ndarray:
        return self.problem.scores(self.problem.point(state.A))

    def _rows(self, which: np.ndarray) -> np.ndarray:
        """Kernel rows in double, the constant added."""
        return self.data.between(which, slice(None)).astype(np.float64) + self.problem.constant

    def sweep(self, state: State, method: str, order: np.ndarray) -> None:
        """Steps for the samples of ``order``, by tiles."""
        with _native.one_blas_thread():
            for first in range(0, len(order), SAMPLES_PER_TILE):
                if self.cancel[0]:
                    raise _native.Cancelled("cancelled")
                which = order[first : first + SAMPLES_PER_TILE]
                K = self.K[which] if self.K is not None else self._rows(which)
                G, Z = np.ascontiguousarray(K[:, which]), state.scores[which]
                change = _native.topk_tile(self.problem, state, method, which, (G, Z), PASSES_PER_TILE)
                moved = np.flatnonzero(change.any(axis=1))
                state.scores += K[moved].T @ change[moved]

    def certify(self, state: State) -> Certificate:
        """Both bounds, at fresh scores."""
        problem = self.problem
        state.scores = self._fresh(state)
        state.gaps = problem.gaps(state.A, state.scores) / problem.mass
        norm = float(problem.cost @ np.einsum("ij,ij->i", state.A, state.scores))
        return problem.bounds(state.A, float(problem.mass @ state.gaps), norm)

    def point(self, state: State) -> TopKPoint:
        """The coefficients."""
        return self.problem.point(state.A)
