"""Columns that had no time for a first step have no dual coefficients, and no support vectors."""

import numpy as np

from maxmargin.codes import code_from_name
from maxmargin.methods.linear import count_support
from maxmargin.solving import SolverResult, Status, unsolved


def test_support_of_columns_without_time():
    code, labels = code_from_name("one-vs-one", 3, 0), np.array([0, 1, 2, 0])
    history = unsolved(np.zeros(2)).history
    solved = SolverResult(np.ones(2), 0.0, Status.TIME_LIMIT, history, np.array([1.0, -1.0, 0.0]))
    assert count_support([solved, *2 * [unsolved(np.zeros(2))]], code, labels) == 2
