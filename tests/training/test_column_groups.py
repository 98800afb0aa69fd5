"""Groups of a table's columns in a training."""

import numpy as np
import pandas as pd
import pytest

from maxmargin.data import ParameterError
from maxmargin.table import TablePreparation
from maxmargin.training.in_memory import Request
from maxmargin.training.models import MODELS


def request(groups):
    return Request(MODELS["auto"], {"column_groups": groups}, 0, 100.0, 0.0, False, None, 0.0, False)


def test_groups_are_positions_of_any_integer_type():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=30), "p": list("xyz") * 10, "b": rng.normal(size=30)})
    preparation = TablePreparation(dtype="float64").fit(table)
    expected = request([[0], ["p"]]).of_matrix(preparation).parameters["column_groups"]
    for group in ([np.int64(0)], [np.int32(0)], np.array([0])):
        assert request([group, ["p"]]).of_matrix(preparation).parameters["column_groups"] == expected
    with pytest.raises(ParameterError, match="no column '7'"):
        request([["7"]]).of_matrix(preparation)
