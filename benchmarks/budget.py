"""SparseKernelClassifier: accuracy at a budget, and time against exact SVMs and Nystroem pipelines.

Fits that take more than a few seconds are run once or, where a ratio has a target, three times in turn. Peers
are tuned over three values on a tenth of the training rows; that search is a part of their time, as choosing
alpha is of ours. At larger budgets they keep the value that was best at the first, and search no more.
"""

import multiprocessing
import resource
import sys
import time
import warnings

import numpy as np
from clock import row, score
from datasets import adult, covtype, mnist, mnist_test
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as PeerLinearSVC

from maxmargin import LinearSVC, SparseKernelClassifier, _native

try:
    from sklearnex.svm import SVC as IntelSVC
except ImportError:
    IntelSVC = None

EXACT = {"C": 10.0, "gamma": 0.02}
ACCURACY = {300: 96.3, 1000: 97.8, 2000: 98.2}


def timed(function):
    """Seconds, and what the function returns."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def percent(model, X, y):
    return 100.0 * float(model.score(X, y))


def tell(rows):
    for line in rows:
        print(line, file=sys.stderr, flush=True)  # minutes lie between them
    return rows


# ---- the published method ----


def published(X, y, repeats, budget, quick):
    """The fit against its own kernel blocks alone, and the kernel values it took."""
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


# ---- ten digits ----


def nystroem(budget, tail, X, y, X_test, y_test):
    """Seconds and accuracy of a pipeline, its one parameter tuned on a tenth of the rows."""
    parameter, grid, final = tail
    start = time.perf_counter()
    best = grid[len(grid) // 2]
    if len(grid) > 1:
        A, B, a, b = train_test_split(X, y, test_size=0.1, random_state=0, stratify=y)
        features = Nystroem(gamma=EXACT["gamma"], n_components=budget, random_state=0).fit(A)
        FA, FB = features.transform(A), features.transform(B)
        scores = [clone(final).set_params(**{parameter: value}).fit(FA, a).score(FB, b) for value in grid]
        best = grid[int(np.argmax(scores))]
    features = Nystroem(gamma=EXACT["gamma"], n_components=budget, random_state=0)
    model = make_pipeline(features, clone(final).set_params(**{parameter: best}))
    model.fit(X, y)
    seconds = time.perf_counter() - start
    return seconds, percent(model, X_test, y_test), best


def digits(n_train, budgets, repeats, quick):
    X, y = mnist(n_train)
    X_test, y_test = mnist_test()
    peers = {
        "Nystroem + LinearSVC": ("C", [0.1, 1.0, 10.0], PeerLinearSVC(dual=False, tol=1e-3)),
        "Nystroem + SGD": ("alpha", [1e-4, 1e-5, 1e-6], SGDClassifier(random_state=0, n_jobs=2)),
    }
    rows = []
    for budget in budgets:

        def fit(budget=budget):
            return SparseKernelClassifier(budget, n_jobs=2, random_state=0).fit(X, y)

        seconds, model = timed(fit)
        accuracy = percent(model, X_test, y_test)
        target = None if quick else ACCURACY[budget]
        name = f"ten digits, B = {budget}"
        rows += tell([score(f"{name}: accuracy", accuracy, "", None, target)])
        if budget == 1000 and IntelSVC is not None:
            rows += tell(against_exact(fit, model, accuracy, X, y, X_test, y_test, repeats, name))
        if budget > 1000:
            del peers["Nystroem + LinearSVC"]  # several minutes
        for peer, (parameter, grid, final) in peers.items():
            spent, theirs, best = nystroem(budget, (parameter, grid, final), X, y, X_test, y_test)
            peers[peer] = (parameter, [best], final)
            rows += tell(pair(name, seconds, accuracy, peer, spent, theirs, quick))
    if not quick:
        rows += tell(subsampled(X, y, X_test, y_test, seconds, accuracy, f"ten digits, B = {budgets[-1]}"))
    return rows


def pair(name, ours, accuracy, peer, peer_seconds, peer_accuracy, quick):
    return [
        row(f"{name}: fit", ours, peer, peer_seconds, None if quick else 1.0),
        score(f"{name}: accuracy", accuracy, peer, peer_accuracy, None if quick else peer_accuracy),
    ]


def against_exact(fit, model, accuracy, X, y, X_test, y_test, repeats, name):
    """Fit and prediction against the fastest exact SVM there is, in turn."""
    exact = IntelSVC(**EXACT)
    fits = [(timed(lambda: exact.fit(X, y))[0], timed(fit)[0]) for _ in range(3)]
    theirs, ours = np.median(fits, axis=0)
    predictions = [
        (timed(lambda: exact.predict(X_test))[0], timed(lambda: model.predict(X_test))[0])
        for _ in range(max(repeats, 3))
    ]
    slow, fast = np.median(predictions, axis=0)
    peer = f"scikit-learn-intelex SVC, {int(np.sum(exact.n_support_))} support vectors"
    return [
        row(f"{name}: fit", ours, peer, theirs, 4.0),
        row(f"{name}: predict", fast, peer, slow, 8.0),
        score(f"{name}: accuracy", accuracy, peer, percent(exact, X_test, y_test), None),
    ]


def subsampled(X, y, X_test, y_test, seconds, accuracy, name):
    """The exact SVM on as many rows as it can fit in our time."""
    n, spent, model = 2000, 0.0, None
    while n <= len(y):
        took, fitted = timed(lambda n=n: SVC(**EXACT).fit(X[:n], y[:n]))
        if model is not None and took > seconds:
            break
        model, spent, kept, n = fitted, took, n, 2 * n
    peer = f"scikit-learn SVC on {kept:,} rows, {spent:.0f} s"
    return [score(f"{name}: accuracy", accuracy, peer, percent(model, X_test, y_test), None)]


# ---- income, forests, wrong labels ----


def incomes(quick):
    data = adult()
    if data is None:
        return []
    X, y, X_test, y_test = data
    rows = []
    for budget, move, target in ((25, False, 84.8), (100, False, 85.1), (10, True, 84.9)):
        if quick and budget == 100:
            continue
        n = 4000 if quick else X.shape[0]
        model = SparseKernelClassifier(budget, move_centers=move, n_jobs=2, random_state=0)
        seconds, model = timed(lambda n=n, model=model: model.fit(X[:n], y[:n]))
        name = f"Adult, B = {budget}{', moved centres' if move else ''} ({seconds:.1f} s): accuracy"
        rows += tell([score(name, percent(model, X_test, y_test), "", None, None if quick else target)])
    return rows


def forest_fit(n_train, budget, queue):
    """In a process of its own: seconds, accuracy, and the peak of memory in GiB."""
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
    budget, sizes = (100, (2_000, 8_000)) if quick else (1000, (50_000, 500_000))
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
    rows, ours, theirs, budget = [], [], [], 50 if quick else 1000
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
    n = 2_000 if quick else 60_000
    X, y = mnist(n)
    budgets = (50, 100) if quick else tuple(ACCURACY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers that stop early
        rows = tell(published(X, (y == 8).astype(int), repeats, 50 if quick else 500, quick))
        rows += digits(n, budgets, repeats, quick)
        rows += incomes(quick) + wrong_labels(n, quick) + forests(quick)
    return rows
