"""OneClassSVM: the problem it solves against a QP referee and scikit-learn, nu's promise, what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import svm
from support.properties import examples
from support.regression_problems import one_class_bounds, one_class_optimum

from maxmargin import OneClassSVM
from maxmargin.kernels import RBF


def cloud(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (1.0 + rng.exponential(size=(n, 1)))


@examples(40, 300)
@given(data=st.data())
def test_objective_matches_the_referee(data):
    n, scale = data.draw(st.integers(2, 40)), data.draw(st.sampled_from([1e-3, 1.0, 1e3]))
    X = cloud(n, data.draw(st.integers(0, 2**32 - 1))) + data.draw(st.sampled_from([0.0, 2.0]))
    weight = np.random.default_rng(n).uniform(0.2, 3.0, n) if data.draw(st.booleans()) else np.ones(n)
    nu = data.draw(st.sampled_from([0.01, 0.1, 0.5, 0.9, 1.0]))
    kernel = data.draw(st.sampled_from(["linear", "rbf", "polynomial"]))
    X = scale * X if kernel == "linear" else X
    model = OneClassSVM(nu, kernel=kernel, gamma=0.5, degree=2, coef0=1.0, tol=1e-4).fit(
        X, sample_weight=weight
    )
    K = {"linear": lambda X: X @ X.T, "rbf": RBF(0.5), "polynomial": lambda X: (0.5 * X @ X.T + 1.0) ** 2}[
        kernel
    ](X)
    best = one_class_optimum(nu, K, weight)
    primal, dual = one_class_bounds(model, K, weight)
    largest = np.abs(K).max()
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(primal, rel=1e-8, abs=1e-12 * largest)
    zero = 0.5e-9 * largest  # what counts as 0, as where the origin lies among the rows
    assert primal - dual <= (model.dual_gap_ + 1e-9) * max(abs(primal), zero) + 1e-12 * largest
    assert primal == pytest.approx(best, rel=1e-6, abs=1e-9 * largest)


@pytest.mark.parametrize("nu", [0.03, 0.3, 0.8])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_same_solution_as_scikit_learn(nu, kernel):
    X = cloud(200)
    same = {"nu": nu, "kernel": kernel, "gamma": 0.2, "degree": 2, "coef0": 1.0}
    peer, model = svm.OneClassSVM(tol=1e-10, **same).fit(X), OneClassSVM(**same).fit(X)
    factor = nu * len(X)
    scores = peer.decision_function(X)
    np.testing.assert_allclose(factor * model.decision_function(X), scores, atol=1e-5 * np.abs(scores).max())
    np.testing.assert_allclose(factor * model.score_samples(X), peer.score_samples(X), rtol=1e-4)
    np.testing.assert_allclose(factor * model.offset_, peer.offset_, rtol=1e-4)
    inside = np.abs(scores) > 1e-4 * np.abs(scores).max()
    np.testing.assert_array_equal(model.predict(X)[inside], peer.predict(X)[inside])


@pytest.mark.parametrize("nu", [0.02, 0.2, 0.7])
@pytest.mark.parametrize("weighted", [False, True])
def test_nu_bounds_outliers_and_support_vectors(nu, weighted):
    X = cloud(500, 3)
    weight = np.random.default_rng(0).uniform(0.1, 2.0, 500) if weighted else np.ones(500)
    model = OneClassSVM(nu, gamma=0.1).fit(X, sample_weight=weight)
    share = weight / weight.sum()
    outliers = model.decision_function(X) < -1e-9
    assert share[outliers].sum() <= nu + 1e-12 <= share[model.support_].sum() + 1e-9


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_large_problems_are_certified(dtype):
    X = cloud(9000).astype(dtype)
    model = OneClassSVM(0.1, gamma=0.1, tol=1e-4, cache_mb=20.0).fit(X)
    primal, dual = one_class_bounds(model, RBF(0.1)(X.astype(np.float64)), np.ones(len(X)))
    assert model.status_ == "converged"
    assert model.dual_gap_ <= 1e-4
    assert (primal - dual) / abs(primal) <= model.dual_gap_ + 1e-9
    assert model.objective_ == pytest.approx(primal, rel=1e-5 if dtype == np.float32 else 1e-9)


def test_targets_are_ignored():
    X = cloud(60)
    np.testing.assert_array_equal(
        OneClassSVM().fit(X, np.arange(60.0)).decision_function(X), OneClassSVM().fit(X).decision_function(X)
    )
    np.testing.assert_array_equal(OneClassSVM(0.2).fit_predict(X), OneClassSVM(0.2).fit(X).predict(X))


def test_precomputed_kernels():
    X = cloud(60)
    K = RBF(0.3)(X)
    np.testing.assert_allclose(
        OneClassSVM(0.2, kernel="precomputed").fit(K).decision_function(K),
        OneClassSVM(0.2, kernel=RBF(0.3)).fit(X).decision_function(X),
        atol=1e-12,
    )


def test_rows_at_the_origin_have_a_solution_of_zero():
    for X in ([[0.0]], np.zeros((7, 2))):
        model = OneClassSVM(kernel="linear").fit(X)
        assert model.status_ == "converged"
        np.testing.assert_array_equal(model.predict(X), 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_scores_that_are_rounding_alone_are_inliers(scale, dtype):
    """Of centred rows f is 0: their terms cancel, and what is left of them has no sign."""
    X = scale * np.concatenate([cloud(100), -cloud(100)]).astype(dtype)
    model = OneClassSVM(kernel="linear").fit(X)
    assert model.status_ == "converged"
    np.testing.assert_array_equal(model.predict(X), 1)


@pytest.mark.parametrize("nu", [1e-300, 1e-101])
def test_a_nu_out_of_range_is_named(nu):
    with pytest.raises(ValueError, match=r"nu must be a number > 0 \(at least 1e-100\)"):
        OneClassSVM(nu).fit(cloud(10))


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.5, np.nan, "half"])
def test_wrong_nu_is_named(nu):
    with pytest.raises(ValueError, match="nu must be a"):
        OneClassSVM(nu).fit(cloud(10))
