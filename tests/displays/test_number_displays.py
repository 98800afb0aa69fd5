"""Displays of predicted numbers: what is drawn is what the model predicts."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import KernelSVR
from maxmargin.displays import QuantileFanDisplay, ResidualDisplay


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def waves(n=120):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n)


def test_residuals_are_what_is_left_of_the_targets():
    X, y = waves()
    model = make_pipeline(StandardScaler(), KernelSVR(C=5, epsilon=0.3)).fit(X, y)
    shown = ResidualDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(shown.points_.get_offsets(), np.c_[model.predict(X), y - model.predict(X)])
    assert shown.tube == 0.3
    assert shown.ax_.get_legend_handles_labels()[1] == ["costs nothing"]
    assert ResidualDisplay.from_estimator(KernelSVR(loss="huber").fit(X, y), X, y).tube is None
    by_nu = KernelSVR(nu=0.5).fit(X, y)
    assert ResidualDisplay.from_estimator(by_nu, X, y).tube == by_nu.epsilon_


def test_residuals_of_several_quantiles_are_refused():
    X, y = waves()
    model = KernelSVR(loss="pinball", quantiles=(0.1, 0.9)).fit(X, y)
    with pytest.raises(ValueError, match=r"one prediction for each row; got shape \(120, 2\).*QuantileFan"):
        ResidualDisplay.from_estimator(model, X, y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        ResidualDisplay(y=y, predicted=y[1:])


@pytest.mark.parametrize("quantiles", [(0.1, 0.9), (0.05, 0.25, 0.5, 0.75, 0.95), (0.2, 0.6, 0.9)])
def test_a_fan_has_a_band_for_each_pair_and_a_line_in_the_middle(quantiles):
    X, y = waves()
    model = KernelSVR(C=2, loss="pinball", quantiles=quantiles).fit(X, y)
    shown = QuantileFanDisplay.from_estimator(model, X, y, column=1, n_points=30)
    grid = np.c_[np.full(30, np.median(X[:, 0])), np.linspace(X[:, 1].min(), X[:, 1].max(), 30)]
    np.testing.assert_allclose(shown.fan, model.predict(grid))
    assert len(shown.bands_) == len(quantiles) // 2
    assert (shown.line_ is not None) == (len(quantiles) % 2 == 1)
    if shown.line_ is not None:
        np.testing.assert_allclose(shown.line_.get_ydata(), shown.fan[:, len(quantiles) // 2])
    assert shown.ax_.get_xlabel() == "x1"


def test_a_fan_of_a_frame_has_the_name_of_its_column_on_given_axes():
    X, y = waves()
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = make_pipeline(StandardScaler(), KernelSVR(loss="pinball", quantiles=(0.1, 0.5, 0.9)))
    _, ax = plt.subplots()
    shown = QuantileFanDisplay.from_estimator(model.fit(frame, y), frame, ax=ax)
    assert shown.ax_ is ax
    assert ax.get_xlabel() == "width"
    assert ax.get_legend_handles_labels()[1] == ["10 % to 90 %", "median"]


def test_bad_fans_are_refused():
    X, y = waves()
    with pytest.raises(ValueError, match="needs several quantiles; fit"):
        QuantileFanDisplay.from_estimator(KernelSVR().fit(X, y), X)
    model = KernelSVR(loss="pinball", quantiles=(0.1, 0.9)).fit(X, y)
    with pytest.raises(ValueError, match=r"column must be within 0\.\.1; got 2"):
        QuantileFanDisplay.from_estimator(model, X, column=2)
    with pytest.raises(ValueError, match=r"fan must have a row.*got shape \(2, 2\)"):
        QuantileFanDisplay(x=[0, 1, 2], quantiles=(0.1, 0.9), fan=np.zeros((2, 2)))
