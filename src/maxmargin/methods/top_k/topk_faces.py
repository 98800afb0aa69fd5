"""Along which directions the dual variables of the top-k SVM's samples can move, each on its face."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Faces:
    """The projectors J_i onto the directions of the faces that some samples' variables lie on.

    Entries within ``mask`` move by any amounts whose sum is 0. In the cone, those held at its bound move
    with the sum: ``rays`` are unit vectors, one for each of the samples ``rayed``.
    """

    mask: np.ndarray
    count: np.ndarray
    rays: np.ndarray
    rayed: np.ndarray

    @classmethod
    def of(cls, marks: np.ndarray, labels: np.ndarray, kappa: int) -> tuple[np.ndarray, Faces]:
        """From the marks of ``_native.topk_prox``: the samples that have directions, and their faces."""
        own = marks[np.arange(len(labels)), labels]
        some = np.flatnonzero((np.count_nonzero(marks == 1, axis=1) > 1) | (own == 2))
        mask = (marks[some] == 1).astype(np.float64)
        count = np.maximum(mask.sum(axis=1, keepdims=True), 1.0)
        rayed = np.flatnonzero(own[some] == 2)
        each, y = np.arange(len(rayed)), labels[some[rayed]]
        held = marks[some[rayed]] == 2
        held[each, y] = False
        n_held = np.count_nonzero(held, axis=1)[:, None]
        rays = -held.astype(np.float64) - mask[rayed] * (kappa - n_held) / count[rayed]
        rays[each, y] = kappa
        rays /= np.sqrt(np.einsum("ij,ij->i", rays, rays))[:, None]
        return some, cls(mask, count, rays, rayed)

    def project(self, V: np.ndarray) -> np.ndarray:
        """``J_i v_i`` for each sample."""
        out = V * self.mask
        out -= self.mask * (out.sum(axis=1, keepdims=True) / self.count)
        if len(self.rayed):
            along = np.einsum("ij,ij->i", self.rays, V[self.rayed])
            out[self.rayed] += self.rays * along[:, None]
        return out

    def diagonal(self) -> np.ndarray:
        """The diagonals of the J_i."""
        out = self.mask * (1.0 - 1.0 / self.count)
        out[self.rayed] += np.square(self.rays)
        return out

    def column(self, g: int) -> np.ndarray:
        """Column g of each J_i."""
        out = -self.mask * (self.mask[:, [g]] / self.count)
        out[:, g] += self.mask[:, g]
        out[self.rayed] += self.rays * self.rays[:, [g]]
        return out
