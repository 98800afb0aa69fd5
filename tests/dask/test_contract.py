"""scikit-learn's checks of estimators, with the rows of every fit in a Dask collection of two partitions."""

import logging

import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed
from distributed import Client
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin.dask import DaskLinearSVC, DaskSparseKernelClassifier

pytestmark = pytest.mark.filterwarnings("default")


class Halves:
    """Collections that look like a Dask array with two blocks of rows, dense or sparse."""

    @staticmethod
    def of(rows):
        if rows is None:
            return None
        rows = rows if sparse.issparse(rows) else np.asarray(rows)
        half = max(rows.shape[0] // 2, 1) if rows.ndim else 1
        if not sparse.issparse(rows):
            return da.from_array(rows, chunks=(half, *[-1] * (rows.ndim - 1)))
        rows = rows.tocsr()
        parts = [rows[:half], rows[half:]]
        arrays = [da.from_delayed(delayed(part), part.shape, rows.dtype) for part in parts]
        return da.concatenate(arrays)


class FromCollections:
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(Halves.of(X), Halves.of(y), Halves.of(sample_weight))


class LinearFromCollections(FromCollections, DaskLinearSVC):
    pass


class SparseFromCollections(FromCollections, DaskSparseKernelClassifier):
    pass


@pytest.fixture(scope="module", autouse=True)
def client():
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # checks make tasks fail
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        yield client


@pytest.mark.usefixtures("array_api")
@parametrize_with_checks([LinearFromCollections(tol=1e-8), SparseFromCollections(budget=20, random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
