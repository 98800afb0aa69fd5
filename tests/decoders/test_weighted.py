"""Decoding weights by linear programming: the whole program as a referee, and what weights must be."""

import os
import pickle
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from support.decoder_outputs import FOCUSES, noisy_outputs
from support.interrupts import interrupt_in_simplex
from support.reference_decoders import decoding_weights_lp

from maxmargin import LinearSVC
from maxmargin.codes import Code, one_vs_one
from maxmargin.decoders import DECODERS, weighted_program
from maxmargin.decoders.learned_weights import sample_focus
from maxmargin.decoders.weighted import WeightedDecoder


def fitted(F, y, code, weight=None, **parameters):
    return WeightedDecoder(**{"margin": 0.2, "tol": 1e-10} | parameters).fit(F, y, code, weight)


def dataset(name):
    path = Path(os.environ.get("MAXMARGIN_DATA", "")) / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"{name}.npz is not in MAXMARGIN_DATA")
    with np.load(path) as file:
        X, y = file["X"].astype(np.float64), np.unique(file["y"], return_inverse=True)[1]
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def glass():
    X, y = dataset("glass")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVC(code="sparse-random", random_state=0).fit(X, y)
    return model._column_outputs(X), y, model.code_


@FOCUSES
def test_the_whole_program_on_glass(focus):
    F, y, code = glass()
    decoder = fitted(F, y, code, focus=focus, margin=0.1)
    omega = np.ones(len(y)) if focus is None else sample_focus(F, y, code, 0.0)
    expected = decoding_weights_lp(np.sign(F), y, omega / omega.sum(), code.matrix, 0.1)
    assert decoder.report.status == "converged"
    assert decoder.report.loss_after == pytest.approx(expected, abs=1e-9)
    assert decoder.report.bound == pytest.approx(expected, abs=1e-9)
    assert decoder.report.n_constraints < decoder.report.n_pairs == 5 * len(y)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    G=st.integers(3, 5),
    n=st.integers(3, 30),
    margin=st.sampled_from([0.05, 0.3, 1.0]),
    focus=st.sampled_from([None, "support-vectors"]),
)
def test_the_whole_program(seed, G, n, margin, focus):
    code = Code.sparse_random(G, random_state=seed)
    F, y = noisy_outputs(code, n, seed)
    weight = np.random.default_rng(seed).integers(1, 4, size=n).astype(float)
    decoder = fitted(F, y, code, weight, focus=focus, margin=margin)
    omega = sample_focus(F, y, code, 0.0) if focus else np.ones(n)
    omega = omega if omega.any() else np.ones(n)
    assert decoder.report.focused == (focus is not None and bool(sample_focus(F, y, code, 0.0).any()))
    cost = weight * omega / (weight * omega).sum()
    expected = decoding_weights_lp(np.sign(F), y, cost, code.matrix, margin)
    assert decoder.report.loss_after == pytest.approx(expected, abs=1e-9)
    assert 0.0 <= decoder.report.gap <= 1e-8 or expected < 1e-9
    check_weights(decoder, code)


def check_weights(decoder, code):
    W = decoder.weights
    assert (W >= 0.0).all()
    assert (W[code.matrix == 0] == 0.0).all()
    assert W.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert decoder.report.loss_after <= decoder.report.loss_before


@FOCUSES
@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_a_margin_is_chosen(focus, n_classes):
    code = Code.dense_random(n_classes)
    F, y = noisy_outputs(code, 60, 0)
    decoder = WeightedDecoder(focus=focus).fit(F, y, code)
    assert decoder.report.chosen in (0.05, 0.1, 0.2, 0.3)
    check_weights(decoder, code)


def test_a_hundred_classes_some_with_one_row():
    code = Code.sparse_random(100, 60)
    F, y = noisy_outputs(code, 150, 0, noise=0.7)
    decoder = fitted(F, y, code, tol=1e-3)
    check_weights(decoder, code)
    assert decoder.report.error_after <= 0.05


