"""The cache of kernel rows: its values, its limit and its order of eviction."""

import tracemalloc

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.svm_problems import naive

from maxmargin.kernels import RBF, Precomputed
from maxmargin.kernels.data import KernelData
from maxmargin.methods.kernel_svm.row_cache import RowCache


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    limit=st.sampled_from([1, 500, 2_000, 6_000, 10**6]),
    precomputed=st.booleans(),
    single=st.booleans(),
)
def test_cached_rows_are_kernel_rows(seed, limit, precomputed, single):
    """Random requests and changes of the active samples: every row, the limit, and who leaves first."""
    rng = np.random.default_rng(seed)
    n = 40
    X = rng.normal(size=(n, 4)).astype(np.float32 if single else np.float64)
    K = naive(RBF(0.5), X)
    kernel = (
        KernelData(Precomputed(), K, np.arange(n)) if precomputed else KernelData(RBF(0.5), X, np.arange(n))
    )
    cache = RowCache(kernel, limit)
    cache.set_active(np.arange(rng.integers(2, n)), np.arange(0))
    n_hits = 0
    for _ in range(25):
        active = cache.active
        if rng.random() < 0.35:
            kept = np.flatnonzero(rng.random(len(active)) < rng.choice([0.3, 0.7, 1.0]))
            others = np.setdiff1d(np.arange(n), active)
            added = rng.permutation(others)[: rng.integers(0, len(others) + 1) * int(rng.random() < 0.6)]
            if len(kept) + len(added) < 2:
                continue
            cache.set_active(np.concatenate([active[kept], added]), kept)
            active = cache.active
        which = rng.permutation(active)[: rng.integers(1, min(cache.capacity, len(active)) + 1)]
        there = cache.slot[which] >= 0
        n_hits += int(there.sum())
        slots = cache.fetch(which)
        assert len(set(slots)) == len(which)
        rows = cache.rows[slots][:, : len(active)]
        np.testing.assert_allclose(rows, K[np.ix_(which, active)], atol=1e-5 if single else 1e-13)
        held = np.flatnonzero(cache.owner >= 0)
        np.testing.assert_array_equal(cache.slot[cache.owner[held]], held)
        assert (cache.slot >= 0).sum() == len(held)
        assert np.isin(cache.owner[held], active).all()
        assert cache.memory.nbytes <= max(limit, 2 * len(K) * K.itemsize)
        assert cache.hits == n_hits


def test_least_recently_used_row_is_evicted_first():
    X = np.random.default_rng(0).normal(size=(30, 3))
    kernel = KernelData(RBF(1.0), X, np.arange(30))
    cache = RowCache(kernel, 5 * 30 * 8)
    cache.set_active(np.arange(30), np.arange(0))
    assert cache.capacity == 5
    order = []
    for sample in np.random.default_rng(1).integers(0, 9, size=200):
        expected = sample in order
        hits = cache.hits
        cache.fetch(np.array([sample]))
        assert (cache.hits > hits) == expected
        order = [*[s for s in order if s != sample][-4:], sample]
        assert sorted(cache.owner[cache.owner >= 0]) == sorted(order)


def test_kept_rows_are_not_recomputed():
    X = np.random.default_rng(0).normal(size=(60, 3))
    kernel = KernelData(RBF(1.0), X, np.arange(60))
    cache = RowCache(kernel, 10**6)
    cache.set_active(np.arange(20), np.arange(0))
    cache.fetch(np.arange(20))
    assert kernel.n_values == 400
    cache.set_active(np.arange(50), np.arange(20))
    cache.fetch(np.arange(5))
    assert kernel.n_values == 400 + 5 * 30
    cache.set_active(np.arange(0, 50, 2), np.arange(0, 50, 2))
    cache.fetch(np.array([0, 2, 4]))
    assert kernel.n_values == 400 + 5 * 30
    assert cache.hit_rate == 8 / 28


def test_old_and_new_rows_together_stay_within_the_limit():
    X = np.random.default_rng(0).normal(size=(2000, 3))
    limit = 4_000_000
    tracemalloc.start()
    cache = RowCache(KernelData(RBF(1.0), X, np.arange(2000)), limit)
    for n_active in (400, 1900, 300, 1000):
        cache.set_active(np.arange(n_active), np.arange(min(n_active, len(cache.active))))
        cache.fetch(np.arange(100))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= limit + 300_000
