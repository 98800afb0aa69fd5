"""How the time of a fit grows with rows, features, classes and columns of a code: fitted exponents.

Rows are two noisy classes with a curved boundary in ten features; features are added as noise to 4,000 rows;
classes are Gaussian blobs, a fixed number of rows in all or for each class; columns are those of a random
dense code over 16 blobs. The exponent is the slope of a line through log time against log size, over fits of
0.1 s or more where there are three. A fit runs once, or three times below ten seconds. What it should be:

* ``SparseKernelClassifier(budget)`` needs kernel values of all rows with a fixed number of support vectors:
  exponent 1 in rows, 1 in features once products outweigh the rest, 1 or less in classes and columns, which
  share the support vectors.
* ``LinearSVC`` goes over all rows a number of times that hardly grows: 1 in rows and features, 1 in classes.
* ``KernelSVC`` computes kernel rows of all rows with its support vectors, whose number is proportional to
  the rows where labels are noisy: 2 in rows, 1 in features. One-vs-one over rows of a fixed number in all
  solves k (k - 1) / 2 problems of 2 n / k rows each, n^2 together whatever k: about 0 in classes; with a
  fixed number of rows for each class, 2.
"""

import warnings
from functools import partial

import numpy as np
from clock import score, turns

from maxmargin import KernelSVC, LinearSVC, OutputCodeClassifier, SparseKernelClassifier
from maxmargin.codes import Code

TITLE = "How the cost of a fit grows"
LIMIT_SECONDS = 600
MAX_FIT_SECONDS = 60  # a series ends with the first fit that takes longer
MIN_SECONDS = 0.1
BUDGET = 100


def budgeted():
    return SparseKernelClassifier(BUDGET, alpha=1e-4, random_state=0)


MODELS = {
    "SparseKernelClassifier(100)": budgeted,
    "LinearSVC": lambda: LinearSVC(tol=1e-3, random_state=0),
    "KernelSVC": lambda: KernelSVC(1.0, gamma=0.1),
}
ROWS, QUICK_ROWS = (10_000, 25_000, 50_000, 100_000, 200_000, 400_000), (200, 400, 800)
FEATURES, QUICK_FEATURES = (25, 100, 400, 1_600), (5, 10, 20)
CLASSES, QUICK_CLASSES = (4, 16, 64, 128), (2, 4, 8)
COLUMNS, QUICK_COLUMNS = (12, 24, 48, 96), (12, 16, 24)


def curved(n, d=10, seed=0):
    """Two classes with a curved boundary and a tenth of the labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0
    return X, (y ^ (rng.random(n) < 0.1)).astype(int)


def blobs(n, n_classes, d=16, seed=0):
    """Overlapping Gaussian classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return (2.0 * rng.standard_normal((n_classes, d))[y] + rng.standard_normal((n, d))).astype(np.float32), y


def series(what, quick):
    """Sizes, and a function from a size to data and a change of the model."""
    n = 400 if quick else 4_000
    return {
        "rows": (QUICK_ROWS if quick else ROWS, lambda size: curved(size)),
        "features": (QUICK_FEATURES if quick else FEATURES, lambda size: curved(n, size)),
        "classes": (QUICK_CLASSES if quick else CLASSES, lambda size: blobs(n, size)),
        "classes of 50 rows": (QUICK_CLASSES if quick else CLASSES, lambda size: blobs(50 * size, size)),
        "columns": (QUICK_COLUMNS if quick else COLUMNS, lambda size: blobs(n, 16)),
    }[what]


CELLS = [
    *(
        f"{what}, {model}"
        for what in ("rows", "features", "classes", "classes of 50 rows")
        for model in MODELS
    ),
    *(f"columns, {model}" for model in ("LinearSVC", "KernelSVC")),
]


def cells(suite):
    if suite == "quick":
        return [cell for cell in CELLS if cell.endswith(" LinearSVC")]
    return CELLS if suite == "bench" else []


def estimator(what, model, size, n_classes):
    made = MODELS[model]()
    if what != "columns":
        return made
    return OutputCodeClassifier(made, code=Code.dense_random(n_classes, size, random_state=0))


def measure(cell, quick):
    what, model = cell.split(", ")
    sizes, data = series(what, quick)
    seconds = {}
    for size in sizes:
        X, y = data(size)
        fit = partial(estimator(what, model, size, len(np.unique(y))).fit, X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not converged at a loose tolerance
            seconds[str(size)] = turns({"fit": fit}, n_turns=1 if quick else None)["fit"]["seconds"]
        if seconds[str(size)] > MAX_FIT_SECONDS:
            break
    return {"seconds": seconds}


def exponent(seconds):
    """The slope in logarithms, over fits that are long enough to count."""
    pairs = [(float(size), took) for size, took in seconds.items() if took >= MIN_SECONDS]
    pairs = pairs if len(pairs) >= 3 else [(float(size), took) for size, took in seconds.items()]
    logs = np.log(np.array(pairs))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def rows(records):
    return [
        score(f"exponent in {cell}", exponent(record["seconds"]), "", None, unit="")
        for cell, record in records.items()
        if len(record["seconds"]) > 1
    ]


def tables(records):
    found = {}
    for cell, record in records.items():
        what, model = cell.split(", ")
        seconds = {f"{int(size):,}": f"{took:.3g} s" for size, took in record["seconds"].items()}
        slope = f"{exponent(record['seconds']):.2f}" if len(seconds) > 1 else ""
        found.setdefault(f"Seconds of a fit, {what}", []).append(
            {"model": model, **seconds, "exponent": slope}
        )
    return found
