"""Where each decoder wins: points of accuracy against hinge decoding of the same columns.

Tables of three classes or more, by what the columns are (linear or rbf), the code, the rows of each class and
the share of training labels that are wrong. Columns are fitted once for each fold, and every decoder decodes
the same outputs; "prior" learns from outputs out of fold, as it does in a fit. Nothing is timed.
"""

import warnings
from math import ceil, log2

import numpy as np
import tables_sets
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from maxmargin import KernelSVC, LinearSVC
from maxmargin.codes import Code, code_from_name
from maxmargin.decoders import DECODERS

TITLE = "decoders by columns, code, rows and wrong labels"
SUITE = "large"
SETS = (
    *("glass", "zoo", "yeast", "eleven_classes", "led7digit", "movement_libras", "segment", "texture"),
    *("optdigits", "contraceptive", "splice", "usps", "isolet"),
)
COSTLY = ("texture", "optdigits", "usps", "isolet")  # one code only
COLUMNS = {"linear": lambda code: LinearSVC(code=code), "rbf": lambda code: KernelSVC(C=10, code=code)}
CODES = ("sparse 10 log2 G", "designed", "one-vs-one")
DECODERS_COMPARED = ("hinge", "hamming", "margins", "weighted", "weighted-support-vectors", "prior")
REFERENCE = "hinge"
WRONG_LABELS = 0.2
MAX_ROWS, FEW_ROWS_A_CLASS, MAX_TEST_ROWS = 1200, 20, 3000
N_FOLDS, N_OUT_OF_FOLD = 3, 3


def cells(suite):
    """One cell for each table, its kind of columns and its code."""
    sets = ("iris",) if suite == "quick" else SETS if suite == SUITE else ()
    codes = CODES[:1] if suite == "quick" else CODES
    there = [name for name in sets if tables_sets.is_there(name)]
    return [
        f"{name}, {kind}, {code}"
        for code in codes
        for name in there
        for kind in COLUMNS
        if code == CODES[0] or name not in COSTLY
    ]


def code_of(name, n_classes, seed):
    """The code of that name; random ones have a draw for each fold."""
    kind, _, length = name.partition(" ")
    if not length:
        return code_from_name(kind, n_classes, seed)
    draw = {"sparse": Code.sparse_random, "dense": Code.dense_random}[kind]
    n_columns = ceil(int(length.split()[0]) * log2(n_classes))
    most = (3**n_classes - 2 ** (n_classes + 1) + 1) // 2 if kind == "sparse" else 2 ** (n_classes - 1) - 1
    return draw(n_classes, min(n_columns, most), random_state=seed)


def sample(y, most, rng):
    """At most so many rows, drawn class by class in proportion."""
    order = rng.permutation(len(y))
    if len(y) <= most:
        return order
    rank = np.empty(len(y))
    for c in np.unique(y):
        own = order[y[order] == c]
        rank[own] = (np.arange(len(own)) + 0.5) / len(own)
    return order[np.argsort(rank[order], kind="stable")[:most]]


def few_of_each(y, most, rng):
    """At most so many rows of each class."""
    order = rng.permutation(len(y))
    return np.concatenate([order[y[order] == c][:most] for c in np.unique(y)])


def fold_data(name, fold):
    """Standardised rows and class numbers of one fold, without classes that have too few rows."""
    X, y, X_test, y_test = tables_sets.split(name, 0 if name in tables_sets.LARGE else fold)
    X, X_test = tables_sets.coded(X, X_test)
    rng = np.random.default_rng(fold)
    classes, counts = np.unique(y, return_counts=True)
    kept = classes[counts >= 2 * N_OUT_OF_FOLD]
    own, test = np.flatnonzero(np.isin(y, kept)), np.flatnonzero(np.isin(y_test, kept))
    own = own[sample(y[own], MAX_ROWS, rng)]
    test = test[sample(y_test[test], MAX_TEST_ROWS, rng)]
    scaler = StandardScaler().fit(X[own].astype(float))
    rows, test_rows = (scaler.transform(part.astype(float)) for part in (X[own], X_test[test]))
    return rows, np.searchsorted(kept, y[own]), test_rows, np.searchsorted(kept, y_test[test])


