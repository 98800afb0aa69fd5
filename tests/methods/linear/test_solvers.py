"""The linear solvers against their certificates, a QP referee, KKT conditions and each other."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from support.properties import examples
from support.reference import svm_dual_objective, svm_objective, svm_primal

from maxmargin import _native
from maxmargin.data.rows import Rows
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.methods.linear.dual_cd import DualDescent, _start, dual_cd
from maxmargin.methods.linear.newton import newton
from maxmargin.methods.linear.problem import MarginProblem
from maxmargin.methods.linear.truncated_newton import feature_squares, truncated_newton
from maxmargin.solving.result import State, Status, Stop

SOLVERS = {"newton": newton, "dual-cd": dual_cd}
LOSSES = {"hinge": Hinge(), "squared-hinge": SquaredHinge()}
INTERCEPTS = ["free", "penalised", "none"]


def problem_of(X, y, cost, loss, intercept):
    return MarginProblem(Rows(X, np.arange(X.shape[0])), y, cost, LOSSES[loss], intercept)


def noisy(seed, n=40, d=5, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, y, rng.uniform(0.2, 3.0, size=n)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_gap_certifies_the_solution(solver, loss, intercept):
    X, y, cost = noisy(0)
    result = SOLVERS[solver](problem_of(X, y, cost, loss, intercept), stop=Stop(tol=1e-6, max_iter=20_000))
    assert result.status is Status.CONVERGED
    assert all(check.gap >= -1e-10 for check in result.history)
    # both bounds again, from nothing but the returned coefficients
    primal = svm_objective(result.coef, result.intercept, X, y, cost, loss, intercept)
    assert primal == pytest.approx(result.objective, rel=1e-12)
    assert result.history[-1].dual <= primal * (1 + 1e-13)


@examples(60, 200)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 30),
    d=st.integers(1, 8),
    C=st.floats(-6, 6),
    scale=st.floats(-3, 3),
    loss=st.sampled_from(sorted(LOSSES)),
    intercept=st.sampled_from(INTERCEPTS),
)
@example(seed=0, n=2, d=3, C=5.0, scale=0.0, loss="hinge", intercept="penalised")  # divided by zero
@example(seed=0, n=2, d=1, C=6.0, scale=0.0, loss="hinge", intercept="free")  # rounding of 3e-10 decided
@example(seed=242, n=7, d=7, C=5.96875, scale=0.0, loss="hinge", intercept="penalised")  # of 5e-10
def test_newton_equals_the_referee(seed, n, d, C, scale, loss, intercept):
    X, y, weight = noisy(seed, n, d)
    cost, scale = weight * 10.0**C, 10.0**scale
    _, _, best = svm_primal(X, y, cost, loss, intercept)
    if intercept != "penalised":  # rows s x and costs c / s^2 divide w by s and the objective by s^2
        X, cost, best = X * scale, cost / scale**2, best / scale**2
    result = newton(problem_of(X, y, cost, loss, intercept), stop=Stop(tol=1e-10, max_iter=2000))
    terms = 1.0 + (np.abs(X) @ np.abs(result.coef)).max() + abs(result.intercept)
    rounding = 8 * np.finfo(float).eps * terms * cost.sum() / best  # of margins, beyond tol where C is large
    assert result.status is Status.CONVERGED or result.history[-1].gap <= rounding
    assert result.objective <= best * (1 + 1e-6)
    assert result.history[-1].dual <= best * (1 + 1e-9)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_dual_cd_equals_the_referee(seed, loss, intercept):
    X, y, cost = noisy(seed)
    stop = Stop(tol=1e-8, max_iter=100_000)
    result = dual_cd(problem_of(X, y, cost, loss, intercept), stop=stop, seed=seed)
    _, _, best = svm_primal(X, y, cost, loss, intercept)
    assert result.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_dual_coefficients_are_a_feasible_and_nearly_optimal_dual_point(solver, loss, intercept):
    X, y, cost = noisy(3)
    result = SOLVERS[solver](problem_of(X, y, cost, loss, intercept), stop=Stop(tol=1e-9, max_iter=100_000))
    a = result.dual_coef * y
    if solver == "dual-cd" and intercept == "free":  # feasible in the limit only; the certificate repairs it
        assert abs(a @ y) <= 1e-4 * a.sum()
        return
    dual = svm_dual_objective(a, X, y, cost, loss, intercept)
    assert dual == pytest.approx(result.objective, rel=1e-8)


def test_kkt_conditions_of_the_hinge():
    X, y, cost = noisy(5, n=200)
    result = newton(problem_of(X, y, cost, "hinge", "free"), stop=Stop(tol=1e-12, max_iter=1000))
    a, margins = result.dual_coef * y, y * (X @ result.coef + result.intercept)
    distance = np.sqrt(2e-12 * result.objective)  # what a gap of 1e-12 allows, by strong convexity
    assert np.linalg.norm((a * y) @ X - result.coef) <= 2 * distance
    slack = 10 * distance * np.linalg.norm(X, axis=1).max()
    assert (margins[a == 0.0] >= 1 - slack).all()
    assert (margins[a >= cost * (1 - 1e-12)] <= 1 + slack).all()
    free = (a > 1e-9) & (a < cost * (1 - 1e-9))
    assert free.any()
    np.testing.assert_allclose(margins[free], 1.0, atol=slack)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", SOLVERS)
def test_dense_and_sparse_agree(solver, dtype):
    X, y, cost = noisy(1, dtype=dtype)
    X[np.abs(X) < 0.5] = 0.0
    stop = Stop(tol=1e-9, max_iter=100_000)
    dense = SOLVERS[solver](problem_of(X, y, cost, "hinge", "free"), stop=stop)
    for index in (np.int32, np.int64):
        S = sparse.csr_array(X)
        S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
        thin = SOLVERS[solver](problem_of(S, y, cost, "hinge", "free"), stop=stop)
        np.testing.assert_allclose(thin.coef, dense.coef, atol=1e-4)
        assert thin.objective == pytest.approx(dense.objective, rel=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_wide_data_takes_the_small_system(loss):
    X, y, cost = noisy(2, n=30, d=400)
    result = newton(problem_of(X, y, cost, loss, "free"), stop=Stop(tol=1e-10))
    _, _, best = svm_primal(X, y, cost, loss, "free")
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(best, rel=1e-6)


def test_conjugate_gradients_serve_where_no_matrix_fits(monkeypatch):
    X, y, cost = noisy(2, n=80, d=70)
    exact = newton(problem_of(X, y, cost, "squared-hinge", "free"), stop=Stop(tol=1e-8))
    monkeypatch.setattr("maxmargin.methods.linear.newton_system.MAX_FACTOR_ORDER", 10)
    result = newton(problem_of(X, y, cost, "squared-hinge", "free"), stop=Stop(tol=1e-8))
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.coef, exact.coef, atol=1e-3)


def test_a_start_from_a_sample_changes_nothing_but_time(monkeypatch):
    X, y, _ = noisy(7, n=12_000, d=4)
    cost = np.ones(len(y))
    sampled = newton(problem_of(X, y, cost, "hinge", "free"), stop=Stop(tol=1e-9))
    monkeypatch.setattr("maxmargin.methods.linear.newton.START_SAMPLE_DIVISOR", 10**9)
    plain = newton(problem_of(X, y, cost, "hinge", "free"), stop=Stop(tol=1e-9))
    assert sampled.status is plain.status is Status.CONVERGED
    assert sampled.objective == pytest.approx(plain.objective, rel=2e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_resumed_solver_goes_on_bit_for_bit(solver, loss):
    X, y, cost = noisy(9, n=300, d=20)
    problem, stop = problem_of(X, y, cost, loss, "free"), Stop(tol=1e-9, max_iter=60)
    saved: list[State] = []
    whole = SOLVERS[solver](
        problem, stop=stop, callback=lambda check, state: saved.append(state.copy()) and False
    )
    for checkpoint in (saved[len(saved) // 2], saved[-1]):
        resumed = SOLVERS[solver](problem, stop=stop, state=checkpoint.copy())
        np.testing.assert_array_equal(resumed.coef, whole.coef)
        assert resumed.intercept == whole.intercept
        assert resumed.n_iter == whole.n_iter
        assert resumed.history[-1].dual == whole.history[-1].dual


@pytest.mark.parametrize("solver", SOLVERS)
def test_threads_change_no_bit(solver):
    X, y, cost = noisy(11, n=5000, d=30)
    results = [
        SOLVERS[solver](
            MarginProblem(Rows(X, np.arange(len(y)), n_threads), y, cost, Hinge(), "free"),
            stop=Stop(tol=1e-3),
        )
        for n_threads in (1, 2, 4)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other.coef, results[0].coef)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("offset", [1e2, 1e4])
@pytest.mark.parametrize("seed", range(3))
def test_a_free_intercept_makes_the_origin_irrelevant(solver, loss, offset, seed):
    X, y, cost = noisy(seed, n=60, d=4)
    stop = Stop(tol=1e-6, max_iter=3000)
    near = SOLVERS[solver](problem_of(X, y, cost, loss, "free"), stop=stop)
    far = SOLVERS[solver](problem_of(X + offset, y, cost, loss, "free"), stop=stop)
    assert far.status is Status.CONVERGED
    assert far.objective == pytest.approx(near.objective, rel=3e-6)
    if solver == "newton":
        assert far.n_iter <= 3 * near.n_iter


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("scale", "C"), [(0.0, 1.0), (1e-4, 1.0), (1.0, 1e-6), (1e-8, 1e-6)])
def test_short_rows_and_small_costs_leave_the_intercept_to_be_found(solver, scale, C):
    X, y, cost = noisy(1, n=60, d=4)
    y[:40] = 1.0  # an uneven split, so that the intercept matters
    result = SOLVERS[solver](problem_of(scale * X, y, C * cost, "hinge", "free"), stop=Stop(tol=1e-5))
    assert result.status is Status.CONVERGED


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("max_iter", [1, 5, 13])
def test_the_objective_is_that_of_the_coefficients_wherever_it_stopped(solver, max_iter):
    X, y, cost = noisy(2, n=300, d=10)
    stop = Stop(tol=1e-12, max_iter=max_iter)
    result = SOLVERS[solver](problem_of(X + 50.0, y, cost, "hinge", "free"), stop=stop)
    assert result.status is Status.MAX_ITER
    primal = svm_objective(result.coef, result.intercept, X + 50.0, y, cost, "hinge", "free")
    assert primal == pytest.approx(result.objective, rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("constant", [0.0, 5.0, 1e3])
def test_zero_rows_and_constant_features(solver, constant):
    X = np.zeros((6, 3))
    X[:, 1] = constant
    y = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0])
    result = SOLVERS[solver](problem_of(X, y, np.ones(6), "hinge", "free"), stop=Stop(tol=1e-8))
    assert result.status is Status.CONVERGED
    assert (
        0.5 * result.coef @ result.coef <= 1e-8 * result.objective
    )  # strong convexity turns gap to distance
    assert result.objective == pytest.approx(4.0)  # b = 1: the two negatives lose 2 each


@examples(60, 200)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 30),
    d=st.integers(1, 8),
    C=st.floats(-5, 5),
    intercept=st.sampled_from(INTERCEPTS),
)
def test_truncated_newton_equals_the_referee(seed, n, d, C, intercept):
    X, y, weight = noisy(seed, n, d)
    cost = weight * 10.0**C
    _, _, best = svm_primal(X, y, cost, "squared-hinge", intercept)
    result = truncated_newton(problem_of(X, y, cost, "squared-hinge", intercept), stop=Stop(tol=1e-10))
    assert result.status is Status.CONVERGED
    assert result.objective <= best * (1 + 1e-6)
    assert result.history[-1].dual <= best * (1 + 1e-9)
    assert all(check.gap >= -1e-10 for check in result.history)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("shape", [(400, 30), (60, 500)])
def test_truncated_newton_ends_where_newton_ends(shape, intercept, container):
    X, y, cost = noisy(3, *shape)
    X[np.abs(X) < 0.5] = 0.0
    stop = Stop(tol=1e-11)
    exact = newton(problem_of(X, y, cost, "squared-hinge", intercept), stop=stop)
    result = truncated_newton(problem_of(container(X), y, cost, "squared-hinge", intercept), stop=stop)
    assert result.status is exact.status is Status.CONVERGED
    assert result.objective == pytest.approx(exact.objective, rel=1e-10)
    np.testing.assert_allclose(result.coef, exact.coef, atol=1e-4)
    a = result.dual_coef * y
    dual = svm_dual_objective(a, X, y, cost, "squared-hinge", intercept)
    assert dual == pytest.approx(result.objective, rel=1e-9)


def test_truncated_newton_goes_on_bit_for_bit_and_with_any_threads():
    X, y, cost = noisy(9, n=3000, d=40)
    problem, stop = problem_of(X, y, cost, "squared-hinge", "free"), Stop(tol=1e-12, max_iter=30)
    saved: list[State] = []
    whole = truncated_newton(
        problem, stop=stop, callback=lambda check, state: saved.append(state.copy()) and False
    )
    resumed = truncated_newton(problem, stop=stop, state=saved[len(saved) // 2].copy())
    np.testing.assert_array_equal(resumed.coef, whole.coef)
    assert resumed.intercept == whole.intercept
    assert resumed.n_iter == whole.n_iter
    for n_threads in (2, 4):
        rows = Rows(X, np.arange(len(y)), n_threads)
        other = truncated_newton(MarginProblem(rows, y, cost, SquaredHinge(), "free"), stop=stop)
        np.testing.assert_array_equal(other.coef, whole.coef)


def test_truncated_newton_refuses_the_hinge():
    X, y, cost = noisy(0)
    with pytest.raises(
        ValueError, match=r"'squared-hinge' or 'log'; got 'hinge'. Use solver='newton' or 'dual-cd'"
    ):
        truncated_newton(problem_of(X, y, cost, "hinge", "free"), stop=Stop())


def test_squares_of_features_are_those_of_dense_and_sparse_rows():
    X, _, weight = noisy(4)
    X[np.abs(X) < 0.5] = 0.0
    index = np.arange(len(weight))[::-1].copy()
    expected = weight @ X[index] ** 2 / weight.sum()
    for container in (np.asarray, sparse.csr_array):
        np.testing.assert_allclose(feature_squares(Rows(container(X), index), weight), expected)


def word_counts(seed, n=600, d=900):
    """Rows of very uneven lengths that share their frequent words, and two uneven classes."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(10, d + 10)
    topic = np.exp(rng.normal(size=d))
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    lengths = np.exp(rng.normal(4.0, 1.0, size=n)).astype(int) + 1
    rates = [frequency * (topic if sign > 0 else 1.0) for sign in y]
    return np.array([rng.multinomial(k, p / p.sum()) for k, p in zip(lengths, rates)], dtype=float), y


