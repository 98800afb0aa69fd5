"""LinearSVC on small tables, against scikit-learn's LinearSVC (LIBLINEAR) and SVC (LIBSVM).

The squared hinge without an intercept, one-vs-rest, is LinearSVC's problem; the hinge with a free intercept,
one-vs-one, is that of ``SVC(kernel="linear")``. Columns are standardised, categories become indicators.
Every solver runs at its loosest tolerance whose objective is within 1e-3 of the best known one, which ours
certifies to 1e-6; looking for it does not count. Times are those of whole fits, in turn. A peer that takes
less than 5 ms may be up to 2 ms faster.
"""

import gzip
import itertools
import os
import warnings
from pathlib import Path

import numpy as np
from clock import row, score, turns
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as PeerSVC

from maxmargin import LinearSVC

TITLE = "LinearSVC on small tables"
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
MAX_EXCESS = 1e-3  # of an objective over the best known one
BRIEF_SECONDS, MAX_BRIEF_DELAY = 5e-3, 2e-3  # a peer this fast may be ahead by the delay
MIN_RATIO = 0.95
N_TURNS, MAX_SECONDS_IN_TURNS = 20, 0.5  # so many turns for fits that take less; else as clock.turns has it
BUNDLED = {
    "iris": load_iris,
    "wine": load_wine,
    "wdbc": load_breast_cancer,
    "digits": load_digits,
    "2,000 x 20": lambda return_X_y: make_classification(
        2000, 20, n_informative=8, flip_y=0.05, random_state=0
    ),
}


def folder():
    return Path(os.environ.get("MAXMARGIN_DATA", "")) / "tables"


def data_of(name):
    """Standardised rows, and labels."""
    path = folder() / f"{name}.csv.gz"
    X, y = BUNDLED[name](return_X_y=True) if name in BUNDLED else table(path)
    return StandardScaler().fit_transform(X), y


def table(path):
    """Numbers, one indicator for each category, and the class, which is the last column."""
    with gzip.open(path, "rt") as file:
        lines = [line.rstrip("\n").split(",") for line in file][1:]
    *columns, labels = (np.array(column) for column in zip(*lines))
    return np.column_stack([part for column in columns for part in numbers(column)]), labels


def numbers(column):
    try:
        return [column.astype(float)]
    except ValueError:
        return [(column == category).astype(float) for category in np.unique(column)]


def against_rest(model, X, y):
    """The objective of the squared hinge without an intercept, with C = 2, summed over the columns."""
    classes = np.unique(y)
    targets = np.where(y[:, None] == (classes[1:] if len(classes) == 2 else classes), 1.0, -1.0)
    losses = 0.5 * np.maximum(1.0 - targets * (X @ model.coef_.T), 0.0) ** 2
    return 0.5 * np.sum(model.coef_**2) + 2.0 * losses.sum()


def by_pairs(model, X, y):
    """The objective of the hinge, with C = 1, summed over the pairs of classes."""
    pairs = list(itertools.combinations(np.unique(y), 2))
    sign = -1.0 if isinstance(model, SVC) and len(pairs) > 1 else 1.0  # SVC's outputs favour the first class
    total = 0.5 * np.sum(model.coef_**2)
    for (first, second), w, b in zip(pairs, model.coef_, model.intercept_):
        outputs = sign * (X @ w + b)
        total += np.maximum(0.0, 1.0 + outputs[y == first]).sum()
        total += np.maximum(0.0, 1.0 - outputs[y == second]).sum()
    return total


# For each problem: ours and the peer's model for a tolerance, the peer's name, a fitted model's objective.
PROBLEMS = {
    "squared hinge": (
        lambda tol: LinearSVC(C=2.0, loss="squared-hinge", fit_intercept=False, tol=tol, random_state=0),
        lambda tol: PeerSVC(fit_intercept=False, tol=tol, max_iter=100_000, random_state=0),
        "LinearSVC",
        against_rest,
    ),
    "hinge": (
        lambda tol: LinearSVC(code="one-vs-one", tol=tol, random_state=0),
        lambda tol: SVC(kernel="linear", tol=tol),
        "SVC(linear)",
        by_pairs,
    ),
}


def cells(suite):
    names = {"quick": ["iris"], "bench": [*BUNDLED, *table_names()]}.get(suite, [])
    return [f"{name}, {problem}" for name in names for problem in PROBLEMS]


def table_names():
    found = sorted(path.name.removesuffix(".csv.gz") for path in folder().glob("*.csv.gz"))
    return [name for name in found if name not in BUNDLED]


def loosest(make, objective, X, y, best):
    """The loosest tolerance that reaches the best objective within MAX_EXCESS, or None."""
    for tol in TOLERANCES:
        if objective(make(tol).fit(X, y), X, y) <= (1.0 + MAX_EXCESS) * best:
            return tol
    return None


def measure(cell, quick):
    name, problem = cell.rsplit(", ", 1)
    ours, theirs, _, objective = PROBLEMS[problem]
    X, y = data_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # loose tolerances of the peers
        best = objective(ours(1e-6).fit(X, y), X, y)
        tols = {who: loosest(make, objective, X, y, best) for who, make in (("ours", ours), ("peer", theirs))}
        fits = {
            who: lambda make=make, tol=tols[who] or TOLERANCES[-1]: make(tol).fit(X, y)
            for who, make in (("ours", ours), ("peer", theirs))
        }
        record = turns(fits, n_turns=1 if quick else None)
        if not quick and max(record[who]["seconds"] for who in fits) < MAX_SECONDS_IN_TURNS:
            record = turns(fits, n_turns=N_TURNS)
    return record | {"tols": tols}


def rows(records):
    lines = []
    for cell, r in records.items():
        peer = PROBLEMS[cell.rsplit(", ", 1)[1]][2]
        tols = {who: "not reached" if tol is None else f"tol {tol:g}" for who, tol in r["tols"].items()}
        label, against = f"LinearSVC, {cell} ({tols['ours']})", f"{peer} ({tols['peer']})"
        mine, other = r["ours"]["seconds"], r["peer"]["seconds"]
        if other < BRIEF_SECONDS:
            most = 1e3 * (other + MAX_BRIEF_DELAY)
            lines.append(score(label, 1e3 * mine, against, 1e3 * other, most, at_most=True, unit=" ms"))
        else:
            lines.append(row(label, mine, against, other, MIN_RATIO))
    return lines
