"""The top-k SVM: referees, certificates, its estimator."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import top_k_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from support.reference_top_k import top_k_objective, top_k_primal

from maxmargin import TopKSVC
from maxmargin.data.rows import Rows
from maxmargin.methods.top_k.ascent import topk
from maxmargin.methods.top_k.loss import TopKHinge
from maxmargin.methods.top_k.problem import TopKProblem
from maxmargin.solving.result import Status, Stop

SIDES = ["include", "exclude"]


def drawn(seed, n_classes, n=14, d=3, spread=1.0):
    """Rows, labels with every class among them, and weights."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.normal(size=(n, d)) + spread * rng.normal(size=(n_classes, d))[labels]
    return X, labels, rng.uniform(0.2, 3.0, n)


def with_ones(X):
    return np.column_stack([X, np.ones(len(X))])


def features_of(K):
    """Rows whose products are K."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def problem_of(X, labels, weight, alpha, loss, constant=0.0):
    rows = Rows(np.ascontiguousarray(X), np.arange(len(X)))
    return TopKProblem(rows, labels, weight, alpha, loss, labels.max() + 1, constant)


# ---- the optimum ----


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_optimum_is_that_of_the_textbook_program(k, side):
    """Linear and with kernels, weighted, with and without an intercept: 200 problems in all."""
    for seed in range(25):
        rng = np.random.default_rng([seed, k])
        n_classes = int(rng.integers(k + 1, 6))
        X, labels, weight = drawn(seed, n_classes, spread=seed % 3)
        alpha = 10.0 ** rng.uniform(-3.0, 0.5)
        kernel, intercept = ["linear", "rbf"][seed % 2], bool(seed % 3)
        model = TopKSVC(
            k, alpha, true_class=side, kernel=kernel, gamma=0.5, fit_intercept=intercept, tol=1e-8
        )
        model.set_params(max_iter=20_000).fit(X, labels, weight)
        Z = X if kernel == "linear" else features_of(rbf_kernel(X, gamma=0.5))
        Z = with_ones(Z) if intercept else Z
        _, expected = top_k_primal(Z, labels, weight, alpha, k, side, n_classes)
        assert model.status_ == "converged"
        assert model.objective_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("data", [load_iris, load_wine])
def test_k_1_is_crammer_and_singer(data):
    X, y = data(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    alpha, weight = 0.01, np.ones(len(y))
    peer = LinearSVC(
        multi_class="crammer_singer", C=1.0 / (alpha * len(y)), fit_intercept=False, tol=1e-10, max_iter=10**6
    )
    W = peer.fit(X, y).coef_.T
    model = TopKSVC(1, alpha, fit_intercept=False, tol=1e-9).fit(X, y)
    assert model.objective_ == pytest.approx(top_k_objective(W, X, y, weight, alpha, 1, "include"), rel=1e-7)
    np.testing.assert_allclose(model.coef_, W.T, atol=1e-3)


@pytest.mark.parametrize("side", SIDES)
def test_the_objective_and_the_gap_are_those_of_the_model(side):
    X, labels, weight = drawn(0, 5, n=60, d=4)
    model = TopKSVC(2, 0.02, true_class=side, tol=1e-5).fit(X, labels, weight)
    W = np.vstack([model.coef_.T, model.intercept_])
    written_out = top_k_objective(W, with_ones(X), labels, weight, 0.02, 2, side)
    assert model.objective_ == pytest.approx(written_out, rel=1e-9)
    _, optimum = top_k_primal(with_ones(X), labels, weight, 0.02, 2, side, 5)
    check = model.history_[0][-1]
    assert check.dual <= optimum * (1.0 + 1e-9)
    assert optimum <= check.primal * (1.0 + 1e-9)


@pytest.mark.parametrize("side", SIDES)
def test_linear_kernel_equals_linear(side):
    X, y = load_iris(return_X_y=True)
    linear = TopKSVC(2, 0.01, true_class=side, tol=1e-9, max_iter=20_000).fit(X, y)
    given = {"tol": 1e-9, "max_iter": 20_000, "true_class": side}
    K = X @ X.T
    for kernel, Z in (("precomputed", K), (lambda A, B: np.asarray(A) @ np.asarray(B).T, X)):
        model = TopKSVC(2, 0.01, kernel=kernel, **given).fit(Z, y)
        assert model.objective_ == pytest.approx(linear.objective_, rel=1e-8)
        np.testing.assert_allclose(model.decision_function(Z), linear.decision_function(X), atol=1e-3)
        np.testing.assert_allclose(model.dual_coef_ @ X[model.support_], linear.coef_, atol=1e-3)
        np.testing.assert_allclose(model.dual_coef_.sum(axis=1), model.intercept_, atol=1e-9)


SETS = {
    "iris": (load_iris, 2),
    "wine": (load_wine, 2),
    "digits": (load_digits, 5),
}


@pytest.mark.parametrize("solver", ["auto", "dual-ascent", "frank-wolfe"])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", SETS)
def test_the_gap_is_below_tol_and_never_negative(name, side, solver):
    load, k = SETS[name]
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)[::2]
    tol = 1e-2 if solver == "frank-wolfe" else 1e-3
    model = TopKSVC(k, 0.01, true_class=side, solver=solver, tol=tol).fit(X, y[::2])
    assert model.status_ == "converged"
    assert 0.0 <= model.dual_gap_ <= tol
    assert all(check.gap >= 0.0 for check in model.history_[0])


@pytest.mark.parametrize("name", ["glass", "zoo", "yeast"])
def test_real_sets_with_small_classes(dataset, name):
    arrays = dataset(name)
    X = StandardScaler().fit_transform(arrays["X"])
    for k in (1, 3):
        model = TopKSVC(k, 1e-3, tol=1e-4).fit(X, arrays["y"])
        assert model.status_ == "converged"
        assert all(check.gap >= 0.0 for check in model.history_[0])


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_gap_of_1e_10_is_reached(kernel, side):
    X, labels, weight = drawn(3, 6, n=100, d=5)
    model = TopKSVC(3, 0.01, true_class=side, kernel=kernel, tol=1e-10, max_iter=3000).fit(X, labels, weight)
    assert model.status_ == "converged"
    assert 0.0 <= model.dual_gap_ <= 1e-10


def test_the_narrower_domain_stalls_above_the_optimum():
    """Its best dual value is the optimum of "exclude": the gap to the primal of "include" does not close."""
    X, labels, weight = drawn(2, 6, n=80, d=4, spread=1.5)
    alpha, k = 0.01, 4
    narrow = topk(
        problem_of(X, labels, weight, alpha, TopKHinge(k, "exclude")), stop=Stop(tol=1e-9, max_iter=10_000)
    )
    whole = topk(problem_of(X, labels, weight, alpha, TopKHinge(k)), stop=Stop(tol=1e-9, max_iter=10_000))
    assert narrow.status is whole.status is Status.CONVERGED
    measured = top_k_objective(narrow.coef, X, labels, weight, alpha, k, "include")
    assert measured - narrow.history[-1].dual > 0.01
    assert measured > whole.objective + 1e-4
    assert TopKHinge(k).contains(-narrow.dual_coef, labels).all()  # a subset of the domain it should have
    assert not TopKHinge(k, "exclude").contains(-whole.dual_coef, labels).all()


@pytest.mark.parametrize(("k", "side"), [(1, "include"), (3, "include"), (3, "exclude")])
def test_frank_wolfe_keeps_its_rate(k, side):
    """D* - D, averaged over seeds, on rows of length 1: below our bound, which is below the published one."""
    X, labels, _ = drawn(7, 5, n=40, d=4)
    n, alpha = len(X), 0.05
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    problem = problem_of(X, labels, np.ones(n), alpha, TopKHinge(k, side))
    best = topk(problem, stop=Stop(tol=1e-9, max_iter=5000)).history[-1].dual
    ours, published = 2.0 * (1.0 + 1.0 / k), 32.0
    for epochs in (2, 5, 10, 20, 40):
        stop = Stop(tol=1e-12, max_iter=epochs)
        runs = [topk(problem, solver="frank-wolfe", stop=stop, seed=seed) for seed in range(10)]
        assert {run.n_iter for run in runs} == {epochs}
        missing = best - np.mean([run.history[-1].dual for run in runs])
        bounds = []
        for constant in (ours, published):
            t0 = max(0, int(np.ceil(n * np.log(4.0 * alpha * n / constant))))
            assert epochs * n >= t0
            bounds.append(constant / (alpha * (2 * n + epochs * n - t0)))
        assert 0.0 <= missing <= bounds[0] <= bounds[1]
    assert bounds[0] < best  # it says something


# ---- symmetries ----


def test_permuting_the_classes_permutes_the_answers():
    X, labels, weight = drawn(5, 5, n=60)
    new = np.array([3, 0, 4, 1, 2])  # of the old
    given = {"tol": 1e-10, "max_iter": 5000, "random_state": 0}
    first = TopKSVC(2, 0.05, **given).fit(X, labels, weight)
    second = TopKSVC(2, 0.05, **given).fit(X, new[labels], weight)
    np.testing.assert_allclose(second.decision_function(X)[:, new], first.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(second.predict(X), new[first.predict(X)])


def test_scores_sum_to_zero_and_two_classes_have_one_column():
    X, labels, weight = drawn(1, 4, n=40)
    model = TopKSVC(2, 0.05).fit(X, labels, weight)
    np.testing.assert_allclose(model.decision_function(X).sum(axis=1), 0.0, atol=1e-9)
    two = labels < 2
    pair = TopKSVC(1, 0.05, tol=1e-8).fit(X[two], labels[two])
    assert pair.coef_.shape == (1, 3)
    assert pair.intercept_.shape == (1,)
    values = pair.decision_function(X)
    assert values.shape == (40,)
    classes, scores = pair.predict_top_k(X, 2)
    np.testing.assert_array_equal(classes[:, 0], pair.predict(X))
    np.testing.assert_allclose(np.abs(scores), np.abs(values[:, None] / 2) * np.ones(2))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_are_repetitions_in_the_objective(kernel, side):
    """Without merging: the problem of repeated samples, solved as it stands."""
    X, labels, _ = drawn(4, 4, n=30)
    times = np.random.default_rng(0).integers(1, 4, 30)
    given = {"true_class": side, "kernel": kernel, "tol": 1e-9, "max_iter": 5000}
    weighted = TopKSVC(2, 0.03, **given).fit(X, labels, times)
    rows = np.repeat(np.arange(30), times)
    Z = with_ones(X if kernel == "linear" else features_of(rbf_kernel(X, gamma=weighted.gamma_)))[rows]
    _, expected = top_k_primal(Z, labels[rows], np.ones(len(rows)), 0.03, 2, side, 4)
    assert weighted.objective_ == pytest.approx(expected, rel=1e-6)
    repeated = topk(
        problem_of(Z, labels[rows], np.ones(len(rows)), 0.03, TopKHinge(2, side)),
        stop=Stop(tol=1e-9, max_iter=5000),
    )
    assert repeated.objective == pytest.approx(weighted.objective_, rel=1e-8)


# ---- the estimator ----


def digits(n=600):
    X, y = load_digits(return_X_y=True)
    return X[:n] / 16.0, y[:n]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_top_k_answers_are_ordered_and_scored(kernel):
    X, y = digits()
    model = TopKSVC(3, 1e-3, kernel=kernel, tol=1e-2).fit(X[:400], y[:400])
    X, y = X[400:], y[400:]
    decision = model.decision_function(X)
    classes, scores = model.predict_top_k(X)
    assert classes.shape == scores.shape == (200, 3)
    assert (np.diff(scores, axis=1) <= 0.0).all()
    np.testing.assert_array_equal(classes[:, 0], model.predict(X))
    np.testing.assert_array_equal(scores, np.take_along_axis(decision, classes, axis=1))
    weight = np.random.default_rng(0).uniform(size=200)
    for k in (1, 2, 5):
        assert model.score(X, y, k) == pytest.approx(top_k_accuracy_score(y, decision, k=k))
        expected = top_k_accuracy_score(y, decision, k=k, sample_weight=weight)
        assert model.score(X, y, k=k, sample_weight=weight) == pytest.approx(expected)
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    assert model.score(X, y, k=10) == 1.0


def test_a_larger_k_costs_less_and_gives_up_order():
    X, y = digits()
    objectives = [TopKSVC(k, 1e-3, tol=1e-3).fit(X, y).objective_ for k in (1, 2, 5, 9)]
    assert (np.diff(objectives) < 0.0).all()  # a mean of more violations is never larger


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_a_warm_start_begins_where_the_last_fit_ended(kernel):
    X, y = digits(150)
    X = rbf_kernel(X, gamma=0.05) if kernel == "precomputed" else X
    given = {"kernel": kernel, "tol": 1e-4, "random_state": 0}
    cold = TopKSVC(2, 1e-3, **given).fit(X, y)
    warm = TopKSVC(2, 1.2e-3, warm_start=True, **given).fit(X, y)
    assert "_last" not in vars(cold)
    warm.set_params(alpha=1e-3).fit(X, y)
    assert warm.status_ == "converged"
    assert warm.history_[0][0].gap < 0.5  # it would be 1 from the start
    assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-4)
    again = warm.history_[0][-1].dual
    warm.fit(X, y)
    assert len(warm.history_[0]) == 1  # nothing left to do
    assert warm.history_[0][0].dual == pytest.approx(again, rel=1e-12)
    warm.set_params(k=3).fit(X, y)  # of another loss: from the start
    assert warm.history_[0][0].dual == 0.0


def test_strings_with_a_kernel_function():
    words = np.array(["aab", "aba", "bbb", "bab", "ccc", "cca", "acc", "bba", "aaa"])
    y = np.array([0, 0, 1, 1, 2, 2, 2, 1, 0])

    def shared(A, B):
        counts = [np.array([[w.count(c) for c in "abc"] for w in side], dtype=float) for side in (A, B)]
        return counts[0] @ counts[1].T

    model = TopKSVC(2, 0.01, kernel=shared).fit(words, y)
    assert model.score(words, y, k=2) == 1.0


def test_sparse_rows_give_the_same_objective():
    X, y = digits(150)
    dense = TopKSVC(3, 1e-3, tol=1e-6).fit(X, y)
    for S in (sparse.csr_array(X), sparse.csr_array(X.astype(np.float32)), X.astype(np.float32)):
        model = TopKSVC(3, 1e-3, tol=1e-6).fit(S, y)
        assert model.objective_ == pytest.approx(dense.objective_, rel=2e-6)


def test_rows_that_are_all_zero_lose_what_they_must():
    X, labels, weight = drawn(6, 3, n=20)
    X[::4] = 0.0
    model = TopKSVC(1, 0.05, fit_intercept=False, tol=1e-8, max_iter=5000).fit(X, labels, weight)
    _, expected = top_k_primal(X, labels, weight, 0.05, 1, "include", 3)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"k": 3}, "k must be less than the number of classes.*got k=3 and 3 classes. Use k=2 or less"),
        ({"k": 0}, "k must be an integer >= 1; got 0"),
        ({"k": 1.5}, "k must be an integer >= 1; got 1.5"),
        ({"alpha": 0.0}, "alpha must be a finite number > 0; got 0"),
        ({"true_class": "drop"}, r"true_class must be one of \['exclude', 'include'\]; got 'drop'"),
        ({"solver": "sgd"}, r"solver must be one of \['auto', 'dual-ascent', 'frank-wolfe'\]; got 'sgd'"),
        ({"kernel": "gauss"}, "kernel must be .*got 'gauss'"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False"),
        ({"tol": -1.0}, "tol must be a finite number > 0"),
    ],
)
def test_bad_parameters_are_refused_clearly(parameters, match):
    with pytest.raises(ValueError, match=match):
        TopKSVC(**parameters).fit(*load_iris(return_X_y=True))


def test_one_class_and_bad_k_at_prediction_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="at least two classes"):
        TopKSVC().fit(X, np.zeros(150))
    model = TopKSVC(alpha=0.1, tol=1e-2).fit(X, y)
    with pytest.raises(ValueError, match="k must be at most the number of classes, 3; got 4"):
        model.predict_top_k(X, 4)
    with pytest.raises(ValueError, match="k must be an integer >= 1; got 0"):
        model.score(X, y, k=0)
