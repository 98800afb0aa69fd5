"""Small arrays in the core's layout pass without scikit-learn's checks; all others get its errors."""

import numpy as np
import pytest

from maxmargin import KernelSVR, LinearSVR
from maxmargin.data import validation

X = np.random.default_rng(0).normal(size=(20, 3))


@pytest.mark.parametrize("model", [KernelSVR(), LinearSVR()])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_small_fits_to_real_targets_skip_the_general_checks(model, dtype, monkeypatch):
    y = (10 * X[:, 0]).astype(dtype)
    checked = model.fit(X.tolist(), y).predict(X)
    monkeypatch.setattr(validation, "validate_data", None)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), checked)
    assert model.n_features_in_ == 3


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.where(np.arange(20) == 3, np.nan, 1.0), "NaN"),
        (np.where(np.arange(20) == 3, np.inf, 1.0), "infinity"),
        (np.ones(19), "inconsistent numbers of samples"),
        (np.ones((20, 2)), "1d array"),
        (1j * np.ones(20), "Complex"),
    ],
)
def test_wrong_targets_get_the_general_errors(y, words):
    with pytest.raises(ValueError, match=words):
        LinearSVR().fit(X, y)
