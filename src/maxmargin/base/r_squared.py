"""The score of regressors."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import r2_score

__all__ = ["r_squared"]


def r_squared(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """R^2 of the predictions.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
    """
    return float(r2_score(y, self.predict(X), sample_weight=sample_weight))
