"""The top-k SVM to a relative gap of 1e-3: against block QP, Frank-Wolfe, and LIBLINEAR's Crammer-Singer.

All use one thread, no intercept and C = 1, that is alpha = 1/n. Seconds are processor time, so that other
load on the machine does not matter. Peers run in turn with ours. Block QP and LIBLINEAR are stopped after
``MAX_PEER_TIMES_OURS`` times our time, Frank-Wolfe after ``MAX_FRANK_WOLFE_SECONDS`` of wall-clock time. Such
a ratio is a lower bound, and its label says so.
"""

import time
import warnings

import numpy as np
from clock import row, tell
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from top_k_references import block_programs, fitted
from top_k_sets import FILES, load

TOL, K, C = 1e-3, 3, 1.0
MAX_PEER_TIMES_OURS, MAX_FRANK_WOLFE_SECONDS = 6.0, 120.0


def ours(X, y, k, solver="auto", limit=3600.0):
    """Seconds, and how the fit ended."""
    model, seconds = fitted(X, y, k, C, solver=solver, tol=TOL, limit=limit)
    return seconds, _words(model.n_iter_, "steps", model.dual_gap_)


def block_qp(X, y, k, most):
    """The same for block-coordinate ascent with a QP solver."""
    moments = block_programs(X, y, k, C, tol=TOL, limit=most)
    if not moments:
        return most, "no epoch finished"
    return moments[-1].seconds if moments[-1].gap <= TOL else most, _words(
        moments[-1].epochs, "epochs", moments[-1].gap
    )


def _words(n, what, gap):
    return f"{n} {what}" if gap <= TOL else f"{n} {what}, not converged: gap {gap:.1e}"


def liblinear(X, y, tol):
    """Seconds and objective (on the scale of ours) of scikit-learn's Crammer-Singer."""
    model = LinearSVC(
        C=C, multi_class="crammer_singer", fit_intercept=False, tol=tol, max_iter=1_000_000, random_state=0
    )
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    scores = X @ model.coef_.T
    own = scores[np.arange(len(y)), np.searchsorted(model.classes_, y)][:, None]
    loss = np.where(scores == own, 0.0, 1.0 + scores - own).max(axis=1)
    return seconds, 0.5 * np.sum(model.coef_**2) / (C * len(y)) + loss.mean()


def first_tol(X, y, goal, most):
    """The first tol of 0.1, 0.01, ... with which LIBLINEAR reaches the target; whether one does."""
    tol = 0.1
    while True:
        seconds, objective = liblinear(X, y, tol)
        if objective <= goal or seconds > most:
            return tol, objective <= goal
        tol *= 0.1


def in_turn(functions, repeats):
    """Median seconds of each, and how the last run ended."""
    rounds = [[function() for function in functions] for _ in range(repeats)]
    return [(float(np.median([s for s, _ in column])), column[-1][1]) for column in zip(*rounds)]


def against_methods(name, X, y, repeats):
    """Two rows: block QP and Frank-Wolfe."""
    most = MAX_PEER_TIMES_OURS * max(ours(X, y, K)[0], 0.05)
    functions = [
        lambda: ours(X, y, K),
        lambda: block_qp(X, y, K, most),
        lambda: ours(X, y, K, "frank-wolfe", MAX_FRANK_WOLFE_SECONDS),
    ]
    (mine, end), (qp, qp_end), (wolfe, wolfe_end) = in_turn(functions, repeats)
    label = f"top-{K} SVM, {name} {X.shape[0]:,} x {X.shape[1]:,}, {end}"
    return [
        row(label, mine, f"block QP (piqp), {qp_end}", qp, 5.0),
        row(label, mine, f"Frank-Wolfe, {wolfe_end}", wolfe, 2.0),
    ]


def against_liblinear(name, X, y, repeats):
    """One row, k = 1."""
    model, seconds = fitted(X, y, 1, C, tol=TOL)
    goal = (1.0 + TOL) * model.objective_
    tol, reached = first_tol(X, y, goal, MAX_PEER_TIMES_OURS * seconds)
    functions = [lambda: ours(X, y, 1), lambda: liblinear(X, y, tol)]
    (mine, end), (peer, _) = in_turn(functions, repeats)
    words = f"scikit-learn crammer_singer, tol {tol:.0e}" + ("" if reached else ", objective not reached")
    return [row(f"top-1 SVM, {name}, {end}", mine, words, peer, 1.0)]


def run(repeats=3, quick=False):
    """Rows for all data sets that are available."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name in ("letter",) if quick else FILES:
            data = load(name)
            if data is None:
                continue
            X, y = (data[0][:150], data[1][:150]) if quick else data[:2]
            rows += tell(against_methods(name, X, y, min(repeats, 3)))
            rows += tell(against_liblinear(name, X, y, min(repeats, 3)))
    return rows
