"""KernelEigenMap against scikit-learn's Nystroem: fit_transform of MNIST's digits, and the error of D D'.

Both are timed from the raw pixels to the features of all training rows. The error is the mean of
``|K - D D'|`` over a random block of K that has no diagonal in it, and the share of the trace left out.
"""

import sys

import numpy as np
from clock import interleaved, row, score, tell
from datasets import mnist
from sklearn.kernel_approximation import Nystroem

from maxmargin import KernelEigenMap
from maxmargin.kernels import RBF

N_THREADS = 2
GAMMA = 0.02


def errors(X, D, gamma, rng):
    """Mean absolute error on a block of at most 2,000 x 2,000, and the share of the trace left out, in %."""
    some = rng.permutation(len(X))[: min(4_000, len(X))]
    left, right = some[::2], some[1::2]
    K = RBF(gamma=gamma)(X[left].astype(np.float64), X[right].astype(np.float64), n_jobs=N_THREADS)
    D = D.astype(np.float64)
    return float(np.abs(D[left] @ D[right].T - K).mean()), 100.0 * (1.0 - float((D**2).sum()) / len(D))


def ours(n_components, gamma=GAMMA, seed=0, **options):
    return KernelEigenMap(n_components, gamma=gamma, random_state=seed, n_jobs=N_THREADS, **options)


def mean_errors(X, makers, gamma, n_seeds):
    """The errors of each maker's features, averaged over seeds; all makers share a block for each seed."""
    found = [
        [errors(X, make(seed).fit_transform(X), gamma, np.random.default_rng(seed)) for make in makers]
        for seed in range(n_seeds)
    ]
    return np.mean(found, axis=0)


def speed_rows(X, S, repeats):
    """Time, with the errors of what was timed."""
    makers = [
        lambda seed: ours(S, seed=seed, method="pivoted-cholesky"),
        lambda seed: Nystroem(n_components=S, gamma=GAMMA, random_state=seed),
        lambda seed: ours(S, seed=seed, method="landmarks"),
        lambda seed: ours(S, seed=seed, method="pivoted-cholesky", landmarks=S),
    ]
    seconds = interleaved([lambda make=make: make(0).fit_transform(X) for make in makers], repeats, rest=0.2)
    default, peer, uniform, equal = mean_errors(X, makers, GAMMA, n_seeds=2 if repeats < 5 else 3)
    n, name = f"{len(X):,} MNIST rows", f"KernelEigenMap({S})"
    return [
        row(f"{name}.fit_transform, {n}", seconds[0], f"Nystroem({S})", seconds[1], 2.0),
        row(f"{name}.fit_transform, uniform landmarks, {n}", seconds[2], f"Nystroem({S})", seconds[1]),
        score(f"{name}, mean error of K, {n}", default[0], f"Nystroem({S})", peer[0], peer[0], **AT_MOST),
        score(f"{name}, mean error of K, {n}", default[0], "uniform", uniform[0], uniform[0], **AT_MOST),
        score(f"{name}, trace left out, {n}", default[1], "uniform", uniform[1], uniform[1], at_most=True),
        score(f"{S} pivots, mean error of K, {n}", equal[0], f"{S} uniform", uniform[0], unit=""),
        score(f"{S} pivots, trace left out, {n}", equal[1], f"{S} uniform", uniform[1]),
    ]


AT_MOST = {"at_most": True, "unit": ""}


def decay_rows(X, S):
    """As many pivots as uniform landmarks, where eigenvalues fall faster: a wider kernel."""
    gamma = GAMMA / 10
    makers = [
        lambda seed, m=m: ours(S, gamma=gamma, seed=seed, method=m, landmarks=S)
        for m in ("pivoted-cholesky", "landmarks")
    ]
    pivots, uniform = mean_errors(X, makers, gamma, n_seeds=2)
    name = f"{S} pivots, gamma {gamma:g}, {len(X):,} MNIST rows"
    return [
        score(f"{name}, mean error of K", pivots[0], f"{S} uniform", uniform[0], unit=""),
        score(f"{name}, trace left out", pivots[1], f"{S} uniform", uniform[1]),
    ]


def run(repeats=5, quick=False):
    """The rows of the table."""
    n, S = (2_000, 50) if quick else (60_000, 500)
    data = mnist(n)
    if data is None:
        print("eigen_map: skipped, mnist.npz not found in MAXMARGIN_DATA", file=sys.stderr)
        return []
    X = data[0]
    return tell([*speed_rows(X, S, repeats), *decay_rows(X[: n // 3], S)])
