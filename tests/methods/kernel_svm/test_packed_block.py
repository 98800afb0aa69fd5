"""Packed blocks of all free samples: the matrix, the step, and whole solves with them."""

import numpy as np
import pytest
from support.svm_problems import LOSSES, naive, noisy, problem_of

from maxmargin import _native
from maxmargin.kernels import RBF
from maxmargin.methods.kernel_svm import packed_block, working_set
from maxmargin.methods.kernel_svm.packed_block import ActiveSamples, PackedBlock
from maxmargin.methods.kernel_svm.solve import working_sets
from maxmargin.solving.result import Status, Stop

NARROW = RBF(8.0)


@pytest.fixture
def packed_steps(monkeypatch):
    """Blocks of twelve samples, and how many steps of packed blocks were taken."""
    for name, value in (
        ("N_INITIAL_ROWS", 50),
        ("MIN_BLOCK_SIZE", 8),
        ("MAX_BLOCK_SIZE", 12),
        ("MAX_SMALL_SAMPLES", 8),
        ("MAX_POLISHED_SAMPLES", 0),
    ):
        monkeypatch.setattr(working_set, name, value)
    seen, move = [], PackedBlock.move

    def counted(self, problem, active, tolerance, stop):
        found = move(self, problem, active, tolerance, stop)
        seen.append(found)
        return found

    monkeypatch.setattr(PackedBlock, "move", counted)
    return seen


def room_for(n, dtype=np.float32):
    return np.zeros(-(-_native.packed_size(n) * 2 // np.dtype(dtype).itemsize), dtype=dtype)


@pytest.mark.parametrize("n", [2, 255, 256, 257, 700])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_step_has_the_exact_gradient_and_stays_in_the_box(n, dtype, n_threads):
    X, y, weight = noisy(n, n=n, noise=0.3)
    problem = problem_of(X.astype(dtype), y, 5.0 * weight, "hinge", NARROW, n_threads)
    block = PackedBlock(problem.kernel, room_for(n, dtype))
    assert block.capacity >= n
    active = ActiveSamples(np.arange(n), np.zeros(n), problem.y.astype(np.float64), 0.0)
    move = block.move(problem, active, 1e-3, Stop(tol=1e-3, max_iter=10))
    K = naive(NARROW, X)
    np.testing.assert_allclose(move.g, problem.y - K @ move.a, atol=1e-4 if dtype == np.float32 else 1e-10)
    assert np.all((problem.lower <= move.a) & (move.a <= problem.upper))
    assert abs(move.a.sum()) <= 1e-9
    dual = problem.y @ move.a - 0.5 * move.a @ K @ move.a
    assert move.gain == pytest.approx(dual, rel=1e-4)
    assert move.moved == pytest.approx(np.sqrt(move.a @ K @ move.a), rel=1e-4)
    up, down = move.g[move.a < problem.upper], move.g[move.a > problem.lower]
    assert up.max() - down.min() <= 0.1  # it was 2 at the start


def test_samples_added_in_parts_make_the_same_matrix():
    X, y, weight = noisy(3, n=600, noise=0.3)
    problem = problem_of(X, y, weight, "hinge", NARROW)
    whole, parts = (PackedBlock(problem.kernel, room_for(600, np.float64)) for _ in range(2))
    whole._take(np.arange(600))
    for end in (10, 256, 300, 511, 600):
        parts._take(np.arange(end))
    np.testing.assert_array_equal(parts.members, whole.members)
    panel = packed_block.PANEL_ROWS
    used = _native.packed_size(600) - (3 * panel - 600) * 3 * panel  # the last panel is not full
    np.testing.assert_array_equal(parts.values[:used], whole.values[:used])


def test_matrix_is_built_again_when_it_is_full_or_mostly_unused():
    X, y, weight = noisy(3, n=600, noise=0.3)
    problem = problem_of(X, y, weight, "hinge", NARROW)
    block = PackedBlock(problem.kernel, room_for(512, np.float64))
    block._take(np.arange(300))
    block._take(np.arange(200, 400))
    np.testing.assert_array_equal(block.members, np.arange(200, 400))  # half of 400 would be unused
    block._take(np.arange(100, 600))
    assert len(block.members) == 500
    assert block.is_member.sum() == 500


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_solve_reaches_the_optimum_of_an_unlimited_cache(packed_steps, loss, dtype):
    X, y, weight = noisy(5, n=400, noise=0.3)
    problem = problem_of(X.astype(dtype), y, 5.0 * weight, loss, NARROW)
    stop = Stop(tol=1e-4, max_iter=50_000)
    small = working_sets(problem, stop=stop, cache_bytes=350_000)
    assert sum(move is not None for move in packed_steps) >= 3
    n_moves = len(packed_steps)
    large = working_sets(problem, stop=stop, cache_bytes=1 << 24)
    assert len(packed_steps) == n_moves  # rows that fit need no packed block
    assert small.status is large.status is Status.CONVERGED
    assert small.history[-1].dual == pytest.approx(large.history[-1].dual, rel=2e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_and_resumption_change_no_bit(packed_steps, monkeypatch, loss):
    monkeypatch.setattr(working_set, "SETTLED_MARGIN", 0.05)
    monkeypatch.setattr(working_set, "MAX_LOOKS_PER_CERTIFICATE", 0)
    X, y, weight = noisy(7, n=400, noise=0.3)
    one, two = (problem_of(X, y, 5.0 * weight, loss, NARROW, n_threads) for n_threads in (1, 2))
    stop, states = Stop(tol=1e-5, max_iter=50_000), []
    whole = working_sets(
        one, stop=stop, cache_bytes=350_000, callback=lambda _, state: states.append(state.copy())
    )
    assert sum(move is not None for move in packed_steps) >= 3
    assert any(state.n_since_packed >= 0 for state in states[:-1])
    assert whole.status is Status.CONVERGED
    other = working_sets(two, stop=stop, cache_bytes=350_000)
    np.testing.assert_array_equal(other.coef, whole.coef)
    for state in states:
        rest = working_sets(two, stop=stop, cache_bytes=350_000, state=state)
        np.testing.assert_array_equal(rest.coef, whole.coef)
        assert rest.n_iter == whole.n_iter


def test_malformed_arrays_are_refused():
    K, values = np.ones((2, 3)), np.zeros(_native.packed_size(3), dtype=np.int16)
    with pytest.raises(ValueError, match="room for the packed matrix"):
        _native.pack_rows(values[:-1], 3, 1.0, K, 0)
    with pytest.raises(ValueError, match="rows of one panel"):
        _native.pack_rows(values, 3, 1.0, K[:, :2].copy(), 0)
    a = np.zeros(3)
    point, bounds = (a, np.zeros(2)), (a, a, a)
    rules = {"tolerance": 0.1, "max_products": 1, "seconds": 1.0, "n_threads": 1, "cancel": _native.NEVER}
    with pytest.raises(ValueError, match="one number per sample"):
        _native.svm_packed_block(values, 1.0, *point, *bounds, **rules)
