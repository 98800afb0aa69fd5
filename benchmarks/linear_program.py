"""LinearProgramSVC against handing HiGHS the whole program, to the same optimum.

The whole program is given in the textbook's form (w+, w-, b, xi) and, as the best that can be done by hand,
as its dual, which has one row for each feature. Simplex and interior points are both tried; the faster one is
the peer. It takes a minute or more, so it runs once, between runs of ours. If the time limit stops a peer,
the ratio is a lower bound and its label says so.
"""

import time

import highspy
import numpy as np
from clock import row, score, tell
from scipy import sparse

from maxmargin import LinearProgramSVC

MAX_PEER_SECONDS = 300.0  # seconds of a peer
SOLVERS = ("simplex", "ipm")


def made(n, d, informative=20, seed=0):
    """Two noisy classes that differ along some of the features; the optimum uses about those."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    w = np.zeros(d)
    w[:informative] = rng.choice([-1, 1], informative) * rng.uniform(0.5, 1.5, informative)
    noise = 0.3 * np.sqrt(informative) * rng.normal(size=n)
    return X, np.where(X @ w + 0.5 + noise > 0, 1.0, -1.0)


def textbook(X, y, C):
    """Costs, bounds of columns, bounds of rows, matrix of the program in (w+, w-, b, xi)."""
    n, d = X.shape
    YX = y[:, None] * X
    A = sparse.hstack([sparse.csc_array(np.hstack([YX, -YX, y[:, None]])), sparse.eye_array(n)], format="csc")
    cost = np.concatenate([np.ones(2 * d), [0.0], np.full(n, C)])
    lower = np.zeros(2 * d + 1 + n)
    lower[2 * d] = -np.inf
    return cost, (lower, np.full(len(cost), np.inf)), (np.ones(n), np.full(n, np.inf)), A


def dual(X, y, C):
    """The same for its dual, which minimises minus the sum of the multipliers."""
    n, d = X.shape
    A = sparse.csc_array(np.vstack([(y[:, None] * X).T, y[None, :]]))
    bound = np.append(np.ones(d), 0.0)
    return -np.ones(n), (np.zeros(n), np.full(n, C)), (-bound, bound), A


def highs(program, solver):
    """Seconds, whether it was solved, and the objective."""
    cost, columns, rows, A = program
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(cost), len(rows[0])
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, *columns
    lp.row_lower_, lp.row_upper_ = rows
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    solve = highspy.Highs()
    solve.silent()
    solve.setOptionValue("solver", solver)
    solve.setOptionValue("time_limit", MAX_PEER_SECONDS)
    solve.passModel(lp)
    start = time.perf_counter()
    solve.run()
    seconds = time.perf_counter() - start
    solved = solve.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return seconds, solved, abs(solve.getInfo().objective_function_value)


def fit(X, y, C):
    start = time.perf_counter()
    model = LinearProgramSVC(C=C, tol=1e-8, n_jobs=1).fit(X, y)
    return time.perf_counter() - start, model


def compare(n, d, C, repeats):
    """Ours against both forms, run in turn."""
    X, y = made(n, d)
    times, model = [], None
    peers = {"the textbook's program": textbook(X, y, C), "its dual": dual(X, y, C)}
    rows = []
    for name, program in peers.items():
        tried = []
        for solver in SOLVERS:
            times += [fit(X, y, C)[0] for _ in range(max(1, repeats // 2))]
            tried.append((*highs(program, solver), solver))
        seconds, solved, objective, solver = min(tried, key=lambda t: (not t[1], t[0]))
        spent, model = fit(X, y, C)
        times.append(spent)
        assert not solved or abs(model.objective_ - objective) <= 1e-7 * objective
        peer = f"HiGHS {solver}, {name}, whole" + ("" if solved else " (stopped)")
        label = f"LinearProgramSVC {n:,} x {d:,}, {model.n_nonzero_} features, gap {model.dual_gap_:.0e}"
        rows.append((label, peer, seconds))
    ours = float(np.median(times))
    (label, first, seconds), (_, second, fewer) = rows
    return [row(label, ours, first, seconds, 20.0), row(label, ours, second, fewer)]


def wide(n, d, C, repeats, limit=None):
    """A program that is never stored whole; its cost grows with the features that C admits."""
    X, y = made(n, d)
    tries = [fit(X, y, C) for _ in range(max(1, repeats // 2))]
    seconds, model = float(np.median([t for t, _ in tries])), tries[0][1]
    label = f"LinearProgramSVC {n:,} x {d:,}, {model.n_nonzero_} features, gap {model.dual_gap_:.0e}"
    return [score(label, seconds, "limit", limit, limit, at_most=True, unit=" s")]


def run(repeats=5, quick=False):
    if quick:
        return compare(500, 30, 0.05, 1) + wide(200, 1500, 0.1, 1, 60.0)
    rows = tell(compare(20_000, 500, 0.001, repeats))
    return rows + tell(wide(5_000, 20_000, 0.004, repeats, 60.0) + wide(5_000, 20_000, 0.01, 2))
