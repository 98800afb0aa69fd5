"""Sums of products with twice the digits, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.data import precise_product, sum_of_products

NUMBERS = st.floats(-1e9, 1e9, allow_subnormal=False).filter(lambda x: x == 0.0 or abs(x) > 1e-9)


@given(pairs=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_a_sum_of_products_is_rounded_once(pairs):
    u, v = np.array(pairs).T
    exact = sum((Fraction(p) * Fraction(q) for p, q in pairs), Fraction(0))
    assert sum_of_products(u, v) == float(exact)
    (high,), (low,) = precise_product(u[None], v[:, None])
    size = float(np.abs(u) @ np.abs(v))
    assert abs(float(Fraction(high[0]) + Fraction(low[0]) - exact)) <= 100 * np.finfo(float).eps ** 2 * size
    assert high[0] == pytest.approx(float(exact), abs=8 * np.finfo(float).eps * size)


def test_what_doubles_lose_is_found():
    X, V = np.array([[1e9, 1.0, -1e9], [1.0, 2.0, 3.0]]), np.array([[1.0 + 2**-52], [1e-9], [1.0]])
    high, low = precise_product(X, V)
    assert (high + low)[0, 0] == pytest.approx(1e9 * 2**-52 + 1e-9, rel=1e-14)
    assert (high + low)[1, 0] == pytest.approx(4.0 + 2e-9, rel=1e-15)
