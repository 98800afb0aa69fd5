"""SparseKernelClassifier on ten digits: accuracy at a budget, time against exact SVMs and Nystroem pipelines.

The fit whose ratio has a target alternates three times with its peer; the others run once. Nystroem pipelines
are tuned over three values on a tenth of the training rows. Their time includes that search, as ours includes
choosing alpha. LinearSVC is left out beyond 300 components, where it takes minutes.
"""

import time
import warnings

import numpy as np
from clock import percent, row, score, tell, timed
from datasets import mnist, mnist_test
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as PeerLinearSVC

from maxmargin import SparseKernelClassifier

try:
    from sklearnex.svm import SVC as IntelSVC
except ImportError:
    IntelSVC = None

EXACT = {"C": 10.0, "gamma": 0.02}
ACCURACY = {300: 96.3, 1000: 97.8, 2000: 98.2}


def nystroem(budget, tail, X, y, X_test, y_test):
    """Seconds and accuracy of a pipeline, its one parameter tuned on a tenth of the rows."""
    parameter, grid, final = tail
    start = time.perf_counter()
    A, B, a, b = train_test_split(X, y, test_size=0.1, random_state=0, stratify=y)
    features = Nystroem(gamma=EXACT["gamma"], n_components=budget, random_state=0).fit(A)
    FA, FB = features.transform(A), features.transform(B)
    scores = [clone(final).set_params(**{parameter: value}).fit(FA, a).score(FB, b) for value in grid]
    best = grid[int(np.argmax(scores))]
    features = Nystroem(gamma=EXACT["gamma"], n_components=budget, random_state=0)
    model = make_pipeline(features, clone(final).set_params(**{parameter: best}))
    model.fit(X, y)
    seconds = time.perf_counter() - start
    return seconds, percent(model, X_test, y_test)


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
        if budget > 300:
            peers.pop("Nystroem + LinearSVC", None)
        for peer, tail in peers.items():
            spent, theirs = nystroem(budget, tail, X, y, X_test, y_test)
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
    """Fit and prediction, alternating with the fastest exact SVM available."""
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
    """The exact SVM on as many rows as it can fit in the same time."""
    n, spent, model = 2000, 0.0, None
    while n <= len(y):
        took, fitted = timed(lambda n=n: SVC(**EXACT).fit(X[:n], y[:n]))
        if model is not None and took > seconds:
            break
        model, spent, kept, n = fitted, took, n, 2 * n
    peer = f"scikit-learn SVC on {kept:,} rows, {spent:.0f} s"
    return [score(f"{name}: accuracy", accuracy, peer, percent(model, X_test, y_test), None)]


def run(repeats=5, quick=False):
    if mnist(1) is None:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers that stop early
        return digits(800 if quick else 60_000, (20, 40) if quick else tuple(ACCURACY), repeats, quick)
