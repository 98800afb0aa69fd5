"""The published budgeted algorithms transcribed step by step, and the solver compared with them."""

from functools import partial

import numpy as np

from maxmargin.methods.budget.incremental import CandidatePool, incremental
from maxmargin.methods.budget.selectors import SELECTORS, Candidates
from maxmargin.solving.result import Stop

from .budget_problems import noisy as rows_and_targets
from .budget_problems import problem_of as budget_problem

STOP = Stop(max_iter=500)
UPDATES = {
    "perceptron": lambda y, f: y if y * f <= 0 else 0.0,
    "hinge": lambda y, f: y if y * f < 1 else 0.0,
    "squared-hinge": lambda y, f: y * (1 - y * f) if y * f < 1 else 0.0,
    "log": lambda y, f: y / (1 + np.exp(y * f)),
    "squared": lambda y, f: y - f,
}


noisy = partial(rows_and_targets, d=4)


def problem_of(X, Y, weight, loss="hinge", alpha=0.05, kernel=None, n_threads=1):
    return budget_problem(X, Y, weight, loss, alpha, kernel, n_threads)


def transcription(problem, K, budget, selection, back_fit, m, seed, coef=None, t=1):
    """Algorithms 1 and 2 as printed; after every step S, the coefficients of S, and t.

    K has a column for every row, then one for every point given.
    """
    Y, update, lam = problem.targets, UPDATES[problem.loss.name], problem.alpha
    n, n_columns = Y.shape
    a, S, t = np.zeros((K.shape[1], n_columns)), list(range(n, K.shape[1])), np.full(n_columns, t)
    if coef is not None:
        a[n:] = coef
    pool, met, after = CandidatePool(problem.weight, []), t.max(), []
    A = pool.distinct(np.random.default_rng([seed, met, 1]), m)
    while len(S) < budget and pool.n_left and len(after) < 200:
        rng = np.random.default_rng([seed, met])
        i = A[SELECTORS[selection](Candidates.of(K[A] @ a, Y[A], problem.loss), rng) or 0]
        u = np.array([update(y, f) if y else 0.0 for y, f in zip(Y[i], K[i] @ a)])
        for c in np.flatnonzero(Y[i]):
            eta = 1 / (lam * t[c])
            a[:, c] = (1 - eta * lam) * a[:, c]
            a[i, c] = eta * u[c]
            t[c] += 1
        if u.any():
            pool.remove(i)
            S.append(i)
        for i in pool.repeated(rng, back_fit) if back_fit else []:
            for c in np.flatnonzero(Y[i]):
                u, eta = update(Y[i, c], K[i] @ a[:, c]), 1 / (lam * t[c])
                a[:, c] = (1 - eta * lam) * a[:, c]
                a[S, c] += eta * u * K[i, S]
                t[c] += 1
        A = pool.distinct(rng, m)
        met += 1 + (back_fit or 0)
        after.append((list(S), a[S].copy(), t.copy()))
    return after


def assert_same_steps(problem, K, budget, selection, back_fit, m=8, seed=5, start=None):
    """Every check of the solver against the transcription's step of that number."""
    given = {} if start is None else {"coef": start.coef, "t": start.t}
    expected = transcription(problem, K, budget, selection, back_fit, m, seed, **given)
    n_given = 0 if start is None else len(start.coef)
    n_seen = 0

    def compare(check, state):
        nonlocal n_seen
        if check.n_iter == 0 or check.n_iter > len(expected):
            return
        S, a, t = expected[check.n_iter - 1]
        n_seen += 1
        assert state.n_support == check.n_support == len(S)
        assert list(state.support[n_given : state.n_support]) == S[n_given:]
        assert list(state.t) == list(t)
        mine = (state.scale[:, None] * state.a[:, : state.n_support]).T
        np.testing.assert_allclose(mine, a, rtol=1e-8, atol=1e-9 * np.abs(a).max())

    result = incremental(
        problem,
        budget=budget,
        selection=selection,
        back_fit=back_fit,
        n_candidates=m,
        stop=STOP,
        seed=seed,
        start=start,
        callback=compare,
    )
    assert n_seen >= min(budget - n_given, len(expected))
    return result, expected


def back_fit_twin(K, targets, loss, alpha, a, t):
    """One column at a time, with no scale."""
    for k, y in zip(K.astype(float), targets):
        for c in np.flatnonzero(y):
            u = UPDATES[loss](y[c], k @ a[c, : len(k)])
            a[c] = (1 - 1 / t[c]) * a[c]
            a[c, : len(k)] += u / (alpha * t[c]) * k
            t[c] += 1
    return a, t
