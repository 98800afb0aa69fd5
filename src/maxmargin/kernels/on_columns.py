"""A kernel of some of the columns of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._native import as_rows, is_sparse, same_features
from .algebra import Kernel, Matrix

__all__ = ["OnColumns"]


@dataclass(frozen=True)
class OnColumns(Kernel):
    """``k(x[columns], z[columns])``: a kernel that sees some columns only.

    The sum of such kernels, one a group of columns, adds functions of each group; their product lets the
    groups interact.

    Parameters
    ----------
    kernel : Kernel
    columns : sequence of int
        Positions of the columns, without repetition.

    Examples
    --------
    >>> from maxmargin.kernels import RBF, OnColumns
    >>> kernel = 0.5 * OnColumns(RBF(gamma=1.0), [0]) + 0.5 * OnColumns(RBF(gamma=1.0), [1, 2])
    >>> kernel([[0.0, 5.0, 1.0]], [[0.0, 1.0, 1.0]]).round(3)
    array([[0.5]])
    """

    kernel: Kernel
    columns: Sequence[int]
    name: ClassVar[str] = "columns"

    def __post_init__(self) -> None:
        """Raise unless the columns are distinct positions."""
        whole = np.asarray(self.columns)
        if whole.ndim != 1 or not len(whole) or whole.dtype.kind not in "iu" or whole.min() < 0:
            raise ValueError(
                f"columns must be positions: integers from 0 on, at least one; got {self.columns!r:.200}."
            )
        if len(np.unique(whole)) < len(whole):
            raise ValueError(f"columns must be distinct positions; got {self.columns!r}.")
        object.__setattr__(self, "columns", tuple(whole.tolist()))

    @property
    def positive(self) -> bool:  # type: ignore[override]
        """True if the kernel of these columns is positive semi-definite."""
        return self.kernel.positive

    def of(self, X: Any) -> Any:
        """The columns of X that the kernel sees."""
        rows = as_rows(X)
        if max(self.columns) >= rows.shape[1]:
            raise ValueError(
                f"the kernel reads column {max(self.columns)}, but X has {rows.shape[1]} columns."
            )
        return rows[:, list(self.columns)] if is_sparse(rows) else np.take(rows, self.columns, axis=1)

    def __call__(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
        """The matrix ``K[i, j] = k(x_i, z_j)``."""
        x, z = same_features(X, Z)
        return self.kernel(self.of(x), None if z is x else self.of(z), n_jobs=n_jobs)

    def resolve(
        self, X: Any, rng: np.random.Generator, sample_weight: Any = None, index: np.ndarray | None = None
    ) -> Kernel:
        """The same kernel with numbers in place of words, from its own columns."""
        return OnColumns(self.kernel.resolve(self.of(X), rng, sample_weight, index), self.columns)

    def diagonal(self, X: Any) -> np.ndarray:
        """``k(x_i, x_i)`` for each row."""
        return self.kernel.diagonal(self.of(X))

    def matmul(self, X: Any, Z: Any, A: Matrix, *, n_jobs: int | None = None) -> np.ndarray:
        """``K(X, Z) @ A``."""
        x, z = same_features(X, Z)
        return self.kernel.matmul(self.of(x), self.of(z), A, n_jobs=n_jobs)
