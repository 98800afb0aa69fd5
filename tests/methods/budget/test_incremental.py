"""The published budgeted method against a transcription of it, its promises on cost, and its ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import _native
from maxmargin.kernels import RBF, FromFunction, Linear, Precomputed
from maxmargin.kernels.data import KernelData
from maxmargin.losses import LOSSES
from maxmargin.methods.budget.ending import MAX_EMPTY_DRAWS
from maxmargin.methods.budget.incremental import CandidatePool, Expansion, incremental
from maxmargin.methods.budget.path import stated_budgets
from maxmargin.methods.budget.problem import BudgetProblem
from maxmargin.methods.budget.selectors import SELECTORS, Candidates
from maxmargin.solving.result import State, Status, Stop

STOP = Stop(max_iter=500)
UPDATES = {
    "perceptron": lambda y, f: y if y * f <= 0 else 0.0,
    "hinge": lambda y, f: y if y * f < 1 else 0.0,
    "squared-hinge": lambda y, f: y * (1 - y * f) if y * f < 1 else 0.0,
    "log": lambda y, f: y / (1 + np.exp(y * f)),
    "squared": lambda y, f: y - f,
}


def noisy(seed=0, n=80, d=4, n_columns=1, *, weighted=False, zeros=False, dtype=np.float64):
    """Rows, targets and weights; with zeros, some samples take part in some of the columns only."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    Y = np.where(X[:, :1] + 0.7 * rng.normal(size=(n, n_columns)) > 0.2, 1.0, -1.0)
    if zeros:
        Y[rng.random(Y.shape) < 0.3] = 0.0
    return X, Y, rng.uniform(0.3, 3.0, n) if weighted else np.ones(n)


def problem_of(X, Y, weight, loss="hinge", alpha=0.05, kernel=None, n_threads=1):
    kernel = RBF(gamma=0.3) if kernel is None else kernel
    index = np.arange(X.shape[0])
    return BudgetProblem(KernelData(kernel, X, index, n_threads), Y, weight, LOSSES[loss], alpha)