def conditions(y, fold):
    """Rows and labels to learn from: all, few of each class, and with wrong labels."""
    every = np.arange(len(y))
    yield "all rows", every, y
    if len(y) / (y.max() + 1) > 2 * FEW_ROWS_A_CLASS:
        few = few_of_each(y, FEW_ROWS_A_CLASS, np.random.default_rng(fold))
        yield f"{FEW_ROWS_A_CLASS} rows a class", few, y[few]
    rng = np.random.default_rng([fold, 1])
    wrong = rng.random(len(y)) < WRONG_LABELS
    shift = rng.integers(1, y.max() + 1, size=len(y))
    yield "20 % wrong labels", every, np.where(wrong, (y + shift) % (y.max() + 1), y)


def learned(name, columns, X, y, code, F):
    """The decoder of that name, fitted to what it learns from."""
    decoder = DECODERS[name]
    if decoder.learns_from == "nothing":
        return decoder
    if decoder.learns_from == "out-of-fold":
        folds = StratifiedKFold(N_OUT_OF_FOLD, shuffle=True, random_state=0).split(X, y)
        F = np.empty_like(F)
        for learn, judge in folds:
            F[judge] = columns(code).fit(X[learn], y[learn]).column_outputs(X[judge])
    return decoder.fit(F, y, code)


def accuracies(kind, code_name, data, fold):
    """Lines of accuracy in percent: one for each condition and decoder."""
    X, y, X_test, y_test = data
    code = code_of(code_name, int(y.max()) + 1, fold)
    for condition, rows, labels in conditions(y, fold):
        if len(np.unique(labels)) != code.n_classes:
            continue
        model = COLUMNS[kind](code).fit(X[rows], labels)
        F, F_test = model.column_outputs(X[rows]), model.column_outputs(X_test)
        for name in DECODERS_COMPARED:
            decoder = learned(name, COLUMNS[kind], X[rows], labels, code, F)
            right = decoder.scores(F_test, code).argmax(axis=1) == y_test
            yield {
                "condition": condition,
                "fold": fold,
                "decoder": name,
                "accuracy": 100 * float(right.mean()),
            }


def measure(cell, quick):
    """All lines of a cell."""
    name, kind, code_name = cell.split(", ")
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for fold in range(1 if quick else N_FOLDS):
            lines += accuracies(kind, code_name, fold_data(name, fold), fold)
    return {"lines": lines}


def differences(records):
    """Mean points against hinge decoding: ``{(set, columns, code, condition, decoder): mean}``."""
    found = {}
    for cell, record in records.items():
        by_fold = {(r["condition"], r["fold"], r["decoder"]): r["accuracy"] for r in record["lines"]}
        for (condition, fold, decoder), accuracy in by_fold.items():
            key = (*cell.split(", "), condition, decoder)
            found.setdefault(key, []).append(accuracy - by_fold[condition, fold, REFERENCE])
    return {key: float(np.mean(points)) for key, points in found.items()}


def rows(records):
    """Nothing has a target."""
    return []


def tables(records):
    """Mean points by columns, code and condition, over the tables."""
    found = differences(records)
    groups = sorted({key[1:4] for key in found}, key=str)
    lines = []
    for group in groups:
        line = dict(zip(("columns", "code", "learned from"), group))
        for decoder in DECODERS_COMPARED:
            points = [value for key, value in found.items() if key[1:] == (*group, decoder)]
            if points and decoder != REFERENCE:
                line[decoder] = f"{np.mean(points):+.1f}"
        lines.append(line)
    return {"Points of accuracy against hinge decoding, means over the tables": lines}
