"""LeastSquaresClassifier: paths, warm starts, shared factorisations and scikit-learn's parameters."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier

from maxmargin import LeastSquaresClassifier
from maxmargin.methods.least_squares.data import SquaresData


def test_parameters_convert_to_those_of_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.std(axis=0)
    t, n = 2.0 * y - 1.0, len(y)
    pairs = [
        (LinearRegression(), None, 1.0),
        (Ridge(alpha=0.3), "ridge", 1 / 0.3),
        (Lasso(alpha=0.02, tol=1e-12, max_iter=100_000), "lasso", 1 / (n * 0.02)),
    ]
    for peer, penalty, C in pairs:
        ours, theirs = LeastSquaresClassifier(C, penalty=penalty, tol=1e-12).fit(X, y), peer.fit(X, t)
        np.testing.assert_allclose(ours.coef_[0], theirs.coef_, atol=1e-5)
        assert ours.intercept_[0] == pytest.approx(theirs.intercept_, abs=1e-4)
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    ours = LeastSquaresClassifier(1 / 0.7).fit(X, y, weight)
    theirs = RidgeClassifier(alpha=0.7).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("penalty", ["ridge", "lasso"])
def test_path_is_certified_continuous_and_equals_single_fits(penalty):
    X, y = load_iris(return_X_y=True)
    model = LeastSquaresClassifier(penalty=penalty, tol=1e-9)
    path = model.path(X, y)
    assert path.coefs.shape == (50, 3, 4)
    assert path.dual_gaps.max() <= 1e-9
    assert (np.diff(path.Cs) > 0).all()
    if penalty == "lasso":
        assert path.n_nonzero[0] == 0 < path.n_nonzero[1]
    for k in (0, 20, 49):
        single = clone(model).set_params(C=path.Cs[k]).fit(X, y)
        np.testing.assert_allclose(path.coefs[k], single.coef_, atol=1e-5)
        assert path.objectives[k].sum() == pytest.approx(single.objective_, rel=1e-8)
    fine = model.path(X, y, np.geomspace(1.0, 1.001, 5))
    assert np.abs(np.diff(fine.coefs, axis=0)).max() <= 1e-3
    np.testing.assert_allclose(
        model.path(X, y, [0.5]).coefs[0], model.set_params(C=0.5).fit(X, y).coef_, atol=1e-6
    )


def test_path_refuses_penalty_none_and_bad_grids():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"penalty=None has no C"):
        LeastSquaresClassifier(penalty=None).path(X, y)
    for Cs in ([1.0, -1.0], ["a"], [], 1.0, [[1.0]], [np.nan]):
        with pytest.raises(ValueError, match=r"Cs must be a list of at least one finite number > 0; got"):
            LeastSquaresClassifier().path(X, y, Cs)
    with pytest.warns(ConvergenceWarning, match="largest relative duality gap"):
        LeastSquaresClassifier(penalty="lasso", tol=1e-300, max_iter=2).path(X, y, [1.0])


def test_warm_start_changes_only_time():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.std(axis=0)
    model = LeastSquaresClassifier(0.05, penalty="lasso", tol=1e-10).fit(X, y)
    cold = clone(model).set_params(C=0.06).fit(X, y)
    warm = model.set_params(C=0.06, warm_start=True).fit(X, y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-6)
    assert warm.fit(X, y).n_iter_ == 0  # from the optimum itself
    assert warm.fit(X[:, :5], y).coef_.shape == (1, 5)


def test_many_columns_share_one_factorisation(monkeypatch):
    built = []
    original = SquaresData.gram_of_features
    monkeypatch.setattr(SquaresData, "gram_of_features", lambda self: built.append(1) or original(self))
    X, y = load_iris(return_X_y=True)
    LeastSquaresClassifier().fit(X, y)
    assert len(built) == 1
    LeastSquaresClassifier(code="one-vs-one").fit(X, y)
    assert len(built) == 4


@pytest.mark.parametrize("penalty", ["Ridge", 1, "l2", ["ridge"]])
def test_unknown_penalties_are_refused(penalty):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"penalty must be 'ridge', 'lasso' or None; got"):
        LeastSquaresClassifier(penalty=penalty).fit(X, y)
