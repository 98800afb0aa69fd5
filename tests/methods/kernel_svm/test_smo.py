"""The native SMO block and its compacted rows against naive loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.svm_problems import LOSSES, naive, noisy, problem_of

from maxmargin import _native
from maxmargin.kernels import RBF


def smo_pairs(K, a, g, lower, upper, tolerance, max_steps):
    """SMO with second-order pairs (Fan, Chen and Lin, 2005), in NumPy."""
    for steps in range(max_steps):
        up, down = a < upper, a > lower
        i = int(np.argmax(np.where(up, g, -np.inf)))
        d = np.where(down, g[i] - g, -np.inf)
        if not up.any() or d.max() <= tolerance:
            return steps
        eta = np.maximum(K[i, i] + np.diag(K) - 2.0 * K[i], 1e-12)
        j = int(np.argmax(np.where(d > 0.0, d * d / eta, 0.0)))
        step = min(d[j] / eta[j], upper[i] - a[i], a[j] - lower[j])
        a[i] += step
        a[j] -= step
        g -= step * (K[i] - K[j])
    return max_steps


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    single=st.booleans(),
    loss=st.sampled_from(LOSSES),
    log_C=st.floats(-3, 3),
)
def test_block_equals_a_naive_loop(seed, n, single, loss, log_C):
    X, y, weight = noisy(seed, max(n, 2))
    X, y, cost = X[:n], y[:n], 10.0**log_C * weight[:n]
    problem = problem_of(X, y, cost, loss)
    K = (naive(RBF(0.5), X) + np.diag(problem.ridge)).astype(np.float32 if single else np.float64)
    rng = np.random.default_rng(seed)
    first = rng.choice([0.0, 0.3, 1.0], size=n) * cost * y  # any sum: a block keeps it
    a, g = first.copy(), y - K.astype(float) @ first
    steps, violation, stalled = _native.smo_block(
        K, a, g, problem.lower, problem.upper, 1e-6, 100_000, _native.NEVER
    )
    assert ((problem.lower <= a) & (a <= problem.upper)).all()
    assert abs(a.sum() - first.sum()) <= 1e-14 * (steps + n) * np.abs(cost).sum()
    rounding = 1e-15 * (steps + 10) * (1.0 + np.abs(K).max() * np.abs(a).max())
    np.testing.assert_allclose(g, y - K.astype(float) @ a, atol=rounding + 1e-12)
    up, down = g[a < problem.upper], g[a > problem.lower]
    left = max(0.0, up.max() - down.min()) if len(up) and len(down) else 0.0
    assert stalled or left <= 1e-6 * (1 + 1e-6)
    assert violation == pytest.approx(left, rel=1e-6, abs=1e-12) or left == 0.0
    slow, g = first.copy(), y - K.astype(float) @ first
    smo_pairs(K.astype(float), slow, g, problem.lower, problem.upper, 1e-6, 20_000)
    value, slow_value = (x @ y - 0.5 * x @ K.astype(float) @ x for x in (a, slow))
    assert value == pytest.approx(slow_value, rel=1e-5, abs=1e-5 * cost.sum())


def test_block_stops_after_max_steps_and_refuses_wrong_shapes():
    X, y, cost = noisy(0, 30)
    K, problem = naive(RBF(0.5), X), problem_of(X, y, cost)
    limits = (problem.lower, problem.upper)
    a, g = np.zeros(30), y.copy()
    assert _native.smo_block(K, a, g, *limits, 1e-9, 0, _native.NEVER)[0] == 0
    assert not a.any()
    assert _native.smo_block(K, a, g, *limits, 1e-9, 3, _native.NEVER)[0] == 3
    assert 2 <= np.count_nonzero(a) <= 6
    for bad in (
        (K[:20], a, g, *limits),
        (K, a[:20], g, *limits),
        (K, a, g[:20].copy(), *limits),
        (K, a, g, problem.lower[:5], problem.upper),
        (K[:0, :0], a[:0], g[:0], problem.lower[:0], problem.upper[:0]),
    ):
        with pytest.raises((ValueError, TypeError)):
            _native.smo_block(*bad, 1e-9, 10, _native.NEVER)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_compact_rows_selects_columns(dtype, n_threads):
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = rng.normal(size=(40, 50)).astype(dtype)
        which, kept = rng.permutation(40)[:33], np.flatnonzero(rng.random(50) < 0.5)
        length = rng.integers(0, 51, size=40)
        expected, before = rows.copy(), length.copy()
        for s in which:
            part = kept[kept < length[s]]
            expected[s, : len(part)] = expected[s, part]
        _native.compact_rows(rows, which, length, kept, n_threads)
        for s in range(40):
            assert length[s] == ((kept < before[s]).sum() if s in which else before[s])
            np.testing.assert_array_equal(rows[s, : length[s]], expected[s, : length[s]])
    for which, kept in (([40], [0]), ([-1], [0]), ([0], [50]), ([0], [3, 0])):
        with pytest.raises(ValueError, match="do not fit"):
            _native.compact_rows(rows, np.array(which), np.full(41, 50), np.array(kept), 1)
