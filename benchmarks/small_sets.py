"""KernelSVC beside scikit-learn's SVC on small sets: a fit, one row predicted, and 1,000 rows.

Both solve the same problem. A fit counts only if its dual objective is within 1e-3 of the larger one.
"""

import os

import numpy as np
from clock import interleaved, row, score, tell
from sklearn.svm import SVC
from small_tables import small_sets

from maxmargin import KernelSVC

MIN_SPEED_RATIO, MEAN_SPEED_RATIO = 0.95, 1.5
SHORT_SECONDS, MAX_SECONDS_LONGER = 0.005, 0.002  # where the peer is this fast, a difference counts
MIN_DUAL_SHARE = 1.0 - 1e-3
ONE_ROW_RATIO, MANY_ROWS_RATIO = 1.0, 5.0
REPEATS = 20
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
    """Rows of the table for one set, and the speed-up of its fit."""
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
    return tell(lines), times[1] / times[0] if times[1] >= SHORT_SECONDS else None


def run(repeats, quick):
    lines, ratios = [], []
    wanted = os.environ.get("SMALL_SETS", "").split(",") if os.environ.get("SMALL_SETS") else None
    for name, X, y in small_sets(quick):
        if wanted is None or name in wanted:
            found, ratio = measured(name, X, y, 3 if quick else max(repeats, REPEATS))
            lines += found
            ratios += [] if ratio is None else [ratio]
    if ratios:
        mean = float(np.exp(np.mean(np.log(ratios))))
        title = "KernelSVC.fit, geometric mean of the speed-ups where SVC takes 5 ms or more"
        lines.append(score(title, mean, "SVC", None, MEAN_SPEED_RATIO, unit=" times"))
    return lines


if __name__ == "__main__":
    for line in run(REPEATS, quick=False):
        print(f"{line['met']!s:6} {line['name']:75} {line['ours']:.5g} {line['peers']} {line['ratio']}")
