"""No fit is worse than zero coefficients, by its own objective, unless its status is "diverged"."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from support.certificate_cases import CERTIFIED, REMEDIES
from support.certificate_rows import Case, cases
from support.certificates_found import FOUND
from support.estimator_strategies import ALPHAS, KERNELS
from support.judgement import Data, dense
from support.properties import examples
from support.regression_problems import at_zeros, loss_values

import maxmargin
from maxmargin import kernels
from maxmargin.losses import loss_from_name
from maxmargin.solving import Check, SolverResult, Status, without_bound

ROUNDING = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-3}  # of an objective, relative to zeros'
PURSUED = {
    "KernelMatchingPursuit": st.builds(
        maxmargin.KernelMatchingPursuit,
        budget=st.integers(1, 7),
        alpha=ALPHAS,
        kernel=KERNELS,
        random_state=st.just(0),
    ),
    "KernelPegasos": st.builds(
        maxmargin.KernelPegasos,
        alpha=ALPHAS,
        kernel=KERNELS,
        loss=st.sampled_from(["hinge", "log", "squared", "squared-hinge"]),
        random_state=st.just(0),
    ),
}


def objective_at_zeros(model, X, y, weight):
    """What zero coefficients and intercepts cost, in the units of ``objective_``."""
    name, data = type(model).__name__, Data(model, X, y, weight)
    if getattr(model, "nu", None) is not None:  # a fit that was cut may have no margin yet
        return 0.0 if model.status_ == "converged" else np.inf
    if name in ("KernelSVR", "LinearSVR"):
        residuals = data.labels - at_zeros(model, data.labels, data.weight)
        return model.C * float(data.weight @ loss_values(residuals, model))
    if name == "SparseKernelRegressor":
        return float(np.average(loss_values(data.labels - model.intercept_[0], model), weights=data.weight))
    n_classes, n_columns = len(model.classes_), model.code_.n_columns
    if name == "TopKSVC":
        return 1.0
    if name == "AllPairsSVC" or getattr(model, "multi_class", "") == "joint":
        return model.C * data.weight.sum() * (n_classes - 1)
    loss = "squared-hinge" if name == "LagrangianSVC" else "hinge"
    loss = "squared" if name in ("LeastSquaresClassifier", "KernelMatchingPursuit") else loss
    at_zero = loss_from_name(getattr(model, "loss", loss)).value(np.zeros(1))[0]
    if hasattr(model, "alpha"):
        return n_columns * at_zero
    cost = 1.0 if getattr(model, "penalty", "") is None else model.C
    return cost * at_zero * sum(w.sum() for _, _, _, w in data.columns(model))


def objective_of_outputs(model, X, y, weight):
    """The losses of a model without a certificate, without its penalty."""
    f, loss = model._column_outputs(X), loss_from_name(getattr(model, "loss", "squared"))
    columns = Data(model, X, y, weight).columns(model)
    kept = slice(None) if weight is None else weight > 0.0
    found = 0.0
    for t, _, targets, w in columns:
        which = model.code_.column(np.searchsorted(model.classes_, y[kept]), t)[0]
        m = targets.astype(np.float64) * f[kept][which, t]
        found += np.average(loss.value(m), weights=w)
    return found


def rounding_of_outputs(model, X):
    """What the last digits of kernel values, in the precision of the rows, can do to an output."""
    Z, a = dense(model.support_vectors_).astype(np.float64), np.abs(model.dual_coef_)
    if not len(Z):
        return 0.0
    size = np.abs(model.kernel_(dense(X).astype(np.float64), Z)).max()
    return float(np.finfo(X.dtype).eps * a.sum(axis=0).max() * size)


def check_against_zeros(model, X, y, weight):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y, sample_weight=weight)
        except ValueError as refusal:
            if not any(remedy in str(refusal) for remedy in REMEDIES):
                raise
            return reject()
    warned = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    outputs = model.predict if type(model).__name__ == "KernelSVR" else model._column_outputs
    assert np.isfinite(outputs(X)).all()
    if model.status_ == "diverged":
        assert any("diverged" in message for message in warned)
        return None
    if model.dual_gap_ == np.inf and type(model).__name__ in CERTIFIED:
        return None  # the kernel is indefinite on the rows: squared norms may be negative
    certified = type(model).__name__ in CERTIFIED
    objective = model.objective_ if certified else objective_of_outputs(model, X, y, weight)
    slack = max(model.tol, 1e-7) if certified else ROUNDING[X.dtype]
    at_zeros = objective_at_zeros(model, X, y, weight)
    noise = 0.0 if certified else rounding_of_outputs(model, X)  # the losses have slopes of about 1 there
    assert objective <= at_zeros * (1.0 + slack) + noise
    return None


# The coefficients of OneClassSVM sum to 1.
@pytest.mark.parametrize("name", sorted({*CERTIFIED, *PURSUED} - {"OneClassSVM"}))
@examples(20, 300)
@given(data=st.data())
def test_no_fit_is_worse_than_zero_coefficients(name, data):
    case, model = data.draw(cases()), data.draw({**CERTIFIED, **PURSUED}[name])
    check_against_zeros(model, *case.data())


@pytest.mark.parametrize(("name", "parameters", "case"), [f for f in FOUND if f[0] != "OneClassSVM"])
def test_fits_whose_certificates_were_false_are_not_worse_than_zero_coefficients(name, parameters, case):
    check_against_zeros(getattr(maxmargin, name)(random_state=0, **parameters), *case.data())


def test_a_negative_penalty_makes_up_for_no_loss():
    case = Case(138679534, 8, 1, 2, 1.0, 0.0, "float64", "sparse", 0.0, True)
    check_against_zeros(maxmargin.KernelPegasos(alpha=1.0, kernel="sigmoid", random_state=0), *case.data())


def test_a_fit_whose_outputs_are_rounding_may_be_off_by_it():
    """Its outputs on its own rows add up to less while it is fitted."""
    case = Case(71, 6, 3, 2, 100.0, 1e7, "float32", "sparse", 1.0, True)
    check_against_zeros(maxmargin.KernelPegasos(alpha=1e-7, kernel="laplacian", random_state=0), *case.data())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_coefficients_that_rounding_spoils_have_diverged(dtype):
    """The quadratic kernel of rows near 1e5 has 10 digits more than float32, and outputs are noise."""
    rng = np.random.default_rng(0)
    X, y = (1e5 + 0.1 * rng.normal(size=(10, 1))).astype(np.float32).astype(dtype), np.arange(10) % 2
    model = maxmargin.LaSVM(C=0.01, kernel=kernels.Polynomial(degree=2, coef0=1.0), random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"diverged|stopped"):
        model.fit(X, y)
    assert (model.status_ == "diverged") == (model.objective_ > 0.1 * (1 + 1e-7))
    assert set(model.predict(X)) <= {0, 1}


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("excess", [-0.5, 0.0, 1e-9, 1e-3, 2.0])
def test_a_result_that_is_worse_than_zeros_has_diverged_unless_it_was_interrupted(status, excess):
    at_zeros, eps = 3.0, np.finfo(float).eps
    check = Check(5, at_zeros * (1.0 + excess), 0.0, 0.0, tiny=at_zeros * eps)
    interrupted = (Status.STOPPED, Status.TIME_LIMIT, Status.BUDGET_FULL)
    kept = excess < 1e-7 or status in (Status.CONVERGED, Status.FAILED, *interrupted)
    result = SolverResult(np.ones(1), 0.0, status, (check,))
    assert result.status is (status if kept else Status.DIVERGED)


@pytest.mark.parametrize("check", [Check(5, 1e9, 0.0, 0.0), Check(5, 1e9, -np.inf, 0.0, tiny=1.0)])
def test_a_problem_whose_objective_at_zeros_bounds_nothing_is_left_alone(check):
    """The method does not know it, or the kernel is indefinite."""
    assert SolverResult(np.ones(1), 0.0, Status.STALLED, (check,)).status is Status.STALLED


def test_an_indefinite_kernel_takes_back_that_a_result_diverged():
    check = Check(5, 9.0, 1.0, 0.0, tiny=np.finfo(float).eps)
    result = SolverResult(np.ones(1), 0.0, Status.STALLED, (check,))
    assert result.status is Status.DIVERGED
    assert without_bound(result).status is Status.STALLED
    overflown = replace(result, history=(replace(check, primal=np.inf),))
    assert without_bound(overflown).status is Status.DIVERGED
