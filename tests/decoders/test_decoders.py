"""Decoders: slow definitions, ties that never go by label order, errors that a code corrects."""

import pickle
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from support.code_strategies import usable_codes

from maxmargin.codes import CODES, Code, code_from_name, one_vs_one, one_vs_rest
from maxmargin.decoders import (
    DECODERS,
    Decoder,
    Hamming,
    LossBased,
    Margins,
    Votes,
    decision_values,
    decoder_from_name,
    predicted_classes,
)
from maxmargin.decoders.coupling import has_all_pairs
from maxmargin.losses import LOSSES, Log

FIXED = {name: decoder for name, decoder in DECODERS.items() if decoder.learns_from == "nothing"}
LEARNED = {name: decoder for name, decoder in DECODERS.items() if name not in FIXED}
every_decoder = pytest.mark.parametrize("decoder", DECODERS.values(), ids=DECODERS.keys())
fixed_decoder = pytest.mark.parametrize("decoder", FIXED.values(), ids=FIXED.keys())
learned_decoder = pytest.mark.parametrize("decoder", LEARNED.values(), ids=LEARNED.keys())
CODES_OF_FIVE = {name: code_from_name(name, 5) for name in CODES}
finite = st.floats(allow_nan=False, allow_infinity=False)
extreme = st.one_of(finite, st.sampled_from([0.0, 1.0, -1.0, 1e-300, -1e-300, 1e300, -1e300, 1e308, 5e-324]))


def outputs(code, elements=extreme, n=1):
    return arrays(np.float64, (n, code.n_columns), elements=elements)


def exact_sums(f, code):
    return [sum(int(c) * Fraction(v) for c, v in zip(row, f)) for row in code.matrix]


def exact_votes(f, code):
    half_votes = [[1 + int(c) * int(np.sign(v)) for c, v in zip(row, f) if c] for row in code.matrix]
    return [Fraction(sum(v), 2) for v in half_votes]