@pytest.mark.parametrize("scaled", ["counts", "max-abs", "unit"])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_an_intercept_costs_dual_cd_few_epochs_more(loss, C, scaled):
    X, y = word_counts(0)
    X /= {"counts": 1.0, "max-abs": X.max(axis=0) + 1e-9, "unit": np.linalg.norm(X, axis=1)[:, None]}[scaled]
    X, cost = sparse.csr_array(X), np.full(len(y), C)
    stop = Stop(tol=1e-3, max_iter=3000)
    n_iter = {}
    for intercept in INTERCEPTS:
        result = dual_cd(problem_of(X, y, cost, loss, intercept), stop=stop)
        assert result.status is Status.CONVERGED
        best = newton(problem_of(X, y, cost, loss, intercept), stop=Stop(tol=1e-6)).objective
        assert best * (1 - 1e-6) <= result.objective <= best * (1 + 1.1e-3)
        n_iter[intercept] = result.n_iter
    assert max(n_iter.values()) <= 3 * n_iter["none"] + 40


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_epochs_estimate_the_gap_that_a_certificate_shows(loss):
    X, y = word_counts(1)
    problem = problem_of(sparse.csr_array(X), y, np.full(len(y), 0.3), loss, "none")
    seen = []
    result = dual_cd(
        problem,
        stop=Stop(tol=1e-5, max_iter=3000),
        callback=lambda check, state: seen.append((check.gap, state.estimate)) and False,
    )
    assert result.status is Status.CONVERGED
    assert len(seen) > 3
    for gap, estimate in seen[2:]:
        assert gap / 10 <= estimate <= 10 * gap


