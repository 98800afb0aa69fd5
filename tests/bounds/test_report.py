"""Reports of bounds for every kind of model, and what they refuse."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from support.bound_samples import sample_of, two_classes

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
from maxmargin.bounds import Bound, Inapplicable, MarginSample
from maxmargin.bounds.column_view import column_view
from maxmargin.kernels import RBF

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
def test_report_for_every_kind_of_model(model, data):
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


def test_norms_equal_those_of_the_functions():
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
def test_radius_known_in_advance_contains_every_solution(loss, factor, C):
    """sqrt(2 / lambda) with lambda = 1 / (n C) for the hinge."""
    view = column_view(KernelSVC(C=C, loss=loss, gamma=0.5).fit(X2, Y2), X2, Y2)
    assert view.radius() == pytest.approx(math.sqrt(factor * 60 * C))
    assert view.norms[0] <= view.radius()
    weighted = KernelSVC(C=C, loss=loss, gamma=0.5, class_weight={1: 9.0}).fit(X2, Y2)
    assert column_view(weighted, X2, Y2).radius() == pytest.approx(math.sqrt(factor * 60 * C * 9))


def test_weights_equal_repetitions_and_layouts_agree():
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


def test_precomputed_kernel_gives_the_same_report_and_an_indefinite_one_none():
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


def test_report_does_not_change_the_model():
    model = KernelSVC(gamma=0.5).fit(*IRIS)
    before = dict(model.__dict__)
    bounds.report(model, *IRIS)
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[key] is value for key, value in before.items())


def test_bad_arguments_of_a_report_are_refused():
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
def test_bad_arguments_of_the_functions_are_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()
