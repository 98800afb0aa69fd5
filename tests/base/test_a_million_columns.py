"""Sparse rows of 10^6 columns are fitted as they are; the soak has dense ones, files and every estimator."""

import numpy as np
import pytest
from scipy import sparse

import maxmargin

N_COLUMNS = 10**6


@pytest.mark.parametrize("name", ["KernelSVC", "LagrangianSVC", "LeastSquaresClassifier", "LinearSVC"])
def test_a_million_sparse_columns_are_fitted(name):
    y = np.arange(12) % 2
    columns = np.stack([np.arange(12), N_COLUMNS - 1 - y], axis=1)  # one of its own, one of its class
    X = sparse.csr_array((np.ones(24), columns.ravel(), np.arange(0, 25, 2)), (12, N_COLUMNS))
    model = getattr(maxmargin, name)().fit(X, y)
    assert model.status_ == "converged"
    assert (model.predict(X) == y).all()
