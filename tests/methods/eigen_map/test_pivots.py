"""The law of pivots, rank, scale and indefinite kernels of eigen features."""

import numpy as np
import pytest
from scipy import stats
from support.eigen_cases import METHODS, of, points, rbf_matrix
from support.reference_eigen import pivot_law

from maxmargin import KernelEigenMap
from maxmargin.kernels import RBF, Linear, Polynomial, Precomputed
from maxmargin.kernels.data import KernelData
from maxmargin.methods.eigen_map import features
from maxmargin.methods.eigen_map import landmarks as landmark_choice
from maxmargin.methods.eigen_map.landmarks import LandmarkPanel, add_random_pivots
from maxmargin.numerics import tall
from maxmargin.numerics.feature_panel import FeaturePanel
from maxmargin.solving.row_pool import RowPool


@pytest.mark.parametrize(
    ("block", "weight"),
    [(16, np.ones(5)), (2, np.ones(5)), (2, np.array([1.0, 3.0, 1.0, 2.0, 1.0]))],
    ids=["one block", "several blocks", "weighted"],
)
def test_pivots_follow_the_sequential_law(monkeypatch, block, weight):
    monkeypatch.setattr(landmark_choice, "MIN_CANDIDATES", block)
    monkeypatch.setattr(landmark_choice, "MAX_CANDIDATES", block)
    X, rng, n_draws = np.array([[0.0], [0.1], [0.8], [2.0], [2.3]]), np.random.default_rng(0), 1000
    K, drawn = rbf_matrix(X, 1.0), {}
    with RowPool(1) as pool:
        panel = FeaturePanel(KernelData(RBF(gamma=1.0), X, np.arange(5)), 3, pool)
        for _ in range(n_draws):
            panel.cut(0)
            pivots = tuple(add_random_pivots(panel, np.ones(5), weight, rng).tolist())
            drawn[pivots] = drawn.get(pivots, 0) + 1
    law = pivot_law(K, weight, 3)
    assert sum(law.values()) == pytest.approx(1.0)
    assert set(drawn) <= set(law)
    expected = n_draws * np.array([*law.values()])
    often = expected >= 5.0  # rare sequences together
    observed = np.array([drawn.get(pivots, 0) for pivots in law], dtype=float)
    table = [np.append(counts[often], counts[~often].sum()) for counts in (observed, expected)]
    assert stats.chisquare(*table).pvalue > 1e-3
    for k in (1, 2):  # and of the first ones, which have no rare sequences
        firsts = {}
        for pivots, probability in law.items():
            firsts[pivots[:k]] = firsts.get(pivots[:k], 0.0) + n_draws * probability
        seen = [sum(c for p, c in drawn.items() if p[:k] == first) for first in firsts]
        assert stats.chisquare(seen, [*firsts.values()]).pvalue > 1e-3


def test_where_the_spectrum_falls_pivots_beat_landmarks_drawn_uniformly():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(1900, 2)), 6.0 + 3.0 * rng.normal(size=(100, 2))])
    errors = {
        method: np.median([1.0 - of(X, 60, method, seed=s, landmarks=60).trace_captured for s in range(5)])
        for method in ("pivoted-cholesky", "landmarks")
    }
    assert errors["pivoted-cholesky"] < 0.3 * errors["landmarks"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_rows_of_a_precomputed_kernel_are_chosen_once(dtype):
    X = np.repeat(points(10), 30, axis=0)
    K = rbf_matrix(X, 0.2).astype(dtype)
    for method in METHODS:
        found = of(K, 50, method, kernel=Precomputed())
        assert len(found.eigenvalues) == 10
        assert found.trace_captured == pytest.approx(1.0, abs=1e-5)
        D = found.features.astype(np.float64)
        np.testing.assert_allclose(D @ D.T, K, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_number_of_features_is_at_most_the_rank(method):
    X = points(300, 3)
    found = of(X, 50, method, kernel=Linear())
    np.testing.assert_allclose(found.eigenvalues, np.linalg.svd(X, compute_uv=False) ** 2, rtol=1e-11)
    none = of(np.zeros((20, 3)), 5, method, kernel=Linear())
    assert none.features.shape == (20, 0)
    assert none.trace_captured == 0.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8, 1e100])
