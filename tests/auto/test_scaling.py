"""Scaled columns can be turned back: standardised, bent, sparse, and through a full metric."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.auto import scaling


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) * [1.0, 50.0, 1e-3, 1.0] + [0.0, 7.0, 0.0, 0.0]
    X[:, 3] = np.exp(3.0 * X[:, 3])
    return X


@pytest.mark.parametrize("view", scaling.VIEWS)
def test_rows_are_restored(rows, view):
    found = scaling.scalings(rows, np.ones(80))[view]
    assert found.bent.any() == (view == "bent")
    np.testing.assert_allclose(found.restored(found.transform(rows)), rows, rtol=1e-9, atol=1e-12)
    turned = found.with_metric(np.random.default_rng(1).normal(size=(4, 4)))
    np.testing.assert_allclose(turned.restored(turned.transform(rows)), rows, rtol=1e-6, atol=1e-9)


def test_sparse_rows_are_restored(rows):
    X = sparse.csr_array(np.where(rows > 0, rows, 0.0))
    for found in scaling.scalings(X, np.ones(80)).values():
        np.testing.assert_allclose(found.restored(found.transform(X).toarray()), X.toarray(), rtol=1e-9)
