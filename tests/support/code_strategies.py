"""Hypothesis strategies for codes: any usable ternary matrix."""

import itertools
import warnings

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from maxmargin.codes import Code


def problems(n_classes):
    """Every column with both signs, its first non-zero entry being +1."""
    columns = itertools.product([-1, 0, 1], repeat=n_classes)
    return [c for c in columns if -1 in c and next(v for v in c if v) == 1]


@st.composite
def usable_codes(draw, max_classes=5, max_columns=7):
    n_classes = draw(st.integers(2, max_classes))
    columns = draw(
        st.lists(st.sampled_from(problems(n_classes)), min_size=1, max_size=max_columns, unique=True)
    )
    signs = draw(st.lists(st.sampled_from([-1, 1]), min_size=len(columns), max_size=len(columns)))
    matrix = np.array(columns).T * signs
    assume(len({tuple(row) for row in matrix.tolist()}) == n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Code(matrix)
