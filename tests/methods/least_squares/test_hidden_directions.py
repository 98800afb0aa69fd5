"""Features that differ by less than singular values show, and by more than their rounding explains."""

import numpy as np
import pytest
from scipy import sparse
from support.certificate_referee import judgements
from support.extended_qp import many_digits
from support.judgement import excess

from maxmargin import LeastSquaresClassifier
from maxmargin.data import Rows
from maxmargin.methods.least_squares.data import SquaresData
from maxmargin.methods.least_squares.system import spectral_system

SHAPES = {"tall": (14, 2), "wide": (5, 9)}


def nearly_dependent(shape, spread, seed=0):
    """Two features that are combinations of others but for ``spread``, or for wide data such a row."""
    rng = np.random.default_rng(seed)
    X = 1.0 + rng.integers(1, 1000, size=shape) / 8.0
    if shape[0] > shape[1]:
        near = X[:, :1] * 2.0 + X[:, 1:2] + spread * rng.normal(size=(shape[0], 2)) * X[:, :1]
        return np.hstack([X, near])
    row = X[0] * 2.0 - X[1] + spread * rng.normal(size=shape[1]) * X[0]
    return np.vstack([X, row])


def hidden_in(X, free, weight=None):
    rows = Rows(X, np.arange(X.shape[0]))
    data = SquaresData(rows, np.ones(X.shape[0]) if weight is None else weight, free)
    return spectral_system(data.near_origin(), 0.0).hidden


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_exact_dependence_hides_nothing(shape, free):
    X = nearly_dependent(shape, 0.0)
    assert hidden_in(X, free).shape == (len(X), 0)
    assert hidden_in(sparse.csr_array(X), free).shape == (len(X), 0)
    assert hidden_in(X + 1e6, free).shape == (len(X), 0) or shape == SHAPES["wide"]


def test_sums_that_are_rounded_once_hide_nothing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 1] * 3.0, X[:, 2]])
    for free in (True, False):
        assert hidden_in(X, free).shape == (200, 0)


@pytest.mark.parametrize("spread", [5e-15, 1e-14])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_gap_is_what_hidden_directions_gain(shape, free, weighted, spread):
    X = nearly_dependent(shape, spread)
    y = np.arange(len(X)) % 2
    weight = np.random.default_rng(3).uniform(0.5, 2.0, len(X)) if weighted else None
    model = LeastSquaresClassifier(penalty=None, fit_intercept=free, tol=1e-5)
    with pytest.warns(match="stopped"):
        model.fit(X, y, sample_weight=weight)
    with many_digits():
        true = max(map(excess, judgements(model, X, y, weight)))
    assert 1e-3 < true <= model.dual_gap_ + 1e-9
    assert model.dual_gap_ == pytest.approx(true, rel=1e-3)


def test_hidden_directions_are_orthonormal_and_apart_from_the_others():
    X = nearly_dependent(SHAPES["tall"], 5e-15)
    hidden = hidden_in(X, free=False)
    assert hidden.shape == (14, 2)
    np.testing.assert_allclose(hidden.T @ hidden, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(hidden.T @ np.linalg.qr(X[:, :2])[0], 0.0, atol=1e-12)
