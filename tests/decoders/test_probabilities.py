"""Probabilities from calibrated columns: exact where these are, an optimum, and never a contradiction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.reference_decoders import bradley_terry_likelihood, most_likely_probabilities

from maxmargin.codes import CODES, Code, code_from_name, one_vs_one, one_vs_rest
from maxmargin.decoders import decision_values, predicted_classes
from maxmargin.decoders.bradley_terry import bradley_terry
from maxmargin.decoders.coupling import couple
from maxmargin.decoders.probabilities import Coupling, Probabilistic

every_code = pytest.mark.parametrize("name", CODES)


def exact_columns(P, code):
    """The probability of each column's side with +1 among its classes."""
    above, below = P @ (code.matrix == 1).T.T, P @ (code.matrix == -1).T.T
    return above / (above + below)


@every_code
def test_exact_columns_give_exact_probabilities(name):
    code = code_from_name(name, 5)
    P = np.random.default_rng(0).dirichlet(np.ones(5), size=40)
    assert_allclose(bradley_terry(exact_columns(P, code), code), P, atol=2e-5)


@pytest.mark.parametrize("name", ["one-vs-rest", "one-vs-one", "dense-random", "sparse-random"])
def test_no_other_probabilities_are_more_likely(name):
    """Against a general-purpose optimiser started from many points: the best of them."""
    code, rng = code_from_name(name, 4), np.random.default_rng(1)
    r = rng.uniform(0.02, 0.98, size=(4, code.n_columns))
    P = bradley_terry(r, code)
    assert_allclose(P.sum(axis=1), 1.0)
    for row, p in zip(r, P):
        best = most_likely_probabilities(row, code.matrix, rng)
        assert bradley_terry_likelihood(p, row, code.matrix) >= best - 1e-7


@pytest.mark.parametrize(("name", "n_classes"), [("sparse-random", 12), ("one-vs-one", 8)])
def test_columns_that_contradict_each_other_are_worked_on_to_the_end(name, n_classes):
    """Stationary in every log p, by differences of the likelihood; and each row for itself, bit by bit."""
    code, rng = code_from_name(name, n_classes), np.random.default_rng(0)
    r = np.vstack([rng.random((40, code.n_columns)), rng.choice([1e-6, 1 - 1e-6], size=(20, code.n_columns))])
    P = bradley_terry(r, code)
    for p, row in zip(P, r):
        for y in range(n_classes):
            sides = [p * np.exp(s * np.eye(n_classes)[y]) for s in (1e-4, -1e-4)]
            up, down = (bradley_terry_likelihood(q / q.sum(), row, code.matrix) for q in sides)
            assert abs(up - down) / 2e-4 < 1e-5
    alone = np.vstack([bradley_terry(row[None], code) for row in r[::6]])
    assert_array_equal(alone, P[::6])


def test_pairs_are_ordered_by_their_sums():
    """For one-vs-one the order of the p is that of the sums of a class's pair probabilities."""
    code, rng = one_vs_one(6), np.random.default_rng(2)
    r = rng.uniform(0.05, 0.95, size=(50, code.n_columns))
    sums = np.where(code.matrix[None] == 1, r[:, None], np.where(code.matrix[None] == -1, 1 - r[:, None], 0))
    assert_array_equal(bradley_terry(r, code).argsort(axis=1), sums.sum(axis=2).argsort(axis=1))


def test_columns_that_are_sure_leave_finite_probabilities():
    code = Code.sparse_random(6, random_state=0)
    r = np.random.default_rng(3).choice([0.0, 1.0, 0.5], size=(100, code.n_columns))
    P = bradley_terry(r, code)
    assert np.isfinite(P).all()
    assert (P >= 0).all()
    assert bradley_terry(r[:0], code).shape == (0, 6)


def outputs(code, seed=0, n=300):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, code.n_classes, n)
    return code.targets(y) * rng.gamma(1.0, size=(n, code.n_columns)) + rng.normal(
        size=(n, code.n_columns)
    ), y


@pytest.mark.parametrize("decoder", [Probabilistic(), Coupling()], ids=lambda d: d.name)
def test_what_cannot_be_learned_from(decoder):
    code = one_vs_one(3)
    F, y = outputs(code)
    with pytest.raises(ValueError, match=r"column 2 .* the classes \[1, 2\], and no row of y"):
        decoder.fit(F, y * 0, code)
    for labels in (y + 1, y[1:]):
        with pytest.raises(ValueError, match="y must have a class from 0 to 2"):
            decoder.fit(F, labels, code)
    with pytest.raises(ValueError, match="sample_weight"):
        decoder.fit(F, y, code, np.ones(3))
    fitted = decoder.fit(F, y, code)
    assert hash(fitted) == hash(decoder.fit(F, y, code))
    assert fitted == decoder.fit(F, y, code) != decoder


@pytest.mark.parametrize("decoder", [Probabilistic(), Coupling()], ids=lambda d: d.name)
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_probabilities_never_contradict_predictions(decoder, n_classes):
    code = one_vs_one(n_classes)
    fitted = decoder.fit(*outputs(code), code)
    F = np.vstack([outputs(code, seed=1)[0], np.zeros((1, code.n_columns))])
    P = fitted.probabilities(F, code)
    assert_allclose(P.sum(axis=1), 1.0)
    assert_array_equal(P.argmax(axis=1), predicted_classes(decision_values(F, code, fitted)))
    assert_array_equal(P.argmax(axis=1), fitted.scores(F, code).argmax(axis=1))


def test_a_column_is_calibrated_on_its_own_classes():
    code = one_vs_one(4)
    F, y = outputs(code)
    other = np.where(code.targets(y) == 0, 1e6, F)
    assert Probabilistic().fit(F, y, code) == Probabilistic().fit(other, y, code)


def test_pairs_of_coupling_are_coupled():
    code = one_vs_one(4)
    F, y = outputs(code)
    decoder = Coupling().fit(F, y, code)
    r = np.column_stack([curve.predict(F[:, t]) for t, curve in enumerate(decoder.curves)])
    assert_allclose(decoder.probabilities(F, code), couple(r, code), atol=1e-12)


@pytest.mark.parametrize("code", [one_vs_rest(3), Code.dense_random(5)])
def test_coupling_needs_pairs(code):
    with pytest.raises(ValueError, match="decoder='coupling' needs a column for each pair"):
        Coupling().fit(*outputs(code), code)


@pytest.mark.parametrize("favourite", [0, 1, 2])
@pytest.mark.parametrize("decoder", [Probabilistic(), Coupling()], ids=lambda d: d.name)
def test_equal_probabilities_go_to_the_larger_sum_of_margins(decoder, favourite):
    """All outputs 0 but for sizes the curves do not see: slopes of 0."""
    code = one_vs_one(3)
    y = np.tile(np.arange(3), 20)
    flat = decoder.fit(np.zeros((60, 3)), y, code)
    F = np.zeros((1, 3))
    F[0, code.matrix[favourite] != 0] = 0.5
    F *= np.where(code.matrix[favourite] == 0, 1, code.matrix[favourite])
    assert flat.scores(F, code).argmax() == flat.probabilities(F, code).argmax() == favourite
