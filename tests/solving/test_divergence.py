"""The judgement of a fit by its outputs on its own rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.losses import loss_from_name
from maxmargin.solving import OwnRows, best_point
from maxmargin.solving.divergence import MAX_ROWS_JUDGED


def rows(y, name="hinge", weight=None, **more):
    y = np.asarray(y, dtype=float).reshape(len(y), -1)
    return OwnRows.of(y, np.ones(len(y)) if weight is None else weight, loss_from_name(name), **more)


@given(outputs=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8), name=st.sampled_from(["hinge", "log"]))
def test_excess_is_the_difference_to_zero_coefficients(outputs, name):
    f, y = np.array(outputs)[:, None], np.resize([1.0, -1.0], len(outputs))
    loss, weight = loss_from_name(name), np.arange(1.0, len(outputs) + 1)
    naive = np.average(loss.value(y * f[:, 0]) - loss.value(np.zeros(len(y))), weights=weight)
    assert rows(y, name, weight).excess(f, 0.25) == pytest.approx(naive + 0.25, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
def test_outputs_that_are_not_finite_have_infinite_excess(bad):
    for stream in (False, True):
        own = rows([1, -1], part_of_stream=stream)
        assert own.excess(np.array([[0.5], [bad]], dtype=np.float32)) == np.inf


def test_perceptron_loss_and_batches_have_no_objective_to_compare():
    f = np.array([[-9.0], [9.0]])
    assert rows([1, -1], "perceptron").excess(f) == 0.0
    assert rows([1, -1], part_of_stream=True).excess(f) == 0.0
    assert rows([1, -1]).excess(f) == 9.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_that_differ_from_zero_by_rounding_are_not_worse(dtype):
    own, eps = rows([1, -1, 1]), np.finfo(dtype).eps
    assert own.excess(np.full((3, 1), -50.0 * eps, dtype)) == 0.0
    assert own.excess(np.full((3, 1), -5e4 * eps, dtype)) > 0.0


def test_sample_of_the_rows_must_be_worse_beyond_chance():
    rng = np.random.default_rng(0)
    n = 3 * MAX_ROWS_JUDGED
    own = rows(np.ones(n))
    assert len(own.index) == MAX_ROWS_JUDGED
    losses = rng.exponential(size=(MAX_ROWS_JUDGED, 1))
    losses *= 1.001 / losses.mean()  # hardly above the loss of zeros
    assert own.excess(1.0 - losses) < 0.0 < own.excess(1.0 - 1.1 * losses)


def test_best_point_is_the_last_unless_it_diverged():
    assert best_point([3, 2, 1], lambda p: -p) == (1, False)
    assert best_point([5, 2, 4], lambda p: p) == (2, True)
    assert best_point([5, 2, 4], lambda p: np.inf if p < 5 else 7.0) == (5, True)
    assert best_point([5, 2, 4], lambda p: p, lambda p: -p) == (5, True)  # the fewest errors first
    assert best_point([-1, 2, 4], lambda p: p, lambda p: p == 2) == (-1, True)  # then the least excess
    assert best_point([9, 5, 2], lambda p: np.inf if p == 9 else p, lambda p: -p) == (5, True)
    with pytest.raises(ValueError, match="not finite"):
        best_point([1, 2], lambda p: np.inf)
