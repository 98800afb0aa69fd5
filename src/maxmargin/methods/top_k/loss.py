"""Losses of a whole row of scores, one for each class: the hinge of the k largest violations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...data import check_choice, check_number

__all__ = ["TRUE_CLASS", "ScoreLoss", "TopKHinge"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer]
TRUE_CLASS = ("include", "exclude")


class ScoreLoss(Protocol):
    """A convex function of a row of scores s in R^m and the number y of its true class, row by row.

    Arguments are scores ``S`` or slopes ``V`` of shape (n, m) and labels ``y`` of shape (n,).
    """

    @property
    def name(self) -> str:
        """The name of the loss."""

    def value(self, S: FloatArray, y: IntArray) -> FloatArray:
        """The loss of each row, (n,)."""

    def oracle(self, S: FloatArray, y: IntArray) -> FloatArray:
        """A subgradient at each row, (n, m); a vertex of the domain of the conjugate."""

    def conjugate(self, V: FloatArray, y: IntArray) -> FloatArray:
        """``sup_s (<v, s> - value(s))`` of each row, infinite outside its domain."""

    def contains(self, V: FloatArray, y: IntArray) -> NDArray[np.bool_]:
        """Whether each row is in the domain of the conjugate."""


@dataclass(frozen=True)
class TopKHinge:
    """``(1/k) max(0, sum of the k largest violations)``, violations being ``1 + s_j - s_y`` for j != y.

    With ``true_class="include"`` the true class is among them, with a violation of 0, and may be one of the
    k; with "exclude" it is not. Both are upper bounds of the top-k error, and "exclude" is never larger than
    "include". For k = 1 both are the loss of Crammer and Singer. ``k`` is less than the number of classes.

    The conjugate is ``v_y`` on its domain. With ``p`` the other entries of v and ``sigma`` their sum, that is

        v_y = -sigma,   p >= 0,   sigma <= 1,   p_j <= min(1/k, sigma / kappa),

    where ``kappa`` is k - 1 ("include"; no second bound for k = 1) or k ("exclude").
    """

    k: int = 1
    true_class: Literal["include", "exclude"] = "include"
    name: str = field(default="top-k-hinge", init=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_number("k", self.k, at_least=1, integer=True)
        check_choice("true_class", self.true_class, TRUE_CLASS)

    @property
    def kappa(self) -> int:
        """The least number of wrong classes that can share a slope."""
        return self.k - 1 if self.true_class == "include" else self.k

    def _largest(self, S: FloatArray, y: IntArray) -> tuple[FloatArray, IntArray]:
        """The sum of the k largest violations of each row, and where they are, (n, k)."""
        S = np.asarray(S, dtype=np.float64)
        if S.shape[1] <= self.k:
            raise ValueError(
                f"k must be less than the number of classes; got k={self.k} and {S.shape[1]} classes."
            )
        violations = S - np.take_along_axis(S, y[:, None], axis=1) + 1.0
        own = 0.0 if self.true_class == "include" else -np.inf
        np.put_along_axis(violations, y[:, None], own, axis=1)
        where = np.argpartition(violations, -self.k, axis=1)[:, -self.k :]
        return np.take_along_axis(violations, where, axis=1).sum(axis=1), where

    def value(self, S: FloatArray, y: IntArray) -> FloatArray:
        """The loss of each row."""
        return np.maximum(self._largest(S, y)[0], 0.0) / self.k

    def oracle(self, S: FloatArray, y: IntArray) -> FloatArray:
        """``(1/k) sum over the k largest of (e_j - e_y)`` where their sum is positive, else 0."""
        total, where = self._largest(S, y)
        V = np.zeros(S.shape)
        np.put_along_axis(V, where, 1.0 / self.k, axis=1)
        np.put_along_axis(V, y[:, None], 0.0, axis=1)
        np.put_along_axis(V, y[:, None], -V.sum(axis=1, keepdims=True), axis=1)
        V[total <= 0.0] = 0.0
        return V

    def conjugate(self, V: FloatArray, y: IntArray) -> FloatArray:
        """``v_y`` on the domain."""
        own = np.take_along_axis(V, y[:, None], axis=1)[:, 0]
        return np.where(self.contains(V, y), own, np.inf)

    def contains(self, V: FloatArray, y: IntArray, slack: float = 1e-12) -> NDArray[np.bool_]:
        """Whether each row is in the domain, up to ``slack`` for the rounding of its sums."""
        others = np.array(V, dtype=np.float64)
        np.put_along_axis(others, y[:, None], 0.0, axis=1)
        sigma = others.sum(axis=1)
        own = np.take_along_axis(V, y[:, None], axis=1)[:, 0]
        cap = np.full(len(others), 1.0 / self.k)
        if self.kappa:
            cap = np.minimum(cap, sigma / self.kappa)
        within = (others.min(axis=1) >= -slack) & (others.max(axis=1) <= cap + slack)
        return within & (sigma <= 1.0 + slack) & (np.abs(own + sigma) <= slack)