def test_scaling_the_kernel_only_scales_the_features(method, scale):
    X = points(100, 3)
    K = rbf_matrix(X, 0.2)
    found, scaled = (of(M, 10, method, kernel=Precomputed()) for M in (K, scale * K))
    np.testing.assert_allclose(scaled.eigenvalues / scale, found.eigenvalues, rtol=1e-9)
    np.testing.assert_allclose(scaled.trace_captured, found.trace_captured, rtol=1e-9)


def test_indefinite_kernels_give_finite_features():
    K = points(80, 80)
    K += K.T
    for method in METHODS:
        found = of(K, 20, method, kernel=Precomputed())
        assert np.isfinite(found.features).all()
        assert np.isfinite(found.projection).all()
        assert 0.0 <= found.trace_captured <= 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", [name for name in features.EIGEN_METHODS if name != "auto"])
def test_kernel_without_positive_eigenvalues_has_no_features(method, dtype):
    X = np.random.default_rng(0).normal(size=(150, 4))
    model = KernelEigenMap(3, kernel="precomputed", method=method, random_state=0)
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        model.fit(-(X @ X.T).astype(dtype))


def test_kernel_values_that_overflow_are_refused():
    for method in METHODS:
        with pytest.raises(ValueError, match="kernel values are not finite"):
            of(np.full((20, 20), np.inf), 5, method, kernel=Precomputed())
        for degree, dtype in ((80, np.float32), (700, np.float64)):
            X, kernel = points(50, 4, dtype), Polynomial(degree=degree, gamma=1.0, coef0=1.0)
            with pytest.raises(ValueError, match="squares overflow in float"):
                of(X, 5, method, kernel=kernel)


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-10), (np.float32, 1e-4)])
@pytest.mark.parametrize("method", ["pivoted-cholesky", "landmarks"])
def test_last_block_is_left_unfinished_when_precise_enough(monkeypatch, method, dtype, tol):
    X, finished = points(1500, 4, dtype), []
    finish = LandmarkPanel.finish
    monkeypatch.setattr(LandmarkPanel, "finish", lambda panel: finished.append(finish(panel)))

    def found(limit=None):
        if limit is not None:
            monkeypatch.setattr(
                features, "MAX_GRAM_ROUNDING", dict.fromkeys(features.MAX_GRAM_ROUNDING, limit)
            )
        return of(X, 250, method, kernel=RBF(gamma=1.0))

    usual = found()
    G, l = usual.features.astype(np.float64).T @ usual.features.astype(np.float64), usual.eigenvalues
    assert (np.abs(G - np.diag(l)) / np.sqrt(np.outer(l, l))).max() <= tol
    finished.clear()
    never, always = found(np.inf), found(0.0)
    assert len(finished) == 1
    for other in (never, always):
        np.testing.assert_allclose(other.eigenvalues, l, rtol=10 * tol)
        D, A = other.features.astype(np.float64), usual.features.astype(np.float64)
        np.testing.assert_allclose(D @ D.T, A @ A.T, atol=10 * tol)


def test_orthonormal_basis_of_a_tall_matrix(monkeypatch):
    monkeypatch.setattr(tall, "ROWS_PER_BLOCK", 16)
    A = points(150, 7) * 10.0 ** -np.arange(7)
    with RowPool(2) as pool:
        Q = tall.orthonormal(A, pool)
    np.testing.assert_allclose(Q.T @ Q, np.eye(7), atol=1e-14)
    np.testing.assert_allclose(Q @ (Q.T @ A), A, atol=1e-14)
