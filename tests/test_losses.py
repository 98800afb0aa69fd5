"""Losses obey the laws that define them, and their two texts agree."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC

from maxmargin import _core, _native
from maxmargin.losses import LOSSES, Hinge, Log, Perceptron, SquaredHinge, loss_from_name

every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
margins = st.floats(-1e4, 1e4)
reals = st.floats(allow_nan=True, allow_infinity=True)
KINKS = {"perceptron": 0.0, "hinge": 1.0, "squared-hinge": 1.0}


@every_loss
@given(m=margins, u=st.floats(-2, 2))
def test_fenchel_young(loss, m, u):
    assert loss.value(m) + loss.conjugate(u) >= m * u - 1e-11 * (1 + m * m)


@every_loss
@given(m=margins)
def test_fenchel_young_is_an_equality_at_the_slope(loss, m):
    u = loss.slope(m)
    assert_allclose(loss.value(m) + loss.conjugate(u), m * u, rtol=1e-12, atol=1e-9)


@every_loss
@given(a=margins, b=margins, t=st.floats(0, 1))
def test_convex(loss, a, b, t):
    chord = t * loss.value(a) + (1 - t) * loss.value(b)
    assert loss.value(t * a + (1 - t) * b) <= chord + 1e-9 * (1 + chord)


@every_loss
def test_slope_is_the_derivative(loss):
    m, h = np.linspace(-8, 8, 321) + 0.0123, 1e-6
    assert np.abs(m - KINKS.get(loss.name, np.inf)).min() > h
    assert_allclose(loss.slope(m), (loss.value(m + h) - loss.value(m - h)) / (2 * h), atol=1e-8)


@every_loss
def test_conjugate_is_the_supremum(loss):
    m = np.linspace(-40, 40, 80_001)
    gain = np.linspace(-1, 0, 21)[:, None] * m - loss.value(m)
    assert_allclose(loss.conjugate(np.linspace(-1, 0, 21)), gain.max(axis=1), atol=1e-6)


@every_loss
@pytest.mark.parametrize("u", [-3.0, -1.001, 0.001, 2.0])
def test_conjugate_outside_its_domain_is_an_unbounded_supremum(loss, u):
    m = np.array([-1e8, -1e4, -4.0, -3, -2, -1, 0, 1, 2, 3, 4, 1e4, 1e8])
    supremum = (u * m - loss.value(m)).max()
    if loss.conjugate(u) == np.inf:
        assert supremum > 1e4
    else:
        assert supremum <= loss.conjugate(u) + 1e-9


@every_loss
@pytest.mark.parametrize("part", ["value", "slope", "conjugate"])
@given(x=st.lists(reals, max_size=9))
@example(x=[0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, np.nextafter(1, 0), np.nextafter(-1, -2)])
@example(x=[np.inf, -np.inf, np.nan, 1e308, -1e308, 1e4, -1e4, 709.0, -746.0])
def test_native_and_reference_agree(loss, part, x):
    x = np.array(x)
    native = getattr(_native, f"loss_{part}")(loss.name, x)
    assert_allclose(native, getattr(loss, part)(x), rtol=4e-15, atol=0)


def test_native_keeps_the_shape_and_refuses_unknown_names():
    m = np.arange(12.0).reshape(3, 4).T
    assert_array_equal(_native.loss_value("hinge", m), Hinge().value(m))
    with pytest.raises(ValueError, match="'hinje'"):
        _native.loss_value("hinje", m)


@pytest.mark.parametrize("part", ["value", "slope", "conjugate"])
def test_native_refuses_what_it_would_have_to_copy_or_overrun(part):
    core, m = getattr(_core, f"loss_{part}"), np.zeros(4)
    for out in (np.full(8, 7.0)[::2], np.full(4, 7.0, np.float32)):
        with pytest.raises(TypeError, match="incompatible"):
            core("hinge", m, out)
        assert (out == 7).all()
    with pytest.raises(ValueError, match="as long as its argument"):
        core("hinge", m, np.zeros(3))
    with pytest.raises(TypeError, match="must hold real numbers; got an array of complex128"):
        getattr(_native, f"loss_{part}")("hinge", m * 1j)


def test_perceptron_counts_an_undecided_sample_as_an_error():
    assert Perceptron().value(0.0) == 0
    assert Perceptron().slope(0.0) == -1


@pytest.mark.parametrize("m", [-1e300, -1e4, -745.2, -40.0, -1e-9, 0.0, 0.3, 36.8, 700.0, 740.0, 1e4, 1e300])
def test_log_in_high_precision(m):
    with mpmath.workdps(50):
        e = mpmath.exp(-abs(mpmath.mpf(m)))
        value = max(-m, 0) + mpmath.log1p(e)
        slope = -(e if m > 0 else 1) / (1 + e)
        assert_allclose(Log().value(m), float(value), rtol=1e-14, atol=1e-320)
        assert_allclose(Log().slope(m), float(slope), rtol=1e-14, atol=1e-320)


@pytest.mark.parametrize("p", [1e-300, 1e-17, 1e-3, 0.5, 1 - 1e-9])
def test_log_conjugate_in_high_precision(p):
    with mpmath.workdps(50):
        exact = mpmath.mpf(p) * mpmath.log(p) + (1 - mpmath.mpf(p)) * mpmath.log1p(-mpmath.mpf(p))
        assert_allclose(Log().conjugate(-p), float(exact), rtol=1e-13)


def test_our_C_is_twice_scikit_learns_for_the_squared_hinge():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.repeat([-1.0, 1.0], 20)
    svc = LinearSVC(C=0.3, loss="squared_hinge", dual=False, fit_intercept=False, tol=1e-10).fit(X, y)
    w = svc.coef_[0]
    gradient = w + 2 * 0.3 * X.T @ (y * SquaredHinge().slope(y * (X @ w)))
    assert_allclose(gradient, 0, atol=1e-7)


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("squared-hinge", "squared-hinge"),
        ("squared_hinge", "squared-hinge"),
        ("log_loss", "log"),
        ("log", "log"),
    ],
)
def test_names(given_name, name):
    assert loss_from_name(given_name) is LOSSES[name]
    assert loss_from_name(LOSSES[name]) is LOSSES[name]


@pytest.mark.parametrize("wrong", ["hinje", None, 3, ["hinge"], Hinge])
def test_an_unknown_loss_is_named_in_the_error(wrong):
    with pytest.raises(
        ValueError, match=r"loss must be a Loss or one of \['hinge', 'log', .*; got "
    ) as error:
        loss_from_name(wrong)
    assert repr(wrong) in str(error.value)
