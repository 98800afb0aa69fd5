"""A stream of the published method makes the steps of one fit to all its rows, however it is split."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits

from maxmargin import SparseKernelClassifier

SIZES = (1, 10, 100, 300)


def rings(n, seed):
    """Two noisy rings, which few support vectors tell apart only if their coefficients are fitted."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n), 1.0 + y + 0.25 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def streamed(X, y, size, seed=0, **parameters):
    model = SparseKernelClassifier.as_published(20, gamma=1.0, random_state=seed, **parameters)
    for i in range(0, len(y), size):
        model.partial_fit(X[i : i + size], y[i : i + size], classes=[0, 1])
    return model


@pytest.mark.parametrize("size", SIZES)
def test_stream_back_fits_as_many_samples_as_it_has_rows(size):
    X, y = rings(300, 0)
    model = streamed(X, y, size)
    n_steps_of_growth = model.t_[0] - 1 - 300
    assert model.n_support_ == 20
    assert 20 <= n_steps_of_growth <= 300  # some draws find no candidate with a loss


def test_batches_of_any_size_give_the_accuracy_of_one_call():
    X, y = load_digits(return_X_y=True)
    X, scores = X / 16.0, {size: [] for size in (1, 10, 100, 400)}
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(y))
        rows, rest = order[:400], order[400:]
        for size, found in scores.items():
            model = SparseKernelClassifier.as_published(20, gamma=0.1, alpha=1e-2, random_state=seed)
            for i in range(0, 400, size):
                model.partial_fit(X[rows[i : i + size]], y[rows[i : i + size]], classes=range(10))
            found.append(model.score(X[rest], y[rest]))
    whole = scores.pop(400)
    for found in scores.values():
        standard_error = np.sqrt((np.var(found, ddof=1) + np.var(whole, ddof=1)) / 3)
        assert np.mean(found) >= np.mean(whole) - 2.0 * standard_error


def test_rows_of_a_fit_and_of_a_pickled_stream_are_counted():
    X, y = rings(300, 0)
    model = SparseKernelClassifier.as_published(20, gamma=1.0, alpha=1e-3, random_state=0).fit(
        X[:200], y[:200]
    )
    before = model.t_[0]
    model = pickle.loads(pickle.dumps(model)).partial_fit(X[200:], y[200:])
    assert model.t_[0] - before >= 100


def test_a_number_of_samples_is_used_after_each_support_vector_of_a_batch():
    X, y = rings(300, 0)
    model = streamed(X, y, 100, back_fit=2, alpha=1e-3)
    assert model.t_[0] == 1 + 20 * 3 + 2 * 2  # growth in the first batch, a round in each later one