def random_code(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    while True:
        try:
            code = Code(rng.choice([-1, 0, 1], p=[0.4, 0.2, 0.4], size=(n_classes, 3 * n_classes)))
        except (ValueError, UserWarning):
            continue
        return code


def noisy_outputs(code, n_of_class=10, noise=0.8, seed=0):
    """Outputs that are mostly right, with anything at the zeros of a row, and their labels."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(code.n_classes), n_of_class)
    return code.targets(y) + noise * rng.normal(size=(len(y), code.n_columns)), y


def with_codes(decoders, codes):
    """Every decoder with every code that it is made for: coupling needs one column for each pair."""
    return pytest.mark.parametrize(
        ("decoder", "code"),
        [
            pytest.param(decoder, code, id=f"{name}-{decoder.name}")
            for name, code in codes.items()
            for decoder in decoders.values()
            if decoder.name != "coupling" or has_all_pairs(code)
        ],
    )


def fitted(decoder, code, F=None, y=None):
    """What a decoder learns from outputs."""
    if F is None:
        F, y = noisy_outputs(code)
    return decoder.fit(F, y, code)


@lru_cache
def fitted_to_two(name, family):
    return fitted(DECODERS[name], family(2))


def doubled_sums(F, code):
    """``F @ matrix.T`` in doubled precision, column by column: the sums, and what rounding has left out."""
    exponent = np.frexp(np.abs(F).max(axis=1, initial=0.0))[1]
    scaled = np.ldexp(F, -np.maximum(exponent - 1000, 0)[:, None])
    high, low = np.zeros((2, len(F), code.n_classes))
    for f, column in zip(scaled.T, code.matrix.T):
        for g in np.flatnonzero(column):
            term = column[g] * f
            total = high[:, g] + term
            carried = total - high[:, g]
            low[:, g] += (high[:, g] - (total - carried)) + (term - carried)
            high[:, g] = total
    return high + low, low - (high + low - high)


def raised(scores, *keys):
    """The scores of one row, raised until they are ordered by the keys, equal only where all keys are."""
    scores, order = scores.copy(), np.lexsort(keys[::-1])
    for before, k in pairwise(order):
        larger = any(key[before] != key[k] for key in keys)
        scores[k] = max(scores[k], np.nextafter(scores[before], np.inf) if larger else scores[before])
    return scores


def slow_scores(decoder, F, code):
    high, low = doubled_sums(F, code)
    votes = np.sign(F) @ code.matrix.T.astype(float)
    constant = np.abs(code.matrix).sum(axis=1) if isinstance(decoder, Votes) else -code.n_columns
    first = (constant + votes) / 2
    scores = first + high / (5 * (1 + np.abs(high)))
    return np.array([raised(*row) for row in zip(scores, first, high, low)])


@pytest.mark.parametrize("decoder", [Votes(), Hamming()], ids=lambda d: d.name)
@given(code=usable_codes(), data=st.data())
def test_scores_are_the_slow_ones_bit_for_bit(decoder, code, data):
    ties = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 1e-17, 1e17])
    F = data.draw(outputs(code, st.one_of(extreme, ties), n=data.draw(st.sampled_from([0, 1, 3, 33]))))
    assert_array_equal(decoder.scores(F, code), slow_scores(decoder, F, code).reshape(-1, code.n_classes))


@pytest.mark.parametrize("values", ["any", "ties"])
def test_many_columns_are_decoded_as_slowly_defined(values):
    code, rng = one_vs_one(26), np.random.default_rng(0)
    F = rng.normal(size=(100, code.n_columns))
    if values == "ties":
        F = np.round(F)
    assert_array_equal(Votes().scores(F, code), slow_scores(Votes(), F, code))
    assert_array_equal(Margins().scores(F, code), doubled_sums(F, code)[0])


def test_margins_of_one_vs_rest_are_the_outputs():
    F = np.random.default_rng(0).normal(size=(5, 4))
    assert_array_equal(Margins().scores(F, one_vs_rest(4)), F)


@given(code=usable_codes(), data=st.data())
def test_margins_of_any_other_code_are_sums(code, data):
    assume(code.n_columns != code.n_classes)
    F = data.draw(outputs(code, st.floats(-1e6, 1e6), n=3))
    assert_allclose(Margins().scores(F, code), F @ code.matrix.T, rtol=1e-12, atol=1e-8)


@given(n_classes=st.integers(3, 6), data=st.data())
def test_votes_then_sums_of_margins(n_classes, data):
    code = one_vs_one(n_classes)
    F = data.draw(outputs(code))
    scores = Votes().scores(F, code)[0]
    votes, sums = exact_votes(F[0], code), exact_sums(F[0], code)
    assert all(abs(s - float(v)) < 0.25 for s, v in zip(scores, votes))
    winner = int(np.argmax(scores))
    assert votes[winner] == max(votes)
    rounding = Fraction(2) ** -98 * sum(abs(Fraction(v)) for v in F[0])
    assert sums[winner] >= max(s for s, v in zip(sums, votes) if v == max(votes)) - rounding


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-17, 1.0, 1e17, 1e300, 4e307])
@pytest.mark.parametrize("favourite", [0, 1, 2])
@pytest.mark.parametrize("decoder", [Votes(), Hamming()])
def test_a_cycle_of_votes_goes_to_the_larger_sum_at_any_scale(decoder, favourite, scale):
    # 0 beats 2, 1 beats 0, 2 beats 1: one vote each; the favourite wins by 2 what it loses by 1.
    wins = scale * np.where(np.arange(3) == favourite, 2, 1)
    scores = decoder.scores(np.array([[wins[1], -wins[0], wins[2]]]), one_vs_one(3))[0]
    assert np.argmax(scores) == favourite
    assert (scores == scores.max()).sum() == 1


@pytest.mark.parametrize("favourite", [0, 1, 2])
@pytest.mark.parametrize("decoder", [Votes(), Hamming()])
def test_sums_beyond_the_resolution_of_a_bounded_function_are_told_apart(decoder, favourite):
    # The same cycle by 1e5 or 2e5, and all three beat class 3 by 1e20.
    wins = 1e5 * np.where(np.arange(3) == favourite, 2, 1)
    F = np.array([[wins[1], -wins[0], -1e20, wins[2], -1e20, -1e20]])
    scores = decoder.scores(F, one_vs_one(4))[0]
    assert np.argmax(scores) == favourite
    assert (scores == scores.max()).sum() == 1


@fixed_decoder
@given(code=usable_codes(), data=st.data())
def test_order_and_sign_of_the_columns_do_not_matter(decoder, code, data):
    F = data.draw(outputs(code, st.floats(-1e6, 1e6, width=32), n=2))
    order = data.draw(st.permutations(range(code.n_columns)))
    signs = np.where(data.draw(arrays(bool, code.n_columns)), 1, -1)
    if isinstance(decoder, Margins) and code.n_columns == code.n_classes:
        return
    other = object.__new__(Code)
    other.__setstate__({"matrix": (code.matrix * signs)[:, order], "name": "turned"})
    scores, turned = decoder.scores(F, code), decoder.scores((F * signs)[:, order], other)
    if isinstance(decoder, LossBased):
        assert_allclose(turned, scores, rtol=1e-12, atol=1e-9)
    else:
        assert_array_equal(turned, scores)


@with_codes(DECODERS, {"rest": one_vs_rest(5), "one": one_vs_one(5), "random": random_code(5)})
def test_a_row_is_decoded_alone_as_among_others(decoder, code):
    F, decoder = np.random.default_rng(1).normal(size=(33, code.n_columns)), fitted(decoder, code)
    scores = decoder.scores(F, code)
    assert scores.shape == (33, 5)
    for i in range(33):
        assert_array_equal(decoder.scores(F[i : i + 1], code)[0], scores[i])


@given(n_classes=st.integers(2, 6), data=st.data())
def test_votes_equal_hamming_decoding_for_one_vs_one(n_classes, data):
    code = one_vs_one(n_classes)
    F = data.draw(outputs(code, n=3))
    votes, hamming = Votes().scores(F, code), Hamming().scores(F, code)
    assert_array_equal(votes.argmax(axis=1), hamming.argmax(axis=1))
    assert_allclose(votes - hamming, (n_classes - 1 + code.n_columns) / 2, rtol=1e-12)


@given(code=usable_codes(max_columns=12), data=st.data())
def test_hamming_corrects_fewer_than_half_the_row_margin(code, data):
    y = data.draw(st.integers(0, code.n_classes - 1))
    r = code.row_margins()[y]
    assume(r > 0)
    f = np.abs(data.draw(arrays(np.float64, code.n_columns, elements=st.floats(0.1, 1e3))))
    row = code.matrix[y]
    free_signs = np.where(data.draw(arrays(bool, code.n_columns)), 1, -1)
    f = f * np.where(row == 0, free_signs, row)
    n_wrong = data.draw(st.integers(0, int(np.ceil(r / 2)) - 1))
    f[data.draw(st.permutations(np.flatnonzero(row).tolist()))[:n_wrong]] *= -1
    assert np.argmax(Hamming().scores(f[None], code)[0]) == y


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
@given(code=usable_codes(), data=st.data())
def test_loss_decoding_is_the_summed_loss(loss, code, data):
    F = data.draw(outputs(code, st.floats(-50, 50), n=2))
    scores = LossBased(loss).scores(F, code)
    slow = [
        [-sum(float(loss.value(c * v)) for c, v in zip(row, f)) for row in code.matrix.astype(float)]
        for f in F
    ]
    assert_allclose(scores, slow, rtol=1e-10, atol=1e-10)


def test_equal_losses_go_to_the_larger_sum_of_margins():
    F = np.array([[1.0, 3.0, -2.0], [3.0, 1.0, -2.0], [-2.0, 3.0, 5.0]])
    scores = LossBased().scores(F, one_vs_rest(3))
    assert_array_equal(scores.argmax(axis=1), [1, 0, 2])


@every_decoder
@pytest.mark.parametrize("family", [one_vs_rest, one_vs_one])
@given(f=st.lists(extreme, min_size=1, max_size=5))
def test_two_classes_follow_the_sign_of_the_one_output(decoder, family, f):
    F, code = np.clip(f, -1e300, 1e300)[:, None], family(2)
    decoder, f = fitted_to_two(decoder.name, family), F[:, 0]
    decision = decision_values(F, code, decoder)
    assert_array_equal(decision, f)
    assert_array_equal(predicted_classes(decision), np.array(f) > 0)
    assert_array_equal(predicted_classes(decision), decoder.scores(F, code).argmax(axis=1))


def test_a_turned_binary_code_still_speaks_for_the_second_class():
    code = Code([[1], [-1]])
    decision = decision_values(np.array([[2.0], [-3.0]]), code, Margins())
    assert_array_equal(
        predicted_classes(decision), Margins().scores(np.array([[2.0], [-3.0]]), code).argmax(axis=1)
    )


def perfect_outputs(code, n_of_class, seed=0):
    """Every sign right; a column says +1 or -1 of classes that it was not trained on."""
    y = np.repeat(np.arange(code.n_classes), n_of_class)
    F = code.targets(y).astype(float)
    return np.where(F == 0.0, np.random.default_rng(seed).choice([-1.0, 1.0], size=F.shape), F), y


@with_codes(DECODERS, CODES_OF_FIVE)
def test_perfect_columns_are_decoded_rightly(decoder, code):
    F, y = perfect_outputs(code, 10)
    decoder = fitted(decoder, code, F, y)
    for seed in range(3):
        F, y = perfect_outputs(code, 10, seed)
        assert_array_equal(predicted_classes(decision_values(F, code, decoder)), y)


@every_decoder
@given(code=usable_codes(), data=st.data())
@settings(max_examples=15)
def test_perfect_columns_of_any_code_with_margins(decoder, code, data):
    assume(code.row_margins().min() > 0)
    assume(decoder.name != "coupling" or has_all_pairs(code) or code.n_classes == 2)
    # A row with more columns can collect more votes, from columns that do not know the class.
    assume(decoder.name != "votes" or len(set(code.n_columns_of_classes.tolist())) == 1)
    F, y = perfect_outputs(code, data.draw(st.integers(5, 10)), data.draw(st.integers(0, 99)))
    decoder = decoder.fit(F, y, code)
    assert_array_equal(predicted_classes(decision_values(F, code, decoder)), y)


@with_codes(DECODERS, {"rest": one_vs_rest(50), "one": one_vs_one(20), "dense": Code.dense_random(50, 30)})
def test_many_classes_and_perfect_columns(decoder, code):
    F, y = perfect_outputs(code, 2)
    decoder = fitted(decoder, code, F, y)
    assert_array_equal(predicted_classes(decision_values(F, code, decoder)), y)


@fixed_decoder
def test_a_fixed_decoder_learns_nothing(decoder):
    assert fitted(decoder, one_vs_one(3)) is decoder


@with_codes(DECODERS, {name: CODES_OF_FIVE[name] for name in ("one-vs-one", "one-vs-rest", "sparse-random")})
def test_renamed_classes_are_renamed_answers(decoder, code):
    order = np.array([3, 0, 4, 1, 2])
    if decoder.name == "margins" and code is CODES_OF_FIVE["one-vs-rest"]:
        order = np.arange(5)  # there an output is a class
    renamed = Code(code.matrix[np.argsort(order)])
    F, y = noisy_outputs(code)
    new, _ = noisy_outputs(code, seed=1)
    answers = fitted(decoder, code, F, y).scores(new, code).argmax(axis=1)
    assert_array_equal(
        fitted(decoder, renamed, F, order[y]).scores(new, renamed).argmax(axis=1), order[answers]
    )


@with_codes(LEARNED, CODES_OF_FIVE)
def test_weights_are_repetitions_to_a_learned_decoder(decoder, code):
    F, y = noisy_outputs(code)
    weight = np.random.default_rng(2).integers(0, 3, len(y))
    rows, new = np.repeat(np.arange(len(y)), weight), noisy_outputs(code, seed=1)[0]
    repeated = fitted(decoder, code, F[rows], y[rows]).scores(new, code)
    weighted = decoder.fit(F, y, code, weight.astype(float)).scores(new, code)
    assert_allclose(weighted, repeated, rtol=1e-4, atol=1e-4)


@learned_decoder
def test_a_learned_decoder_is_data(decoder):
    code = one_vs_one(4)
    model = fitted(decoder, code)
    assert pickle.loads(pickle.dumps(model)) == model
    with pytest.raises(ValueError, match="not fitted"):
        decoder.scores(np.zeros((1, 6)), code)


def test_names():
    assert decoder_from_name("auto", one_vs_rest(3)) == Margins()
    assert decoder_from_name("auto", one_vs_one(3)) == Votes()
    assert decoder_from_name("auto", random_code(4)) == LossBased()
    assert decoder_from_name("log", one_vs_one(3)) == LossBased(Log())
    decoder = LossBased(Log())
    assert decoder_from_name(decoder, one_vs_one(3)) is decoder
    assert all(isinstance(decoder, Decoder) and name == decoder.name for name, decoder in DECODERS.items())


@pytest.mark.parametrize("wrong", ["vote", None, ["votes"], Votes, LossBased])
def test_an_unknown_decoder_is_named_in_the_error(wrong):
    with pytest.raises(
        ValueError, match=r"decoder must be a Decoder or one of \['auto', .*'hamming', .*; got "
    ) as error:
        decoder_from_name(wrong, one_vs_one(3))
    assert repr(wrong) in str(error.value)


@every_decoder
@pytest.mark.parametrize("F", [np.zeros(3), np.zeros((2, 4))])
def test_outputs_of_the_wrong_shape_are_refused(decoder, F):
    decoder = fitted(decoder, one_vs_one(3))
    with pytest.raises(ValueError, match="F must have 3 columns, as the code has; got shape"):
        decoder.scores(F, one_vs_one(3))


@every_decoder
def test_nan_is_refused_and_infinities_have_signs(decoder):
    code = one_vs_one(3)
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    F = code.matrix[y] * 0.5 + rng.normal(size=(30, 3))
    with pytest.raises(ValueError, match="NaN, first in row 4, column 1"):
        decoder.fit(F, y, code).scores(np.where(np.arange(90).reshape(30, 3) == 13, np.nan, F), code)
    fitted = decoder.fit(F, y, code)
    large = np.array([[1, 1, 1], [1, -1, 1], [-1, -1, 1], [-1, 2, -1]]) * np.inf
    scores = fitted.scores(large, code)
    assert not np.isnan(scores).any()
    assert_array_equal(scores, fitted.scores(np.copysign(np.finfo(float).max, large), code))
    if hasattr(fitted, "probabilities"):
        assert_allclose(fitted.probabilities(large, code).sum(axis=1), 1.0)
