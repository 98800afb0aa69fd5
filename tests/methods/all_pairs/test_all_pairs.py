"""The all-pairs M-SVM: a referee on the textbook program, bounds, KKT conditions, and its steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from support.properties import examples
from support.reference import all_pairs_objective, all_pairs_primal

from maxmargin import AllPairsSVC, KernelSVC, _native
from maxmargin.methods.all_pairs.box_qp import BoxQP, interior_point
from maxmargin.methods.all_pairs.problem import AllPairsProblem
from maxmargin.methods.all_pairs.sweeps import Descent, _start, all_pairs
from maxmargin.solving.result import Status, Stop


def drawn(seed, n_classes, n=18, d=3, spread=1.0):
    """Rows, labels with every class among them, and weights."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.normal(size=(n, d)) + spread * rng.normal(size=(n_classes, d))[labels]
    return X, labels, rng.uniform(0.2, 3.0, n)


def problem_of(X, labels, cost, n_classes=None):
    return AllPairsProblem(X @ X.T, labels, cost, n_classes or labels.max() + 1)


@examples(60, 200)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), log_C=st.floats(-3.0, 3.0))
def test_the_optimum_is_that_of_the_textbook_program(seed, n_classes, log_C):
    X, labels, weight = drawn(seed, n_classes, spread=seed % 3)
    cost = 10.0**log_C * weight
    _, _, expected = all_pairs_primal(X, labels, cost, n_classes)
    result = all_pairs(problem_of(X, labels, cost), stop=Stop(tol=1e-8, max_iter=300))
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(expected, rel=1e-6, abs=1e-6 * cost.min())


def test_the_optimum_over_C_is_continuous_and_concave():
    """It is the minimum of functions that are linear in C."""
    X, labels, weight = drawn(1, 3, n=30)
    Cs = np.geomspace(0.01, 100.0, 41)
    values = np.array(
        [all_pairs(problem_of(X, labels, C * weight), stop=Stop(tol=1e-9)).objective for C in Cs]
    )
    slopes = np.diff(values) / np.diff(Cs)
    assert (slopes >= 0.0).all()
    assert (np.diff(slopes) <= 1e-6 * slopes[:-1]).all()


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_all_sizes_of_C_reach_a_gap_of_1e_8(C, kernel, n_classes):
    for seed in range(3):
        X, labels, weight = drawn(seed, n_classes, n=40, d=2, spread=1.5)
        K = X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=1.0)
        result = all_pairs(
            AllPairsProblem(K, labels, C * weight, n_classes), stop=Stop(tol=1e-8, max_iter=300)
        )
        assert result.status is Status.CONVERGED
        assert result.gap >= -1e-12


def test_the_certificate_is_the_primal_and_the_dual_written_out():
    X, labels, weight = drawn(0, 4, n=40)
    K, cost = rbf_kernel(X, gamma=0.5), 3.0 * weight
    seen = []
    result = all_pairs(
        AllPairsProblem(K, labels, cost, 4),
        stop=Stop(tol=1e-9, max_iter=300),
        callback=lambda check, state: seen.append((check, state.best_a.copy())),
    )
    F = K @ result.coef
    assert result.objective == pytest.approx(
        all_pairs_objective(F, result.coef.T @ F, result.intercepts, labels, cost), rel=1e-12
    )
    check, a = seen[-1]
    own = labels[:, None] == np.arange(4)
    B = np.where(own, a.sum(axis=1, keepdims=True), -a)
    assert (a[own] == 0.0).all()
    assert ((a >= 0.0) & (a <= cost[:, None])).all()
    assert np.abs(B.sum(axis=0)).max() <= 1e-12 * a.sum()
    assert check.dual == pytest.approx(a.sum() - 0.5 * np.trace(B.T @ K @ B), rel=1e-12)
    assert result.coef.sum(axis=1) == pytest.approx(np.zeros(40), abs=1e-12 * np.abs(B).max())
    assert abs(result.intercepts.sum()) <= 1e-12 * (1.0 + np.abs(result.intercepts).max())


def test_kkt_conditions():
    X, labels, weight = drawn(1, 3, n=60)
    problem = AllPairsProblem(rbf_kernel(X, gamma=0.5), labels, weight, 3)
    result = all_pairs(problem, stop=Stop(tol=1e-10, max_iter=300))
    a = np.where(problem.own, 0.0, -result.coef)
    z = problem.shortfall(problem.K @ result.coef, result.intercepts)
    inside = (a > 1e-6) & (a < problem.upper - 1e-6)
    assert inside.any()
    assert np.abs(z[inside]).max() < 1e-6
    assert z[(a == 0.0) & ~problem.own].max() < 1e-6
    assert z[(a == problem.upper) & ~problem.own].min(initial=0.0) > -1e-6
    assert result.history[-1].violation < 1e-6


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 1e6])
def test_sweeps_and_working_sets_agree(C, monkeypatch):
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 6][:160] / 16.0, y[y < 6][:160]
    model = AllPairsSVC(C=C, tol=1e-8, gamma=0.3).fit(X, y)  # 800 pairs: sweeps come first
    assert model.status_ == "converged"
    assert all(check.gap >= -1e-12 for check in model.history_[0])
    monkeypatch.setattr("maxmargin.methods.all_pairs.sweeps.MAX_PAIRS_WITHOUT_SWEEPS", 10**6)
    monkeypatch.setattr("maxmargin.methods.all_pairs.sweeps.MAX_WORKING_SET_PAIRS", 10**6)
    at_once = AllPairsSVC(C=C, tol=1e-8, gamma=0.3).fit(X, y)
    assert at_once.status_ == "converged"
    assert at_once.n_iter_ < model.n_iter_
    assert at_once.objective_ == pytest.approx(model.objective_, rel=1e-7)


