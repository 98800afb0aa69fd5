"""KernelSVC on badly scaled, indefinite, nearly singular and tiny problems."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from support.svc_models import LOSSES, blobs

from maxmargin import KernelSVC, KernelSVR


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
def test_stationary_point_of_an_indefinite_kernel_ends_the_fit(loss):
    """Where no pair gains anything, though the gap is wide, more rounds would change nothing."""
    X, y = blobs(300, centers=3)
    base = KernelSVC(10.0, loss=loss, kernel="sigmoid", gamma=0.2, tol=1e-4)
    for model in [clone(base).fit(X, y), *base.path(X, y, [0.01, 10.0, 0.1])]:
        assert model.status_ == "stalled"
        assert model.dual_gap_ == np.inf
        assert np.isfinite(model.dual_coef_).all()
        assert model.n_iter_ < 200


def test_problems_on_which_libsvm_never_ends_stop_in_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6)) * np.array([1.0, 1e3, 1e5, 1e-2, 10.0, 1e4])
    y = (X[:, 0] + rng.normal(size=1500) > 0).astype(int)
    for kernel in ("linear", "polynomial"):
        with pytest.warns(
            ConvergenceWarning, match=r"(time_limit|stalled).*relative duality gap \d.*scale the features"
        ):
            model = KernelSVC(1e10, kernel=kernel, gamma=1.0, max_seconds=0.5).fit(X, y)
        assert model.status_ in ("time_limit", "stalled")  # no further step is longer than rounding
        assert np.isfinite(model.decision_function(X)).all()
        assert model.tol < model.dual_gap_ < np.inf


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [200, 1400])
@pytest.mark.parametrize(
    "kernel", [{"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0}, {"gamma": 1e-12}], ids=str
)
def test_indefinite_and_nearly_singular_kernels_end_finite(loss, n, kernel):
    X, y = blobs(n)
    for C in (1.0, 1e6):
        model = KernelSVC(C, loss=loss, max_seconds=0.7, **kernel).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.objective_)
        assert np.isfinite(model.dual_gap_) == ("kernel" not in kernel)
        assert (model.status_ == "converged") == (model.dual_gap_ <= model.tol)


@pytest.mark.parametrize("n", [600, 1000])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_small_problems_are_exact(n, loss, kernel):
    X, y = blobs(n)
    model = KernelSVC(10.0, loss=loss, kernel=kernel).fit(X, y)
    assert model.status_ == "converged"
    assert model.dual_gap_ < 1e-11


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
def test_one_sample_of_a_class(loss, C):
    X = np.array([[0.0], [1.0], [2.0]])
    model = KernelSVC(C, loss=loss, kernel="linear").fit(X, [0, 1, 1])
    assert model.status_ == "converged"
    assert model.dual_gap_ < 1e-9
    pair = KernelSVC(C, loss=loss, kernel="linear").fit(X[:2], [0, 1])
    a = min(C, 2.0) if loss == "hinge" else 2.0 / (1.0 + 2.0 / C)
    np.testing.assert_allclose(pair.dual_coef_, [[-a, a]], rtol=1e-9)
    assert pair.intercept_[0] == pytest.approx(-0.5 * a, abs=1e-9)


def noisy_product(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=n) > 0.0, 1, -1)


@pytest.mark.parametrize("gamma", [0.1, 8.0])
@pytest.mark.parametrize("n", [300, 1100])
def test_large_C_reaches_the_dual_value_of_libsvm(n, gamma):
    """Blocks that take many pairs, and Newton steps between these."""
    X, y = noisy_product(n)
    peer = SVC(C=1e3, gamma=gamma, tol=1e-4).fit(X, y)
    a, Z = peer.dual_coef_[0], peer.support_vectors_
    K = np.exp(-gamma * ((Z[:, None] - Z) ** 2).sum(axis=2))
    dual = np.abs(a).sum() - 0.5 * a @ K @ a
    model = KernelSVC(1e3, gamma=gamma, tol=1e-5).fit(X, y)
    assert model.status_ == "converged"
    assert model.objective_ >= dual * (1.0 - 1e-9)
    assert model.objective_ * (1.0 - model.dual_gap_) >= dual * (1.0 - 2e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("gamma", [0.1, 8.0])
def test_large_C_has_the_same_bits_for_any_number_of_threads(gamma, loss):
    X, y = noisy_product(1100)
    one, two = (KernelSVC(1e3, gamma=gamma, loss=loss, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.dual_coef_.tobytes() == two.dual_coef_.tobytes()
    assert one.intercept_.tobytes() == two.intercept_.tobytes()


@pytest.mark.parametrize(
    ("model", "loss", "seed", "n", "gamma", "noise"),
    [
        (KernelSVR, "squared-epsilon-insensitive", 28, 20, 0.01, 0.2),
        (KernelSVC, "squared-hinge", 16, 50, 1e-3, 0.5),
    ],
)
def test_rounds_in_single_precision_that_lead_nowhere_end(model, loss, seed, n, gamma, noise):
    """Terms of 1e9 cancel, so gradients in single precision say nothing; rounds moved until the limit."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 1)).astype(np.float32)
    y = np.sin(X[:, 0]) + noise * rng.standard_normal(n)
    y = y if model is KernelSVR else np.where(y > 0.0, 1, -1)
    same = {"C": 1e7, "loss": loss, "gamma": gamma, "max_iter": 400}
    same |= {"epsilon": 0.0} if model is KernelSVR else {}
    found, double = model(**same).fit(X, y), model(**same).fit(X.astype(np.float64), y)
    assert found.status_ == double.status_ == "converged"
    assert found.objective_ == pytest.approx(double.objective_, rel=1e-3)
