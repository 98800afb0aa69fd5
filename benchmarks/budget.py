"""SparseKernelClassifier: overhead of the published method, Adult, label noise, half a million rows.

Fits that take more than a few seconds are run once.
"""

import multiprocessing
import resource
import warnings

import numpy as np
from clock import percent, row, score, tell, timed
from datasets import adult, covtype, mnist, mnist_test

from maxmargin import LinearSVC, SparseKernelClassifier, _native

# ---- the published method ----


def published(X, y, repeats, budget, quick):
    """The fit against its kernel blocks alone, and the number of kernel values."""
    model = SparseKernelClassifier.as_published(
        budget, alpha=1e-2, gamma=0.01, back_fit=len(y) // budget, n_jobs=2, random_state=0
    )
    calls, original = [], _native.kernel_block

    def recording(A, Z, kernel, **options):
        calls.append((A, Z, kernel, options))
        return original(A, Z, kernel, **options)

    _native.kernel_block = recording
    try:
        model.fit(X, y)
    finally:
        _native.kernel_block = original

    def replay():
        for A, Z, kernel, options in calls:
            original(A, Z, kernel, **options)

    pairs = [(timed(lambda: model.fit(X, y))[0], timed(replay)[0]) for _ in range(max(repeats, 3))]
    fit, blocks = np.median(pairs, axis=0)
    n_values = model.history_[0][-1].kernel_values
    m, B, T = 60, budget, len(y) // budget
    bound = m * B * (B - 1) // 2 + T * B * (B + 1) // 2
    name = f"published method, MNIST8, B = {B}, T = {T}"
    return [
        row(f"{name}: fit", fit, "its kernel blocks alone", blocks, None if quick else 1.7, at_most=True),
        score(
            f"{name}: kernel values", n_values, "m B(B-1)/2 + T B(B+1)/2", bound, bound, at_most=True, unit=""
        ),
    ]


# ---- Adult, covtype, label noise ----


def incomes(quick):
    data = adult()
    if data is None:
        return []
    X, y, X_test, y_test = data
    rows = []
    for budget, move, target in ((25, False, 84.8), (100, False, 85.1), (10, True, 84.9)):
        if quick and budget == 100:
            continue
        n = 1000 if quick else X.shape[0]
        model = SparseKernelClassifier(budget, move_centers=move, n_jobs=2, random_state=0)
        seconds, model = timed(lambda n=n, model=model: model.fit(X[:n], y[:n]))
        name = f"Adult, B = {budget}{', moved centres' if move else ''} ({seconds:.1f} s): accuracy"
        rows += tell([score(name, percent(model, X_test, y_test), "", None, None if quick else target)])
    return rows


def forest_fit(n_train, budget, queue):
    """Seconds, accuracy and peak memory in GiB of a fit in its own process."""
    X, y, X_test, y_test = covtype(n_train)
    model = SparseKernelClassifier(
        budget, gamma=0.1, n_jobs=2, random_state=0
    )  # twice the median heuristic's
    seconds, _ = timed(lambda: model.fit(X, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    linear = LinearSVC(loss="squared-hinge", tol=1e-2, n_jobs=2).fit(X, y)
    queue.put((seconds, percent(model, X_test, y_test), peak, percent(linear, X_test, y_test)))


def forests(quick):
    if covtype(10) is None:
        return []
    budget, sizes = (30, (500, 1_000)) if quick else (1000, (50_000, 500_000))
    context, results = multiprocessing.get_context("spawn"), []
    for size in sizes:
        queue = context.Queue()
        process = context.Process(target=forest_fit, args=(size, budget, queue))
        process.start()
        results.append(queue.get())
        process.join()
    (small, *_), (large, accuracy, peak, linear) = results
    name, times = f"covtype, {sizes[1]:,} rows, B = {budget}", sizes[1] / sizes[0]
    goal = None if quick else linear + 8.0
    return tell(
        [
            score(f"{name}: accuracy", accuracy, "linear SVM", linear, goal),
            score(f"{name}: peak memory", peak, "", None, 3.0, at_most=True, unit=" GiB"),
            row(
                f"{name}: fit",
                large,
                f"{times:.0f} times {sizes[0]:,} rows",
                times * small,
                None if quick else 1.2,
                at_most=True,
            ),
        ]
    )


def wrong_labels(n_train, quick):
    """Digit 8 or not, some training labels flipped."""
    X, y = mnist(n_train)
    X_test, y_test = mnist_test()
    y, y_test = (y == 8).astype(int), (y_test == 8).astype(int)
    flips = np.random.default_rng(0).random(len(y))
    rows, ours, theirs, budget = [], [], [], 20 if quick else 1000
    for share, allowed in ((0.0, None), (0.1, 0.5), (0.3, 1.5)):
        noisy = np.where(flips < share, 1 - y, y)
        model = SparseKernelClassifier(budget, n_jobs=2, random_state=0).fit(X, noisy)
        loss = SparseKernelClassifier.as_published(
            budget, selection="loss", back_fit=None, gamma=0.01, n_jobs=2, random_state=0
        ).fit(X, noisy)
        ours.append(percent(model, X_test, y_test))
        theirs.append(percent(loss, X_test, y_test))
        target = None if quick or allowed is None else ours[0] - allowed
        peer = "published, loss selection, no back-fit"
        rows += tell(
            [
                score(
                    f"MNIST8, B = {budget}, {share:.0%} flipped: accuracy", ours[-1], peer, theirs[-1], target
                )
            ]
        )
    return rows


def run(repeats=5, quick=False):
    if mnist(1) is None:
        return []
    n = 800 if quick else 60_000
    X, y = mnist(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers that stop early
        rows = tell(published(X, (y == 8).astype(int), repeats, 50 if quick else 500, quick))
        rows += incomes(quick) + wrong_labels(n, quick) + forests(quick)
    return rows