def test_epochs_of_one_call_are_those_of_several():
    X, y = word_counts(2)
    problem = problem_of(sparse.csr_array(X), y, np.full(len(y), 0.3), "hinge", "penalised")
    stop, found = Stop(tol=1e-3, max_iter=100), []
    for calls in ([4], [1, 1, 1, 1], [3, 1]):
        descent = DualDescent(problem, _start(problem, 5), stop)
        for n in calls:
            done, _ = _native.dual_cd_epochs(descent.problem, descent, descent.state, (n, 0.0), stop.cancel)
            assert done == n
            descent.state.epoch += n
        found.append(descent.state)
    for name in ("a", "w", "bias", "order", "n_active", "violation"):
        assert all(np.array_equal(found[0][name], other[name]) for other in found[1:])


def test_a_penalised_intercept_converges_to_few_digits_and_to_many():
    X, y, cost = noisy(4, n=200)
    for scale in (1e-2, 1.0, 1e2):  # rows much shorter and much longer than the feature of the intercept
        problem = problem_of(scale * X, y, cost / scale**2, "hinge", "penalised")
        best = newton(problem, stop=Stop(tol=1e-10)).objective
        for tol in (1e-2, 1e-6):
            result = dual_cd(problem, stop=Stop(tol=tol, max_iter=50_000))
            assert result.status is Status.CONVERGED
            assert result.objective <= best * (1 + 1.1 * tol)


def test_the_exact_shortfall_is_that_of_rational_arithmetic():
    X, y, cost = noisy(6, n=12, dtype=np.float32)
    X[np.abs(X) < 0.5] = 0.0
    w, b = np.linspace(1e3, -1e-3, 5), 0.1
    which = np.array([7, 0, 3])
    for container in (np.asarray, sparse.csr_array):
        found = problem_of(container(X), y, cost, "hinge", "free")._exact_shortfall(which, w, b)
        for i, value in zip(which, found):
            terms = sum(Fraction(float(x)) * Fraction(float(k)) for x, k in zip(X[i], w)) + Fraction(b)
            assert value == float(1 - int(y[i]) * terms)