def rbf(X, Z, gamma=0.3):
    return np.exp(-gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


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


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("back_fit", [None, 5])
@pytest.mark.parametrize("selection", SELECTORS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_step_is_that_of_the_printed_algorithms(loss, selection, back_fit, n_columns):
    X, Y, weight = noisy(1, n_columns=n_columns)
    assert_same_steps(problem_of(X, Y, weight, loss, alpha=0.2), rbf(X, X), 12, selection, back_fit)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_and_columns_that_samples_take_no_part_in(loss):
    X, Y, weight = noisy(2, n_columns=4, weighted=True, zeros=True)
    problem = problem_of(X, Y, weight, loss, alpha=0.2)
    result, expected = assert_same_steps(problem, rbf(X, X), 14, "loss-probabilistic", 6)
    assert len(set(expected[-1][2])) > 1  # columns have taken different numbers of steps
    np.testing.assert_array_equal(result.t, expected[-1][2])


@pytest.mark.parametrize("n_columns", [1, 3])
def test_a_column_alone_takes_the_same_steps_as_among_others_that_choose_alike(n_columns):
    X, Y, weight = noisy(3)
    one = incremental(problem_of(X, Y, weight), budget=10, back_fit=4, stop=STOP, seed=1)
    Y = np.repeat(Y, n_columns, axis=1)
    several = incremental(problem_of(X, Y, weight), budget=10, back_fit=4, stop=STOP, seed=1)
    np.testing.assert_array_equal(several.support, one.support)
    np.testing.assert_allclose(several.coef, np.repeat(one.coef, n_columns, axis=1), rtol=1e-12)


# ---- the native loop and its twin ----


def back_fit_twin(K, targets, loss, alpha, a, t):
    """One column at a time, with no scale."""
    for k, y in zip(K.astype(float), targets):
        for c in np.flatnonzero(y):
            u = UPDATES[loss](y[c], k @ a[c, : len(k)])
            a[c] = (1 - 1 / t[c]) * a[c]
            a[c, : len(k)] += u / (alpha * t[c]) * k
            t[c] += 1
    return a, t


@settings(max_examples=60)
@given(
    loss=st.sampled_from(sorted(LOSSES)),
    shape=st.tuples(st.integers(0, 9), st.integers(0, 20), st.integers(1, 3)),
    t=st.sampled_from([1, 2, 7, 10**6]),
    scale=st.sampled_from([1.0, 0.3, 1.1e-6]),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 10**6),
)
def test_back_fitting_equals_its_twin(loss, shape, t, scale, dtype, seed):
    n_drawn, n_support, n_columns = shape
    rng = np.random.default_rng(seed)
    K = rng.random((n_drawn, n_support)).astype(dtype)
    targets = rng.integers(-1, 2, (n_drawn, n_columns)).astype(float)
    a = np.zeros((n_columns, n_support + 3))
    a[:, :n_support] = rng.normal(size=(n_columns, n_support))
    state = State(a=a / scale, scale=np.full(n_columns, scale), t=np.full(n_columns, t))
    problem = problem_of(np.ones((1, 1)), targets, np.ones(n_drawn), loss, alpha=2.0)
    _native.back_fit(K, targets, problem, state, _native.NEVER)
    expected, steps = back_fit_twin(K, targets, loss, 2.0, a, np.full(n_columns, t))
    np.testing.assert_array_equal(state.t, steps)
    np.testing.assert_allclose(state.scale[:, None] * state.a, expected, rtol=1e-9, atol=1e-9)
    assert (state.scale >= 1e-6).all()


@given(t=st.sampled_from([1, 2, 1000]), scale=st.sampled_from([1.0, 1.0005e-6]), seed=st.integers(0, 1000))
def test_a_support_vector_joins_as_its_twin_does(t, scale, seed):
    rng = np.random.default_rng(seed)
    a, u, y = rng.normal(size=(2, 5)), rng.normal(size=2), np.array([1.0, 0.0])
    a[:, 3] = 0.0
    state = State(a=a / scale, scale=np.full(2, scale), t=np.full(2, t))
    _native.add_support(3, y, u, problem_of(np.ones((1, 1)), y[None], np.ones(1), alpha=0.5), state)
    expected = a.copy()
    expected[0] *= 1 - 1 / t
    expected[0, 3] = u[0] / (0.5 * t)
    np.testing.assert_allclose(state.scale[:, None] * state.a, expected, rtol=1e-12)
    assert list(state.t) == [t + 1, t]


def test_arrays_that_do_not_fit_are_refused():
    problem = problem_of(np.ones((1, 1)), np.ones((1, 1)), np.ones(1))
    state = State(a=np.zeros((1, 2)), scale=np.ones(1), t=np.ones(1, dtype=np.int64))
    with pytest.raises(ValueError, match="do not fit"):
        _native.back_fit(np.zeros((2, 3)), np.ones((2, 1)), problem, state, _native.NEVER)
    with pytest.raises(ValueError, match="do not fit"):
        _native.add_support(2, np.ones(1), np.ones(1), problem, state)


# ---- budget, cost, ends ----


@settings(max_examples=40)
@given(
    n=st.integers(1, 40),
    budget=st.integers(1, 50),
    m=st.integers(1, 70),
    back_fit=st.sampled_from([None, 1, 7]),
    selection=st.sampled_from(sorted(SELECTORS)),
    loss=st.sampled_from(sorted(LOSSES)),
    n_columns=st.integers(1, 3),
    seed=st.integers(0, 10**6),
)
def test_the_budget_is_never_exceeded(n, budget, m, back_fit, selection, loss, n_columns, seed):
    X, Y, weight = noisy(seed, n, n_columns=n_columns, weighted=seed % 2 == 0, zeros=seed % 3 == 0)
    problem = problem_of(X, Y, weight, loss)
    result = incremental(
        problem,
        budget=budget,
        selection=selection,
        back_fit=back_fit,
        n_candidates=m,
        stop=Stop(max_iter=60),
        seed=seed,
    )
    size = len(result.support)
    assert size <= min(budget, n)
    assert len(set(result.support)) == size
    assert result.coef.shape == (size, n_columns)
    assert np.isfinite(result.coef).all()
    assert (result.status is Status.BUDGET_FULL) == (size == budget)
    assert problem.kernel.n_values == result.history[-1].kernel_values
    assert set(result.path) - {size} <= set(stated_budgets(budget))
    assert all(point.coef.shape == (b, n_columns) for b, point in result.path.items())
    np.testing.assert_array_equal(result.path[size].coef, result.coef)


@pytest.mark.parametrize("T", [None, 9])
def test_kernel_values_are_counted(T):
    X, Y, weight = noisy(4, n=200)
    problem, B, m = problem_of(X, Y, weight, "log"), 40, 20
    result = incremental(problem, budget=B, back_fit=T, n_candidates=m, stop=STOP)
    assert result.status is Status.BUDGET_FULL
    assert result.n_iter == B  # the log loss is never 0
    expected = m * B * (B - 1) // 2 + (T or 0) * B * (B + 1) // 2
    assert result.history[-1].kernel_values == problem.kernel.n_values == expected
    assert [check.n_support for check in result.history] == [0, *stated_budgets(B)]
    assert all(check.dual == -np.inf for check in result.history)


def test_the_path_is_what_smaller_budgets_would_have_given():
    X, Y, weight = noisy(4, n=200)
    problem = problem_of(X, Y, weight, "log")
    result = incremental(problem, budget=40, back_fit=9, stop=STOP)
    assert list(result.path) == stated_budgets(40)
    for b in (1, 7, 16, 25):
        smaller = incremental(problem, budget=b, back_fit=9, stop=STOP)
        np.testing.assert_array_equal(smaller.support, result.support[:b])
        np.testing.assert_array_equal(smaller.coef, result.path[b].coef)


def test_primal_is_the_mean_loss_over_the_draw():
    X, Y, weight = noisy(5, n=30, n_columns=2, zeros=True)
    problem = problem_of(X, Y, weight, "squared", alpha=0.5)
    result = incremental(problem, budget=2, n_candidates=30, stop=STOP)
    assert result.history[0].primal == result.history[1].primal == 2 * 0.5  # before any step, f = 0
    left = np.setdiff1d(np.arange(30), result.support[:1])
    f = rbf(X[left], X[result.support[:1]]) @ result.path[1].coef
    mean = [0.5 * np.mean((Y[left, c] - f[:, c])[Y[left, c] != 0] ** 2) for c in range(2)]
    assert result.history[2].primal == pytest.approx(sum(mean))


@pytest.mark.parametrize("back_fit", [None, 3])
def test_a_budget_beyond_the_rows_ends_when_they_are_used_up(back_fit):
    X, Y, weight = noisy(6, n=20)
    result = incremental(problem_of(X, Y, weight, "log"), budget=50, back_fit=back_fit, stop=STOP)
    assert result.status is Status.NO_LOSS_LEFT
    assert sorted(result.support) == list(range(20))


def test_several_draws_without_a_loss_end_the_fit():
    X = np.random.default_rng(0).normal(size=(200, 2))
    problem = problem_of(X, np.ones((200, 1)), np.ones(200), "hinge", 1e-3, RBF(gamma=1e-6))
    result = incremental(problem, budget=20, stop=STOP)  # f = 1000/t everywhere, after the first step
    assert result.status is Status.NO_LOSS_LEFT
    assert len(result.support) == 1
    assert result.n_iter == 1 + MAX_EMPTY_DRAWS
    assert result.coef[0, 0] == pytest.approx(1000.0 / (1 + MAX_EMPTY_DRAWS))
    nobody = problem_of(X, np.zeros((200, 1)), np.ones(200))
    result = incremental(nobody, budget=5, back_fit=3, stop=STOP)
    assert (result.status, len(result.support), result.n_iter) == (Status.NO_LOSS_LEFT, 0, MAX_EMPTY_DRAWS)


def test_max_iter_bounds_the_steps_of_growth():
    X, Y, weight = noisy(7)
    result = incremental(problem_of(X, Y, weight), budget=50, back_fit=5, stop=Stop(max_iter=7))
    assert result.status is Status.MAX_ITER
    assert result.n_iter == 7
    assert result.t[0] == 1 + 7 * 6


@pytest.mark.parametrize("alpha", [1e8, 1e-12])
@pytest.mark.parametrize("back_fit", [None, 5])
@pytest.mark.parametrize("loss", LOSSES)
def test_huge_and_tiny_alpha_stay_finite(loss, back_fit, alpha):
    X, Y, weight = noisy(8, n=100)
    problem = problem_of(X, Y, weight, loss, alpha)
    result = incremental(problem, budget=60, back_fit=back_fit, stop=STOP)
    assert np.isfinite(result.coef).all()
    assert all(np.isfinite(point.coef).all() for point in result.path.values())
    if alpha > 1.0 or loss in ("perceptron", "hinge", "log"):
        assert result.status in (Status.BUDGET_FULL, Status.NO_LOSS_LEFT)


def test_an_overflow_is_a_failure_that_keeps_the_last_finite_coefficients():
    X, Y, weight = noisy(8, n=100)
    problem = problem_of(X, Y, weight, "squared", 1e-12)
    result = incremental(problem, budget=60, back_fit=5, stop=STOP)
    assert result.status is Status.FAILED
    assert 0 < len(result.support) < 60
    assert np.isfinite(result.coef).all()


# ---- bits ----


@pytest.mark.parametrize("back_fit", [None, 6])
@pytest.mark.parametrize("selection", ["loss-probabilistic", "random"])
def test_a_resumed_solver_is_bit_identical(selection, back_fit):
    X, Y, weight = noisy(9, n=150, n_columns=2, weighted=True)
    problem, saved = problem_of(X, Y, weight), []
    options = {"budget": 30, "selection": selection, "back_fit": back_fit, "n_candidates": 10, "stop": STOP}
    whole = incremental(
        problem, **options, callback=lambda check, state: saved.append(state.copy()) and False
    )
    for k in (1, len(saved) // 2, len(saved) - 1):
        resumed = incremental(problem, **options, state=saved[k].copy())
        assert_same_bits(resumed, whole)
        assert resumed.n_iter == whole.n_iter
        assert resumed.history[0].n_iter == whole.history[k].n_iter
        assert [check.primal for check in resumed.history] == [check.primal for check in whole.history[k:]]
        assert resumed.history[-1].kernel_values == whole.history[-1].kernel_values


def test_a_solver_stopped_by_max_iter_resumes_bit_identically():
    X, Y, weight = noisy(9, n=150)
    problem, saved = problem_of(X, Y, weight), []
    whole = incremental(problem, budget=30, back_fit=4, stop=STOP)
    incremental(
        problem,
        budget=30,
        back_fit=4,
        stop=Stop(max_iter=21),
        callback=lambda check, state: saved.append(state.copy()) and False,
    )
    assert_same_bits(incremental(problem, budget=30, back_fit=4, stop=STOP, state=saved[-1]), whole)


def assert_same_bits(result, other):
    assert result.status is other.status
    np.testing.assert_array_equal(result.support, other.support)
    np.testing.assert_array_equal(result.coef, other.coef)
    assert list(result.path) == list(other.path)
    for b, point in result.path.items():
        np.testing.assert_array_equal(point.coef, other.path[b].coef)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_no_bit(dtype):
    X, Y, weight = noisy(10, n=4000, d=8, n_columns=2, dtype=dtype)
    results = [
        incremental(
            problem_of(X, Y, weight, n_threads=n_threads),
            budget=24,
            back_fit=1000,
            n_candidates=500,
            stop=STOP,
        )
        for n_threads in (1, 2, 4)
    ]
    for other in results[1:]:
        assert_same_bits(other, results[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_and_sparse_agree(dtype):
    X, Y, weight = noisy(11, d=12, dtype=dtype)
    X[np.abs(X) < 0.8] = 0.0
    dense, thin = (
        incremental(problem_of(rows, Y, weight, "log"), budget=15, back_fit=8, stop=STOP)
        for rows in (X, sparse.csr_array(X))
    )
    np.testing.assert_array_equal(thin.support, dense.support)
    tolerance = 1e-3 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(thin.coef, dense.coef, rtol=tolerance, atol=tolerance)


def test_blocks_of_back_fitting_change_nothing_but_memory(monkeypatch):
    X, Y, weight = noisy(12)
    whole = incremental(problem_of(X, Y, weight), budget=10, back_fit=50, stop=STOP)
    monkeypatch.setattr("maxmargin.methods.budget.incremental.KERNEL_VALUES_PER_BLOCK", 64)
    blocks = incremental(problem_of(X, Y, weight), budget=10, back_fit=50, stop=STOP)
    np.testing.assert_allclose(blocks.coef, whole.coef, rtol=1e-10)


def test_any_kernel_serves():
    X, Y, weight = noisy(13)
    results = [
        incremental(problem_of(data, Y, weight, kernel=kernel), budget=12, back_fit=4, stop=STOP)
        for data, kernel in ((X, RBF(gamma=0.3)), (rbf(X, X), Precomputed()), (X, FromFunction(rbf)))
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other.support, results[0].support)
        np.testing.assert_allclose(other.coef, results[0].coef, rtol=1e-9)


# ---- going on from earlier points ----


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("back_fit", [None, 5])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_it_starts_from_points_that_are_not_rows(as_rows, back_fit, n_columns):
    X1, Y1, weight = noisy(14, n_columns=n_columns)
    first = incremental(problem_of(X1, Y1, weight), budget=6, back_fit=back_fit, stop=STOP)
    points = X1[first.support]
    X2, Y2, weight = noisy(15, n=60, n_columns=n_columns)
    start = Expansion(as_rows(points), first.coef, first.t)
    K = rbf(X2, np.concatenate([X2, points]))
    problem = problem_of(as_rows(X2), Y2, weight)
    result, expected = assert_same_steps(problem, K, 13, "loss-probabilistic", back_fit, start=start)
    assert list(result.support[:6]) == [-1] * 6
    np.testing.assert_allclose(result.coef, expected[-1][1], rtol=1e-8)
    assert result.history[-1].kernel_values == problem.kernel.n_values


def test_only_back_fitting_follows_where_points_fill_the_budget():
    X, Y, weight = noisy(16)
    points, coef = np.random.default_rng(1).normal(size=(5, 4)), np.linspace(-1.0, 1.0, 5)[:, None]
    start = Expansion(points, coef, 50)
    problem = problem_of(X, Y, weight)
    result = incremental(problem, budget=5, back_fit=30, stop=STOP, seed=3, start=start)
    assert (result.status, result.n_iter, result.t[0]) == (Status.BUDGET_FULL, 1, 80)
    drawn = CandidatePool(weight, []).repeated(np.random.default_rng([3, 50]), 30)
    expected, _ = back_fit_twin(rbf(X[drawn], points), Y[drawn], "hinge", 0.05, coef.T.copy(), np.array([50]))
    np.testing.assert_allclose(result.coef, expected.T, rtol=1e-9)
    unchanged = incremental(problem, budget=5, stop=STOP, start=start)
    np.testing.assert_array_equal(unchanged.coef, coef)


def test_a_resumed_stream_is_bit_identical():
    X, Y, weight = noisy(17)
    saved = []
    start = Expansion(X[:4] + 0.1, np.ones((4, 1)), 20)
    options = {"budget": 14, "back_fit": 5, "stop": STOP, "start": start}
    whole = incremental(
        problem_of(X, Y, weight), **options, callback=lambda c, s: saved.append(s.copy()) and False
    )
    assert_same_bits(incremental(problem_of(X, Y, weight), **options, state=saved[5]), whole)


def test_points_of_a_precomputed_kernel_are_its_columns():
    X, Y, weight = noisy(18)
    columns = np.array([70, 3, 11])
    start = Expansion(columns, np.ones((3, 1)), 30)
    whole = problem_of(rbf(X, X), Y, weight, kernel=Precomputed())
    vectors = problem_of(X, Y, weight)
    by_number = incremental(whole, budget=9, back_fit=3, stop=STOP, start=start)
    by_value = incremental(
        vectors, budget=9, back_fit=3, stop=STOP, start=Expansion(X[columns], np.ones((3, 1)), 30)
    )
    np.testing.assert_allclose(by_number.coef, by_value.coef, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget must be an integer >= 1; got 0"),
        ({"budget": 5, "n_candidates": 0}, "n_candidates must be an integer >= 1"),
        ({"budget": 5, "back_fit": -1}, "back_fit must be an integer >= 1"),
        ({"budget": 5, "selection": "best"}, "selection must be a selector or one of"),
        ({"budget": 2, "start": Expansion(np.ones((3, 4)), np.ones((3, 1)), 5)}, "more than the budget of 2"),
    ],
)
def test_bad_options_are_refused(options, message):
    X, Y, weight = noisy(19)
    with pytest.raises(ValueError, match=message):
        incremental(problem_of(X, Y, weight, kernel=Linear()), stop=STOP, **options)
