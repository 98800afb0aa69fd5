"""KernelSVC(nu=): the problem against a QP referee and NuSVC, nu's promise, what is infeasible."""

import contextlib
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import NuSVC
from sklearn.utils.estimator_checks import estimator_checks_generator
from support.properties import examples
from support.quadratic_program import solve_qp

from maxmargin import CalibratedSVC, KernelSVC, PathCV, path
from maxmargin.kernels import RBF
from maxmargin.methods.kernel_svm.problem import best_margin


def name_of(check):
    return getattr(check, "func", check).__name__


CHECKS = list(estimator_checks_generator(KernelSVC(nu=0.5)))
INFEASIBLE = "check_class_weight_classifiers"  # class weights of 1000 and 1e-4


@pytest.mark.usefixtures("array_api")
@pytest.mark.parametrize(
    "check",
    [check for _, check in CHECKS if name_of(check) != INFEASIBLE],
    ids=lambda check: str(name_of(check)),
)
def test_scikit_learn(check):
    """Weights of one check make a class light; rows of others are the same in several classes."""
    check(KernelSVC(nu=0.2 if "sample_weight_equivalence" in name_of(check) else 0.5))


def test_the_one_check_of_scikit_learn_with_infeasible_weights_is_refused():
    (check,) = [check for _, check in CHECKS if name_of(check) == INFEASIBLE]
    with pytest.raises(ValueError, match=r"nu=0\.5 is infeasible.*e-0[78] of the weight"):
        check(KernelSVC(nu=0.5))


def overlapping(n, seed=0, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(np.sin(2.0 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=n) > 0.0, 1, -1)
    y[:2] = -1, 1
    return X, y


def optimum(K, y, share, nu):
    """max -1/2 a'K a with sum a = 0, 0 <= a_i y_i <= share_i and |a|_1 >= nu, by a general solver.

    In units in which |a|_1 is near the number of rows.
    """
    n, ones = len(y), np.ones(len(y))
    size = max(1e-300, np.abs(K).max())
    x = solve_qp(
        K * np.outer(y, y) / size,
        np.zeros(n),
        y[None, :].astype(float),
        np.zeros(1),
        np.zeros(n),
        n * share,
        -ones[None, :],
        np.array([-n * nu]),
    )
    a = x * y / n
    return -0.5 * a @ K @ a


def coefficients(model, n, t=0):
    a = np.zeros(n)
    a[model.support_] = model.dual_coef_[t]
    return a


def value(model, K, y, weights, nu):
    """The primal objective in its own units, of outputs whose margins are 1; ``weights``: shares, sum."""
    share, total = weights
    rho = 1.0 / (model.C_[0] * total)
    a = rho * coefficients(model, len(y))
    margins = y * (K @ a + rho * model.intercept_[0])
    return 0.5 * a @ K @ a - nu * rho + share @ np.maximum(0.0, rho - margins)


@examples(25, 200)
@given(data=st.data())
def test_objective_matches_the_referee(data):
    n, scale = data.draw(st.integers(5, 40)), data.draw(st.sampled_from([1e-3, 1.0, 1e4]))
    X, y = overlapping(n, data.draw(st.integers(0, 2**32 - 1)))
    weight = np.random.default_rng(n).uniform(0.2, 3.0, n) if data.draw(st.booleans()) else np.ones(n)
    weight *= data.draw(st.sampled_from([1e-4, 1.0, 1e3]))
    largest = 2.0 * min(weight[y > 0].sum(), weight[y < 0].sum()) / weight.sum()
    nu = largest * data.draw(st.sampled_from([0.05, 0.3, 0.7, 0.95, 1.0]))
    kernel = data.draw(st.sampled_from(["linear", "rbf"]))
    K = scale**2 * X @ X.T if kernel == "linear" else RBF(0.5)(X)
    share = weight / weight.sum()
    best = optimum(K, y, share, nu)
    model = KernelSVC(nu=nu, kernel=kernel, gamma=0.5, tol=1e-6)
    if -best <= 1e-9 * nu**2 * K.diagonal().max():  # the hulls meet, or nearly so
        with contextlib.suppress(ValueError):
            assert model.fit(scale * X, y, weight).dual_gap_ <= 1e-6
        return
    model.fit(scale * X if kernel == "linear" else X, y, weight)
    assert model.status_ == "converged"
    assert model.dual_gap_ <= 1e-6
    own = value(model, K, y, (share, weight.sum()), nu)
    assert model.objective_ == pytest.approx(own, rel=1e-8)
    assert own == pytest.approx(best, rel=2e-6, abs=1e-12 * nu**2 * K.diagonal().max())


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.6])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_same_outputs_as_nu_svc(load, nu):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    peer = NuSVC(nu=nu, gamma=0.2, tol=1e-10, decision_function_shape="ovo").fit(X, y)
    model = KernelSVC(nu=nu, gamma=0.2, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model._outputs(X), -peer.decision_function(X), atol=1e-3)
    assert (model.predict(X) == peer.predict(X)).mean() > 0.99


