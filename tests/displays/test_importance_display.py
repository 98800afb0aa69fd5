"""The bars of ImportanceDisplay."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import KernelSVC, importance
from maxmargin.displays import ImportanceDisplay

X_IRIS, Y_IRIS = load_iris(return_X_y=True)


def test_importance_is_drawn_from_the_largest_down():
    names = list("abcd")
    model = make_pipeline(StandardScaler(), KernelSVC()).fit(pd.DataFrame(X_IRIS, columns=names), Y_IRIS)
    display = ImportanceDisplay.from_estimator(model, pd.DataFrame(X_IRIS, columns=names), max_columns=2)
    widths = [bar.get_width() for bar in display.bars_]
    assert sum(widths) == pytest.approx(100)
    shares = dict(zip(names, importance(model, pd.DataFrame(X_IRIS, columns=names))))
    first = sorted(shares, key=shares.get, reverse=True)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [*first[:2], "2 others"]
    assert widths[0] == pytest.approx(100 * shares[first[0]])
    assert display.ax_.yaxis_inverted()
    svm = KernelSVC().fit(X_IRIS, Y_IRIS)
    _, ax = plt.subplots()
    again = ImportanceDisplay.from_estimator(svm, ax=ax)
    assert again.ax_ is ax
    assert sorted(again.names) == ["x0", "x1", "x2", "x3"]
    np.testing.assert_array_equal(again.shares, svm.feature_importances_)
    plt.close("all")
    with pytest.raises(ValueError, match="4 shares and 1 names"):
        ImportanceDisplay(shares=again.shares, names=["a"])
