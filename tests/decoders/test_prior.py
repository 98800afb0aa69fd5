"""The convex decoder with a prior: a quadratic program as a referee, projections, symmetries."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from support.decoder_outputs import FOCUSES, noisy_outputs
from support.interrupts import interrupt_inside
from support.quadratic_program import solve_qp
from support.reference_decoders import prior_decoder_qp

from maxmargin import LinearSVC, load, save
from maxmargin.codes import Code, one_vs_one
from maxmargin.decoders import prior_program
from maxmargin.decoders.learned_weights import sample_focus
from maxmargin.decoders.prior import PriorDecoder
from maxmargin.decoders.prior_program import capped_simplex
from maxmargin.decoders.weighted import WeightedDecoder
from maxmargin.io.models.tree import encode_model


def fitted(F, y, code, weight=None, **parameters):
    return PriorDecoder(**{"nu": 0.1, "tol": 1e-9} | parameters).fit(F, y, code, weight)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    G=st.integers(3, 5),
    n=st.integers(3, 25),
    nu=st.sampled_from([1e-3, 0.1, 10.0]),
    focus=st.sampled_from([None, "support-vectors"]),
)
def test_the_quadratic_program(seed, G, n, nu, focus):
    code = Code.sparse_random(G, 2 * G, random_state=seed) if G > 3 else one_vs_one(3)
    F, y = noisy_outputs(code, n, seed)
    weight = np.random.default_rng(seed).integers(1, 4, size=n).astype(float)
    decoder = fitted(F, y, code, weight, nu=nu, focus=focus)
    omega = sample_focus(F, y, code, 0.0) if focus else np.ones(n)
    cost = weight * (omega if omega.any() else 1.0)
    scale = weight / weight.sum() @ np.abs(F)
    support = code.matrix != 0
    V0 = code.matrix / support.sum(axis=1, keepdims=True)
    expected, V = prior_decoder_qp(F / scale, y, cost / cost.sum(), V0, support, nu)
    report = decoder.report
    assert report.status == "converged"
    assert report.loss_after == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert report.bound == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert 0.0 <= report.gap <= 1e-8
    assert report.loss_after <= report.loss_before
    assert decoder.weights * scale == pytest.approx(V, abs=3e-4)
    assert (decoder.weights[~support] == 0.0).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), G=st.integers(2, 6), size=st.sampled_from([0.1, 1.0, 30.0]))
def test_projection(seed, G, size):
    a = size * np.random.default_rng(seed).normal(size=G)
    expected = solve_qp(np.eye(G), -a, lower=np.zeros(G), G=np.ones((1, G)), h=np.ones(1))
    expected = np.maximum(expected, 0.0) / max(
        1.0, np.maximum(expected, 0.0).sum()
    )  # feasible to the last bit
    t = capped_simplex(np.append(a, -np.inf)[None])[0]
    assert t[-1] == 0.0
    assert (t >= 0.0).all()
    assert t.sum() <= 1.0 + 1e-12
    assert ((t[:-1] - a) ** 2).sum() <= ((expected - a) ** 2).sum() + 1e-10


@FOCUSES
def test_permuted_classes_and_rows_repetitions(focus):
    code = Code.sparse_random(6)
    F, y = noisy_outputs(code, 80, 1)
    weight = np.random.default_rng(1).integers(0, 4, size=80)
    decoder = PriorDecoder(focus=focus).fit(F, y, code, weight)
    repeated = np.random.default_rng(2).permutation(np.repeat(np.arange(80), weight))
    again = PriorDecoder(focus=focus).fit(F[repeated], y[repeated], code)
    assert_array_equal(decoder.weights, again.weights)
    p = np.random.default_rng(3).permutation(6)  # class g is now called p[g]
    renamed = Code(code.matrix[np.argsort(p)])
    other = PriorDecoder(focus=focus).fit(F, p[y], renamed, weight)
    assert_array_equal(other.weights[p], decoder.weights)
    assert_array_equal(other.scores(F, renamed).argmax(axis=1), p[decoder.scores(F, code).argmax(axis=1)])
    assert pickle.loads(pickle.dumps(decoder)) == decoder != replace(decoder, weights=other.weights)


@pytest.mark.parametrize(("n_classes", "n"), [(2, 20), (3, 3), (100, 150)])
def test_few_and_many_classes_some_with_one_row(n_classes, n):
    code = Code.sparse_random(n_classes, 60) if n_classes > 3 else Code.dense_random(n_classes)
    F, y = noisy_outputs(code, n, 0, noise=0.7)
    report = PriorDecoder(nu=0.1 if n_classes > 3 else "auto").fit(F, y, code).report
    assert report.status == "converged"
    assert report.loss_after <= report.loss_before


def test_a_strong_prior_is_decoding_by_margins():
    code = Code.dense_random(5)
    F, y = noisy_outputs(code, 50, 0)
    decoder = fitted(F, y, code, nu=1e9)
    assert decoder.weights * np.abs(F).mean(axis=0) == pytest.approx(code.matrix / code.n_columns, abs=1e-8)


def test_outputs_of_any_size():
    code = one_vs_one(3)
    F, y = noisy_outputs(code, 30, 0)
    plain, large = (fitted(F * size, y, code) for size in (1.0, 1e90))
    assert_array_equal(plain.scores(F, code).argmax(axis=1), large.scores(F * 1e90, code).argmax(axis=1))
    assert np.isfinite(large.scores(np.full((1, 3), 1e308), code)).all()
    F[:, 1] = 0.0
    assert np.isfinite(fitted(F, y, code).weights).all()


def test_outputs_near_the_smallest_number():
    code = one_vs_one(3)
    F, y = noisy_outputs(code, 30, 0)
    tiny = fitted(F * 1e-320, y, code)
    assert np.isfinite(tiny.weights).all()
    for G in (F * 1e-320, F, np.full((1, 3), np.inf)):
        assert np.isfinite(tiny.scores(G, code)).all()


def test_weighted_decoder_with_method_prior_is_a_prior_decoder():
    assert WeightedDecoder(method="prior", nu=0.5) == PriorDecoder(nu=0.5)
    assert WeightedDecoder(method="prior", margin="auto", epsilon=1e-9) == PriorDecoder()
    same = {"focus": "support-vectors", "tol": 0.1, "max_iter": 7}
    assert WeightedDecoder(method="prior", **same) == PriorDecoder(**same)
    with pytest.raises(TypeError, match=r"PriorDecoder, which takes focus, nu, floor, tol, .*; got margin"):
        WeightedDecoder(method="prior", margin=0.1)
    with pytest.raises(TypeError, match="got weights"):
        WeightedDecoder(method="prior", weights=np.eye(3))
    lp = replace(WeightedDecoder(), method="prior")
    with pytest.raises(ValueError, match="construct WeightedDecoder\\(method='prior'\\) or a PriorDecoder"):
        lp.fit(np.eye(3), np.arange(3), one_vs_one(3))
    with pytest.raises(TypeError, match="positional"):
        WeightedDecoder("support-vectors")


def test_the_loss_of_a_focus_is_a_mean():
    """The problem of the docstring by hand: rows given as often as they weigh, omega from its definition."""
    code = one_vs_one(3)
    F, y = noisy_outputs(code, 20, 3)
    F = F / np.abs(F).mean(axis=0)
    omega = np.array(
        [
            sum(1.0 - abs(f) for c, f in zip(code.matrix[label], row) if -1.0 < c * f < 0.0) / 2.0
            for row, label in zip(F, y)
        ]
    )
    assert 0.0 < omega.mean() < 0.5  # a nu times the mean would be another one
    support = code.matrix != 0
    decoder = fitted(F, y, code, nu=0.3, focus="support-vectors")
    V, V0 = decoder.weights, code.matrix / 2.0
    losses = [
        max(0.0, *(1.0 - (V[k] - V[p]) @ f for p in range(3) if p != k)) for f, k in zip(F, y, strict=True)
    ]
    stated = 0.15 * ((V - V0) ** 2).sum() + omega @ losses / omega.sum()
    expected, _ = prior_decoder_qp(F, y, omega / omega.sum(), V0, support, 0.3)
    assert decoder.report.loss_after == pytest.approx(stated, rel=1e-7)
    assert stated == pytest.approx(expected, rel=1e-6)


def test_limits_keep_the_best_weights():
    code = Code.sparse_random(6)
    F, y = noisy_outputs(code, 300, 0, noise=1.5)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        report = fitted(F, y, code, max_iter=2).report
    assert report.loss_after <= report.loss_before


@pytest.mark.parametrize(
    "parameters",
    [
        {"focus": "x"},
        {"nu": 0.0},
        {"nu": "x"},
        {"floor": -1.0},
        {"tol": 0.0},
        {"max_iter": 0},
        {"max_seconds": 0.0},
    ],
)
def test_refused_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=name):
        PriorDecoder(**parameters).fit(np.eye(3), np.arange(3), one_vs_one(3))


def test_ctrl_c_ends_a_fit(monkeypatch):
    code = Code.dense_random(8, 12)
    F, y = noisy_outputs(code, 400, 0, noise=2.5)
    interrupt_inside(monkeypatch, prior_program.ProximalNewton, "step", call=3)
    with pytest.raises(KeyboardInterrupt):
        fitted(F, y, code, nu=1e-5, tol=1e-12)


@pytest.mark.parametrize(
    ("decoder", "kind"),
    [
        (WeightedDecoder(margin=0.2), "WeightedDecoder"),
        (WeightedDecoder(method="prior", nu=0.1), "PriorDecoder"),
    ],
    ids=["lp", "prior"],
)
def test_model_files_keep_the_kinds_of_learned_decoders(decoder, kind, tmp_path):
    code = one_vs_one(3)
    F, y = noisy_outputs(code, 30, 0)
    model = LinearSVC(code="one-vs-one", decoder=decoder).fit(F, y)
    tree, _ = encode_model(model)
    assert tree["parameters"]["decoder"]["kind"] == tree["fitted"]["decoder_"]["kind"] == kind
    save(model, tmp_path / "model.mm")
    loaded = load(tmp_path / "model.mm")
    assert loaded.decoder == decoder
    assert_array_equal(loaded.decision_function(F), model.decision_function(F))
