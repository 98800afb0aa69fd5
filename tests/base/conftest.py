"""Every public classifier in turn."""

import pytest
from sklearn.base import clone
from support.contract import ESTIMATORS


@pytest.fixture(params=ESTIMATORS, ids=str)
def estimator(request):
    return clone(request.param)
