"""Estimators to compare, by name: those of the command line, and some of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .models import MODELS, model_kind

__all__ = ["PEERS", "named_estimator"]


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


def named_estimator(name: str, seed: int) -> Any:
    """An estimator, not fitted: one of ours as ``train`` begins with it, or one of scikit-learn's.

    The latter have scikit-learn's own defaults, but for a larger cache and more iterations.
    """
    if name in PEERS:
        return PEERS[name](seed)
    if name not in MODELS:
        raise ValueError(f"models are {', '.join([*MODELS, *PEERS])}; got {name!r}.")
    return model_kind(name).make(seed=seed)
