"""One round of the Newton method along two lines, native against NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from maxmargin import _native
from maxmargin.methods.linear.newton import middle_of_interval


def a_round(seed, n, sharpness, hinge):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    problem = SimpleNamespace(y=y, cost=rng.uniform(0.1, 5.0, size=n))
    state = SimpleNamespace(scores=3 * rng.normal(size=n), anchor=rng.random(n), sharpness=sharpness)
    return SimpleNamespace(problem=problem, state=state, hinge=hinge, shortfall=1.0 - y * state.scores)


def shares(it, shortfall):
    if it.hinge:
        return np.clip(it.state.anchor + it.state.sharpness * shortfall, 0.0, 1.0)
    return np.maximum(shortfall, 0.0)


def imbalance(it, b):
    return (it.problem.cost * shares(it, 1.0 - it.problem.y * (it.state.scores + b))) @ it.problem.y


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    sharpness=st.sampled_from([0.5, 5.0, 1e4]),
    hinge=st.booleans(),
    start=st.floats(-100, 100),
)
def test_the_best_intercept_balances_the_shares(seed, n, sharpness, hinge, start):
    it = a_round(seed, n, sharpness, hinge)
    b = _native.best_intercept(it, start)
    total = it.problem.cost.sum() * (1.0 if hinge else np.abs(it.shortfall).max() + abs(b) + 1.0)
    steepest = it.problem.cost.sum() * (sharpness if hinge else 1.0)
    rounding = 1e-13 * total + 1e-15 * steepest * (abs(b) + np.abs(it.state.scores).max() + 1.0)
    assert abs(imbalance(it, b)) <= 4 * rounding
    # beyond it on either side the sign of what is left is known
    assert imbalance(it, b - 1.0) >= -rounding
    assert imbalance(it, b + 1.0) <= rounding


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    sharpness=st.sampled_from([0.5, 5.0, 1e4]),
    hinge=st.booleans(),
    free=st.booleans(),
)
def test_a_step_ends_near_the_minimum_along_it(seed, n, sharpness, hinge, free):
    it = a_round(seed, n, sharpness, hinge)
    it.problem.intercept = "free" if free else "none"
    it.state.b = np.array([0.3])
    along, quadratic = np.random.default_rng(seed + 1).normal(size=n), 2.0

    def slope(t, linear):
        scores = it.state.scores + 0.3 + t * along
        if free:
            moved = SimpleNamespace(**vars(it))
            moved.state = SimpleNamespace(**{**vars(it.state), "scores": scores})
            scores = scores + _native.best_intercept(moved, 0.0)
        y = it.problem.y
        return linear + t * quadratic - (it.problem.cost * shares(it, 1.0 - y * scores)) @ (y * along)

    linear = min(0.0, -slope(0.0, 0.0)) - 1.0  # so that the step goes down
    t = _native.step_length(it, along, linear, quadratic)
    best = brentq(slope, 0.0, 1e6, args=(linear,), xtol=1e-14, rtol=1e-14)
    assert t > 0.0
    fallen = abs(slope(t, linear)) <= 0.1 * abs(slope(0.0, linear)) * (1 + 1e-6)
    assert fallen or t == pytest.approx(best, rel=1e-6)


def test_the_middle_of_an_interval():
    assert middle_of_interval(lambda x: 2.0 <= x <= 5.0, -100.0, 100.0, 4.9) == pytest.approx(3.5)
    assert middle_of_interval(lambda x: False, -1.0, 1.0, 0.25) == 0.25
