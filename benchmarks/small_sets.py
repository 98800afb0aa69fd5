"""KernelSVC beside scikit-learn's SVC on small sets: a fit, one row predicted, and 1,000 rows.

Both solve the same problem. A fit counts only if its dual objective is within 1e-3 of the larger one.
"""

from functools import lru_cache

import numpy as np
from clock import interleaved, mean_row, row, score, tell
from sklearn.svm import SVC
from small_tables import small_sets

from maxmargin import KernelSVC

TITLE = "KernelSVC on small sets"
MIN_SPEED_RATIO, MEAN_SPEED_RATIO = 0.95, 1.5
SHORT_SECONDS, MAX_SECONDS_LONGER = 0.005, 0.002  # where the peer is this fast, a difference counts
MIN_DUAL_SHARE = 1.0 - 1e-3
ONE_ROW_RATIO, MANY_ROWS_RATIO = 1.0, 5.0
REPEATS, REPEATS_OF_LARGE, MAX_VALUES_REPEATED = 20, 5, 100_000
C = 1.0


def dual_of_peer(model, X, y):
    """The sum of the dual objectives of all columns of a fitted SVC with the RBF kernel."""
    gamma, total = model._gamma, 0.0
    classes, coef = len(model.classes_), model.dual_coef_
    starts = np.concatenate([[0], np.cumsum(model.n_support_)])
    points = model.support_vectors_
    for i in range(classes):
        for j in range(i + 1, classes):
            first, second = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
            rows = coef[0] if classes == 2 else None
            parts = [coef[j - 1, first], coef[i, second]] if rows is None else [rows[first], rows[second]]
            a, Z = np.concatenate(parts), np.concatenate([points[first], points[second]])
            squares = (Z**2).sum(axis=1)
            K = np.exp(-gamma * np.maximum(squares[:, None] + squares - 2.0 * Z @ Z.T, 0.0))
            total += np.abs(a).sum() - 0.5 * a @ K @ a
    return total


def dual_of_ours(model):
    return sum(history[-1].dual for history in model.history_)


def measured(name, X, y, repeats):
    """Rows of the table for one set."""
    ours, peer = KernelSVC(C=C), SVC(C=C)
    times = interleaved([lambda: ours.fit(X, y), lambda: peer.fit(X, y)], repeats)
    duals = dual_of_ours(ours), dual_of_peer(peer, X, y)
    counts = duals[0] >= MIN_DUAL_SHARE * max(duals)
    title = f"KernelSVC.fit, {name} ({len(X):,} x {X.shape[1]}, {len(ours.classes_)} classes)"
    if times[1] < SHORT_SECONDS:
        longer = 1e3 * (times[0] - times[1])
        fit = score(
            f"{title}, ms more than SVC", longer, "SVC", 1e3 * times[1], 2.0, at_most=True, unit=" ms"
        )
    else:
        fit = row(title, times[0], "SVC", times[1], MIN_SPEED_RATIO)
    fit["met"] = fit["met"] and bool(counts)
    lines = [fit]
    thousand = np.resize(X, (1000, X.shape[1]))
    for what, rows, target in (("one row", X[:1], ONE_ROW_RATIO), ("1,000 rows", thousand, MANY_ROWS_RATIO)):
        seconds = interleaved([lambda: ours.predict(rows), lambda: peer.predict(rows)], repeats)  # noqa: B023
        lines.append(row(f"KernelSVC.predict, {what}, {name}", seconds[0], "SVC", seconds[1], target))
    return tell(lines)


@lru_cache(maxsize=1)
def sets(quick):
    return {name: (X, y) for name, X, y in small_sets(quick)}


def cells(suite):
    return list(sets(suite == "quick")) if suite in ("quick", "bench") else []


def measure(cell, quick):
    X, y = sets(quick)[cell]
    few = len(X) * X.shape[1] > MAX_VALUES_REPEATED
    return {"rows": measured(cell, X, y, 3 if quick else REPEATS_OF_LARGE if few else REPEATS)}


def rows(records):
    """The rows of all sets, and the mean of the fits that count as long."""
    lines = [line for record in records.values() for line in record["rows"]]
    fits = [line for line in lines if line["name"].startswith("KernelSVC.fit") and line["ratio"]]
    title = "KernelSVC.fit, geometric mean of the speed-ups where SVC takes 5 ms or more"
    return [*lines, mean_row(title, fits, MEAN_SPEED_RATIO)] if fits else lines
