"""A fitted classifier taken apart: what each support vector, or each feature, adds to a row's scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..._native import is_sparse
from ...kernels import Linear, Precomputed
from ...methods.eigen_map import KernelEigenMap
from ..content import fitted_inside, restored, scalers_inside

__all__ = ["Machine", "machine_of"]

MAX_COEFFICIENTS = 50_000_000
VALUES_AT_ONCE = 4_000_000
MAP_ROWS = 1_000  # the exact eigenvectors of so many are found in a second
NO_POINTS = "This model has neither support vectors nor weights of columns, so rows cannot be explained."


@dataclass(frozen=True, eq=False)
class Machine:
    """The outputs ``f_t(x) = sum_j coef_tj k(x, z_j) + b_t``, or ``sum_j coef_tj x_j + b_t``.

    Class p against class q: ``sum_t (c_pt - c_qt) / 2 f_t(x)`` over the columns t of the code that have both
    classes on different sides. For one-vs-rest that is the difference of their scores, for one-vs-one the
    output of their column.
    """

    inner: Any
    scalers: list[Any] = field(default_factory=list)

    @property
    def kernel(self) -> Any:
        """None for a linear model."""
        return self.inner.kernel_ if self.points is not None else None

    @property
    def points(self) -> Any:
        """Support vectors, or None."""
        return getattr(self.inner, "support_vectors_", None)

    @cached_property
    def coef(self) -> np.ndarray:
        """(n_outputs, n_support or n_features)."""
        found = self.inner.coef_ if self.points is None else self.inner.dual_coef_
        return np.atleast_2d(found.toarray() if is_sparse(found) else np.asarray(found, dtype=np.float64))

    def contrasts(self, predicted: np.ndarray, rivals: np.ndarray) -> np.ndarray:
        """What each output counts for the predicted class against its rival: (n_rows, n_outputs)."""
        code, n_outputs = self.inner.code_, self.coef.shape[0]
        joint = getattr(self.inner, "_joint", False) or n_outputs != code.n_columns
        if joint and n_outputs == code.n_classes:  # outputs are the scores of the classes
            scores = np.eye(n_outputs)
            return np.asarray(scores[predicted] - scores[rivals])
        sides = np.asarray(code.matrix, dtype=np.float64)
        own, other = sides[predicted], sides[rivals]
        return np.asarray(np.where(own * other < 0.0, own, 0.0))

    def placed(self, X: Any) -> Any:
        """Prepared rows as the inner classifier takes them."""
        for search in self.scalers:
            X = search.scaling_.transform(X)
        return X

    def prepared_points(self, chosen: np.ndarray) -> np.ndarray:
        """Some support vectors, dense, as rows of the prepared matrix."""
        points = self.points[chosen]
        dense = np.asarray(points.toarray() if is_sparse(points) else points, dtype=np.float64)
        return restored(self.scalers, dense)

    def offsets(self, predicted: np.ndarray, rivals: np.ndarray) -> np.ndarray:
        """What the intercepts add to the predicted class against its rival."""
        bias = np.broadcast_to(np.asarray(self.inner.intercept_, dtype=np.float64), self.coef.shape[0])
        return np.asarray(self.contrasts(predicted, rivals) @ bias)

    def pulls(
        self, Z: Any, predicted: np.ndarray, rivals: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray | None]]:
        """For blocks of placed rows: what each support vector or feature adds; and its distance, if any."""
        coef, n = self.coef, Z.shape[0]
        own = None if self.points is None else self.kernel.diagonal(self.points)
        step = max(1, VALUES_AT_ONCE // max(1, coef.shape[1]))
        for first in range(0, n, step):
            some = slice(first, min(first + step, n))
            rows = Z[some]
            weight = self.contrasts(predicted[some], rivals[some]) @ coef
            if own is None:
                dense = rows.toarray() if is_sparse(rows) else np.asarray(rows, dtype=np.float64)
                yield some, weight * dense, None
                continue
            K = np.asarray(self.kernel(rows, self.points), dtype=np.float64)
            squared = self.kernel.diagonal(rows)[:, None] - 2.0 * K + own
            yield some, weight * K, np.sqrt(np.maximum(squared, 0.0))

    def map(self, Z: Any, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray | None] | None:
        """Rows, and some support vectors, along the two leading eigenvectors of the rows' kernel matrix."""
        kernel = Linear() if self.kernel is None else self.kernel
        some = Z[np.linspace(0, Z.shape[0] - 1, min(Z.shape[0], MAP_ROWS)).astype(int)]
        try:
            axes = KernelEigenMap(2, kernel=kernel, method="exact", random_state=0).fit(some)
        except ValueError:
            return None
        if axes.n_components_ < 2:
            return None
        points = None if self.points is None else axes.transform(self.points[chosen])
        return axes.transform(Z), points


def machine_of(classifier: Any) -> Machine | str:
    """The classifier inside searches and calibrations, taken apart; or why it cannot be."""
    inner, scalers = fitted_inside(classifier), scalers_inside(classifier)
    if any(search.table_ is not None for search in scalers):
        return NO_POINTS
    if any(search.scaling_.rotation is not None for search in scalers) and not _has_points(inner):
        return "This model weighs mixtures of columns, so rows cannot be explained column by column."
    return _checked(inner, scalers)


def _has_points(inner: Any) -> bool:
    return getattr(inner, "support_vectors_", None) is not None


def _checked(inner: Any, scalers: list[Any]) -> Machine | str:
    points = getattr(inner, "support_vectors_", None)
    if not hasattr(inner, "code_") or not hasattr(inner, "intercept_"):
        return NO_POINTS
    if points is None:
        if getattr(inner, "coef_", None) is None:
            return NO_POINTS
        return Machine(inner, scalers)
    if getattr(points, "ndim", 0) != 2 or points.dtype.kind != "f" or isinstance(inner.kernel_, Precomputed):
        return "The support vectors of this model are not rows of numbers, so rows cannot be explained."
    if points.shape[0] == 0:
        return "This model has no support vectors."
    if points.shape[0] * inner.code_.n_columns > MAX_COEFFICIENTS:
        return (
            f"This model has too many coefficients ({points.shape[0]:,} support vectors in "
            f"{inner.code_.n_columns:,} columns) to explain rows on a page."
        )
    return Machine(inner, scalers)
