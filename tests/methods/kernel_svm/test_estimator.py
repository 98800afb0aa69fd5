"""KernelSVC: the problem it solves against a QP referee and SVC, its inputs, and what it refuses."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC
from support.reference import kernel_svm_bounds, kernel_svm_dual
from support.svc_models import LOSSES, blobs, coefficients

from maxmargin import KernelSVC
from maxmargin.kernels import RBF


def kernel_matrix(name, X):
    """By its formula, with gamma = 1/2, degree 2 and coef0 = 1."""
    differences = X[:, None] - X[None]
    if name == "exponential":
        return np.exp(-0.5 * np.sqrt((differences**2).sum(axis=2)))
    if name in ("rbf", "laplacian"):
        return np.exp(-0.5 * (differences**2 if name == "rbf" else np.abs(differences)).sum(axis=2))
    return X @ X.T if name == "linear" else (0.5 * X @ X.T + 1.0) ** 2


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "laplacian", "exponential"])
@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
def test_objective_matches_the_referee(loss, kernel, C):
    X, y = blobs(60)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=60)
    model = KernelSVC(C, loss=loss, kernel=kernel, gamma=0.5, degree=2, coef0=1.0).fit(X, y, weight)
    K = kernel_matrix(kernel, X)
    signs, a = np.where(y == 1, 1.0, -1.0), coefficients(model, 60)
    _, best = kernel_svm_dual(K, signs, C * weight, loss)
    primal, dual = kernel_svm_bounds(a, model.intercept_[0], K, signs, C * weight, loss)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert primal == pytest.approx(best, rel=1e-6)
    assert dual == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), K @ a + model.intercept_[0], atol=1e-9 * C + 1e-9)


@pytest.mark.parametrize(
    ("C", "kernel"), [(1e-6, "rbf"), (0.1, "rbf"), (1e3, "rbf"), (1.0, "poly"), (1.0, "linear")]
)
def test_same_solution_as_svc(C, kernel):
    X, y = blobs()
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    kernel = {"kernel": kernel, "gamma": 0.5, "degree": 2, "coef0": 1.0}
    peer = SVC(C=C, tol=1e-10, **kernel).fit(X, y, weight)
    model = KernelSVC(C, **kernel).fit(X, y, weight)
    scale = np.abs(peer.decision_function(X)).max()
    np.testing.assert_allclose(  # its kernel values are of single precision
        model.decision_function(X) - model.intercept_,
        peer.decision_function(X) - peer.intercept_,
        atol=1e-4 * scale,
    )
    K, a, theirs = kernel_matrix(kernel["kernel"], X), coefficients(model, len(y)), np.zeros(len(y))
    theirs[peer.support_] = peer.dual_coef_[0]
    ours, theirs = (c @ np.where(y == 1, 1.0, -1.0) - 0.5 * c @ K @ c for c in (a, theirs))
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert ours >= theirs * (1 - 1e-12)
    assert model.objective_ == pytest.approx(ours, rel=1e-9)


def test_squared_hinge_is_a_hard_margin_with_a_ridge():
    """SVC with an unbounded C and K + I / C, for the loss max(0, 1 - m)^2 / 2."""
    X, y = blobs(120)
    C, K = 3.0, RBF(0.5)(blobs(120)[0])
    peer = SVC(C=1e9, kernel="precomputed", tol=1e-10).fit(K + np.eye(120) / C, y)
    model = KernelSVC(C, loss="squared-hinge", gamma=0.5).fit(X, y)
    expected = np.zeros(120)
    expected[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(coefficients(model, 120), expected, atol=1e-6)
    assert model.intercept_[0] == pytest.approx(peer.intercept_[0], abs=1e-6)
    assert KernelSVC(C, loss="squared_hinge", gamma=0.5).fit(X, y).intercept_ == model.intercept_


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
def test_objective_is_invariant_to_feature_units(loss, scale, C):
    X, y = blobs(150)
    plain = KernelSVC(C, loss=loss).fit(X, y)
    scaled = KernelSVC(C, loss=loss).fit(scale * X, y)  # gamma="scale" goes along
    assert scaled.status_ == "converged"
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-7)


def test_kkt_conditions():
    X, y = blobs()
    model = KernelSVC(1.0, gamma=0.5).fit(X, y)
    margins = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    a = np.abs(coefficients(model, len(y)))
    assert margins[a == 0.0].min() > 1.0 - 1e-10
    assert margins[a == 1.0].max() < 1.0 + 1e-10
    np.testing.assert_allclose(margins[(a > 0.0) & (a < 1.0)], 1.0, atol=1e-10)
    assert model.history_[0][-1].violation < 1e-9


def test_intercept_without_free_support_vectors():
    X, y = blobs(100)
    even = KernelSVC(1e-6, gamma=0.5).fit(X, y)
    assert (np.abs(even.dual_coef_) == 1e-6).all()
    peer = SVC(C=1e-6, gamma=0.5, tol=1e-12).fit(X, y)
    assert even.intercept_[0] == pytest.approx(peer.intercept_[0], abs=1e-6)
    uneven = KernelSVC(1e-6, gamma=0.5).fit(X[y == 0][:20], np.arange(20) < 13)
    assert uneven.intercept_[0] == pytest.approx(1.0, abs=1e-4)
    assert uneven.objective_ == pytest.approx(14e-6, rel=1e-4)  # seven samples lose 2 each


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [150, 1300])
def test_dense_equals_sparse_and_precomputed(loss, n):
    X, y = blobs(n, centers=3)
    X[np.abs(X) < 0.5] = 0.0
    parameters = {"loss": loss, "gamma": 0.5, "tol": 1e-8}
    dense = KernelSVC(3.0, **parameters).fit(X, y)
    S = sparse.csr_array(X)
    thin = KernelSVC(3.0, **parameters).fit(S, y)
    K = RBF(0.5)(X)
    given_K = KernelSVC(3.0, kernel="precomputed", **parameters).fit(K, y)
    assert thin.objective_ == pytest.approx(dense.objective_, rel=1e-7)
    assert given_K.objective_ == pytest.approx(dense.objective_, rel=1e-7)
    np.testing.assert_allclose(thin.decision_function(S), dense.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(given_K.decision_function(K), dense.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(given_K.support_vectors_, given_K.support_)


@pytest.mark.parametrize("loss", LOSSES)
def test_float32_is_close_to_float64(loss):
    X, y = blobs(1500, centers=3)
    double = KernelSVC(1.0, loss=loss, tol=1e-5).fit(X, y)
    single = KernelSVC(1.0, loss=loss, tol=1e-5).fit(X.astype(np.float32), y)
    assert single.status_ == "converged"
    assert single.objective_ == pytest.approx(double.objective_, rel=3e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_weights_equal_repetitions_with_a_precomputed_kernel(loss, C):
    X, y = blobs(120)
    weight = np.random.default_rng(0).integers(0, 4, size=120)
    rows = np.repeat(np.arange(120), weight)
    K = RBF(0.5)(X)
    weighted = KernelSVC(C, loss=loss, kernel="precomputed").fit(K, y, weight)
    repeated = KernelSVC(C, loss=loss, kernel="precomputed").fit(K[np.ix_(rows, rows)], y[rows])
    np.testing.assert_allclose(
        weighted.decision_function(K), repeated.decision_function(K[:, rows]), rtol=1e-7, atol=1e-7
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-10)


def test_prediction_calls_the_kernel_with_support_vectors_only():
    X, y = blobs(200)
    sizes = []

    def kernel(left, right):
        sizes.append((len(left), len(right)))
        return np.exp(-0.5 * ((np.asarray(left)[:, None] - np.asarray(right)[None]) ** 2).sum(axis=2))

    model = KernelSVC(1.0, kernel=kernel).fit(X, y)
    named = KernelSVC(1.0, gamma=0.5).fit(X, y)
    assert model.objective_ == pytest.approx(named.objective_, rel=1e-9)
    sizes.clear()
    np.testing.assert_allclose(model.decision_function(X[:30]), named.decision_function(X[:30]), atol=1e-7)
    assert model.n_support_ < 200
    assert sum(rows * columns for rows, columns in sizes) == 30 * model.n_support_


def test_strings_with_a_callable_kernel():
    words = ["oak", "oaks", "soak", "fir", "firs", "rifle", "elm", "elms", "melt"]
    y = [word[:1] for word in ["o", "o", "o", "f", "f", "f", "e", "e", "e"]]

    def same_letters(left, right):
        return np.array([[len(set(a) & set(b)) / len(set(a) | set(b)) for b in right] for a in left])

    for loss in LOSSES:
        model = KernelSVC(10.0, loss=loss, kernel=same_letters).fit(words, y)
        assert model.score(words, y) == 1.0
        assert set(model.support_vectors_) <= set(words)
        assert model.predict(["oakum"])[0] == "o"


def test_bad_parameters_are_refused():
    X, y = blobs(20)
    for model, match in [
        (KernelSVC(C=0), "C must be a finite number > 0"),
        (KernelSVC(loss="log"), "loss must be one of"),
        (KernelSVC(kernel="gauss"), "kernel must be"),
        (KernelSVC(cache_mb=0), "cache_mb must be a finite number > 0"),
        (KernelSVC(cache_mb="much"), "cache_mb must be"),
        (KernelSVC(shrinking="yes"), "shrinking must be"),
        (KernelSVC(warm_start=1), "warm_start must be"),
        (KernelSVC(tol=0.0), "tol must be"),
        (KernelSVC(C=1e200), "C times the weights"),
    ]:
        with pytest.raises(ValueError, match=match):
            model.fit(X, y)
    with pytest.raises(ValueError, match="square"):
        KernelSVC(kernel="precomputed").fit(X, y)