@pytest.mark.parametrize("code", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_the_c_found_gives_the_same_model(nu, code):
    X, y = load_iris(return_X_y=True)
    model = KernelSVC(nu=nu, code=code, tol=1e-9).fit(X, y)
    for t, C in enumerate(model.C_):
        plain = KernelSVC(C, code=code, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(model._outputs(X)[:, t], plain._outputs(X)[:, t], atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.2, 0.6])
def test_nu_bounds_the_margin_errors_and_the_support_vectors(nu, weighted):
    X, y = overlapping(400, noise=0.2)
    weight = np.random.default_rng(0).uniform(0.2, 2.0, 400) if weighted else np.ones(400)
    model = KernelSVC(nu=nu, gamma=0.3, tol=1e-9).fit(X, y, weight)
    share = weight / weight.sum()
    errors = y * model.decision_function(X) < 1.0 - 1e-6
    assert share[errors].sum() <= nu + 1e-9
    assert share[model.support_].sum() >= nu - 1e-6


def test_weights_are_repetitions_and_classes_may_weigh():
    X, y = overlapping(80)
    times = np.random.default_rng(1).integers(0, 4, 80)
    model = KernelSVC(nu=0.4, tol=1e-10).fit(X, y, times)
    repeated = KernelSVC(nu=0.4, tol=1e-10, gamma=model.gamma_).fit(
        np.repeat(X, times, 0), np.repeat(y, times)
    )
    np.testing.assert_allclose(model.decision_function(X), repeated.decision_function(X), atol=1e-5)
    heavier = KernelSVC(nu=0.4, tol=1e-10, gamma=0.5, class_weight={1: 3.0}).fit(X, y)
    weighted = KernelSVC(nu=0.4, tol=1e-10, gamma=0.5).fit(X, y, np.where(y > 0, 3.0, 1.0))
    np.testing.assert_allclose(heavier.decision_function(X), weighted.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_large_problem_is_certified(dtype):
    X, y = overlapping(3000)
    X = X.astype(dtype)
    model = KernelSVC(nu=0.5, gamma=0.5, tol=1e-4).fit(X, y)
    assert model.status_ == "converged"
    K, share = RBF(0.5)(X.astype(np.float64)), np.full(3000, 1.0 / 3000)
    own = value(model, K, y, (share, 3000.0), 0.5)
    assert model.objective_ == pytest.approx(own, rel=1e-5)
    bound = optimum_bound(model, K, y, 0.5)
    assert 0.0 <= own - bound <= -2e-3 * own


def optimum_bound(model, K, y, nu):
    """A dual value: the coefficients, moved so that the sums of both classes are nu / 2."""
    n = len(y)
    a = np.clip(coefficients(model, n) / (model.C_[0] * n), -1.0 / n, 1.0 / n)
    for side in (1, -1):
        own = np.flatnonzero(y == side)
        x, room = np.abs(a[own]), 1.0 / n - np.abs(a[own])
        missing = 0.5 * nu - x.sum()
        x = x * (1.0 + missing / x.sum()) if missing < 0.0 else x + missing * room / room.sum()
        a[own] = side * x
    return -0.5 * a @ K @ a


def test_the_largest_nu_is_named_and_feasible():
    X, y = load_iris(return_X_y=True)
    y = y[:120]  # 50, 50, 20
    with pytest.raises(ValueError, match=r"column 1 of the code.*0\.286 of the weight.*up to 0\.571429"):
        KernelSVC(nu=0.6).fit(X[:120], y)
    for code, largest in (("one-vs-one", 4.0 / 7.0), ("one-vs-rest", 1.0 / 3.0)):
        model = KernelSVC(nu=largest, code=code, tol=1e-8).fit(X[:120], y)
        assert model.status_ == "converged"
    balanced = KernelSVC(nu=0.9, class_weight="balanced").fit(X[:120], y)
    assert balanced.status_ == "converged"


def test_overlapping_classes_allow_no_small_nu():
    """Each row is in both classes: the hulls meet for every nu below 1, and there is no margin."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    X, y = np.vstack([X, X]), np.repeat([0, 1], 20)
    with pytest.raises(
        ValueError, match=r"nu=0\.5 is infeasible for column 0 .*overlap so much.*No nu is feasible"
    ):
        KernelSVC(nu=0.5).fit(X, y)


@pytest.mark.parametrize(("n_first", "nu"), [(5, 1.0), (3, 0.6)])
def test_equal_rows_have_no_margin(n_first, nu):
    with pytest.raises(ValueError, match=r"classes 'b' against 'a'.*No nu is feasible"):
        KernelSVC(nu=nu).fit(np.ones((10, 2)), np.repeat(["a", "b"], [n_first, 10 - n_first]))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", range(3))
def test_the_nu_named_leads_to_a_feasible_one(seed, kernel):
    """No smaller one than the message names is feasible, and each step gets further."""
    rng, y = np.random.default_rng(seed), np.repeat([-1, 1], 30)
    X, nu = rng.normal(size=(60, 2)), 0.05
    K = X @ X.T if kernel == "linear" else RBF(0.05)(X)
    for _ in range(50):
        try:
            model = KernelSVC(nu=nu, kernel=kernel, gamma=0.05).fit(X, y)
        except ValueError as refusal:
            words = str(refusal)
            if "No nu is feasible" in words:
                return
            proven, named = map(float, re.search(r"more than (\S+) can .* nu to (\S+) or", words).groups())
            if kernel == "linear":  # the matrix of the other is nearly singular, too much so for the referee
                least = optimum(K, y, np.full(60, 1 / 60), proven)
                assert -least <= 1e-9 * proven**2 * K.diagonal().max()
            assert named > nu
            nu = named
        else:
            assert model.objective_ < 0.0
            return
    pytest.fail("the advice leads nowhere")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_shift_of_separable_rows_does_not_matter(dtype):
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 30)
    X = np.round(16.0 * (0.1 * rng.normal(size=(60, 2)) + np.outer(y, [1.0, 0.0]))) / 16.0
    here = KernelSVC(nu=0.3, kernel="linear", tol=1e-6).fit(X, y)
    there = KernelSVC(nu=0.3, kernel="linear", tol=1e-4).fit((X + 5e4).astype(dtype), y)
    assert there.status_ == "converged"
    assert dtype == np.float32 or there.score(X + 5e4, y) == 1.0  # float32 outputs have no digits left
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_rounds", [5, 10])
def test_a_fit_that_is_cut_is_useful(n_rounds):
    X, y = overlapping(4000, noise=0.1)
    whole = KernelSVC(nu=0.2, gamma=0.5).fit(X, y)
    cut = KernelSVC(nu=0.2, gamma=0.5, max_iter=n_rounds).fit(X, y)
    stopped = KernelSVC(nu=0.2, gamma=0.5).set_callbacks(lambda check, state: check.n_iter >= n_rounds)
    assert whole.n_iter_ > n_rounds
    assert cut.status_ == "max_iter"
    assert cut.n_iter_ <= n_rounds
    assert stopped.fit(X, y).status_ == "stopped"
    K, share = RBF(0.5)(X), np.full(4000, 1.0 / 4000)
    for model in (cut, stopped):
        assert whole.objective_ < model.objective_ < 0.0
        assert model.objective_ == pytest.approx(value(model, K, y, (share, 4000.0), 0.2), rel=1e-6)
        assert model.C_[0] > 0.0
        assert model.score(X, y) > 0.85


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_first_rounds_of_a_fit_are_no_constant():
    """No multiple is better than zeros yet, but the outputs are."""
    X, y = overlapping(4000, noise=0.1)
    model = KernelSVC(nu=0.2, gamma=0.5, max_iter=1).fit(X, y)
    assert model.dual_gap_ >= 1.0
    assert model.C_[0] > 0.0
    assert model.score(X, y) > 0.75


def test_the_best_margin_is_that_of_a_search():
    rng = np.random.default_rng(0)
    for nu in (0.1, 0.4, 0.6):
        f, y, weight = rng.normal(size=30), np.where(np.arange(30) < 10, 1.0, -1.0), rng.uniform(1, 2, 30)
        weight[y > 0] *= 2.0
        weight /= weight.sum()

        def gain(rho, b, f=f, y=y, weight=weight, nu=nu):
            return nu * rho - weight @ np.maximum(0.0, rho - y * (f + b))

        largest, rho, b = best_margin(f, y, weight, nu)
        assert largest == pytest.approx(gain(rho, b))
        kinks = [gain(0.5 * (u - w), -0.5 * (u + w)) for u in f[y > 0] for w in f[y < 0]]
        assert largest == pytest.approx(max(kinks))


def test_a_model_of_zeros_has_zero_outputs_without_folds():
    X, y = overlapping(60)
    model = KernelSVC(nu=0.5).set_callbacks(lambda check, state: True)
    probabilities = CalibratedSVC(model, cv=3).fit(X, y).predict_proba(X)
    assert np.isfinite(probabilities).all()


@pytest.mark.parametrize("factor", [1e-165, 1e-200, 1e140])
def test_the_scale_of_weights_does_not_matter(factor):
    X, y = overlapping(200)
    plain = KernelSVC(nu=0.4, tol=1e-6).fit(X, y)
    scaled = KernelSVC(nu=0.4, tol=1e-6).fit(X, y, np.full(200, factor))
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert scaled.C_ * factor == pytest.approx(plain.C_, rel=1e-6)


@pytest.mark.parametrize(("gamma", "coef0"), [(2.0, -1.0), (0.5, 0.0), (1.0, -2.0)])
def test_an_indefinite_kernel_reports_no_bound(gamma, coef0):
    X, y = overlapping(400, noise=0.2)
    with pytest.warns(UserWarning, match="positive"):
        model = KernelSVC(nu=0.4, kernel="sigmoid", gamma=gamma, coef0=coef0).fit(X, y)
    assert model.dual_gap_ == np.inf
    assert model.C_[0] > 0.0
    assert model.score(X, y) > 0.65


def test_callbacks_see_every_certificate_and_stop_the_search():
    X, y = overlapping(300)
    seen = []
    whole = KernelSVC(nu=0.3, tol=1e-8).set_callbacks(lambda check, state: seen.append(check)).fit(X, y)
    assert tuple(seen) == whole.history_[0]
    assert all(before.n_iter <= after.n_iter for before, after in pairwise(seen))
    assert all(check.dual <= whole.objective_ * (1.0 - 1e-9) for check in seen)
    model = KernelSVC(nu=0.3).set_callbacks(lambda check, state: True).fit(X, y)
    assert model.status_ == "stopped"


def test_probabilities_keep_the_c_of_each_column():
    X, y = load_iris(return_X_y=True)
    model = CalibratedSVC(KernelSVC(nu=0.2), cv=3).fit(X, y)
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"nu": 0.0}, "nu must be a finite number > 0"),
        ({"nu": 1.5}, "nu must be None or a number > 0 and at most 1"),
        ({"nu": 0.5, "loss": "squared-hinge"}, "nu finds the C of loss='hinge'"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        KernelSVC(**parameters).fit(*overlapping(10))


def test_searches_over_c_are_refused():
    X, y = overlapping(40)
    for search in (KernelSVC(nu=0.5).path, lambda *data, Cs: path(KernelSVC(nu=0.5), *data, Cs=Cs)):
        with pytest.raises(ValueError, match=r"path varies C, which nu=0\.5 replaces"):
            search(X, y, Cs=[1.0])
    with pytest.raises(ValueError, match=r"with nu=0\.5 the estimator does not use C"):
        PathCV(KernelSVC(nu=0.5)).fit(X, y)
