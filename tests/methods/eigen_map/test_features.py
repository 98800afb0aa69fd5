"""Eigen features against NumPy's eigenvectors and the Nystroem formula."""

import numpy as np
import pytest
from support.eigen_cases import METHODS, of, points, rbf_matrix, weights
from support.reference_eigen import nystroem_matrix

from maxmargin.kernels import RBF, Linear
from maxmargin.kernels.data import KernelData
from maxmargin.methods.eigen_map import KernelEigenMap
from maxmargin.numerics import tall


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-10), (np.float32, 1e-4)])
@pytest.mark.parametrize("n_components", [1, 20, 90])
@pytest.mark.parametrize("weight", [None, weights()], ids=["alike", "weighted"])
def test_features_are_orthogonal_with_eigenvalues_as_squared_norms(method, dtype, tol, n_components, weight):
    found = of(points(dtype=dtype), n_components, method, weight=weight)
    D, l = found.features.astype(np.float64), found.eigenvalues
    assert found.features.dtype == dtype
    assert D.shape == (200, n_components)
    assert (l > 0).all()
    assert (np.diff(l) <= 0).all()
    G = (D.T * (1.0 if weight is None else weight)) @ D
    assert np.abs(G - np.diag(l)).max() <= tol * l[0]
    assert (np.abs(G - np.diag(l)) / np.sqrt(np.outer(l, l))).max() <= tol


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weight", [None, weights()], ids=["alike", "weighted"])
def test_captured_trace_equals_its_definition(method, weight):
    X = points()
    found = of(X, 15, method, weight=weight, kernel=Linear() if method == "exact" else None)
    w = np.ones(200) if weight is None else weight
    trace = w @ (np.diag(X @ X.T) if method == "exact" else np.ones(200))
    assert found.trace_captured == pytest.approx(found.eigenvalues.sum() / trace, rel=1e-12)
    assert found.trace_captured == pytest.approx(w @ (found.features**2).sum(axis=1) / trace, rel=1e-10)
    assert 0.0 < found.trace_captured <= 1.0


@pytest.mark.parametrize("weight", [np.ones(200), weights()], ids=["alike", "weighted"])
def test_exact_features_equal_those_of_numpy(weight):
    X, s = points(), np.sqrt(weight)
    found = of(X, 30, "exact", weight=weight)
    l, P = np.linalg.eigh(s[:, None] * rbf_matrix(X, 0.2) * s)
    l, P = l[::-1][:30], P[:, ::-1][:, :30]
    D = P * np.sqrt(l) / s[:, None]
    np.testing.assert_allclose(found.eigenvalues, l, rtol=1e-11)
    np.testing.assert_allclose(found.features * np.sign((found.features * D).sum(axis=0)), D, atol=1e-10)
    np.testing.assert_array_equal(found.index, np.arange(200))


@pytest.mark.parametrize("method", ["pivoted-cholesky", "landmarks"])
@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-9), (np.float32, 2e-4)])
def test_features_from_landmarks_equal_the_nystroem_formula(method, dtype, tol):
    X = points(dtype=dtype)
    found = of(X, 25, method, landmarks=25, weight=weights())
    assert len(set(found.index.tolist())) == 25
    D = found.features.astype(np.float64)
    np.testing.assert_allclose(D @ D.T, nystroem_matrix(rbf_matrix(X, 0.2), found.index), atol=tol)
    np.testing.assert_array_equal(found.points, X[found.index])


@pytest.mark.parametrize("method", ["pivoted-cholesky", "landmarks"])
def test_of_more_landmarks_the_leading_eigenvectors_are_kept(method):
    X, w = points(), weights()
    found = of(X, 10, method, landmarks=40, weight=w)
    assert found.projection.shape == (40, 10)
    s = np.sqrt(w)[:, None]
    l, P = np.linalg.eigh(s * nystroem_matrix(rbf_matrix(X, 0.2), found.index) * s.T)
    np.testing.assert_allclose(found.eigenvalues, l[::-1][:10], rtol=1e-9)
    D = s * found.features
    np.testing.assert_allclose(D @ D.T, (P[:, -10:] * l[-10:]) @ P[:, -10:].T, atol=1e-9)


def test_given_landmarks_need_not_be_rows_and_may_repeat():
    X, Z = points(), points(12, seed=7)
    found = of(X, 50, "landmarks", landmarks=np.concatenate([Z, Z]))
    both = rbf_matrix(np.concatenate([X, Z]), 0.2)
    K = both[:200, 200:] @ np.linalg.solve(both[200:, 200:], both[200:, :200])
    np.testing.assert_allclose(found.features @ found.features.T, K, atol=1e-9)
    assert found.index is None
    np.testing.assert_array_equal(found.points, Z)


@pytest.mark.parametrize("weight", [None, weights()], ids=["alike", "weighted"])
def test_randomised_features_are_nearly_optimal(weight):
    X = points()
    best, found = (of(X, 30, method, weight=weight) for method in ("exact", "randomized"))
    assert found.trace_captured <= best.trace_captured + 1e-12
    assert 1.0 - found.trace_captured <= 1.02 * (1.0 - best.trace_captured)
    exactly = of(X, 3, "randomized", kernel=Linear(), weight=weight)  # of rank 4: nothing is left out
    np.testing.assert_allclose(
        exactly.eigenvalues, of(X, 3, "exact", kernel=Linear(), weight=weight).eigenvalues, rtol=1e-11
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_projection_gives_the_features_of_the_rows(method, dtype, tol):
    X = points(dtype=dtype)
    found = of(X, 30, method, weight=weights())
    data = KernelData(RBF(gamma=0.2), X, np.arange(200))
    K = data.block(np.arange(200), found.points).astype(np.float64)
    np.testing.assert_allclose(K @ found.projection, found.features, atol=tol)


def test_equal_rows_do_not_show_what_memory_held(monkeypatch):
    """Rows that are copies of others have no features yet when all are cast to single precision."""
    monkeypatch.setattr(tall, "lazy_array", lambda n, dtype: np.full(n, 1e300, dtype))
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 3)), 2, axis=0).astype(np.float32)
    Z = KernelEigenMap(2, method="exact", random_state=0).fit_transform(X)
    assert Z.dtype == np.float32
    assert np.allclose(Z[::2], Z[1::2], atol=1e-5)
