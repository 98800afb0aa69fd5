"""LinearSVC against scikit-learn's, to the same primal objective.

Ours runs to a relative gap of 1e-3. The peer has no such rule, so it is given the fewest epochs (within a
tenth) that bring its objective down to ours; it is not charged for the search. A peer that takes more than
ten seconds and 1.5 times as long as ours without reaching the objective is stopped: its ratio is then a lower
bound, and its label says so.
"""

import time
import warnings

import numpy as np
from clock import interleaved, row, tell
from datasets import mnist, text_like
from sklearn.svm import LinearSVC as PeerSVC

from maxmargin import LinearSVC

MAX_PEER_TIMES_OURS = 1.5
LOSSES = {"hinge": ("hinge", 1.0), "squared-hinge": ("squared_hinge", 2.0)}  # the peer's has no 1/2


def ours(loss, C):
    return LinearSVC(C * LOSSES[loss][1], loss=loss, fit_intercept=False, tol=1e-3, n_jobs=2, random_state=0)


def peers(loss, max_iter, C):
    # tol is unreachable, so that max_iter decides
    return PeerSVC(
        C=C,
        loss=LOSSES[loss][0],
        dual=True,
        fit_intercept=False,
        max_iter=max_iter,
        tol=1e-12,
        random_state=0,
    )


def objective(coef, X, y, loss, C):
    """The objective in our parametrisation, summed over the one-vs-rest columns."""
    classes = np.unique(y)
    targets = np.where(y[:, None] == (classes if len(coef) > 1 else classes[1:]), 1.0, -1.0)
    shortfall = np.maximum(0.0, 1.0 - targets * (X @ coef.T))
    losses = shortfall if loss == "hinge" else 0.5 * shortfall**2
    return 0.5 * np.sum(coef**2) + C * LOSSES[loss][1] * losses.sum()


def epochs_needed(X, y, loss, C, goal, most_seconds):
    """The fewest epochs with which the peer reaches the goal, or None; and the seconds of the last try."""

    def attempt(max_iter):
        start = time.perf_counter()
        coef = peers(loss, max_iter, C).fit(X, y).coef_
        seconds = time.perf_counter() - start
        return objective(coef, X, y, loss, C) <= goal, seconds

    low, high = 0, 4
    while True:
        reached, seconds = attempt(high)
        if reached:
            break
        if seconds > most_seconds:
            return None, high, seconds
        low, high = high, 2 * high
    while high - low > max(1, high // 10):
        middle = (low + high) // 2
        reached, _ = attempt(middle)
        low, high = (low, middle) if reached else (middle, high)
    return high, high, seconds


def compare(name, X, y, loss, repeats, quick=False, C=1.0):
    start = time.perf_counter()
    model = ours(loss, C).fit(X, y)
    seconds = time.perf_counter() - start
    goal = objective(model.coef_, X, y, loss, C)
    epochs, tried, spent = epochs_needed(
        X, y, loss, C, goal, seconds if quick else max(MAX_PEER_TIMES_OURS * seconds, 10.0)
    )
    label = f"LinearSVC {loss}, {name}, C={C:g}, by {model.solver_}, gap {model.dual_gap_:.1e}"
    if epochs is None:
        return row(label, seconds, f"scikit-learn, {tried} epochs (objective not reached)", spent, 1.0)
    mine, theirs = interleaved(
        [lambda: ours(loss, C).fit(X, y), lambda: peers(loss, epochs, C).fit(X, y)], max(repeats, 1)
    )
    return row(label, mine, f"scikit-learn, {epochs} epochs", theirs, 1.0)


def run(repeats=5, quick=False):
    shape = (3_000, 5_000) if quick else (100_000, 50_000)
    data = {f"text-like {shape[0]:,} x {shape[1]:,}": text_like(*shape)}
    if (digits := mnist(500 if quick else 60_000)) is not None:
        data["MNIST"] = digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the peer is stopped early on purpose
        rows = []
        for name, (X, y) in data.items():
            hard = [("squared-hinge", 10.0)] if name.startswith("text") else []
            for loss, C in [*((loss, 1.0) for loss in LOSSES), *hard]:
                rows += tell([compare(name, X, y, loss, repeats, quick, C)])
        return rows
