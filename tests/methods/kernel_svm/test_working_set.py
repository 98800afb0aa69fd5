"""The working-set solver against a QP referee, its row cache and its native loops against naive ones."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.reference import kernel_svm_bounds, kernel_svm_dual

from maxmargin import _native
from maxmargin.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from maxmargin.kernels.data import KernelData
from maxmargin.methods.kernel_svm import working_set
from maxmargin.methods.kernel_svm.polish import polish
from maxmargin.methods.kernel_svm.problem import SvmProblem
from maxmargin.methods.kernel_svm.row_cache import RowCache
from maxmargin.methods.kernel_svm.working_set import start, working_sets
from maxmargin.solving.result import Status, Stop

LOSSES = ["hinge", "squared-hinge"]
UNLIMITED = 10**9
# Every constant so small that sixty rows grow, shrink, return and take many blocks.
SMALL_STEPS = {
    "N_INITIAL_ROWS": 16,
    "GROWTH": 2,
    "MAX_SUPPORT_SHARE_TO_GROW_FAST": 2.0,
    "MIN_BLOCK_SIZE": 8,
    "MAX_BLOCK_SIZE": 12,
    "MAX_GAP_TO_SHRINK": 0.9,
    "MIN_SETTLED_SHARE_TO_SHRINK": 0.05,
    "MAX_SMALL_SAMPLES": 8,
    "MIN_SUBSET_GAP": 0.3,
}


@pytest.fixture
def small_steps(monkeypatch):
    """Small constants, and how often each kind of step was taken."""
    for name, value in SMALL_STEPS.items():
        if hasattr(working_set, name):
            monkeypatch.setattr(working_set, name, value)
    monkeypatch.setattr(working_set, "MAX_POLISHED_SAMPLES", 0)
    seen = {"_grow": 0, "_shrink": 0, "_choose": 0}

    def counted(name):
        method = getattr(working_set.WorkingSets, name)

        def call(self):
            n_active = len(self.state.active)
            method(self)
            seen[name] += name == "_grow" or len(self.state.active) != n_active

        return call

    for name in seen:
        monkeypatch.setattr(working_set.WorkingSets, name, counted(name))
    return seen


def naive(kernel, X, Z=None):
    """The kernel matrix in double precision, by its formula."""
    X = np.asarray(X, dtype=np.float64)
    Z = X if Z is None else np.asarray(Z, dtype=np.float64)
    if isinstance(kernel, Precomputed):
        return X
    if isinstance(kernel, RBF):
        return np.exp(-kernel.gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))
    if isinstance(kernel, Linear):
        return X @ Z.T
    return (kernel.gamma * X @ Z.T + kernel.coef0) ** kernel.degree


def noisy(seed, n=60, d=3, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0.2, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, y, rng.uniform(0.2, 3.0, size=n)


HALF = RBF(0.5)


def problem_of(X, y, cost, loss="hinge", kernel=HALF, n_threads=1):
    return SvmProblem(KernelData(kernel, X, np.arange(len(y)), n_threads), y, cost, loss == "squared-hinge")


def rounding(problem, a):
    """How wrong a relative gap may be: f, computed from coefficients, is a difference of large numbers."""
    K = naive(problem.kernel.kernel, problem.kernel.X)
    return 64 * np.finfo(float).eps * (1.0 + np.abs(K).max() * np.abs(a).sum())


def assert_solved(problem, result, tol):
    """The promise: a status, bounds from nothing but the coefficients, the optimality of every sample."""
    loss = "squared-hinge" if problem.squared else "hinge"
    K, a, y = naive(problem.kernel.kernel, problem.kernel.X), result.coef, problem.y
    primal, dual = kernel_svm_bounds(a, result.intercept, K, y, problem.cost, loss)
    slack = rounding(problem, a) * problem.cost.sum() / primal
    assert result.status is Status.CONVERGED
    assert all(check.gap >= -1e-9 for check in result.history)
    assert result.objective == pytest.approx(primal, rel=1e-10 + slack)
    assert (primal - dual) / primal <= tol + slack
    # KKT: what a sample loses by not being where it should be is part of the gap
    f = K @ a + result.intercept
    r = 1.0 - y * f
    missed = (
        0.5 * problem.cost * np.maximum(0.0, r) ** 2 - a * y * r + 0.5 * a**2 / problem.cost
        if problem.squared
        else problem.cost * np.maximum(0.0, r) - a * y * r
    )
    assert missed.max() <= (tol + slack) * primal
    return primal


# ---- the solver ----


@settings(max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    d=st.integers(1, 5),
    log_C=st.floats(-6, 6),
    log_scale=st.floats(-8, 8),
    kernel=st.sampled_from(["rbf", "linear", "polynomial"]),
    loss=st.sampled_from(LOSSES),
    form=st.sampled_from(["plain", "duplicates", "one of a class", "far weights"]),
    shrinking=st.booleans(),
    cache_bytes=st.sampled_from([1, 2000, UNLIMITED]),
)
def test_the_solution_is_that_of_the_referee(
    seed, n, d, log_C, log_scale, kernel, loss, form, shrinking, cache_bytes
):
    X, y, weight = noisy(seed, n, d)
    rng = np.random.default_rng(seed)
    if form == "duplicates":
        again = rng.integers(0, n, size=n)
        X, weight = X[again], np.round(weight) + 1.0
    if form == "one of a class":
        y[1:] = -y[0]
    if form == "far weights":
        weight = 10.0 ** rng.uniform(-3, 3, size=n)
    scale, C = 10.0**log_scale, 10.0**log_C
    if kernel == "rbf":
        kernel = RBF(0.7 / scale**2)
    elif kernel == "linear":  # rows s x and costs c / s^2 divide w by s and the objective by s^2
        kernel, C = Linear(), C / scale**2
    else:
        kernel = Polynomial(degree=2, gamma=1.0 / scale**2, coef0=1.0)
    problem = problem_of(X * scale, y, C * weight, loss, kernel)
    result = working_sets(
        problem, stop=Stop(tol=1e-7, max_iter=3000), cache_bytes=cache_bytes, shrinking=shrinking
    )
    primal = assert_solved(problem, result, 1e-7)
    K, factor = naive(kernel, problem.kernel.X), 1.0
    if isinstance(kernel, Linear):
        K, factor = K / scale**2, scale**2
    referee = kernel_svm_dual(K, y, problem.cost * factor, loss)
    if referee is None:  # its tolerance is beyond rounding
        assert C * factor >= 1e3 or form == "far weights"
    else:
        slack = rounding(problem, result.coef) * problem.cost.sum() / primal
        assert primal * factor == pytest.approx(referee[1], rel=1e-6 + slack)


@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("cache_bytes", [1, 2_000, 20_000, UNLIMITED])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 5.0])
def test_every_way_through_the_samples_ends_at_the_same_optimum(small_steps, C, loss, cache_bytes, shrinking):
    X, y, weight = noisy(3, n=150)
    problem = problem_of(X, y, C * weight, loss)
    stop = Stop(tol=1e-4, max_iter=30_000)
    result = working_sets(problem, stop=stop, cache_bytes=cache_bytes, shrinking=shrinking)
    primal = assert_solved(problem, result, 1e-4)
    exact = polish(problem, result.coef, lambda: False)[0]
    g = y - naive(RBF(0.5), X) @ exact - problem.ridge * exact
    _, dual = kernel_svm_bounds(
        exact, problem.intercept(slice(None), exact, g), naive(RBF(0.5), X), y, problem.cost, loss
    )
    assert primal == pytest.approx(dual, rel=1e-4)
    assert primal >= dual * (1 - 1e-12)
    if shrinking:
        assert small_steps["_grow"] >= 2
        if cache_bytes == UNLIMITED and C > 0.5 and loss == "hinge":
            assert small_steps["_shrink"] >= 1
    else:
        assert small_steps["_grow"] == small_steps["_shrink"] == 0


def test_settled_samples_return_where_they_were_set_aside_too_early(small_steps, monkeypatch):
    monkeypatch.setattr(working_set, "SETTLED_MARGIN", -0.5)  # settled is who violates, too
    X, y, weight = noisy(5, n=200)
    problem = problem_of(X, y, 5.0 * weight)
    result = working_sets(problem, stop=Stop(tol=1e-5, max_iter=5000), cache_bytes=UNLIMITED)
    assert small_steps["_choose"] >= 2
    if result.status is Status.CONVERGED:
        assert_solved(problem, result, 1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("polished", [0, 1000])
def test_small_steps_and_the_polish_agree_on_many_problems(small_steps, monkeypatch, loss, polished):
    """A polish sets the gradients of all samples, those set aside included."""
    monkeypatch.setattr(working_set, "MAX_POLISHED_SAMPLES", polished)
    for seed in range(8):
        X, y, weight = noisy(seed, n=90, noise=0.3 * (seed % 3))
        problem = problem_of(X, y, 10.0 ** (seed - 3) * weight, loss)
        for tol in (1e-2, 1e-5):
            result = working_sets(problem, stop=Stop(tol=tol, max_iter=20_000), cache_bytes=UNLIMITED)
            assert_solved(problem, result, tol)


@pytest.mark.parametrize("n", [60, 1200, 7000])
@pytest.mark.parametrize("loss", LOSSES)
def test_all_samples_at_a_bound(n, loss):
    """With a tiny C and as many of either class everybody is settled, and nobody is left to work on."""
    X = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    problem = problem_of(X, y, np.full(n, 1e-6), loss)
    result = working_sets(problem, stop=Stop(tol=1e-6, max_iter=500), cache_bytes=UNLIMITED)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(n * 1e-6 * (1.0 if loss == "hinge" else 0.5), rel=1e-2)
    if loss == "hinge":
        assert (np.abs(result.coef) == 1e-6).all()


@pytest.mark.parametrize("cache_bytes", [1, 2000, UNLIMITED])
@pytest.mark.parametrize("C", [1e-6, 1e-3, 5e-3])
def test_nobody_is_left_to_work_on(monkeypatch, C, cache_bytes):
    """Close together and cheap: everybody ends at a bound, beyond the slack, and is set aside."""
    for name, value in {
        "N_INITIAL_ROWS": 8,
        "MIN_BLOCK_SIZE": 4,
        "MAX_BLOCK_SIZE": 12,
        "MAX_POLISHED_SAMPLES": 0,
        "MAX_SMALL_SAMPLES": 4,
    }.items():
        monkeypatch.setattr(working_set, name, value, raising=False)
    n_active = []
    for n in (8, 32, 40):
        X, y = 0.1 * noisy(n, n)[0], np.where(np.arange(n) % 2, 1.0, -1.0)
        problem = problem_of(X, y, np.full(n, C))
        result = working_sets(
            problem,
            stop=Stop(tol=1e-6, max_iter=500),
            cache_bytes=cache_bytes,
            callback=lambda check, state: n_active.append(len(state.active)),
        )
        assert_solved(problem, result, 1e-6)
    assert min(n_active) == 0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cache_bytes", [1, 2000, UNLIMITED])
@pytest.mark.parametrize(("d", "C"), [(1, 1e6), (2, 1e5), (4, 1e5)])
def test_what_is_hard_for_pairs_is_left_to_the_exact_method(loss, cache_bytes, d, C):
    X, y, weight = noisy(0, 50, d)
    problem = problem_of(X, y, C * weight, loss, Linear())
    result = working_sets(problem, stop=Stop(tol=1e-6, max_iter=300), cache_bytes=cache_bytes)
    assert_solved(problem, result, 1e-6)


@pytest.mark.parametrize(("cache_bytes", "d"), [(30_000, 3), (UNLIMITED, 3), (UNLIMITED, 60)])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_solver_goes_on_bit_for_bit(small_steps, monkeypatch, loss, cache_bytes, d):
    monkeypatch.setattr(working_set, "SETTLED_MARGIN", 0.05)  # so that samples are set aside too early
    monkeypatch.setattr(working_set, "MAX_LOOKS_PER_CERTIFICATE", 0)  # a certificate after every look at them
    X, y, weight = noisy(9, n=200, noise=0.3)
    X = X @ np.linalg.qr(np.random.default_rng(0).normal(size=(d, 3)))[0].T  # the same distances
    problem = problem_of(X, y, 3.0 * weight, loss)
    stop, states = Stop(tol=1e-5, max_iter=20_000), []
    whole = working_sets(
        problem,
        stop=stop,
        cache_bytes=cache_bytes,
        callback=lambda check, state: states.append((check, state.copy())),
    )
    assert whole.status is Status.CONVERGED
    assert small_steps["_grow"] >= 2
    assert small_steps["_shrink"] >= 1
    assert len(states) >= 3
    for check, state in states:
        rest = working_sets(problem, stop=stop, cache_bytes=cache_bytes, state=state)
        assert rest.history[0].primal == check.primal
        np.testing.assert_array_equal(rest.coef, whole.coef)
        assert rest.intercept == whole.intercept
        assert rest.n_iter == whole.n_iter


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "dtype", "tol"), [(300, np.float64, 1e-6), (1300, np.float32, 1e-3)])
@pytest.mark.parametrize("held", [True, False])
def test_the_short_way_ends_where_the_long_one_does(monkeypatch, loss, n, dtype, tol, held):
    """Few samples, all rows in memory: computed by the core, or asked for where the matrix is given."""
    X, y, weight = noisy(n, n=n, noise=0.3)
    X = X.astype(dtype)
    kernel, rows = (Precomputed(), naive(HALF, X).astype(dtype)) if held else (HALF, X)
    problems = [problem_of(rows, y, 3.0 * weight, loss, kernel, n_threads) for n_threads in (1, 2, 4)]
    monkeypatch.setattr(working_set.WorkingSets, "step", None)
    stop, states = Stop(tol=tol, max_iter=2000), []
    one, two, four = (
        working_sets(
            problem,
            stop=stop,
            cache_bytes=2 * n * n * np.dtype(dtype).itemsize,
            callback=lambda check, state: states.append(state.copy()),
        )
        for problem in problems
    )
    monkeypatch.undo()
    for other in (two, four, working_sets(problems[0], stop=stop, cache_bytes=UNLIMITED, state=states[0])):
        np.testing.assert_array_equal(other.coef, one.coef)
        assert other.intercept == one.intercept
    assert 0.0 <= one.history[-1].hit_rate < 1.0
    assert np.count_nonzero(one.coef) * n <= one.history[-1].kernel_values <= n * n
    monkeypatch.setattr(working_set, "MAX_SMALL_SAMPLES", 0)
    other = working_sets(problems[0], stop=stop, cache_bytes=UNLIMITED)
    assert other.status is one.status is Status.CONVERGED
    assert one.history[-1].dual <= other.objective * (1 + 1e-12)
    assert other.history[-1].dual <= one.objective * (1 + 1e-12)
    if n <= working_set.MAX_POLISHED_SAMPLES:
        np.testing.assert_allclose(one.coef, other.coef, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_change_no_bit(small_steps, loss):
    X, y, weight = noisy(9, n=300)
    coefs = [
        working_sets(
            problem_of(X, y, 3.0 * weight, loss, n_threads=n_threads),
            stop=Stop(tol=1e-5, max_iter=20_000),
            cache_bytes=30_000,
        ).coef
        for n_threads in (1, 2, 4)
    ]
    np.testing.assert_array_equal(coefs[1], coefs[0])
    np.testing.assert_array_equal(coefs[2], coefs[0])


@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_from_other_coefficients(small_steps, loss):
    """From those of another C, and from nonsense: the same optimum, sooner where they are good."""
    X, y, weight = noisy(4, n=200)
    stop = Stop(tol=1e-5, max_iter=20_000)
    near = working_sets(problem_of(X, y, 1.0 * weight, loss), stop=stop, cache_bytes=UNLIMITED)
    problem = problem_of(X, y, 1.1 * weight, loss)
    cold = working_sets(problem, stop=stop, cache_bytes=UNLIMITED)
    for a in (near.coef, cold.coef, np.random.default_rng(0).normal(size=200) * 100.0, -near.coef):
        result = working_sets(
            problem, stop=stop, cache_bytes=UNLIMITED, state=start(problem, stop.tol, True, a)
        )
        assert_solved(problem, result, 1e-5)
        assert result.objective == pytest.approx(cold.objective, rel=2e-5)
        if a is near.coef:
            assert result.n_iter < cold.n_iter
        if a is cold.coef:
            assert result.n_iter <= 2


@pytest.mark.parametrize("max_iter", [1, 2, 5, 9, 14])
def test_the_certificate_holds_wherever_it_stopped(small_steps, max_iter):
    X, y, weight = noisy(2, n=250)
    for loss in LOSSES:
        problem = problem_of(X, y, 2.0 * weight, loss)
        result = working_sets(problem, stop=Stop(tol=1e-12, max_iter=max_iter), cache_bytes=UNLIMITED)
        assert result.status is Status.MAX_ITER
        K = naive(RBF(0.5), X)
        primal, dual = kernel_svm_bounds(result.coef, result.intercept, K, y, problem.cost, loss)
        assert result.objective == pytest.approx(primal, rel=1e-11)
        assert result.history[-1].dual == pytest.approx(dual, rel=1e-9)
        _, best = kernel_svm_dual(K, y, problem.cost, loss)
        assert dual <= best * (1 + 1e-7) <= primal * (1 + 1e-6)


@pytest.mark.parametrize("n", [3, 9])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_intercept_is_the_best_one(n, loss):
    """Against a fine search, for coefficients of any quality and where no sample is free."""
    for seed in range(25):
        X, y, cost = noisy(seed, n=n)
        rng = np.random.default_rng(seed)
        problem = problem_of(X, y, cost, loss)
        a = working_set.balanced(problem, rng.choice([0.0, 0.5, 1.0], size=n) * cost * y)
        g = y - naive(RBF(0.5), X) @ a - problem.ridge * a
        b = problem.intercept(slice(None), a, g)
        gap = problem.gap(slice(None), a, g, b)
        others = np.concatenate([np.linspace(-4.0, 4.0, 801), problem.residuals(slice(None), a, g)])
        best = min(problem.gap(slice(None), a, g, other) for other in others)
        assert gap <= best + 1e-12
        assert gap >= best - 1e-2


def test_of_several_intercepts_the_middle_one_is_taken():
    """Two samples at their bounds: every b between their residuals loses the same."""
    problem = problem_of(np.zeros((2, 1)), np.array([1.0, -1.0]), np.array([0.1, 0.1]))
    a = np.array([0.1, -0.1])
    assert problem.intercept(slice(None), a, np.array([0.9, -0.5])) == pytest.approx(0.2)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("polished", [0, 1000])
@pytest.mark.parametrize("C", [1.0, 1e6])
def test_an_indefinite_kernel_ends_finite(monkeypatch, loss, polished, C):
    monkeypatch.setattr(working_set, "MAX_POLISHED_SAMPLES", polished)
    X, y, weight = noisy(1, n=120)
    problem = problem_of(X, y, C * weight, loss, Sigmoid(gamma=1.0, coef0=-1.0))
    result = working_sets(problem, stop=Stop(tol=1e-3, max_iter=300, max_seconds=2.0), cache_bytes=UNLIMITED)
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.intercept)
    assert np.isfinite(result.objective)
    assert result.gap == np.inf  # no bound holds
    assert result.status is not Status.CONVERGED


# ---- the polish ----


def singular(case):
    X, y, weight = noisy(0, n=80, d=3)
    if case == "few features":
        return X, y, weight, Linear()
    if case == "duplicates":
        return X[np.arange(80) % 11], y, weight, RBF(1.0)
    if case == "constant kernel":
        return np.ones((80, 80)), y, weight, Precomputed()
    if case == "no kernel at all":
        return np.zeros((80, 80)), y, weight, Precomputed()
    if case == "one of a class":
        return X, np.where(np.arange(80) == 7, 1.0, -1.0), weight, RBF(1.0)
    if case == "two samples":
        return X[:2], y[:2], weight[:2], RBF(1.0)
    return X, y, weight, RBF(1e-5)  # nearly singular


@pytest.mark.parametrize(
    "case",
    [
        "few features",
        "duplicates",
        "constant kernel",
        "no kernel at all",
        "one of a class",
        "two samples",
        "smooth",
    ],
)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 100.0])
def test_small_problems_are_solved_to_machine_precision(case, loss, C):
    X, y, weight, kernel = singular(case)
    problem = problem_of(X, y, C * weight, loss, kernel)
    result = working_sets(problem, stop=Stop(tol=1e-3), cache_bytes=UNLIMITED)
    assert_solved(problem, result, 1e-13)
    assert result.gap <= 1e-13 + rounding(problem, result.coef) * problem.cost.sum() / result.objective


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_a_polish_needs_neither_a_good_start_nor_a_scale(loss, scale):
    X, y, weight = noisy(0, n=40)
    problem = problem_of(scale * X, y, weight / scale**2, loss, Linear())
    a = polish(problem, np.zeros(40), lambda: False)[0]
    g = y - naive(Linear(), scale * X) @ a - problem.ridge * a
    gap = problem.gap(slice(None), a, g, problem.intercept(slice(None), a, g))
    assert gap <= 1e-14 * problem.cost.sum()


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 50), log_C=st.floats(-4, 4), loss=st.sampled_from(LOSSES))
def test_a_polish_never_makes_a_point_worse(seed, n, log_C, loss):
    X, y, weight = noisy(seed, n)
    problem = problem_of(X, y, 10.0**log_C * weight, loss)
    rng = np.random.default_rng(seed)
    a = working_set.balanced(problem, rng.uniform(0, 1, size=n) * np.minimum(problem.cost, 10.0) * y)
    K = naive(RBF(0.5), X)

    def gap(a):
        g = y - K @ a - problem.ridge * a
        return problem.gap(slice(None), a, g, problem.intercept(slice(None), a, g))

    for late in (lambda: True, lambda: False):
        better = polish(problem, a, late)[0]
        kernel_svm_bounds(better, 0.0, K, y, problem.cost, loss)  # feasible
        assert gap(better) <= gap(a) * (1 + 1e-12)
    assert gap(better) <= 1e-9 * problem.cost.sum()


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 50),
    log_C=st.floats(-4, 4),
    loss=st.sampled_from(LOSSES),
    single=st.booleans(),
)
def test_the_core_polishes_as_the_reference_does(seed, n, log_C, loss, single):
    X, y, weight = noisy(seed, n)
    problem = problem_of(X.astype(np.float32) if single else X, y, 10.0**log_C * weight, loss)
    rng = np.random.default_rng(seed)
    a = working_set.balanced(problem, rng.uniform(0, 1, size=n) * np.minimum(problem.cost, 10.0) * y)
    everyone, known = np.arange(n), (rng.random(n) < 0.5).astype(np.uint8)
    rows, asked = problem.kernel.between(everyone, everyone), []
    kept = rows.copy()
    rows[known == 0] = np.nan

    def fetch(which):
        asked.extend(which.tolist())
        rows[which] = kept[which]
        known[which] = 1
        return which

    expected, gradient = polish(problem, a, lambda: False)
    found, g = a.copy(), y.copy()
    fixed = (problem.lower, problem.upper, y, problem.cost, problem.squared)
    solved = _native.svm_polish(rows, known, found, g, *fixed, 60.0, fetch, _native.NEVER)
    assert len(set(asked)) == len(asked)
    if not solved:  # it has met a flat face, and has touched nothing
        np.testing.assert_array_equal(found, a)
        np.testing.assert_array_equal(g, y)
        return
    scale = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(g, gradient, atol=1e-9 * scale)
    np.testing.assert_allclose(g, y - kept.astype(float) @ found - problem.ridge * found, atol=1e-11 * scale)
    gaps = [
        problem.gap(slice(None), c, r, problem.intercept(slice(None), c, r))
        for c, r in ((found, g), (expected, gradient))
    ]
    assert gaps[0] <= gaps[1] + 1e-12 * problem.cost.sum()
    assert ((problem.lower <= found) & (found <= problem.upper)).all()


def test_the_core_leaves_flat_faces_alone():
    problem = problem_of(np.ones((6, 2)), np.array([1.0, -1.0] * 3), np.ones(6))
    a, g = 0.25 * problem.y, problem.y.copy()
    known, rows = np.ones(6, dtype=np.uint8), np.ones((6, 6))
    fixed = (problem.lower, problem.upper, problem.y, problem.cost, False)
    assert not _native.svm_polish(rows, known, a, g, *fixed, 60.0, lambda which: which, _native.NEVER)
    np.testing.assert_array_equal(a, 0.25 * problem.y)


@pytest.mark.parametrize("n", [700, 1000])
def test_the_polish_of_a_problem_that_was_shrunk(n):
    """Between two blocks and the limit of the polish, samples have been set aside when it begins."""
    X, y, weight = noisy(n, n=n, noise=0.2)
    problem = problem_of(X, y, 10.0 * weight)
    result = working_sets(problem, stop=Stop(tol=1e-3), cache_bytes=UNLIMITED)
    assert_solved(problem, result, 1e-10)


# ---- the cache ----


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


def test_the_row_not_used_for_longest_leaves_first():
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


def test_rows_that_are_kept_are_not_computed_again():
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


def test_old_and_new_rows_are_never_held_together_beyond_the_limit():
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


# ---- native loops ----


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
def test_a_block_is_solved_as_a_slow_loop_does(seed, n, single, loss, log_C):
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


def test_a_block_stops_after_its_steps_and_refuses_what_does_not_fit():
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
def test_compact_rows_is_a_selection_of_columns(dtype, n_threads):
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