def test_gaps_shrink():
    X, y = load_digits(return_X_y=True)
    model = AllPairsSVC(C=1.0, tol=1e-6, gamma=0.3).fit(X[:300] / 16.0, y[:300])
    gaps = [check.gap for check in model.history_[0]]
    assert len(gaps) > 3
    assert gaps == sorted(gaps, reverse=True)


def test_two_classes_are_the_kernel_svm_of_twice_the_cost():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    ours = AllPairsSVC(C=2.0, tol=1e-9).fit(X, y)
    svm = KernelSVC(C=4.0, tol=1e-9).fit(X, y)
    assert ours.objective_ == pytest.approx(0.5 * svm.objective_, rel=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), svm.decision_function(X), atol=1e-3)
    assert ours.dual_coef_.shape[0] == ours.intercept_.shape[0] == 1


def test_the_penalty_of_differences_is_the_number_of_classes_times_ours():
    X, labels, weight = drawn(2, 4, n=30)
    result = all_pairs(problem_of(X, labels, weight), stop=Stop(tol=1e-10, max_iter=300))
    W = result.coef.T @ X
    differences = W[:, None] - W[None]
    assert np.abs(W.sum(axis=0)).max() < 1e-10
    assert 0.5 * np.sum(differences**2) == pytest.approx(4 * np.sum(W**2))


def test_a_linear_kernel_equals_explicit_features():
    X, labels, weight = drawn(3, 3, n=30)
    model = AllPairsSVC(C=2.0, kernel="linear", tol=1e-10).fit(X, labels, weight)
    W, b, objective = all_pairs_primal(X, labels, 2.0 * weight, 3)
    assert model.objective_ == pytest.approx(objective, rel=1e-8)
    np.testing.assert_allclose(model.decision_function(X), X @ W.T + b, atol=1e-3)


def test_precomputed_and_callable_kernels():
    X, y = load_iris(return_X_y=True)
    plain = AllPairsSVC(gamma=0.5, tol=1e-8).fit(X, y)
    scores = plain.decision_function(X)
    K = rbf_kernel(X, gamma=0.5)
    given_matrix = AllPairsSVC(kernel="precomputed", tol=1e-8).fit(K, y)
    np.testing.assert_allclose(given_matrix.decision_function(K), scores, atol=1e-4)
    called = AllPairsSVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(called.decision_function(X), scores, atol=1e-4)
    words = ["oak", "oaks", "fir", "firs", "elm", "elms"]
    model = AllPairsSVC(kernel=lambda A, B: np.array([[len(set(a) & set(b)) for b in B] for a in A], float))
    assert model.fit(words, [0, 0, 1, 1, 2, 2]).predict(words).tolist() == [0, 0, 1, 1, 2, 2]


def test_one_point_of_each_class_and_points_of_several_classes():
    X = np.array([[0.0], [1.0], [2.0]])
    assert AllPairsSVC(C=100.0).fit(X, [0, 1, 2]).predict(X).tolist() == [0, 1, 2]
    same = AllPairsSVC(C=1.0, gamma=1.0, tol=1e-8).fit(np.zeros((3, 1)), [0, 1, 2])
    assert same.status_ == "converged"
    assert same.objective_ == pytest.approx(6.0)  # nothing can be told apart: a loss of 1 for each pair
    one = AllPairsSVC(C=1.0, gamma=1.0, tol=1e-8).fit(np.zeros((4, 1)), [0, 0, 0, 1])
    assert one.objective_ == pytest.approx(2.0)


def test_a_zero_kernel_leaves_the_intercepts():
    X = np.zeros((5, 2))
    model = AllPairsSVC(C=1.0, kernel="linear", tol=1e-8).fit(X, [0, 0, 0, 1, 2])
    assert model.status_ == "converged"
    assert model.predict(X).tolist() == [0] * 5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_indefinite_kernel_ends_with_finite_numbers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    for C in (1.0, 100.0, 1e4):
        model = AllPairsSVC(C=C, kernel="sigmoid", gamma=2.0, coef0=-1.0, max_iter=10).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("kernel", ["precomputed", "sigmoid"])
