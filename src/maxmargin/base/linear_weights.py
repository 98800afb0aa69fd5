"""The weights of the columns of X, for a kernel machine whose kernel is linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import is_sparse
from ..kernels import Linear

__all__ = ["linear_weights"]


def linear_weights(model: Any) -> np.ndarray:
    """``coef_ = dual_coef_ @ support_vectors_``, (n_outputs, n_features); only where the kernel is linear."""
    if not isinstance(vars(model).get("kernel_"), Linear):
        raise AttributeError("coef_ exists only for a fitted model with the linear kernel.")
    points = model.support_vectors_
    if is_sparse(points):
        return np.asarray((points.T @ model.dual_coef_.T).T)
    return np.asarray(model.dual_coef_ @ np.asarray(points, dtype=np.float64))
