"""Losses of the error of a regression obey the laws that define them, and so do their smoothed twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from maxmargin.residual_losses import (
    ERROR,
    MARGIN,
    Huber,
    NarrowHuber,
    Pinball,
    SmoothedPinball,
    SquaredError,
)

SMOOTH = [
    SquaredError(),
    Huber(0.7, 0.7),
    Huber(0.2, 1.0),
    Huber(1e-3, 1e-3),
    SmoothedPinball(0.3, 0.2),
    SmoothedPinball(0.9, 1e-3),
]
every_loss = pytest.mark.parametrize("loss", [*SMOOTH, Pinball(0.3), Pinball(0.95)], ids=str)
errors = st.floats(-1e4, 1e4).map(np.array)


@every_loss
@given(m=errors, u=st.floats(-2, 2).map(np.array))
def test_fenchel_young(loss, m, u):
    assert loss.value(m) + loss.conjugate(u) >= m * u - 1e-11 * (1 + m * m)


@every_loss
@given(m=errors)
def test_fenchel_young_is_an_equality_at_the_slope(loss, m):
    u = loss.slope(m)
    assert_allclose(loss.value(m) + loss.conjugate(u), m * u, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_slopes_and_curvatures_are_derivatives(loss):
    m, h = np.linspace(-3.0, 3.0, 997), 1e-7
    assert_allclose((loss.value(m + h) - loss.value(m - h)) / (2 * h), loss.slope(m), atol=1e-4)
    away = loss.curvature(m - h) == loss.curvature(m + h)
    found = (loss.slope(m + h) - loss.slope(m - h)) / (2 * h)
    assert_allclose(found[away], loss.curvature(m)[away], rtol=1e-5, atol=1e-5)
    assert away.mean() > 0.98


@given(m=errors, q=st.floats(0.01, 0.99), width=st.floats(1e-6, 10.0))
def test_the_smoothed_pinball_loss_lies_below_by_what_is_stated(m, q, width):
    lost = Pinball(q).value(m) - Pinball(q).smoothed(width).value(m)
    assert -1e-12 * (1 + abs(m)) <= lost <= 0.5 * width * max(q, 1 - q) ** 2 + 1e-12 * (1 + abs(m))


@pytest.mark.parametrize(
    "loss", [Huber(0.7, 0.7), Huber(0.01, 1.0), SmoothedPinball(0.3, 0.2), SmoothedPinball(0.9, 0.5)], ids=str
)
@given(m=st.floats(-50, 50).map(np.array))
def test_a_secant_is_the_curvature_of_a_parabola_above_the_loss(loss, m):
    steps = np.linspace(-150.0, 150.0, 3001)
    above = loss.value(m) + loss.slope(m) * steps - loss.value(m + steps)
    curvature = loss.secant(m, np.ones(()))
    assert (above + 0.5 * curvature * steps**2 >= -1e-9).all()
    if abs(m) > 1.0:  # and no flatter one would do
        assert (above + 0.49 * curvature * steps**2 < 0.0).any()


def test_the_wider_twin_of_a_huber_loss_is_its_envelope():
    n, loss, width = np.linspace(-4.0, 4.0, 80_001), NarrowHuber(0.03, 0.8), 0.4
    for m in (-2.0, -0.3, 0.0, 0.2, 0.34, 1.5):
        envelope = (loss.value(n) + (m - n) ** 2 / (2.0 * width)).min()
        assert_allclose(loss.smoothed(width).value(np.array(m)), envelope, atol=1e-7)


def test_arguments():
    y, f, cost = np.array([-1.0, 0.0, 1.0]), np.array([2.0, 3.0, 5.0]), np.ones(3)
    assert_allclose(MARGIN.of(y, f), [-2.0, 0.0, 5.0])
    assert_allclose(ERROR.of(y, f), [3.0, 3.0, 4.0])
    h = 1e-6
    for argument in (MARGIN, ERROR):
        slope = (argument.of(y, f + h) - argument.of(y, f - h)) / (2 * h)
        assert_allclose(argument.per_output(cost, y), slope, atol=1e-9)
    assert MARGIN.taking_part(y).tolist() == [-1.0, 0.0, 1.0]
    assert ERROR.taking_part(y).all()
