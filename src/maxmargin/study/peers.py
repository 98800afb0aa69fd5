"""Estimators of scikit-learn to compare with, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["PEERS", "peer"]


def _svc(seed: int) -> Any:
    from sklearn.svm import SVC

    return SVC(cache_size=1024, random_state=seed)


def _linear_svc(seed: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=seed)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed)


PEERS: dict[str, Callable[[int], Any]] = {
    "sklearn-linear-svc": _linear_svc,
    "sklearn-logistic": _logistic,
    "sklearn-svc": _svc,
}


def peer(name: str, seed: int) -> Any:
    """The estimator of that name with scikit-learn's own defaults, but for a larger cache and more steps."""
    return PEERS[name](seed)
