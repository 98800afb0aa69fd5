"""KernelSVR(quantiles=): each is the single problem, none cross; intervals cover what they promise."""

import numpy as np
import pytest
from support.properties import PROFILE

from maxmargin import KernelSVR, LinearSVR, SparseKernelRegressor

QUANTILES = (0.05, 0.5, 0.95)


def widening(n, seed=0):
    """Noise that grows with x."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, size=(n, 1))
    return X, np.sin(4.0 * X[:, 0]) + (0.1 + X[:, 0]) * rng.normal(size=n)


@pytest.mark.parametrize(("n", "dtype"), [(300, np.float64), (3000, np.float64), (3000, np.float32)])
def test_each_quantile_is_the_single_problem(n, dtype):
    X, y = widening(n)
    X = X.astype(dtype)
    parameters = {"loss": "pinball", "gamma": 5.0, "tol": 1e-4, "cache_mb": 50.0}
    model = KernelSVR(quantiles=QUANTILES, **parameters).fit(X, y)
    alone = [KernelSVR(quantile=q, **parameters).fit(X, y) for q in QUANTILES]
    assert model.status_ == "converged"
    assert model.dual_gap_ <= 1e-4
    for history, one in zip(model.history_, alone, strict=True):
        assert history[-1].primal == pytest.approx(one.objective_, rel=2e-4)
    assert model.objective_ == pytest.approx(sum(one.objective_ for one in alone), rel=2e-4)
    found = model.predict(X)
    assert found.shape == (n, 3)
    assert (np.diff(found, axis=1) >= 0.0).all()
    for q, column in zip(QUANTILES, found.T, strict=True):
        assert abs((y <= column).mean() - q) < 0.02


def test_crossings_are_counted():
    X, y = widening(40)
    model = KernelSVR(100.0, loss="pinball", quantiles=np.linspace(0.1, 0.9, 9), gamma=50.0).fit(X, y)
    raw = model._outputs(X)
    assert model.crossed_ == pytest.approx((np.diff(raw, axis=1) < 0.0).any(axis=1).mean())
    assert model.crossed_ > 0.0
    assert model.score(X, y) == KernelSVR.score(model, X, y) > 0.0


@pytest.mark.parametrize(
    "model",
    [
        KernelSVR(gamma=5.0),
        KernelSVR(loss="pinball", quantiles=(0.1, 0.9), gamma=5.0),
        KernelSVR(nu=0.5, gamma=5.0),
        LinearSVR(loss="pinball", quantile=0.4),
        SparseKernelRegressor(5, gamma=5.0, alpha=1e-2, random_state=0),
    ],
    ids=str,
)
def test_intervals_cover_what_they_promise(model):
    """Over 200 simulated sets, but for `make test` 20 of a slow model.

    The mean coverage is between c and c + 1 / (m + 1), within its error.
    """
    m, coverage, hits = 39, 0.8, []
    is_slow = isinstance(model, SparseKernelRegressor) and PROFILE != "fuzz"
    for seed in range(20 if is_slow else 200):
        X, y = widening(40 + m + 50, seed=1000 + seed)
        model.fit(X[:40], y[:40]).calibrate(X[40 : 40 + m], y[40 : 40 + m])
        found = model.predict_interval(X[40 + m :], coverage)
        hits.append(((found[:, 0] <= y[40 + m :]) & (y[40 + m :] <= found[:, 1])).mean())
    error = np.std(hits) / np.sqrt(len(hits))
    assert coverage - 3.0 * error <= np.mean(hits) <= coverage + 1.0 / (m + 1) + 3.0 * error


def test_intervals_of_quantiles_follow_the_noise():
    X, y = widening(600)
    model = KernelSVR(loss="pinball", quantiles=(0.1, 0.9), gamma=5.0).fit(X[:400], y[:400])
    low, high = model.calibrate(X[400:], y[400:]).predict_interval([[0.1], [0.9]]).T
    assert 2.0 * (high - low)[0] < (high - low)[1]
    model.fit(X, y)  # which forgets the calibration
    with pytest.raises(ValueError, match=r"call calibrate\(X, y\) first"):
        model.predict_interval(X)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"loss": "pinball", "quantiles": (0.5, 0.1)}, "quantiles must be None or ascending"),
        ({"loss": "pinball", "quantiles": (0.0, 0.5)}, "quantiles must be None or ascending"),
        ({"loss": "pinball", "quantiles": ()}, "quantiles must be None or ascending"),
        ({"loss": "pinball", "quantiles": "all"}, "quantiles must be None or ascending"),
        ({"quantiles": (0.1, 0.9)}, "quantiles are those of loss='pinball'"),
    ],
)
def test_wrong_quantiles_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        KernelSVR(**parameters).fit(*widening(10))


def test_wrong_coverage_is_named():
    X, y = widening(30)
    model = KernelSVR().fit(X, y).calibrate(X[:15], y[:15])
    with pytest.raises(ValueError, match=r"coverage=0.95 needs a calibration on at least 19 rows; got 15"):
        model.predict_interval(X, 0.95)
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        model.predict_interval(X, 1.0)
    with pytest.raises(ValueError, match="y must be finite"):
        model.calibrate(X, np.full(30, np.nan))
