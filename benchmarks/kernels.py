"""The kernel engine against the bare product, scikit-learn and numpy: interleaved, two threads."""

import resource

import numpy as np
from clock import interleaved, row
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin import _native
from maxmargin.kernels import RBF

N_THREADS = 2
REST_SECONDS = 0.05


def rbf_rows(n_features, repeats, quick):
    rng = np.random.default_rng(0)
    n, m = (2_000, 1_000) if quick else (10_000, 2_000)
    X = rng.standard_normal((n, n_features), dtype=np.float32)
    Z = rng.standard_normal((m, n_features), dtype=np.float32)
    A = rng.standard_normal((m, 10), dtype=np.float32)
    out, bare, kernel = (
        np.empty((n, m), np.float32),
        np.empty((n, m), np.float32),
        RBF(gamma=0.5 / n_features),
    )
    block, matmul, product, peer, peer_matmul = interleaved(
        [
            lambda: _native.kernel_block(X, Z, kernel, out=out, n_threads=N_THREADS),
            lambda: _native.kernel_matmul(X, Z, A, kernel, n_threads=N_THREADS),
            lambda: np.matmul(X, Z.T, out=bare),
            lambda: rbf_kernel(X, Z, gamma=kernel.gamma),
            lambda: rbf_kernel(X, Z, gamma=kernel.gamma) @ A,
        ],
        repeats,
        rest=REST_SECONDS,
    )
    against_peer = 2.2 if n_features >= 100 else 8.0
    shape = f"{n:,} x {m:,}, {n_features} features, float32"
    rows = [
        row(f"rbf block, {shape}", block, "rbf_kernel", peer, against_peer),
        row(f"rbf K @ A, {shape}", matmul, "rbf_kernel @ A", peer_matmul, against_peer),
    ]
    if n_features >= 100:
        rows[:0] = [
            row(f"rbf block, {shape}", block, "bare product", product, 1.15, at_most=True),
            row(f"rbf K @ A, {shape}", matmul, "bare product", product, 1.15, at_most=True),
        ]
    return rows


def untargeted_rows(repeats, quick):
    """Rows that are centred first, and CSR rows as dense as MNIST and as text."""
    rng = np.random.default_rng(0)
    n, m = (1_000, 500) if quick else (5_000, 1_000)
    cases = [
        (f"offset by 10, {d} features", *(10 + rng.standard_normal((r, d), dtype=np.float32) for r in (n, m)))
        for d in (20, 784)
    ]
    for d, density in ((784, 0.19), (20_000, 0.001)):
        X, Z = (
            sparse.random(r, d, density, format="csr", dtype=np.float32, random_state=r, data_rvs=rng.random)
            for r in (n, m)
        )
        cases.append((f"CSR of density {density}, {d:,} features", X, Z))
    rows = []
    for name, X, Z in cases:
        kernel = RBF(gamma=0.5 / X.shape[1])
        ours, peer = interleaved(
            [
                lambda X=X, Z=Z, kernel=kernel: _native.kernel_block(X, Z, kernel, n_threads=N_THREADS),
                lambda X=X, Z=Z, kernel=kernel: rbf_kernel(X, Z, gamma=kernel.gamma),
            ],
            repeats,
            rest=REST_SECONDS,
        )
        rows.append(row(f"rbf block, {n:,} x {m:,}, {name}, float32", ours, "rbf_kernel", peer))
    return rows


def exp_rows(repeats):
    rows = []
    for dtype, target in ((np.float32, 4.0), (np.float64, 2.5)):
        for n in (2_000, 50_000, 1_000_000):
            x = np.random.default_rng(0).normal(scale=10, size=n).astype(dtype)
            out, loops = np.empty_like(x), max(1, 1_000_000 // n)
            ours, peer = interleaved(
                [
                    lambda x=x, out=out, loops=loops: [_native.exp(x, out) for _ in range(loops)],
                    lambda x=x, out=out, loops=loops: [np.exp(x, out=out) for _ in range(loops)],
                ],
                max(repeats, 9),
            )
            rows.append(
                row(f"exp, {n:,} values, {dtype.__name__}", ours / loops, "numpy.exp", peer / loops, target)
            )
    return rows


def peak_extra_megabytes(n):
    """What K @ A allocates beyond its arguments, by the growth of the resident set."""
    X = np.zeros((n, 784), np.float32)
    A = np.zeros((n, 10), np.float32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _native.kernel_matmul(X, X, A, RBF(gamma=0.1), n_threads=N_THREADS)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def run(repeats=5, quick=False):
    """The rows of the table."""
    return [
        *rbf_rows(784, repeats, quick),
        *rbf_rows(20, repeats, quick),
        *untargeted_rows(repeats, quick),
        *exp_rows(repeats),
    ]


def notes(quick=False):
    """What the table has no column for."""
    n = 2_000 if quick else 10_000
    whole, extra = 4 * n * n / 2**20, peak_extra_megabytes(n)
    return [f"K @ A, {n:,} x {n:,} rows (K would be {whole:.0f} MB): {extra:.0f} MB beyond the arguments."]
