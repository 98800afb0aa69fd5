"""Bounds hold in simulation as often as they promise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from support.code_strategies import usable_codes

from maxmargin import (
    LinearSVC,
    bounds,
)
from maxmargin.bounds import MarginSample
from maxmargin.bounds.code_combination import _losses, combined_margin_bound, wrong_outputs_needed
from maxmargin.bounds.column_view import ColumnView
from maxmargin.codes import Code, one_vs_one, one_vs_rest
from maxmargin.decoders import DECODERS, decision_values, predicted_classes
from maxmargin.kernels import Linear
from maxmargin.kernels.data import KernelData

DRAWS = 500


class Atoms:
    """A distribution on finitely many (x, y): every error is a finite sum, and nothing is longer than 1."""

    def __init__(self, n_classes, n_atoms=12):
        angle = np.linspace(0, 2 * np.pi, n_atoms, endpoint=False)
        self.X = np.repeat(np.column_stack([np.cos(angle), np.sin(angle)]), n_classes, axis=0)
        self.y = np.tile(np.arange(n_classes), n_atoms)
        own = np.repeat((angle * n_classes / (2 * np.pi)).astype(int), n_classes) == self.y
        self.p = np.where(own, 0.8, 0.2 / (n_classes - 1)) / n_atoms

    def draw(self, rng, n):
        return rng.multinomial(n, self.p)

    def error(self, predicted):
        return float(self.p @ (predicted != self.y))


def not_too_often(failures, delta):
    """As few failures as a bound with this delta has in all but one of a thousand tests."""
    return failures <= binom.ppf(0.999, DRAWS, delta)


@pytest.fixture(scope="module")
def simulation():
    """500 samples of 30, an SVM without intercept for each, its error, and what every bound says about it."""
    atoms, rng, delta, n, C = Atoms(2), np.random.default_rng(0), 0.2, 30, 0.03
    names = ["hold-out", "pac-bayes", "margin", "scaled", "a-priori", "hinge", "stability", "training"]
    told, errors = {name: np.empty(DRAWS) for name in names}, np.empty(DRAWS)
    y = np.where(atoms.y == 1, 1.0, -1.0)
    for k in range(DRAWS):
        counts = atoms.draw(rng, n)
        w = C * (counts * y) @ atoms.X  # C n < 1: all margins are below 1, all dual variables C
        output = atoms.X @ w
        errors[k] = atoms.error(output > 0)
        sample = MarginSample(y * output, np.ones(len(y)), float(np.linalg.norm(w)), None, counts)
        wrong = int(atoms.draw(rng, 40) @ (y * output <= 0))
        told["hold-out"][k] = bounds.hold_out_bound(wrong, 40, delta).value
        told["pac-bayes"][k] = bounds.pac_bayes_bound(sample, delta).value
        told["margin"][k] = bounds.margin_bound(sample, delta).value
        told["scaled"][k] = bounds.scaled_margin_bound(sample, delta).value
        told["a-priori"][k] = bounds.margin_bound(sample, delta, radius=math.sqrt(2 * n * C)).value
        told["hinge"][k] = bounds.hinge_bound(sample, 1.0, delta).value
        told["stability"][k] = bounds.stability_bound(sample, C, 1.0, delta).value
        told["training"][k] = sample.mean(sample.margins <= 0)
    return errors, told, delta


@pytest.mark.parametrize(
    "name", ["hold-out", "pac-bayes", "margin", "scaled", "a-priori", "hinge", "stability"]
)
def test_bound_fails_at_most_as_often_as_delta_allows(simulation, name):
    errors, told, delta = simulation
    assert not_too_often((errors > told[name] + 1e-12).sum(), delta)


def test_simulation_detects_a_wrong_bound(simulation):
    errors, told, delta = simulation
    assert not not_too_often(
        (errors > told["training"] + 1e-12).sum(), delta
    )  # training error bounds nothing
    missed = (errors > told["hold-out"]).mean()
    assert missed > 0.05  # Clopper and Pearson's limit is not too safe to be tested


def test_closed_form_of_the_simulation_equals_the_svm():
    atoms, C = Atoms(2), 0.03
    counts = atoms.draw(np.random.default_rng(0), 30)
    model = LinearSVC(C=C, fit_intercept=False, tol=1e-9).fit(atoms.X, atoms.y, counts)
    assert model.coef_[0] == pytest.approx(C * (counts * (2 * atoms.y - 1)) @ atoms.X, rel=1e-6)


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
def test_bounds_of_decoded_classes_fail_at_most_as_often_as_delta_allows(intercept):
    atoms, rng, failures, code = Atoms(3), np.random.default_rng(1), 0, one_vs_rest(3)
    model = type("Model", (), {"code_": code, "decoder_": DECODERS["margins"]})
    targets = code.targets(atoms.y).astype(float)
    kernel = KernelData(Linear(), atoms.X, np.arange(len(atoms.X)))
    for _ in range(DRAWS):
        counts = atoms.draw(rng, 30).astype(float)
        W = 0.2 * (counts[:, None] * targets).T @ atoms.X
        b = np.zeros(3) if intercept == "none" else 0.02 * counts @ targets
        F, norms = atoms.X @ W.T + b, np.linalg.norm(W, axis=1)
        ones = np.ones(len(F))
        view = ColumnView(model, kernel, atoms.y, counts, ones, F, targets, norms, b, ones, intercept, None)
        failures += atoms.error(F.argmax(axis=1)) > combined_margin_bound(view, 0.2).value
    assert not_too_often(failures, 0.2)


@settings(max_examples=50)
@given(code=usable_codes(), data=st.data(), decoder=st.sampled_from(["hamming", "votes", "margins", "hinge"]))
def test_every_decoding_error_costs_the_required_column_losses(code, data, decoder):
    """The empirical term of a decoded class is at least its error, whatever the outputs."""
    decoder = DECODERS[decoder]
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, code.n_classes, size=20)
    F = rng.normal(size=(20, code.n_columns)) * data.draw(st.sampled_from([0.3, 1.0, 3.0]))
    F[:10] = np.abs(F[:10]) * code.targets(labels[:10]) + 0.5 * F[10:] * data.draw(
        st.sampled_from([0.0, 1.0])
    )

    class View:
        model = type("Model", (), {"code_": code, "decoder_": decoder})
        outputs, targets = F, code.targets(labels).astype(float)

    try:
        _, losses, needed = _losses(View)
    except bounds.DoesNotApply:
        return
    predicted = predicted_classes(decision_values(F, code, decoder))
    assert (losses.sum(axis=1)[predicted != labels] >= needed - 1e-9).all()


def test_which_decoders_need_a_wrong_output():
    code = one_vs_one(4)
    assert wrong_outputs_needed(code, DECODERS["votes"]) == 1
    assert wrong_outputs_needed(Code.exhaustive(5), DECODERS["hamming"]) == 4
    named = Code(Code.exhaustive(3).matrix, "one-vs-one")  # a name is no proof
    for decoder in ("margins", "votes"):
        with pytest.raises(bounds.DoesNotApply, match="may err though all outputs are right"):
            wrong_outputs_needed(named if decoder == "votes" else code, DECODERS[decoder])
    with pytest.warns(UserWarning, match="cannot tell classes"):
        weak = Code([[1, 0, 0], [-1, 1, -1], [-1, -1, 1], [0, 0, 1]])
    with pytest.raises(bounds.DoesNotApply, match="perfect outputs"):
        wrong_outputs_needed(weak, DECODERS["hamming"])


def test_finite_class_bound_fails_at_most_as_often_as_delta_allows():
    """The best of 8 stumps on 12 points: both excess bounds, and the bound for the one that was chosen."""
    rng, p = np.random.default_rng(0), np.linspace(0.1, 0.9, 12)  # P(y = 1 | x)
    rules = np.array([np.arange(12) >= t for t in range(2, 10)])
    error = np.where(rules, 1 - p, p).mean(axis=1)
    failures = np.zeros(3)
    for _ in range(DRAWS):
        x, u = rng.integers(12, size=25), rng.random(25)
        wrong = (rules[:, x] != (u < p[x])).mean(axis=1)
        best = wrong.argmin()
        failures[0] += error[best] > bounds.finite_class_bound(wrong[best], 8, 25, 0.2).value
        failures[1] += error[best] - error.min() > bounds.finite_class_excess(8, 25, 0.2).value
        failures[2] += error[best] > bounds.union_excess(8, 25, 0.2, best_error=error.min()).value
    assert all(not_too_often(count, 0.2) for count in failures)
