"""Kernels that are not positive semi-definite: a model as LIBSVM has it, and no certificate."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from maxmargin import KernelSVC, PathCV, TopKSVC, bounds
from maxmargin.kernels import RBF
from maxmargin.solving import indefinite
from maxmargin.solving.indefinite import is_indefinite

IRIS = load_iris(return_X_y=True)
X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)
NOT_POSITIVE = "is not positive semi-definite on these rows"


def with_spectrum(values, n=100, seed=0):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))
    spectrum = np.zeros(n)
    spectrum[: len(values)] = values
    return Q * spectrum @ Q.T


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_what_rounding_may_do_is_no_proof(size):
    points = np.random.default_rng(0).normal(size=(128, 3))
    for K in (points @ points.T, np.exp(0.1 * points @ points.T), RBF(0.1)(points)):
        rounded = (0.5 * (K + K.T)).astype(np.float32).astype(np.float64)
        assert not is_indefinite(size * rounded, balanced=False)
        assert not is_indefinite(size * rounded, balanced=True)
    for least in (-1e-2, -1e-4):
        K = with_spectrum([1.0, 0.5, least])
        K /= np.abs(K).max() / size
        assert is_indefinite(K, balanced=False)
        assert is_indefinite(K, balanced=True)


def test_on_vectors_that_sum_to_0_minus_a_squared_distance_is_a_kernel():
    points = np.random.default_rng(0).normal(size=(60, 3))
    D = ((points[:, None] - points) ** 2).sum(axis=2)
    assert is_indefinite(-D, balanced=False)
    assert not is_indefinite(-D, balanced=True)
    assert is_indefinite(D, balanced=True)


@pytest.mark.parametrize("nothing", [np.zeros((3, 3)), np.full((2, 2), np.nan), np.zeros((0, 0))], ids=str)
def test_where_there_is_nothing_to_see_nothing_is_refuted(nothing):
    assert not is_indefinite(nothing, balanced=True)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize(
    ("kernel", "data"),
    [("sigmoid", X), ("precomputed", -X @ X.T), (lambda A, B: -A @ B.T, X)],
    ids=["sigmoid", "precomputed", "function"],
)
def test_there_is_a_model_and_no_certificate(kernel, data, loss):
    with pytest.warns(ConvergenceWarning, match=rf"stopped \(stalled\) after .*{NOT_POSITIVE}"):
        model = KernelSVC(kernel=kernel, loss=loss).fit(data, Y)
    assert model.status_ == "stalled"
    assert model.dual_gap_ == np.inf
    assert all(check.dual == -np.inf for check in model.history_[0])
    assert np.isfinite(model.objective_)
    if kernel == "sigmoid" and loss == "hinge":  # no worse than what LIBSVM makes of it
        assert model.score(X, Y) >= SVC(kernel="sigmoid").fit(X, Y).score(X, Y) - 0.01


def test_kernels_of_which_nothing_is_known_converge_where_they_are_positive():
    K = RBF(0.05)(X)
    shallow = 0.5 * (K + K.T).astype(np.float32)
    for data, kernel in ((K, "precomputed"), (shallow, "precomputed"), (X, lambda A, B: A @ B.T)):
        for C in (1.0, 1e4):
            model = KernelSVC(C, kernel=kernel).fit(data, Y)  # a warning would be an error
            assert model.status_ == "converged"


def test_minus_half_a_squared_distance_is_the_linear_kernel():
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    far = KernelSVC(0.1, kernel="precomputed", tol=1e-8).fit(-0.5 * D, Y)
    linear = KernelSVC(0.1, kernel="linear", tol=1e-8).fit(X, Y)
    assert far.status_ == "converged"
    assert far.objective_ == pytest.approx(linear.objective_, rel=1e-6)
    assert_allclose(far.decision_function(-0.5 * D), linear.decision_function(X), atol=1e-4)


def test_positive_kernels_are_not_looked_at(monkeypatch):
    def looked(*_, **__):
        raise AssertionError("a positive kernel was looked at")

    monkeypatch.setattr("maxmargin.methods.kernel_svm.problem.is_indefinite", looked)
    KernelSVC().fit(X, Y)
    PathCV(KernelSVC(), Cs=[1.0], gammas=[0.1], cv=2).fit(*IRIS)
    with pytest.raises(AssertionError, match="looked at"):
        KernelSVC(kernel="precomputed").fit(X @ X.T, Y)


def test_paths_searches_and_bounds_say_so_too():
    base = KernelSVC(kernel="sigmoid", gamma=0.1)
    with pytest.warns(ConvergenceWarning, match=NOT_POSITIVE):
        models = base.path(X, Y, [0.1, 1.0])
    assert all(model.dual_gap_ == np.inf for model in models)
    with pytest.warns(ConvergenceWarning, match=NOT_POSITIVE):
        search = PathCV(base, Cs=[0.1, 1.0], gammas="fixed", cv=2).fit(X, Y)
    assert search.best_score_ > 0.9
    assert (search.cv_results_["max_dual_gap"] == np.inf).all()
    K = with_spectrum([3.0] * 30 + [-2.0], n=len(IRIS[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KernelSVC(kernel="precomputed").fit(K, IRIS[1] == 1)
    found = bounds.report(model, K, IRIS[1] == 1)
    assert "not positive semi-definite" in found["stability"].reason


@pytest.mark.parametrize("alpha", [1e-2, 1.0])
def test_top_k_looks_for_what_its_norm_does_not_show(alpha):
    """||W||^2 is positive here, and K has a negative eigenvalue all the same."""
    K = np.exp(-0.5 * ((IRIS[0][:, None] - IRIS[0]) ** 2).sum(axis=2)) + 0.5 * with_spectrum([-1.0], n=150)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    with pytest.warns(ConvergenceWarning, match=NOT_POSITIVE):
        model = TopKSVC(kernel="precomputed", alpha=alpha).fit(0.5 * (K + K.T), IRIS[1])
    assert model.dual_gap_ == np.inf
    assert model.status_ != "converged"


def test_a_function_is_not_asked_again_for_what_is_known():
    """Where every row is in memory, looking for proof takes no kernel value more."""
    X, y = IRIS
    asked = []

    def product(A, B):
        asked.append(len(A) * len(B))
        return A @ B.T

    looked = KernelSVC(kernel=product, random_state=0).fit(X[:100], y[:100])
    n_asked = sum(asked)
    asked.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indefinite, "MAX_ROWS_TESTED", 0)
        blind = KernelSVC(kernel=product, random_state=0).fit(X[:100], y[:100])
    assert looked.n_support_ == blind.n_support_
    assert n_asked - sum(asked) < 100 * 100  # rows that no step has asked for, at most once each
