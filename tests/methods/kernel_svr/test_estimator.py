"""KernelSVR: the problem it solves against a QP referee and SVR, its inputs, and what it refuses."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.svm import SVR
from support.properties import examples
from support.regression_problems import LOSSES, bounds, coefficients, loss_values, optimum

from maxmargin import KernelSVR
from maxmargin.kernels import RBF

KERNELS = {"linear": lambda X: X @ X.T, "rbf": RBF(0.5)}


def noisy_sine(n, seed=0, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2.0 * X).sum(axis=1) + 0.3 * rng.standard_t(3, size=n)


def assert_certified(model, K, y, cost, slack=1e-9):
    """Status, bounds from nothing but the coefficients, and the objective that they have."""
    primal, dual = bounds(model, K, y, cost)
    scale = max(abs(primal), abs(dual))
    rounding = (
        1e-13 * len(y) * (1.0 + np.abs(y - np.median(y)).max() * np.abs(model.dual_coef_).sum() / scale)
    )
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(primal, rel=slack + rounding)
    assert -rounding <= (primal - dual) / scale <= model.dual_gap_ + slack + rounding
    assert model.dual_gap_ <= model.tol
    return primal


@pytest.mark.parametrize("loss", LOSSES)
@examples(25, 200)
@given(data=st.data())
def test_objective_matches_the_referee(loss, data):
    """Weights, scales and offsets of targets included."""
    n, kernel = data.draw(st.integers(3, 40)), data.draw(st.sampled_from(["linear", "rbf"]))
    X, y = noisy_sine(n, data.draw(st.integers(0, 2**32 - 1)))
    power = data.draw(st.sampled_from([-6, -2, 0, 3, 8]))
    unit = 10.0**power
    y = unit * (y + data.draw(st.sampled_from([0.0, 1.0, -1e4])))
    weight = np.random.default_rng(n).uniform(0.2, 3.0, n) if data.draw(st.booleans()) else np.ones(n)
    C = 10.0 ** data.draw(st.integers(-3, 3)) * (unit if loss in ("epsilon-insensitive", "pinball") else 1.0)
    model = KernelSVR(
        C,
        loss=loss,
        kernel=kernel,
        gamma=0.5,
        epsilon=unit * data.draw(st.sampled_from([0.0, 0.01, 0.3, 100.0])),
        delta=unit * data.draw(st.sampled_from([0.01, 0.5, 100.0])),
        quantile=data.draw(st.sampled_from([0.05, 0.5, 0.9])),
        tol=1e-8,
    ).fit(X, y, weight)
    K = KERNELS[kernel](X)
    best = optimum(model, K, y, C * weight)
    if not model.objective_ > 1e-12 * C * unit:  # all residuals within epsilon
        assert best <= 1e-10 * C * unit
        return
    assume(best > 0.0)
    assert assert_certified(model, K, y, C * weight) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(
    ("loss", "seed", "unit", "C"),
    [("epsilon-insensitive", 2, 1e-2, 1.0), ("epsilon-insensitive", 0, 1.0, 1e3), ("pinball", 1, 1.0, 1e3)],
)
def test_targets_far_from_0_are_certified(loss, seed, unit, C):
    """Found by fuzzing: the intercept that is stored is rounded by more than the certificate is exact."""
    X, y = noisy_sine(3, seed)
    y, C = unit * (y - 1e4), C * unit
    model = KernelSVR(C, loss=loss, kernel="linear", epsilon=0.0, quantile=0.05, tol=1e-8).fit(X, y)
    assert_certified(model, X @ X.T, y, np.full(3, C))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize(("C", "epsilon"), [(0.1, 0.3), (10.0, 0.1), (10.0, 0.0)])
def test_same_solution_as_svr(kernel, C, epsilon):
    X, y = noisy_sine(150)
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    same = {"C": C, "epsilon": epsilon, "kernel": kernel, "gamma": 0.5, "degree": 2, "coef0": 1.0}
    peer = SVR(tol=1e-10, **same).fit(X, y, weight)
    model = KernelSVR(**same).fit(X, y, weight)
    # SVR's kernel values are of single precision
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-4 * np.abs(y).max())
    K = {"linear": X @ X.T, "rbf": RBF(0.5)(X), "poly": (0.5 * X @ X.T + 1.0) ** 2}[kernel]
    a = coefficients(peer, len(y))
    theirs = 0.5 * a @ K @ a + C * weight @ loss_values(y - K @ a - peer.intercept_, model)
    assert theirs * (1.0 - 1e-5) <= model.objective_ <= theirs * (1.0 + 1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", LOSSES)
def test_large_problems_are_certified(loss, dtype):
    """Rounds, shrinking and the growing subset: more rows than a small problem has, one kink among them."""
    X, y = noisy_sine(2500 if loss == "huber" else 6500, d=4)
    X, y = X.astype(dtype), 50.0 * y
    C = 0.2 if loss in ("huber", "squared-epsilon-insensitive") else 10.0
    model = KernelSVR(C, loss=loss, gamma=0.3, epsilon=20.0, delta=30.0, quantile=0.8, tol=1e-4)
    model.set_params(cache_mb=40.0 if loss == "epsilon-insensitive" else 1000.0).fit(X, y)
    K = RBF(0.3)(X.astype(np.float64))
    slack = 0.1 * model.tol if dtype == np.float32 else 1e-9
    assert_certified(model, K, y, np.full(len(y), C), slack)


@pytest.mark.parametrize("loss", ["epsilon-insensitive", "squared-epsilon-insensitive", "huber"])
def test_small_problems_are_solved_to_rounding(loss):
    X, y = noisy_sine(400)
    model = KernelSVR(5.0, loss=loss, gamma=0.5).fit(X, y)
    assert model.dual_gap_ <= 1e-12
    single = KernelSVR(5.0, loss=loss, gamma=0.5, tol=1e-6).fit(X.astype(np.float32), y)
    assert single.objective_ == pytest.approx(model.objective_, rel=1e-5)


def test_the_pinball_loss_splits_the_rows():
    X, y = noisy_sine(600)
    for q in (0.05, 0.5, 0.9):
        model = KernelSVR(1.0, loss="pinball", quantile=q, gamma=0.3).fit(X, y)
        below = (y < model.predict(X) - 1e-9).mean()
        assert below <= q <= below + model.n_support_ / len(y)
        at_most = (y <= model.predict(X) + 1e-9).mean()
        assert below <= q <= at_most + 1e-12


def test_scaled_targets_have_the_scaled_solution():
    """y times t, epsilon times t, and C times t for a loss that grows linearly."""
    X, y = noisy_sine(200)
    plain = KernelSVR(2.0, gamma=0.5).fit(X, y)
    for t, offset in ((1e-6, 0.0), (1e7, -5.0), (4.0, 0.0)):
        model = KernelSVR(2.0 * t, epsilon=0.1 * t, gamma=0.5).fit(X, t * (y + offset))
        np.testing.assert_allclose(model.predict(X) / t - offset, plain.predict(X), atol=1e-7)
        assert model.objective_ == pytest.approx(t * t * plain.objective_, rel=1e-7)


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_a_huber_loss_without_an_end_is_least_squares(unit):
    X, y = noisy_sine(60)
    plain = KernelSVR(2.0, loss="huber", delta=1e6).fit(X, y)
    model = KernelSVR(2.0, loss="huber", delta=1e308).fit(X, unit * y)
    assert model.status_ == "converged"
    np.testing.assert_allclose(model.predict(X) / unit, plain.predict(X), rtol=1e-9)


def test_a_linear_kernel_has_weights():
    X, y = noisy_sine(80)
    model = KernelSVR(1.0, kernel="linear").fit(X, y)
    np.testing.assert_allclose((X @ model.coef_.T + model.intercept_)[:, 0], model.predict(X), atol=1e-12)
    with pytest.raises(AttributeError, match="linear kernel"):
        KernelSVR().fit(X, y).coef_  # noqa: B018 - the access raises


def test_other_kernels_give_the_same_model():
    """A matrix, a function of rows and a function of objects."""
    X, y = noisy_sine(90)
    model = KernelSVR(3.0, kernel=RBF(0.5)).fit(X, y)
    K = RBF(0.5)(X)
    by_matrix = KernelSVR(3.0, kernel="precomputed").fit(K, y)
    by_function = KernelSVR(3.0, kernel=lambda A, B: RBF(0.5)(A, B)).fit(X, y)
    by_objects = KernelSVR(3.0, kernel=lambda A, B: RBF(0.5)(np.stack(A), np.stack(B)))
    objects = np.empty(len(X), dtype=object)
    objects[:] = list(X)
    by_objects.fit(objects, y)
    expected = model.predict(X)
    for found in (by_matrix.predict(K), by_function.predict(X), by_objects.predict(objects)):
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_constant_targets_and_one_row():
    X, y = noisy_sine(30)
    model = KernelSVR().fit(X, np.full(30, 7.5))
    assert model.n_support_ == 0
    assert model.objective_ == model.dual_gap_ == 0.0
    np.testing.assert_array_equal(model.predict(X), np.full(30, 7.5))
    for loss, parameters in itertools.product(LOSSES, [{}, {"delta": 0.1}, {"delta": 1e-3, "C": 1e4}]):
        model = KernelSVR(loss=loss, **parameters).fit(X, np.full(30, 2.5))
        assert model.status_ == "converged"
        np.testing.assert_allclose(model.predict(X), 2.5, rtol=1e-15)
    for loss in LOSSES:
        np.testing.assert_allclose(KernelSVR(loss=loss).fit(X[:1], y[:1]).predict(X), y[0])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"C": 0.0}, "C must be a finite number > 0"),
        ({"loss": "squared"}, "loss must be one of"),
        ({"epsilon": -1.0}, "epsilon must be a finite number >= 0"),
        ({"quantile": 1.0}, "quantile must be a number between 0 and 1"),
        ({"delta": 0.0}, "delta must be a finite number > 0"),
        ({"cache_mb": "some"}, "cache_mb must be"),
        ({"kernel": "cubic"}, "kernel"),
        ({"shrinking": 1}, "shrinking must be True or False"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        KernelSVR(**parameters).fit(*noisy_sine(10))


def test_wrong_targets_are_named():
    X, y = noisy_sine(10)
    for kernel in ("rbf", "precomputed"):
        with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
            KernelSVR(kernel=kernel).fit(X[:, [0]] * X[:, 0], None)
    with pytest.raises(ValueError, match=r"targets must be at most 1e\+140"):
        KernelSVR().fit(X, 1e150 * y)
    for missing in (np.nan, None):
        with pytest.raises(ValueError, match="NaN"):
            KernelSVR().fit(X, np.where(y > 0, missing, y))
    for kind in (str, object):
        with pytest.raises(ValueError, match="y must be numbers; got 'low'"):
            KernelSVR().fit(X, np.where(y > 0, "low", "high").astype(kind)[np.argsort(-y)])
    with pytest.raises(ValueError, match="C times the weights"):
        KernelSVR(C=1e200).fit(X, y)