def test_an_indefinite_kernel_has_no_certificate(kernel):
    """It reported a finite gap, where ``KernelSVC`` has none."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 3
    X = -X @ X.T if kernel == "precomputed" else X
    with pytest.warns(ConvergenceWarning, match=r"stopped \(.*\) .* '.*' is not positive semi-definite"):
        model = AllPairsSVC(C=10.0, kernel=kernel, gamma=2.0, coef0=-1.0, max_iter=20).fit(X, y)
    assert model.status_ != "converged"
    assert model.dual_gap_ == np.inf
    assert model.history_[0][-1].dual == -np.inf


def test_too_many_samples_are_refused():
    X = np.arange(5001.0)[:, None]
    with pytest.raises(ValueError, match=r"up to 5000 different samples.*got 5001.*use KernelSVC"):
        AllPairsSVC().fit(X, np.arange(5001) % 2)
    many = np.arange(2000.0)[:, None]
    with pytest.raises(ValueError, match="150000 samples times classes"):
        AllPairsSVC().fit(many, np.arange(2000) % 100)


def test_a_copied_state_goes_on_bit_for_bit():
    X, y = load_digits(return_X_y=True)
    problem = AllPairsProblem(rbf_kernel(X[:200], gamma=1e-3), y[:200].astype(np.int64), np.ones(200), 10)
    stop, copies = Stop(tol=1e-6, max_iter=60), []
    whole = all_pairs(problem, stop=stop, callback=lambda check, state: copies.append(state.copy()))
    resumed = all_pairs(problem, stop=stop, state=copies[2])
    np.testing.assert_array_equal(whole.coef, resumed.coef)
    assert whole.history[-1].primal == resumed.history[-1].primal


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), u=st.sampled_from([1e-3, 1.0, 1e3]))
def test_a_step_of_one_sample_is_optimal(seed, n, u):
    t = np.random.default_rng(seed).normal(scale=2.0 * u, size=n)
    p = np.zeros(n)
    _native.pairs_step(t, u, p)
    slope = t - p.sum() - p
    close = 1e-9 * u
    assert ((p >= 0.0) & (p <= u)).all()
    assert (slope[p < u] <= close).all()
    assert (slope[p > 0.0] >= -close).all()


def test_a_sweep_keeps_outputs_and_never_lowers_the_augmented_dual():
    X, labels, weight = drawn(5, 4, n=50)
    problem = AllPairsProblem(rbf_kernel(X, gamma=0.3), labels, weight, 4)
    state = _start(problem, 0)

    def value():
        B = problem.coefficients(state.a)
        return state.a.sum() - 0.5 * np.sum(B * (problem.K @ B)) - 0.5 * state.weight * np.sum(B.sum(0) ** 2)

    last = value()
    for _ in range(5):
        _native.pairs_sweep(problem, state, state.weight, np.arange(50), _native.NEVER)
        B = problem.coefficients(state.a)
        np.testing.assert_allclose(state.outputs, (problem.K @ B).T, atol=1e-12)
        np.testing.assert_allclose(state.bias, state.weight * B.sum(axis=0), atol=1e-12)
        assert value() > last
        last = value()


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 6))
def test_balancing_makes_feasible_and_changes_no_more_than_it_must(seed, n_classes):
    X, labels, cost = drawn(seed, n_classes, n=20)
    problem = problem_of(X, labels, cost, n_classes)
    rng = np.random.default_rng(seed)
    a = problem.upper * np.clip(rng.normal(0.5, 0.5, size=problem.upper.shape), 0.0, 1.0)
    balanced = problem.balanced(a)
    assert np.abs(problem.coefficients(balanced).sum(axis=0)).max() <= 1e-12 * a.sum()
    assert ((balanced >= 0.0) & (balanced <= problem.upper)).all()
    assert (balanced[a == 0.0] == 0.0).all()
    np.testing.assert_allclose(problem.balanced(balanced), balanced, atol=1e-12 * a.sum())


def test_the_interior_point_method_solves_a_program_with_a_known_answer():
    H, q = np.diag([1.0, 2.0, 0.0]), np.array([1.0, 8.0, 1.0])
    program = BoxQP(H, q, np.array([[1.0, -1.0, 0.0]]), np.zeros(1), np.array([5.0, 2.0, 3.0]))
    solution = interior_point(program, 1e-10, lambda: False, np.zeros(3))
    np.testing.assert_allclose(solution.x, [2.0, 2.0, 3.0], atol=1e-8)


def test_the_interior_point_method_starts_inside_wide_and_stiff_bounds():
    """A distance of 1e-17 from a bound of 1e4 was a distance of 0, by which it then divided."""
    H, q, u = np.diag([1e17, 1e16]), np.array([1e21, 3e19]), np.full(2, 1e4)
    program = BoxQP(H, q, np.zeros((0, 2)), np.zeros(0), u)
    for start in (u, np.zeros(2)):
        solution = interior_point(program, 1.0, lambda: False, start)
        np.testing.assert_allclose(solution.x, [1e4, 3e3], rtol=1e-8)


def test_a_step_that_can_gain_nothing_says_so():
    X, labels, weight = drawn(6, 3, n=20)
    problem = problem_of(X, labels, weight)
    result = all_pairs(problem, stop=Stop(tol=1e-300, max_iter=50))
    assert result.status in (Status.STALLED, Status.CONVERGED)
    assert abs(result.gap) < 1e-10
    assert Descent(problem, Stop(), _start(problem, 0)).few
