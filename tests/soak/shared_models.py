"""Fitted models shared by many threads: each answers every thread with the bits that it answers one.

    python tests/soak/shared_models.py [n_rounds]

All threads start at once, each with another order of the methods and on rows of another layout.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.saved_models import EVERY, data, quiet, special, table

N_THREADS = 8
METHODS = (
    "predict",
    "decision_function",
    "predict_proba",
    "predict_log_proba",
    "column_outputs",
    "transform",
    "score_samples",
    "predict_interval",
)


def models(names: Iterable[str] | None = None) -> dict[str, Callable[[], Any]]:
    """What makes each kind of fitted model."""
    X, y = data()
    makers = {name: (lambda make=make: make().fit(X, y)) for name, make in EVERY.items()} | special()
    return makers if names is None else {name: makers[name] for name in names}


def questions(model: Any, name: str) -> list[Callable[[], np.ndarray]]:
    """Every method of the model on rows of several layouts."""
    if hasattr(model, "best_params_") and not hasattr(model, "best_estimator_"):
        return []
    X, _ = data()
    layouts = [X, np.asfortranarray(X), X[::-1], X[:1]]
    if name == "table":
        layouts = [table()]
    elif "precomputed" in name:
        layouts = [X @ X.T, (X @ X.T)[:3]]
    without = () if hasattr(model, "calibration_scores_") else ("predict_interval",)
    methods = [method for method in METHODS if hasattr(model, method) and method not in without]
    return [lambda m=m, rows=rows: np.asarray(getattr(model, m)(rows)) for m in methods for rows in layouts]


def shared(model: Any, name: str) -> int:
    """How many answers of all threads were compared, all the same."""
    asked = questions(model, name)
    expected = [question() for question in asked]
    start = threading.Barrier(N_THREADS)

    def ask(number: int) -> int:
        start.wait()
        order = np.random.default_rng(number).permutation(len(asked))
        for k in order:
            found = asked[k]()
            assert found.dtype == expected[k].dtype, f"{name}: another type"
            assert np.array_equal(found, expected[k]), f"{name}: other bits in a thread"
        return len(asked)

    with ThreadPoolExecutor(N_THREADS) as pool:
        return sum(pool.map(ask, range(N_THREADS)))


def run(n_rounds: int, names: Iterable[str] | None = None) -> Counter[str]:
    """Ask each model in so many rounds; an ``AssertionError`` names one that went wrong."""
    counts: Counter[str] = Counter()
    for name, make in models(names).items():
        model = quiet(make)
        counts["models"] += 1
        for _ in range(n_rounds):
            counts["answers with the bits of one thread"] += shared(model, name)
    return counts


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for what, count in run(int((*sys.argv, "5")[1])).items():
        print(f"{count:6} {what}")
