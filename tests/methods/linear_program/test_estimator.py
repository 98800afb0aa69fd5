"""LinearProgramSVC: its optimum on the estimator, its limits, and what it refuses."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from support.interrupts import interrupt_in_simplex
from support.linear_programs import made, standardised
from support.reference_programs import hinge_program

from maxmargin import LinearProgramSVC
from maxmargin.kernels import RBF
from maxmargin.methods.linear_program import generation


@pytest.mark.parametrize("features", ["columns", "eigen"])
def test_kernel_expansions_of_the_estimator(features):
    X, y = standardised(load_wine)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    form = {"kernel": "rbf", "gamma": 0.05, "features": features, "n_components": 30, "tol": 1e-9}
    model = LinearProgramSVC(C=2.0, **form).fit(X, y, sample_weight=weight)
    K = RBF(gamma=0.05)(X, X)
    if features == "columns":
        Phi = K
        coef = np.zeros((3, len(y)))
        coef[:, model.support_] = model.dual_coef_
        assert model.n_nonzero_ == model.n_support_ < 60
    else:
        values, vectors = np.linalg.eigh(np.sqrt(weight)[:, None] * K * np.sqrt(weight))
        values, vectors = values[::-1][:30], vectors[:, ::-1][:, :30]
        Phi = vectors / np.sqrt(weight)[:, None] * np.sqrt(values)
        assert 0.9 < model.trace_captured_ <= 1.0
        assert model.n_nonzero_ <= 30
    best = sum(hinge_program(Phi, np.where(y == k, 1.0, -1.0), 2.0 * weight)[0] for k in range(3))
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    if features == "columns":  # the signs of eigenvectors are anybody's
        np.testing.assert_allclose(model.decision_function(X), Phi @ coef.T + model.intercept_, atol=1e-6)
    assert model.score(X, y) > 0.97


def test_joint_program_of_two_classes_equals_the_binary_one():
    """Only w_1 - w_0 = w counts in the losses, and the least ||w_0||_1 + ||w_1||_1 is ||w||_1.

    It is reached where no feature has coefficients of one sign, and a vertex has one of both at 0.
    """
    X, y = standardised(load_breast_cancer)
    joint = LinearProgramSVC(C=0.05, multi_class="joint", tol=1e-10).fit(X, y)
    binary = LinearProgramSVC(C=0.05, tol=1e-10).fit(X, y)
    assert joint.objective_ == pytest.approx(binary.objective_, rel=1e-9)
    np.testing.assert_allclose(joint.coef_[1] - joint.coef_[0], binary.coef_[0], atol=1e-7)
    assert not (joint.coef_[0] * joint.coef_[1]).any()
    np.testing.assert_allclose(joint.intercept_[1] - joint.intercept_[0], binary.intercept_[0], atol=1e-7)
    np.testing.assert_allclose(joint.decision_function(X), binary.decision_function(X), atol=1e-6)


def test_joint_program_on_digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[::3] / 16.0, y[::3]
    model = LinearProgramSVC(C=0.2, multi_class="joint").fit(X, y)
    assert model.status_ == "converged"
    assert model.coef_.shape == (10, 64)
    assert len(model.history_) == 1
    assert model.score(X, y) > 0.95


def test_small_costs_give_zero_coefficients():
    """At W = 0 no price exceeds 1 while C is below the reciprocal of the largest at C = 1."""
    X, y = standardised(load_breast_cancer)
    target = np.where(y == 1, 1.0, -1.0)
    lighter = min((y == 0).sum(), (y == 1).sum())
    share = np.where(y == 1, lighter / (y == 1).sum(), lighter / (y == 0).sum())
    edge = 1.0 / np.abs((share * target) @ X).max()
    model = LinearProgramSVC(C=0.99 * edge).fit(X, y)
    assert not model.coef_.any()
    assert model.objective_ == pytest.approx(2 * 0.99 * edge * lighter)
    assert np.unique(model.predict(X)).size == 1


def test_optimum_is_continuous_and_concave_in_the_cost():
    """The minimum over (w, b) of functions that are linear in C is concave in C, and so continuous."""
    X, y = standardised(load_breast_cancer)
    C = np.geomspace(1e-3, 1.0, 25)
    best = np.array([LinearProgramSVC(C=c, tol=1e-9).fit(X, y).objective_ for c in C])
    slopes = np.diff(best) / np.diff(C)
    assert (slopes > 0).all()
    assert (np.diff(slopes) <= 1e-6 * slopes[:-1]).all()


def test_without_a_penalty_separable_data_cost_nothing():
    X, y = made(80, 5, informative=2, noise=0.0)
    for form in ({}, {"multi_class": "joint"}, {"kernel": "rbf"}):
        model = LinearProgramSVC(penalty=None, **form).fit(X, y)
        assert (model.status_, model.objective_, model.dual_gap_) == ("converged", 0.0, 0.0)
        assert model.score(X, y) == 1.0
        assert (np.abs(model.decision_function(X)) >= 1.0 - 1e-9).all()


def test_without_a_penalty_the_objective_is_a_mean():
    X, y = standardised(load_wine, [0, 1])
    X, y = X[:, :2], np.where(np.arange(len(y)) % 4 == 0, 1 - y, y)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    model = LinearProgramSVC(penalty=None, tol=1e-9).fit(X, y, sample_weight=weight)
    losses = np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * model.decision_function(X))
    assert model.objective_ == pytest.approx(np.average(losses, weights=weight))
    best, _, _ = hinge_program(X, np.where(y == 1, 1.0, -1.0), weight / weight.sum(), penalised=False)
    assert model.objective_ == pytest.approx(best, rel=1e-7)


def test_one_point_per_class_and_constant_features():
    model = LinearProgramSVC(C=10.0).fit([[0.0, 1.0], [2.0, 1.0]], [0, 1])
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]])
    np.testing.assert_allclose(model.intercept_, [-1.0])
    constant = LinearProgramSVC().fit(np.ones((6, 2)), [0, 0, 1, 1, 1, 1])
    assert not constant.coef_.any()
    assert constant.predict(np.ones((1, 2))) == [1]
    zero = LinearProgramSVC(penalty=None).fit(np.zeros((6, 2)), [0, 0, 1, 1, 1, 1])
    assert zero.objective_ == pytest.approx(2 / 3)


@pytest.mark.parametrize("scale", [1e-8, 1e8, "mixed"])
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("noise", [0.0, 2.0])
def test_scales_and_costs(scale, C, noise):
    X, y = made(120, 6, informative=2, noise=noise)
    factors = 10.0 ** np.linspace(-8, 8, 6) if scale == "mixed" else scale
    model = LinearProgramSVC(C=C).fit(X * factors, y)
    assert model.status_ == "converged"
    losses = np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * model.decision_function(X * factors))
    rounding = 1e-14 * C * len(y)
    value = np.abs(model.coef_).sum() + C * losses.sum()
    assert model.objective_ == pytest.approx(value, rel=1e-6, abs=rounding)
    # features that are c times as large with a C that is c times as small have coefficients c times as small
    if scale != "mixed" and 1e-3 <= C * scale <= 1e3:
        peer = LinearProgramSVC(C=C * scale).fit(X, y)
        assert scale * model.objective_ == pytest.approx(peer.objective_, rel=1e-5)


@pytest.mark.parametrize(
    "form", [{}, {"penalty": None}, {"multi_class": "joint"}, {"kernel": "rbf"}], ids=str
)
def test_time_limit_is_kept_with_an_honest_gap(form, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 100)), rng.integers(0, 2, size=3000)
    clock = itertools.count(0.0, 0.01)  # each look at it takes so many seconds
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    with pytest.warns(ConvergenceWarning, match=r"time_limit.*relative duality gap"):
        model = LinearProgramSVC(C=1.0, max_seconds=0.3, **form).fit(X, y)
    monkeypatch.undo()
    assert model.status_ == "time_limit"
    assert 1e-6 < model.dual_gap_ <= 1.0
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_reaches_into_a_program(monkeypatch, n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 50)), rng.integers(0, 2, size=1000)
    sent = interrupt_in_simplex(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        LinearProgramSVC(C=1.0, n_jobs=n_jobs).fit(X, y)
    assert sent


def test_solver_failures_are_reported_as_a_stall(monkeypatch):
    """A solver that gives up leaves the best point so far, never its own words."""
    monkeypatch.setattr(
        "maxmargin.methods.linear_program.master.HingeMaster.solve", lambda self, deadline: "failed"
    )
    monkeypatch.setattr("maxmargin.methods.linear_program.master.HingeMaster.solution", lambda self: None)
    with pytest.warns(ConvergenceWarning, match=r"stopped \(stalled\) with relative duality gap 1.0e\+00"):
        model = LinearProgramSVC().fit(*standardised(load_wine))
    assert np.isfinite(model.coef_).all()


BAD_PARAMETERS = {
    "C": (-1.0, r"C must be a finite number > 0; got -1\.0"),
    "penalty": ("l2", "penalty must be 'l1' or None; got 'l2'"),
    "multi_class": ("ovr", r"multi_class must be one of \['code', 'joint'\]; got 'ovr'"),
    "kernel": ("rbff", "kernel"),
    "features": ("rows", r"features must be one of \['columns', 'eigen'\]; got 'rows'"),
    "n_components": (0, "n_components must be an integer >= 1; got 0"),
    "eigen_method": ("svd", "eigen_method must be one of"),
    "fit_intercept": ("yes", "fit_intercept must be True or False; got 'yes'"),
    "warm_start": (1, "warm_start must be True or False; got 1"),
    "tol": (0.0, r"tol must be a finite number > 0; got 0\.0"),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters_are_refused(name):
    value, match = BAD_PARAMETERS[name]
    with pytest.raises(ValueError, match=match):
        LinearProgramSVC(**{name: value}).fit(*standardised(load_wine))


def test_joint_program_refuses_a_code():
    with pytest.raises(ValueError, match=r"multi_class='joint' has no code; leave code at 'one-vs-rest'"):
        LinearProgramSVC(multi_class="joint", code="one-vs-one").fit(*standardised(load_wine))


@pytest.mark.parametrize("decoder", ["margins", "hamming", "votes", "hinge"])
def test_joint_program_refuses_a_decoder(decoder):
    with pytest.raises(ValueError, match=r"multi_class='joint' has no decoder; leave decoder at 'auto'"):
        LinearProgramSVC(multi_class="joint", decoder=decoder).fit(*standardised(load_wine))


@pytest.mark.parametrize(
    "form", [{}, {"multi_class": "joint"}, {"penalty": None}, {"features": "eigen"}], ids=str
)
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "generated"])
def test_kernel_values_that_are_not_finite_are_refused(monkeypatch, form, whole):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(generation, "MAX_WHOLE_PROGRAM_ENTRIES", 200_000 if whole else 0)

    def one_column(P, Q):
        return np.where((X[7] == Q).all(axis=1), np.nan, P @ Q.T)

    def off_the_diagonal(P, Q):
        return np.where(P.sum(axis=1)[:, None] != Q.sum(axis=1), np.inf, 1.0)

    big = {"kernel": "polynomial", "degree": 120, "gamma": 1.0, "coef0": 1.0}
    nowhere = {"kernel": lambda P, Q: np.full((len(P), len(Q)), np.nan)}
    for kernel in (nowhere, big, {"kernel": one_column}, {"kernel": off_the_diagonal}):
        with pytest.raises(ValueError, match="kernel values are not finite"):
            LinearProgramSVC(**kernel, **form).fit(X * 100 if kernel is big else X, y)


def test_coefficients_have_one_entry_per_eigen_feature():
    """A linear kernel on four features has four eigen features."""
    model = LinearProgramSVC(kernel="linear", features="eigen").fit(*load_iris(return_X_y=True))
    assert model.coef_.shape == (3, 4)


def test_objects_and_precomputed_kernels():
    X, y = standardised(load_wine)
    K = RBF(gamma=0.05)(X, X)
    vectors = LinearProgramSVC(C=2.0, kernel="rbf", gamma=0.05, tol=1e-9).fit(X, y)
    matrix = LinearProgramSVC(C=2.0, kernel="precomputed", tol=1e-9).fit(K, y)
    assert matrix.objective_ == pytest.approx(vectors.objective_, rel=1e-8)
    words = ["oak", "oaks", "elm", "elms", "oat", "elf"]

    def shared(A, B):
        return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])

    model = LinearProgramSVC(C=10.0, kernel=shared).fit(words, [0, 0, 1, 1, 0, 1])
    assert model.predict(["oaken", "elmy"]).tolist() == [0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(kernel=None).fit(X, y)
    assert not hasattr(model, "dual_coef_")


@pytest.mark.parametrize("C", [1.0, 1e2, 1e4])
def test_certificates_of_float32_rows_hold_for_the_exact_kernel(C):
    X, y = make_classification(150, 6, flip_y=0.1, random_state=0)
    X = X.astype(np.float32)
    model = LinearProgramSVC(C=C, kernel="rbf", gamma=0.05).fit(X, y)
    wide = LinearProgramSVC(C=C, kernel="rbf", gamma=0.05, tol=1e-9).fit(X.astype(np.float64), y)

    def primal(fitted):
        K = RBF(0.05)(X.astype(np.float64), fitted.support_vectors_.astype(np.float64))
        margins = np.where(y == 1, 1.0, -1.0) * (K @ fitted.dual_coef_[0] + fitted.intercept_[0])
        return np.abs(fitted.dual_coef_).sum() + C * np.maximum(0.0, 1.0 - margins).sum()

    assert model.status_ == "converged"
    assert primal(model) <= primal(wide) * (1.0 + model.dual_gap_ + 0.1 * model.tol)
