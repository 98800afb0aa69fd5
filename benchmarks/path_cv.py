"""PathCV beside scikit-learn's GridSearchCV: the digit 0 of USPS against the others, on two cores."""

import numpy as np
from clock import row, score, tell, timed
from datasets import zero_or_not
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from maxmargin import KernelSVC, PathCV, SparseKernelClassifier
from maxmargin.bandwidth import median_gamma

N_JOBS = 2


def gammas(X, n):
    """n of them around the median heuristic, a factor of 2 apart."""
    return median_gamma(X, np.random.default_rng(0)) * 2.0 ** (np.arange(n) - n // 2)


def compared(name, searches, peer, repeats, target):
    """Median times of fits in turn, and the best mean score of both; ``searches`` are ours and the peer's."""
    runs = [[timed(search) for search in searches] for _ in range(repeats)]
    ours, theirs = (np.median([run[k][0] for run in runs]) for k in range(2))
    best, peers_best = (100.0 * float(runs[0][k][1].best_score_) for k in range(2))
    return tell(
        [
            row(name, ours, peer, theirs, target),
            score(f"{name}: best mean accuracy", best, peer, peers_best),
        ]
    )


def exact(X, y, cv, repeats, quick):
    """The exact SVM: 8 values of C and 5 of gamma."""
    grid = {"C": np.geomspace(0.01, 1000, 3 if quick else 8), "gamma": gammas(X, 2 if quick else 5)}
    searches = (
        lambda: PathCV(KernelSVC(), Cs=grid["C"], gammas=grid["gamma"], cv=cv, n_jobs=N_JOBS).fit(X, y),
        lambda: GridSearchCV(SVC(), grid, cv=cv, n_jobs=N_JOBS).fit(X, y),
    )
    size = f"{cv.n_splits} x {len(grid['C'])} x {len(grid['gamma'])}"
    return compared(f"PathCV, KernelSVC, USPS0, {size}", searches, "GridSearchCV(SVC)", repeats, 10)


def budgeted(X, y, cv, repeats, quick):
    """At most 50 support vectors: 6 values of alpha and 3 of gamma."""
    grid = {"alpha": 10.0 ** -np.arange(1.0, 3 if quick else 7), "gamma": gammas(X, 1 if quick else 3)}
    model = SparseKernelClassifier(budget=10 if quick else 50, random_state=0)
    searches = (
        lambda: PathCV(model, alphas=grid["alpha"], gammas=grid["gamma"], cv=cv, n_jobs=N_JOBS).fit(X, y),
        lambda: GridSearchCV(model, grid, cv=cv, n_jobs=N_JOBS).fit(X, y),
    )
    size = f"{cv.n_splits} x {len(grid['alpha'])} x {len(grid['gamma'])}"
    return compared(f"PathCV, budgeted, USPS0, {size}", searches, "GridSearchCV around it", repeats, 3)


def run(repeats, quick):
    X, y = zero_or_not()
    X, y = (X[:400], y[:400]) if quick else (X, y)
    cv, repeats = StratifiedKFold(2 if quick else 5), 1 if quick else min(repeats, 3)
    return [*exact(X, y, cv, repeats, quick), *budgeted(X, y, cv, repeats, quick)]
