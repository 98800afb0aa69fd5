"""Errors of predictions against plain formulas; intervals contain the true value as often as they say."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from maxmargin.training import number_scores


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6, 1e200])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_scores_are_those_of_the_formulas(size, offset):
    rng = np.random.default_rng(0)
    y = rng.normal(size=200) * size + offset * size
    f = y + 0.3 * size * rng.normal(size=200)
    found = number_scores(y, f)
    small = (y - offset * size) / size, (f - offset * size) / size
    assert found.mae == pytest.approx(size * mean_absolute_error(*small))
    assert found.rmse == pytest.approx(size * root_mean_squared_error(*small))
    assert found.r2 == pytest.approx(r2_score(*small), rel=1e-6)
    assert found.bias == pytest.approx(float((f - y).mean()))
    assert found.r2_interval[0] < found.r2 < found.r2_interval[1] <= 1.0


def test_intervals_contain_the_value_of_the_population():
    """Of 400 samples of 300 rows, about 95 % of the intervals contain what 2,000,000 rows give."""
    rng = np.random.default_rng(1)

    def rows(n):
        x, noise = rng.normal(size=n), rng.normal(size=n)
        return 2.0 * x + noise, 1.8 * x

    true = number_scores(*rows(2_000_000))
    samples = [number_scores(*rows(300)) for _ in range(400)]
    for name in ("mae", "rmse", "r2"):
        value = getattr(true, name)
        share = np.mean(
            [low <= value <= high for low, high in (getattr(s, f"{name}_interval") for s in samples)]
        )
        assert 0.91 <= share <= 0.98, name


def test_few_rows_and_a_constant_target():
    one = number_scores(np.array([2.0]), np.array([3.0]))
    assert (one.mae, one.mae_interval, one.r2, one.r2_interval) == (1.0, None, None, None)
    assert number_scores(np.full(9, 4.0), np.full(9, 4.0)).mae_interval == (0.0, 0.0)
