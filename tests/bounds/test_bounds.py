"""Bounds hold in simulation as often as they say, are their formulas; estimates bound what they should."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from support.code_strategies import usable_codes

from maxmargin import (
    AllPairsSVC,
    BudgetPerceptron,
    CalibratedSVC,
    KernelSVC,
    LagrangianSVC,
    LeastSquaresClassifier,
    LinearProgramSVC,
    LinearSVC,
    SparseKernelClassifier,
    bounds,
)
from maxmargin.bounds import Bound, Estimate, Inapplicable, MarginSample
from maxmargin.bounds.code_combination import _losses, combined_margin_bound, wrong_outputs_needed
from maxmargin.bounds.column_view import ColumnView, column_view
from maxmargin.bounds.margin import grid_level
from maxmargin.codes import Code, one_vs_one, one_vs_rest
from maxmargin.decoders import DECODERS, decision_values, predicted_classes
from maxmargin.kernels import RBF, Linear
from maxmargin.kernels.data import KernelData

DRAWS = 500

# ---- coverage ----


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
def test_a_bound_fails_no_more_often_than_delta_allows(simulation, name):
    errors, told, delta = simulation
    assert not_too_often((errors > told[name] + 1e-12).sum(), delta)


def test_the_simulation_would_notice(simulation):
    errors, told, delta = simulation
    assert not not_too_often(
        (errors > told["training"] + 1e-12).sum(), delta
    )  # training error bounds nothing
    missed = (errors > told["hold-out"]).mean()
    assert missed > 0.05  # Clopper and Pearson's limit is not too safe to be tested


def test_the_closed_form_of_the_simulation_is_the_svm():
    atoms, C = Atoms(2), 0.03
    counts = atoms.draw(np.random.default_rng(0), 30)
    model = LinearSVC(C=C, fit_intercept=False, tol=1e-9).fit(atoms.X, atoms.y, counts)
    assert model.coef_[0] == pytest.approx(C * (counts * (2 * atoms.y - 1)) @ atoms.X, rel=1e-6)


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
def test_bounds_of_decoded_classes_fail_no_more_often_than_delta_allows(intercept):
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
def test_an_error_costs_the_columns_at_least_what_is_needed(code, data, decoder):
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


# ---- formulas ----


def sample_of(n=50, seed=0, **more):
    rng = np.random.default_rng(seed)
    return MarginSample(rng.normal(0.8, 1, size=n), rng.random(n), 1.7, **more)


@given(n=st.integers(1, 300), share=st.floats(0, 1), delta=st.sampled_from([0.01, 0.05, 0.3]))
def test_hold_out_is_the_exact_binomial_limit(n, share, delta):
    k = round(share * n)
    limit = binomtest(k, n, alternative="less").proportion_ci(1 - delta, method="exact").high
    bound = bounds.hold_out_bound(k, n, delta)
    assert bound.value == pytest.approx(limit, rel=1e-10)
    assert bound.terms["hold-out error"] == k / n


@given(q=st.floats(0, 0.999), limit=st.floats(1e-6, 20))
def test_kl_and_its_inverse(q, limit):
    p = bounds.kl_inverse(q, limit)
    assert q <= p <= 1
    if p < 1 - 1e-9:
        with mpmath.workdps(40):
            Q, P = mpmath.mpf(q), mpmath.mpf(p)
            exact = (Q * mpmath.log(Q / P) if q else 0) + (1 - Q) * mpmath.log((1 - Q) / (1 - P))
        assert float(exact) == pytest.approx(limit, rel=1e-8, abs=1e-13)


def test_kl_at_the_ends():
    assert bounds.kl(0.3, 0.3) == 0 == bounds.kl(0, 0) == bounds.kl(1, 1)
    assert bounds.kl(0.1, 0) == bounds.kl(0.1, 1) == math.inf
    assert bounds.kl_inverse(0, 0.5) == pytest.approx(1 - math.exp(-0.5))
    assert bounds.kl_inverse(1, 3) == 1
    assert bounds.kl_inverse(0.25, 0) == pytest.approx(0.25, abs=1e-7)


@pytest.mark.parametrize("n", [*range(1, 9), 20, 100])
def test_the_constant_of_the_pac_bayes_theorem(n):
    """E exp(n kl(k/n, p)) = sum_k P(k) exp(n kl(k/n, p)) <= 2 sqrt(n), for any p: it does not depend on p."""
    k = np.arange(n + 1)
    for p in (0.2, 0.5):
        total = sum(binom.pmf(j, n, p) * math.exp(n * bounds.kl(j / n, p)) for j in k)
        assert total <= 2 * math.sqrt(n) + 1e-9


def test_the_pac_bayes_bound_is_its_definition_at_the_best_mu():
    sample, delta = sample_of(200, intercept=-0.4), 0.05
    bound = bounds.pac_bayes_bound(sample, delta)
    cosines = sample.margins / np.hypot(1.7, 0.4) / np.sqrt(sample.diagonal + 1)
    best = 1.0
    for mu in np.geomspace(0.1, 30, 500):
        q = float(np.mean([math.erfc(mu * c / math.sqrt(2)) / 2 for c in cosines]))
        best = min(best, bounds.kl_inverse(q, (mu**2 / 2 + math.log(2 * math.sqrt(200) / delta)) / 200))
    assert bound.value == pytest.approx(2 * best, rel=1e-4)
    assert bound.value <= 2 * best + 1e-9


def test_the_margin_bound_term_by_term():
    sample = sample_of(intercept=0.3, counts=np.full(50, 2), n_samples=130)
    bound = bounds.margin_bound(sample, 0.1)
    n, trace = 130, 2 * sample.diagonal.sum()
    ramp = [min(1, max(0, 1 - m)) for m in sample.margins]
    assert bound.terms == pytest.approx(
        {
            "ramp loss": 2 * sum(ramp) / n,
            "complexity": 2 * 2 * math.sqrt(trace) / n,  # radius 2: the second of the grid
            "intercept": 2 * 1 * math.sqrt(100) / n,
            "confidence": 3 * math.sqrt(math.log(2 * (2 * 3) * (1 * 2) / 0.1) / (2 * n)),
        }
    )
    hinge = bounds.hinge_bound(sample, 1.5, 0.1)
    assert hinge.terms["hinge loss"] == pytest.approx(2 * np.maximum(0, 1 - sample.margins).sum() / n)
    assert hinge.terms["confidence"] == pytest.approx((1 + 2 * 1.5 + 1) * bound.terms["confidence"])
    known = bounds.margin_bound(sample, 0.1, radius=1.9)
    assert known.terms["complexity"] == pytest.approx(2 * 1.9 * math.sqrt(trace) / n)
    assert known.terms["confidence"] == pytest.approx(3 * math.sqrt(math.log(2 * 2 / 0.1) / (2 * n)))


def test_the_best_multiple_is_no_worse_and_no_other_classifier():
    sample = sample_of(2000, intercept=0.01)
    plain, scaled = bounds.margin_bound(sample), bounds.scaled_margin_bound(sample)
    by_hand = [
        bounds.margin_bound(
            MarginSample(f * sample.margins, sample.diagonal, f * 1.7 * (1 - 1e-9), f * 0.01)
        ).value
        for f in 2.0 ** np.arange(9) / 1.7
    ]
    assert scaled.value == pytest.approx(min([plain.value, *by_hand]), rel=1e-6)
    assert scaled.value <= plain.value
    zero = MarginSample([0.0, 0.0], [1.0, 1.0], 0.0)
    assert bounds.scaled_margin_bound(zero).value == bounds.margin_bound(zero).value


@pytest.mark.parametrize(("value", "level"), [(0, 1), (1, 1), (1.0000001, 2), (2, 2), (2.1, 3), (1024, 11)])
def test_levels_of_the_grid(value, level):
    assert grid_level(value) == level
    assert sum(1 / (j * (j + 1)) for j in range(1, 10**4)) < 1


def test_stability_and_finite_classes_are_their_formulas():
    sample = sample_of(100)
    bound = bounds.stability_bound(sample, 0.01, 1.0, 0.1, slope=2.0, excess=1e-4)
    s = 2 * 0.01
    assert bound.terms["stability"] == pytest.approx(2 * s)
    assert bound.terms["confidence"] == pytest.approx((400 * s + 1) * math.sqrt(math.log(10) / 200))
    assert bound.terms["optimisation"] == pytest.approx(2 * math.sqrt(2e-4))
    assert bounds.finite_class_bound(0.1, 8, 100, 0.1).value == pytest.approx(
        0.1 + math.sqrt(math.log(80) / 200)
    )
    assert bounds.finite_class_excess(8, 100, 0.1).value == pytest.approx(
        2 * math.sqrt(2 * math.log(8) / 100) + 4 * math.sqrt(math.log(30) / 200)
    )
    union = bounds.union_excess(8, 100, 0.1, best_error=0.05, bias=0.02)
    assert union.value == pytest.approx(0.07 + math.sqrt(2 / 100 * math.log(90)))


def test_a_finite_class_fails_no_more_often_than_delta_allows():
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


# ---- Rademacher complexity ----


@pytest.mark.parametrize("kernel", [RBF(0.7), Linear()])
@pytest.mark.parametrize("counts", [None, [1, 2, 1, 0, 3]])
def test_monte_carlo_meets_all_sign_vectors(kernel, counts):
    X = np.random.default_rng(0).normal(size=(8 if counts is None else 5, 3))
    rows = X if counts is None else np.repeat(X, counts, axis=0)
    n, K = len(rows), kernel(rows)
    exact = np.mean([math.sqrt(np.array(s) @ K @ np.array(s)) for s in itertools.product((-1, 1), repeat=n)])
    for layout in (np.asarray, sp.csr_array):
        found = bounds.rademacher_monte_carlo(kernel, layout(X), 2.5, sample_weight=counts, n_draws=3000)
        assert abs(found.value - 2.5 * exact / n) < 5 * found.standard_error < 0.1
    upper = bounds.rademacher_complexity(K.diagonal(), 2.5)
    assert 2.5 * exact / n <= upper <= math.sqrt(2) * 2.5 * exact / n + 1e-12  # Kahane and Khintchine
    assert upper == pytest.approx(2.5 * math.sqrt(np.trace(K)) / n)


# ---- leave-one-out ----


def two_classes(seed, n=24, noise=1.0, d=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + noise * (2 * y[:, None] - 1) * 0.6, y


def left_out(model, X, y, counts=None):
    """The margin of every row when one observation of it is left out, by refits."""
    counts = np.ones(len(y)) if counts is None else np.asarray(counts, dtype=float)
    margins = np.empty(len(y))
    for i in range(len(y)):
        without = counts.copy()
        without[i] -= 1
        margins[i] = model.fit(X, y, without).decision_function(X[i : i + 1])[0] * (2 * y[i] - 1)
    return margins


MODELS = [
    KernelSVC(C=0.7, gamma=0.5, tol=1e-9),
    KernelSVC(C=5.0, gamma=0.3, tol=1e-9),
    KernelSVC(C=1.0, gamma=0.5, loss="squared-hinge", tol=1e-9),
    KernelSVC(C=0.5, kernel="linear", tol=1e-9),
    LinearSVC(C=0.3, fit_intercept=False, tol=1e-9),
    LinearSVC(C=0.3, penalize_intercept=True, loss="squared-hinge", tol=1e-9),
    LagrangianSVC(C=2.0, kernel="rbf", gamma=0.5, tol=1e-9),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("seed", range(2))
def test_counts_of_the_leave_one_out_rules_bound_the_errors_of_refits(model, seed):
    X, y = two_classes(seed)
    counts = np.where(np.arange(24) % 5 == 0, 2, 1) if seed else np.ones(24, dtype=int)
    found = bounds.report(model.fit(X, y, counts), X, y, sample_weight=counts)
    wrong = left_out(model, X, y, counts) <= 0
    error = counts @ wrong / counts.sum()
    applied = [name for name in ("support-vectors", "xi-alpha", "jaakkola-haussler") if name in found.entries]
    applied = [found[name] for name in applied if isinstance(found[name], Estimate)]
    assert len(applied) == (2 if getattr(model, "gamma", 0) and isinstance(model, KernelSVC) else 3)
    for estimate in applied:
        assert estimate.value >= error - 1e-12, estimate.name
    assert error > 0


def test_an_xi_alpha_count_that_may_be_too_low_says_so():
    """Without a free support vector b is not unique, and leaving one out can turn every prediction."""
    too_low = 0
    for seed in range(6):
        X, y = two_classes(seed, n=11, noise=0.0)
        model = KernelSVC(C=0.1, gamma=3.0, tol=1e-9).fit(X, y)
        estimate = bounds.report(model, X, y)["xi-alpha"]
        if estimate.value < np.mean(left_out(model, X, y) <= 0) - 1e-12:
            too_low += 1
            assert any("may be too low" in note for note in estimate.notes)
    assert too_low


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_jaakkola_and_hausslers_margins_are_never_above_those_of_refits(model):
    X, y = two_classes(3)
    view = column_view(model.fit(X, y), X, y)
    sample, (duals, _) = view.sample(0), view.duals(0)
    if sample.intercept is not None:
        return
    refits = left_out(model, X, y)[view.kernel.index]
    assert (refits >= sample.margins - duals * sample.diagonal - 1e-6).all()


def kinds(view):
    """For each row 0 without a dual variable, 1 if free, 2 at its bound."""
    duals, cost = view.duals(0)[0], view.cost(0)
    if view.loss == "squared-hinge":
        return (duals > 0).astype(int)
    return np.where(duals <= 0, 0, np.where(duals < cost * (1 - 1e-6), 1, 2))


SPANNED = [MODELS[0], MODELS[1], MODELS[2], MODELS[5], MODELS[6]]


@pytest.mark.parametrize("model", SPANNED, ids=repr)
def test_the_span_is_exact_where_no_other_row_changes_its_kind(model):
    n_checked = 0
    for seed in range(3):
        X, y = two_classes(seed, n=20)
        counts = np.where(np.arange(20) == 7, 3.0, 1.0)
        view = column_view(model.fit(X, y, counts), X, y, counts)
        sample, duals = view.sample(0), view.duals(0)[0]
        problem = bounds.SupportProblem(
            view.kernel.take(view.rows(0)),
            sample.margins,
            duals,
            view.cost(0),
            sample.counts,
            squared=view.loss == "squared-hinge",
            constant=view.constant,
            bordered=sample.intercept is not None,
        )
        told, before = bounds.margins_left_out(problem), kinds(view)
        for place, i in enumerate(view.kernel.index):
            without = counts.copy()
            without[i] -= 1
            after = column_view(model.fit(X, y, without), X, y, without)
            same = dict(zip(after.kernel.index, kinds(after)))
            if any(same[j] != before[p] for p, j in enumerate(view.kernel.index) if j != i):
                continue
            if counts[i] > 1 and same[i] != before[place]:
                continue
            n_checked += 1
            margin = model.decision_function(X[i : i + 1])[0] * (2 * y[i] - 1)
            assert told[place] == pytest.approx(margin, abs=1e-5)
    assert n_checked >= 15


def test_the_estimates_as_functions_of_arrays():
    sample = MarginSample([2.0, 0.5, -1.0, 0.9], [1.0, 1.0, 1.0, 1.0], 1.0, counts=[1, 1, 2, 1])
    duals = [0.0, 0.6, 0.8, 0.05]
    assert bounds.support_vector_estimate(sample, duals).value == 4 / 5
    assert bounds.xi_alpha_estimate(sample, duals, 1.0).value == 3 / 5
    assert bounds.jaakkola_haussler_estimate(sample, duals).value == 3 / 5
    assert bounds.span_estimate(sample, [2.0, 0.1, -2.0, 0.0]).value == 3 / 5
    with pytest.raises(bounds.DoesNotApply, match="b = 0"):
        bounds.jaakkola_haussler_estimate(sample_of(4, intercept=0.0), duals)
    with pytest.raises(ValueError, match="one finite number >= 0 for each row"):
        bounds.support_vector_estimate(sample, [1.0, -1.0, 0.0, 0.0])


def test_the_only_free_support_vector_leaves_nothing_to_fix_the_intercept_by():
    X = np.array([[0.0], [1.0]])
    view = column_view(KernelSVC(kernel="linear", C=100).fit(X, [0, 1]), X, [0, 1])
    sample = view.sample(0)
    problem = bounds.SupportProblem(
        view.kernel, sample.margins, np.array([0.5, 0.0]), view.cost(0), sample.counts, bordered=True
    )
    assert bounds.margins_left_out(problem).min() < -1e6


# ---- reports ----

X2, Y2 = two_classes(0, n=60)
IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "model",
    [
        KernelSVC(gamma=0.5),
        KernelSVC(kernel="linear", class_weight={0: 2.0}),
        LinearSVC(loss="squared-hinge"),
        LagrangianSVC(kernel="rbf"),
        LagrangianSVC(kernel="rbf", n_components=8, random_state=0),
        SparseKernelClassifier(budget=10, random_state=0),
        BudgetPerceptron(budget=10, random_state=0),
        LeastSquaresClassifier(),
        LinearProgramSVC(),
        LinearProgramSVC(kernel="rbf"),
        AllPairsSVC(),
        CalibratedSVC(KernelSVC(code="one-vs-rest")),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("data", [(X2, Y2), IRIS], ids=["two", "three"])
def test_a_report_for_every_kind_of_model(model, data):
    X, y = data
    model.fit(X, y)
    found = bounds.report(model, X, y, delta=0.1, X_test=X[::3], y_test=y[::3], max_norm=20.0)
    assert found.training_error == pytest.approx(np.mean(model.predict(X) != y))
    for name, entry in found.entries.items():
        assert entry.name == name
        if isinstance(entry, Inapplicable):
            assert len(entry.reason) > 20
            continue
        assert np.isfinite(entry.value)
        if isinstance(entry, Bound):
            assert entry.value == pytest.approx(sum(entry.terms.values()))
            assert entry.delta == pytest.approx(0.1 if not name.startswith("ecoc") else 0.0)
            if entry.of in ("error", "training error of Hamming decoding") and name != "hold-out":
                assert entry.value >= found.training_error or name == "ecoc-refined"
        if "Rademacher" not in entry.of:
            assert entry.vacuous == (entry.value >= min(0.5, found.majority_error))
    assert {"pac-bayes", "margin", "margin-scaled", "hold-out"} <= {
        name for name, entry in found.entries.items() if isinstance(entry, Bound)
    }
    assert all(name in str(found) for name in found.entries)
    assert len(found.columns) == (0 if len(set(y)) == 2 else model_columns(model))


def model_columns(model):
    return getattr(model, "estimator_", model).code_.n_columns


def test_norms_are_those_of_the_functions():
    X, y = IRIS
    for model in (KernelSVC(gamma=0.3), SparseKernelClassifier(budget=9, random_state=0)):
        model.fit(X, y)
        K = model.kernel_(model.support_vectors_)
        view = column_view(model, X, y)
        assert view.norms**2 == pytest.approx(np.einsum("ts,su,tu->t", model.dual_coef_, K, model.dual_coef_))
    both = [
        column_view(m.fit(X, y), X, y).norms
        for m in (KernelSVC(kernel="linear", tol=1e-8), LinearSVC(code="one-vs-one", tol=1e-8))
    ]
    assert both[0] == pytest.approx(both[1], rel=1e-3)


@pytest.mark.parametrize(("loss", "factor"), [("hinge", 2.0), ("squared-hinge", 1.0)])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_the_radius_known_before_holds_every_solution(loss, factor, C):
    """sqrt(2 / lambda) with lambda = 1 / (n C) for the hinge."""
    view = column_view(KernelSVC(C=C, loss=loss, gamma=0.5).fit(X2, Y2), X2, Y2)
    assert view.radius() == pytest.approx(math.sqrt(factor * 60 * C))
    assert view.norms[0] <= view.radius()
    weighted = KernelSVC(C=C, loss=loss, gamma=0.5, class_weight={1: 9.0}).fit(X2, Y2)
    assert column_view(weighted, X2, Y2).radius() == pytest.approx(math.sqrt(factor * 60 * C * 9))


def test_weights_are_repetitions_and_layouts_agree():
    counts = np.arange(60) % 3
    model = KernelSVC(gamma=0.5).fit(X2, Y2, counts)
    one = bounds.report(model, X2, Y2, sample_weight=counts)
    rows, labels = np.repeat(X2, counts, axis=0), np.repeat(Y2, counts)
    repeated = KernelSVC(gamma=0.5).fit(rows, labels)
    sparse = KernelSVC(gamma=0.5).fit(sp.csr_array(X2), Y2, counts)
    others = [
        bounds.report(repeated, rows, labels),
        bounds.report(sparse, sp.csc_array(X2), Y2, sample_weight=counts),
    ]
    for other in others:
        assert other.n_samples == one.n_samples == 60
        for name, entry in one.entries.items():
            if not isinstance(entry, Inapplicable):
                assert other[name].value == pytest.approx(entry.value, rel=1e-6), name


def test_a_precomputed_kernel_says_the_same_and_an_indefinite_one_nothing():
    K = RBF(0.5)(X2)
    vectors = bounds.report(KernelSVC(gamma=0.5).fit(X2, Y2), X2, Y2)
    matrix = bounds.report(KernelSVC(kernel="precomputed").fit(K, Y2), K, Y2)
    for name in ("pac-bayes", "margin", "span", "rademacher", "support-vectors"):
        assert matrix[name].value == pytest.approx(vectors[name].value, rel=1e-6)
    assert any("assumed to be positive" in note for note in matrix["margin"].notes)
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        sigmoid = KernelSVC(kernel="sigmoid", gamma=0.5, C=0.01).fit(X2, Y2)
    found = bounds.report(sigmoid, X2, Y2)
    assert "not positive semi-definite" in found["margin"].reason
    assert "not positive semi-definite" in found["span"].reason


def test_reasons_and_notes():
    found = bounds.report(KernelSVC(gamma="median", random_state=0).fit(X2, Y2), X2, Y2)
    assert any("gamma was computed from the training rows" in note for note in found["margin"].notes)
    assert "a single row may change it" in found["stability"].reason
    assert "this intercept is free" in found["jaakkola-haussler"].reason
    assert "no X_test" in found["hold-out"].reason
    assert "not finite" in found["finite-class"].reason
    balanced = bounds.report(LinearSVC(class_weight="balanced", fit_intercept=False).fit(X2, Y2), X2, Y2)
    assert "balanced" in balanced["xi-alpha"].reason
    assert "max_norm" in balanced["hinge"].reason
    stable = bounds.report(LinearSVC(C=1e-4, fit_intercept=False).fit(X2, Y2), X2, Y2, max_norm=10.0)
    assert stable["stability"].terms["stability"] == pytest.approx(2 * 1e-4 * 100)
    tiny = KernelSVC(C=1e-6, gamma=0.5).fit(X2, Y2)  # all support vectors at their bounds
    assert any("b may not be unique" in note for note in bounds.report(tiny, X2, Y2)["xi-alpha"].notes)
    assert "with probability 0.95" in str(found["margin"])
    assert "vacuous: the majority-class error is 0.5" in str(found["margin"])
    assert "leave-one-out error about" in str(found["span"])
    assert "does not apply" in str(found["stability"])
    with pytest.raises(KeyError, match="there is no 'rho'"):
        found["rho"]


def test_a_report_leaves_the_model_as_it_was():
    model = KernelSVC(gamma=0.5).fit(*IRIS)
    before = dict(model.__dict__)
    bounds.report(model, *IRIS)
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[key] is value for key, value in before.items())


def test_what_is_refused():
    model = KernelSVC(gamma=0.5).fit(X2, Y2)
    with pytest.raises(ValueError, match="fitted classifiers of maxmargin"):
        bounds.report(KernelSVC(), X2, Y2)
    with pytest.raises(ValueError, match="must be those of the fit"):
        bounds.report(model, X2 + 1.0, Y2)
    with pytest.raises(ValueError, match="must be those of the fit"):
        bounds.report(model, X2[:5], Y2[:5])
    with pytest.raises(ValueError, match="whole numbers"):
        bounds.report(model, X2, Y2, sample_weight=np.full(60, 0.5))
    with pytest.raises(ValueError, match=r"labels \[7\]"):
        bounds.report(model, X2, np.where(np.arange(60) == 3, 7, Y2))
    with pytest.raises(ValueError, match="one label for each of the 60 rows"):
        bounds.report(model, X2, Y2[:-1])
    with pytest.raises(ValueError, match="given together"):
        bounds.report(model, X2, Y2, X_test=X2)
    for delta in (0.0, 1.0, "small"):
        with pytest.raises(ValueError, match="delta must"):
            bounds.report(model, X2, Y2, delta=delta)
    with pytest.raises(ValueError, match=r"max_norm=0\.5 must be at least"):
        bounds.report(model, X2, Y2, max_norm=0.5)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: MarginSample([], [], 1.0), "one number for each row"),
        (lambda: MarginSample([1.0], [1.0, 2.0], 1.0), "one number for each row"),
        (lambda: MarginSample([np.nan], [1.0], 1.0), "finite"),
        (lambda: MarginSample([1.0], [-1.0], 1.0), "finite and >= 0"),
        (lambda: MarginSample([1.0], [1.0], -1.0), "norm must be"),
        (lambda: MarginSample([1.0], [1.0], 1.0, counts=[0.5]), "whole numbers"),
        (lambda: MarginSample([1.0, 1.0], [1.0, 1.0], 1.0, n_samples=1), "n_samples must be"),
        (lambda: bounds.margin_bound(sample_of(), radius=0.1), "exceeds the radius"),
        (lambda: bounds.stability_bound(sample_of(intercept=0.1), 1.0, 1.0), "a single row may change it"),
        (lambda: bounds.gibbs_bound(MarginSample([0.0], [1.0], 0.0)), "no direction"),
        (lambda: bounds.hold_out_bound(3, 2), "at most n_samples"),
        (lambda: bounds.hold_out_bound(0, 0), "n_samples must be"),
        (lambda: bounds.finite_class_bound(0.1, 0, 10), "n_functions must be"),
        (lambda: bounds.rademacher_complexity([-1.0]), "numbers >= 0"),
        (lambda: bounds.rademacher_monte_carlo(RBF(1.0), X2, n_draws=1), "n_draws must be"),
        (lambda: bounds.kl_inverse(1.5, 1.0), "must be a probability"),
    ],
)
def test_what_the_functions_refuse(call, match):
    with pytest.raises(ValueError, match=match):
        call()
