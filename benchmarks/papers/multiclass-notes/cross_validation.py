"""The notes' example of cross-validation: lambda from 1e-5 to 1e2, an error that goes up at both ends.

The kernel SVM with a Gaussian kernel, gamma by the median heuristic, in the form of the notes: ``sum_i
hinge(y_i f(x_i)) + lambda/2 ||f||^2``, so C = 1 / lambda. Their rows are not known; these are about as hard.
"""

import statistics
import sys

import disc
import numpy as np

from maxmargin import KernelSVC, PathCV
from maxmargin.displays import CVPathDisplay

FOLDS, EXACT = "cross-validation", "error of the fit"  # what a record is of
N_ROWS = 200
N_FOLDS = 5
SEEDS = range(5)
PRINTED = {"lambda = 1e-05": 25.0, "chosen": 19.3, "lambda = 100": 27.8}


def measure(quick):
    """A record for each lambda and fold of each seed's rows, and for each fit to all of them."""
    lambdas = np.geomspace(1e-5, 1e2, 8 if quick else 15)
    for seed in SEEDS[:1] if quick else SEEDS:
        yield from _search(lambdas, seed)
        print(f"{FOLDS}, seed {seed}", file=sys.stderr, flush=True)


def _search(lambdas, seed):
    X, y = disc.draw(N_ROWS, seed)
    model = KernelSVC(gamma="median", tol=1e-3, random_state=0)
    search = PathCV(model, Cs=1.0 / lambdas, gammas="fixed", cv=N_FOLDS, refit=False).fit(X, y)
    for k, point in enumerate(search.cv_results_["params"]):
        scores = [search.cv_results_[f"split{fold}_test_score"][k] for fold in range(N_FOLDS)]
        for fold, score in enumerate(scores):
            yield _record(FOLDS, point["C"], N_FOLDS * seed + fold, 100.0 * score)
    for fitted in model.path(X, y, 1.0 / lambdas):
        yield _record(EXACT, fitted.C, seed, 100.0 - 100.0 * disc.error(fitted))


def _record(columns, C, fold, accuracy):
    return disc.record(columns, f"lambda = {1.0 / C:.3g}", fold, N_ROWS, C=C, accuracy=accuracy)


def summary(records):
    """By kind and lambda the mean error over all folds of all seeds, in percent."""
    together = {}
    for r in records:
        if r["set"] == disc.NAME and r["columns"] in (FOLDS, EXACT):
            together.setdefault((r["columns"], r["method"]), []).append(100.0 - r["accuracy"])
    return {key: statistics.mean(errors) for key, errors in together.items()}


def cells(means):
    """The notes' three numbers as ours: cross-validated errors at both ends and at the best lambda inside."""
    errors = {method: error for (kind, method), error in means.items() if kind == FOLDS}
    inside = min(error for method, error in errors.items() if method not in PRINTED)
    return {name: errors.get(name, inside) for name in PRINTED}


def margin(means):
    """By how many points the best lambda inside the grid is better than the better end."""
    found = cells(means)
    return min(found["lambda = 1e-05"], found["lambda = 100"]) - found["chosen"]


def lines(means):
    """The section of the report."""
    found = cells(means)
    yield from ("", "## Cross-validation", "")
    yield f"Errors in percent, {N_ROWS} rows, {N_FOLDS} folds, means over seeds; the notes have other rows."
    yield from (
        "",
        "![Error against lambda](cross-validation.png)",
        "",
        "| | notes | here |",
        "|---|---|---|",
    )
    yield from (f"| {name} | {printed} | {found[name]:.1f} |" for name, printed in PRINTED.items())
    yield from ("", "| lambda | cross-validated | fit to all rows |", "|---|---|---|")
    for kind, method in means:
        if kind == FOLDS:
            yield f"| {method[9:]} | {means[kind, method]:.1f} | {means[EXACT, method]:.1f} |"


def display(records):
    """The error along lambda, over all folds of all seeds."""
    some = [r for r in records if r["set"] == disc.NAME and r["columns"] == FOLDS]
    costs = sorted({r["C"] for r in some})
    table = {"params": [{"C": C} for C in costs]}
    for fold in sorted({r["fold"] for r in some}):
        scores = {r["C"]: 0.01 * r["accuracy"] for r in some if r["fold"] == fold}
        table[f"split{fold}_test_score"] = [scores[C] for C in costs]
    return CVPathDisplay.from_cv_results(table, total_weight=1.0)
