"""PathCV beside scikit-learn's GridSearchCV: the digit 0 of USPS against the others, on two cores."""

import sys

import numpy as np
from clock import row, score, tell, timed
from datasets import zero_or_not
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from maxmargin import KernelSVC, PathCV, SparseKernelClassifier
from maxmargin.kernels.bandwidth import median_gamma

N_JOBS = 2
MAX_REPEATS = 3  # each takes minutes


def gammas(X, n):
    """n gammas around the median heuristic, a factor of 2 apart."""
    return median_gamma(X, np.random.default_rng(0)) * 2.0 ** (np.arange(n) - n // 2)


def told(text):
    """Print progress; there may be minutes between two lines."""
    print(text, file=sys.stderr, flush=True)


def compared(name, searches, peer, turns, target):
    """Median times of whole searches in turn, and whether ours found a point that is as good.

    ``searches`` are ours and the peer's, ``turns`` is how often each of them runs.
    """
    seconds = []
    for turn in range(turns):
        runs = [timed(search) for search in searches]
        seconds.append([run[0] for run in runs])
        told(f"{name}, turn {turn + 1} of {turns}: {seconds[-1][0]:.3g} s, {peer} {seconds[-1][1]:.3g} s")
    ours, theirs = np.median(seconds, axis=0)
    best, peers_best = (100.0 * float(search.best_score_) for _, search in runs)
    same = is_same_point(*(search.best_params_ for _, search in runs))
    words = "at the same point" if same else f"at {shown(runs[0][1])} and {shown(runs[1][1])}"
    found = score(f"{name}: best mean accuracy, {words}", best, peer, peers_best)
    found |= {"target": "same point, or no less", "met": same or best >= peers_best - 1e-9}
    return tell([row(name, ours, peer, theirs, target), found])


def is_same_point(ours, theirs):
    return ours.keys() == theirs.keys() and all(np.isclose(ours[key], theirs[key]) for key in ours)


def shown(search):
    return ", ".join(f"{key}={value:.3g}" for key, value in search.best_params_.items())


def exact(X, y, cv, turns, quick):
    """The exact SVM: 8 values of C and 5 of gamma."""
    grid = {"C": np.geomspace(0.01, 1000, 3 if quick else 8), "gamma": gammas(X, 2 if quick else 5)}
    searches = (
        lambda: PathCV(KernelSVC(), Cs=grid["C"], gammas=grid["gamma"], cv=cv, n_jobs=N_JOBS).fit(X, y),
        lambda: GridSearchCV(SVC(), grid, cv=cv, n_jobs=N_JOBS).fit(X, y),
    )
    size = f"{cv.n_splits} x {len(grid['C'])} x {len(grid['gamma'])}"
    return compared(f"PathCV, KernelSVC, USPS0, {size}", searches, "GridSearchCV(SVC)", turns, 10)


def budgeted(X, y, cv, turns, quick):
    """At most 50 support vectors: 8 values of alpha and 3 of gamma."""
    grid = {"alpha": 10.0 ** -np.arange(1.0, 3 if quick else 9), "gamma": gammas(X, 1 if quick else 3)}
    model = SparseKernelClassifier(budget=10 if quick else 50, random_state=0)
    searches = (
        lambda: PathCV(model, alphas=grid["alpha"], gammas=grid["gamma"], cv=cv, n_jobs=N_JOBS).fit(X, y),
        lambda: GridSearchCV(model, grid, cv=cv, n_jobs=N_JOBS).fit(X, y),
    )
    size = f"{cv.n_splits} x {len(grid['alpha'])} x {len(grid['gamma'])}"
    return compared(f"PathCV, budgeted, USPS0, {size}", searches, "GridSearchCV around it", turns, 3)


def run(repeats, quick):
    X, y = zero_or_not()
    X, y = (X[:400], y[:400]) if quick else (X, y)
    cv, turns = StratifiedKFold(2 if quick else 5), 1 if quick else MAX_REPEATS
    return [*exact(X, y, cv, turns, quick), *budgeted(X, y, cv, turns, quick)]