@FOCUSES
def test_permuted_classes_and_rows_repetitions(focus):
    code = Code.sparse_random(6)
    F, y = noisy_outputs(code, 80, 1)
    weight = np.random.default_rng(1).integers(0, 4, size=80)
    decoder = fitted(F, y, code, weight, focus=focus)
    repeated = np.random.default_rng(2).permutation(np.repeat(np.arange(80), weight))
    again = fitted(F[repeated], y[repeated], code, focus=focus)
    assert_array_equal(decoder.weights, again.weights)
    p = np.random.default_rng(3).permutation(6)  # class g is now called p[g]
    renamed = Code(code.matrix[np.argsort(p)])
    other = fitted(F, p[y], renamed, weight, focus=focus)
    assert_array_equal(other.weights[p], decoder.weights)
    assert_array_equal(other.scores(F, renamed)[:, p], decoder.scores(F, code))
    assert pickle.loads(pickle.dumps(decoder)) == decoder != replace(decoder, weights=other.weights)


def test_ties_go_to_the_larger_sum_of_margins():
    code = one_vs_one(3)
    decoder = replace(WeightedDecoder(), weights=np.abs(code.matrix) / 2)
    cycle = np.array([[1.0, -1.0, 3.0], [4.0, -1.0, 1.0], [1.0, -3.0, 1.0]])  # one vote for each class
    assert_array_equal(decoder.scores(cycle, code).argmax(axis=1), [2, 1, 0])


def test_focus_counts_samples_within_one_of_the_wrong_side():
    code = Code(np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]]))
    F = np.array([[-0.25, 0.5, -9.0], [-1.0, -0.5, 0.0], [2.0, 1.0, 0.0], [1e308, -1e308, 0.0]])
    assert_array_equal(sample_focus(F, np.zeros(4, dtype=int), code, 0.0), [0.375, 0.25, 0.0, 0.0])
    assert_array_equal(sample_focus(F, np.zeros(4, dtype=int), code, 0.3), [0.375, 0.3, 0.3, 0.3])


def test_without_wrong_support_vectors_all_rows_count():
    code = one_vs_one(4)
    F, y = 2.0 * code.matrix, np.arange(4)
    focused, plain = (fitted(F, y, code, focus=focus) for focus in ("support-vectors", None))
    assert not focused.report.focused
    assert_array_equal(focused.weights, plain.weights)
    assert focused.report.loss_after <= 1e-12


def test_limits_keep_the_best_weights():
    code = Code.sparse_random(6)
    F, y = noisy_outputs(code, 300, 0, noise=1.5)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        decoder = fitted(F, y, code, max_iter=1)
    check_weights(decoder, code)
    assert decoder.report.status == "max_iter"
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        check_weights(fitted(F, y, code, max_seconds=1e-6), code)


def test_where_highs_fails_the_start_is_kept(monkeypatch):
    monkeypatch.setattr(weighted_program, "outcome_of", lambda highs: "failed")
    code = Code.sparse_random(5)
    with pytest.warns(ConvergenceWarning, match="stalled"):
        decoder = fitted(*noisy_outputs(code, 50, 0), code)
    assert decoder.report.loss_after == decoder.report.loss_before


@pytest.mark.parametrize(
    "parameters",
    [
        {"focus": "outliers"},
        {"method": "qp"},
        {"margin": 0.0},
        {"margin": "wide"},
        {"floor": -1.0},
        {"epsilon": 0.0},
        {"tol": 0.0},
        {"max_iter": 0},
        {"max_seconds": 0.0},
    ],
)
def test_refused_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=name):
        WeightedDecoder(**parameters).fit(np.eye(3), np.arange(3), one_vs_one(3))


def test_refused_data():
    decoder, code = DECODERS["weighted"], one_vs_one(3)
    with pytest.raises(ValueError, match="not fitted"):
        decoder.scores(np.eye(3), code)
    with pytest.raises(ValueError, match="from 0 to 2"):
        decoder.fit(np.eye(3), np.array([0, 1, 3]), code)
    with pytest.raises(ValueError, match="NaN"):
        decoder.fit(np.full((3, 3), np.nan), np.arange(3), code)


def test_ctrl_c_reaches_into_a_program(monkeypatch):
    code = Code.dense_random(12, 20)
    F, y = noisy_outputs(code, 600, 0, noise=2.5)
    sent = interrupt_in_simplex(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        fitted(F, y, code)
    assert sent
