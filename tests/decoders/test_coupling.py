"""Coupled pairs are the optimum of their problem, and never contradict the prediction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from maxmargin.calibration.scores import CALIBRATIONS, nearest_agreeing
from maxmargin.codes import Code, one_vs_one, one_vs_rest
from maxmargin.decoders.coupling import MIN_PAIR_PROBABILITY, couple, has_all_pairs
from maxmargin.decoders.probabilities import CoupledPairs

pair_probabilities = st.integers(3, 6).flatmap(
    lambda n_classes: arrays(float, (4, n_classes * (n_classes - 1) // 2), elements=st.floats(0.0, 1.0))
)
rows_and_scores = st.integers(2, 6).flatmap(
    lambda n_classes: st.tuples(
        arrays(float, n_classes, elements=st.floats(0.01, 1.0)),
        arrays(float, n_classes, elements=st.floats(-1.0, 1.0)),
    )
)


def code_of(r):
    return one_vs_one(round((1 + np.sqrt(1 + 8 * r.shape[1])) / 2))


def residuals(p, r, code):
    """r_ji p_i - r_ij p_j of every pair, by the formula."""
    out = []
    for t in range(code.n_columns):
        (positive,), (negative,) = (
            np.flatnonzero(code.matrix[:, t] == 1),
            np.flatnonzero(code.matrix[:, t] == -1),
        )
        out.append((1 - r[t]) * p[positive] - r[t] * p[negative])
    return np.array(out)


@given(r=pair_probabilities)
def test_coupling_meets_its_optimality_conditions(r):
    """Some multiplier b has dF/dp_i = b where p_i > 0 and >= b where p_i = 0: both are the problem's KKT."""
    code = code_of(r)
    P = couple(r, code)
    assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert (P >= 0.0).all()
    clipped = np.clip(r, MIN_PAIR_PROBABILITY, 1 - MIN_PAIR_PROBABILITY)
    for p, pairs in zip(P, clipped):
        slope = np.zeros(code.n_classes)
        for t, residual in enumerate(residuals(p, pairs, code)):
            slope[code.matrix[:, t] == 1] += 2 * residual * (1 - pairs[t])
            slope[code.matrix[:, t] == -1] -= 2 * residual * pairs[t]
        level = p @ slope
        assert (slope >= level - 1e-9).all()
        assert_allclose(p * (slope - level), 0.0, atol=1e-9)


def test_coupling_agrees_with_an_independent_minimiser():
    rng = np.random.default_rng(0)
    r = rng.uniform(0.02, 0.98, size=(5, 6))
    code = one_vs_one(4)
    for p, pairs in zip(couple(r, code), r):
        oracle = minimize(
            lambda q, pairs=pairs: (residuals(q, pairs, code) ** 2).sum(),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda q: q.sum() - 1},
            options={"ftol": 1e-15},
        )
        assert_allclose(p, oracle.x, atol=1e-5)


@given(p=arrays(float, 5, elements=st.floats(1e-3, 1.0)))
def test_pairs_that_agree_give_back_their_probabilities(p):
    p = p / p.sum()
    code = one_vs_one(5)
    positive, negative = (code.matrix == 1).T @ p, (code.matrix == -1).T @ p
    assert_allclose(couple((positive / (positive + negative))[None], code)[0], p, atol=1e-9)


def test_the_order_and_the_signs_of_the_pairs_do_not_matter():
    rng = np.random.default_rng(1)
    r, code = rng.random((20, 10)), one_vs_one(5)
    order, sign = rng.permutation(10), rng.choice([-1, 1], 10)
    other = Code(code.matrix[:, order] * sign)
    turned = np.where(sign > 0, r[:, order], 1 - r[:, order])
    assert_allclose(couple(turned, other), couple(r, code), atol=1e-12)


def test_a_row_does_not_depend_on_the_others(monkeypatch):
    r = np.random.default_rng(2).random((50, 10))
    whole = couple(r, one_vs_one(5))
    monkeypatch.setattr("maxmargin.decoders.coupling.SYSTEM_ENTRIES_PER_BATCH", 60)
    assert_array_equal(couple(r, one_vs_one(5)), whole)


def test_pairwise_codes_are_known_by_their_columns():
    assert has_all_pairs(one_vs_one(4))
    assert has_all_pairs(Code([[1, 1, 0], [-1, 0, 1], [0, -1, -1]]))
    assert not has_all_pairs(one_vs_one(2))  # one column: a curve is enough
    assert not has_all_pairs(one_vs_rest(4))


@given(row=rows_and_scores)
def test_the_nearest_agreeing_probabilities_are_a_projection(row):
    p, scores = row
    p = p / p.sum()
    winner = int(scores.argmax())
    q = nearest_agreeing(p[None].copy(), scores[None])[0]
    assert q.argmax() == winner
    assert q.sum() == pytest.approx(1.0, abs=1e-12)
    if p.argmax() == winner:
        assert_array_equal(q, p)
    # The variational inequality of a projection, at the set's corners: uniform on classes with the winner.
    order = np.argsort(-p)
    for size in range(1, len(p) + 1):
        for chosen in (order[:size], order[-size:]):
            corner = np.zeros(len(p))
            corner[np.union1d(chosen, [winner])] = 1
            assert (q - p) @ (corner / corner.sum() - q) >= -1e-9


@pytest.mark.parametrize("method", CALIBRATIONS)
def test_coupled_pairs_agree_with_any_scores(method):
    rng = np.random.default_rng(0)
    code, y = one_vs_one(4), rng.integers(0, 4, 300)
    F = rng.normal(size=(300, 6)) + code.matrix[y]
    scores = rng.integers(0, 3, size=(300, 4)).astype(float)  # with ties, and nothing to do with F
    P = CoupledPairs(method).fit(F, y, code).predict_proba(F, scores)
    assert_array_equal(P.argmax(axis=1), scores.argmax(axis=1))
    assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    assert (P >= 0).all()


def test_weights_are_repetitions():
    rng = np.random.default_rng(3)
    code, y, w = one_vs_one(3), rng.integers(0, 3, 60), rng.integers(0, 3, 60)
    F = rng.normal(size=(60, 3)) + code.matrix[y]
    one = CoupledPairs().fit(F, y, code, w.astype(float))
    two = CoupledPairs().fit(np.repeat(F, w, axis=0), np.repeat(y, w), code)
    assert_allclose(one.predict_proba(F, F), two.predict_proba(F, F), atol=1e-9)


def test_what_cannot_be_coupled_is_refused():
    with pytest.raises(ValueError, match="method must be one of"):
        CoupledPairs("platt")
    with pytest.raises(ValueError, match="a column for each pair of classes"):
        CoupledPairs().fit(np.zeros((3, 3)), np.arange(3), one_vs_rest(3))
    with pytest.raises(ValueError, match="call fit first"):
        CoupledPairs().predict_proba(np.zeros((3, 3)), np.zeros((3, 3)))
