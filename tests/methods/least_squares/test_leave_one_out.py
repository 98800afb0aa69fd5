"""The leave-one-out outputs of ridge and least squares against refits."""

import numpy as np
import pytest
from sklearn.base import clone
from support.reference_squares import ridge_left_out_exactly
from support.squares_problems import noisy

from maxmargin import LeastSquaresClassifier


@pytest.mark.parametrize("shape", [(40, 5), (12, 30)])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("code", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize("class_weight", [None, {0: 0.5, 1: 3.0}])
def test_leave_one_out_equals_refits(shape, free, code, class_weight):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=shape), np.arange(shape[0]) % 3
    X[1], y[1] = X[0], y[0]  # given twice
    weight = rng.choice([0.0, 0.4, 1.0, 2.0, 2.5], size=shape[0])
    weight[:6] = [1.0, 1.0, 2.0, 0.0, 1.0, 3.0]
    model = LeastSquaresClassifier(0.7, fit_intercept=free, code=code, class_weight=class_weight, tol=1e-12)
    whole = clone(model).fit(X, y, weight)
    expected = np.empty((shape[0], 3))
    for i in range(shape[0]):
        left = weight.copy()
        left[i] -= min(1.0, left[i])
        expected[i] = clone(model).fit(X, y, left).decision_function(X[i : i + 1])[0]
    np.testing.assert_allclose(whole.loo_scores_, expected, atol=1e-9)
    wrong = expected.argmax(axis=1) != y
    assert whole.loo_error_ == pytest.approx(weight @ wrong / weight.sum())


def test_leave_one_out_treats_weights_as_repetitions():
    X, y, _ = noisy(8)
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = LeastSquaresClassifier().fit(X, y, weight)
    repeated = LeastSquaresClassifier().fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.loo_scores_[rows], repeated.loo_scores_, rtol=1e-12)
    assert weighted.loo_error_ == pytest.approx(repeated.loo_error_)


@pytest.mark.filterwarnings("ignore:.*stalled")  # a square matrix at C times scales of 1e20
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("shape", [(8, 12), (8, 8), (8, 7), (12, 3)])
def test_leave_one_out_is_exact_where_ridge_interpolates(shape, free):
    rng = np.random.default_rng(13)
    X, weight = rng.normal(size=shape), rng.uniform(0.2, 1.0, size=shape[0])
    y = np.where(np.arange(shape[0]) % 3 == 0, 1.0, -1.0)
    for C, scale in [(1.0, 1e4), (1e6, 1.0), (1e12, 1e-4), (1e12, 1.0), (1e12, 1e4)]:
        model = LeastSquaresClassifier(C, fit_intercept=free).fit(scale * X, y, weight)
        expected = ridge_left_out_exactly(scale * X, y, C * weight, free)
        np.testing.assert_allclose(model.loo_scores_, expected, rtol=1e-6, atol=1e-6)
        assert model.loo_error_ == pytest.approx(weight @ (expected * y <= 0) / weight.sum())


@pytest.mark.parametrize("shape", [(8, 12), (12, 5)])
def test_leave_one_out_is_withheld_where_rounding_dominates(shape):
    rng = np.random.default_rng(14)
    X, y = rng.normal(size=shape), np.where(np.arange(shape[0]) % 2, 1.0, -1.0)
    X[:, 0] = np.eye(shape[0])[3]  # a feature of one row only
    X[1] = X[0]  # of both classes
    scores = []
    for C in (1e3, 1e12, 1e14):
        model = LeastSquaresClassifier(C, tol=0.9).fit(X, y)
        known = np.isfinite(model.loo_scores_)
        expected = ridge_left_out_exactly(X, y, np.full(shape[0], C), True)
        np.testing.assert_allclose(model.loo_scores_[known], expected[known], rtol=3e-3, atol=3e-3)
        assert np.isnan(model.loo_error_) == (not known.all())
        scores.append(known)
    assert scores[0].all()
    assert not scores[2].all()
