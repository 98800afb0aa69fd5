"""Every certificate is recomputed from the fitted attributes, for the problem of the data as given.

No reported gap is smaller than the true distance from the optimum by more than 1e-7 (float64) or a tenth of
``tol`` (float32), none is negative, and no fit is "converged" beyond its tolerance.
"""

import warnings
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from support.certificate_cases import (
    AROUND_ANOTHER,
    CERTIFIED,
    REMEDIES,
    UNCERTIFIED,
    WITHOUT_A_PROBLEM,
    public_estimators,
)
from support.certificate_referee import judgements
from support.certificate_rows import cases
from support.certificates_found import FOUND
from support.extended_qp import many_digits
from support.judgement import Judgement, excess, expansion
from support.properties import examples

import maxmargin
from maxmargin import (
    CalibratedSVC,
    KernelSVC,
    LinearSVC,
    OutputCodeClassifier,
    PathCV,
    SparseKernelClassifier,
)
from maxmargin.methods.eigen_map import find_eigen_features
from maxmargin.methods.lagrangian import estimator as lagrangian_estimator
from maxmargin.methods.linear_program import estimator as linear_program_estimator


@contextmanager
def eigen_features_kept(model):
    """Within it, the eigen features that a fit finds are stored in the model: a referee needs them."""

    def find(kernel, *arguments, **options):
        model.eigen_features_found = find_eigen_features(kernel, *arguments, **options)
        return model.eigen_features_found

    with (
        mock.patch.object(lagrangian_estimator, "find_eigen_features", find),
        mock.patch.object(linear_program_estimator, "find_eigen_features", find),
    ):
        yield


def fitted(model, X, y, weight):
    """The model after its fit; what it refuses is not certified."""
    with warnings.catch_warnings(), eigen_features_kept(model):
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return model.fit(X, y, sample_weight=weight)
        except ValueError as refusal:
            if not any(remedy in str(refusal) for remedy in REMEDIES):
                raise
            return reject()


def check_certificate(model, X, y, weight):
    """What the model reports against what is true."""
    assert model.status_ != "failed"
    assert model.dual_gap_ >= 0.0
    if model.status_ == "converged":
        assert model.dual_gap_ <= model.tol
    slack = max(1e-7, 0.1 * model.tol) if X.dtype == np.float32 else 1e-7
    found = judgements(model, X, y, weight)
    if not found:
        return
    if not -1e-9 <= largest(found) <= model.dual_gap_ + slack:  # a false gap, or too few digits
        with many_digits():
            found = judgements(model, X, y, weight)
    assert largest(found) >= -1e-9  # or the referee is wrong
    assert largest(found) <= model.dual_gap_ + slack
    check_objective(model, Judgement(*map(sum, zip(*(one._replace(bound=0) for one in found)))), slack)


def check_objective(model, true, slack):
    """It is as near as the gap says, and, however large the gap, within what rounding of outputs can do."""
    reported = model.objective_
    scale = max(abs(reported), abs(float(true.primal)), float(true.tiny))  # that of the gap
    assert abs(reported - float(true.primal)) <= (model.dual_gap_ + slack) * scale
    assert float(true.least) - slack * scale <= reported <= float(true.most) + slack * scale


def largest(found):
    """The largest excess over an optimum."""
    return max(map(excess, found))


def two_classes(distance=4.0):
    y = np.arange(20) % 2
    return np.random.default_rng(0).normal(size=(20, 2)) + distance * y[:, None], y


def test_every_public_estimator_is_known():
    known = {*CERTIFIED, *UNCERTIFIED, *AROUND_ANOTHER, *WITHOUT_A_PROBLEM}
    assert public_estimators() == known


@pytest.mark.parametrize("name", sorted(CERTIFIED))
@examples(20, 150)
@given(data=st.data())
def test_certificates_hold(name, data):
    case, model = data.draw(cases()), data.draw(CERTIFIED[name])
    if name == "TopKSVC" and case.n_classes == 3:
        model.set_params(k=data.draw(st.integers(1, 2)))
    X, y, weight = case.data()
    check_certificate(fitted(model, X, y, weight), X, y, weight)


@pytest.mark.parametrize(("name", "parameters", "case"), FOUND)
def test_certificates_that_were_false_hold(name, parameters, case):
    X, y, weight = case.data()
    model = getattr(maxmargin, name)(random_state=0, **parameters)
    check_certificate(fitted(model, X, y, weight), X, y, weight)


@pytest.mark.parametrize("solver", ["newton", "dual-cd", "truncated-newton"])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e5])
def test_a_time_stamp_among_the_features(solver, spread):
    """A feature around 1.7e9 once ended a solved problem as "failed", with a gap of -2.1e-7."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=60) > 0
    X[:, 1] = 1.7e9 + spread * (X[:, 1] + 0.2 * y)
    model = LinearSVC(loss="squared-hinge", solver=solver, max_iter=300, random_state=0)
    check_certificate(fitted(model, X, y, None), X, y, None)
    if solver == "newton" or spread == 1.0:
        assert model.status_ == "converged"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("distance", [0.0, 4.0])
@pytest.mark.parametrize("name", sorted(UNCERTIFIED))
def test_methods_without_a_certificate_report_none(name, distance):
    """But for a perceptron without a loss: no objective is below 0."""
    X, y = two_classes(distance)
    model = getattr(maxmargin, name)(random_state=0).fit(X, y)
    if "Perceptron" in name and (model.predict(X) == y).all():
        f, _ = expansion(model, X, model.dual_coef_[0], model.intercept_[0])
        assert model.dual_gap_ == model.objective_ == np.maximum(0, np.where(y == 1, -f, f)).sum() == 0.0
    else:
        assert model.dual_gap_ == np.inf


def test_the_published_budgeted_method_reports_no_certificate():
    X, y = two_classes()
    model = SparseKernelClassifier.as_published(budget=5, alpha=1e-2, random_state=0)
    assert model.fit(X, y).dual_gap_ == np.inf


@pytest.mark.parametrize("name", sorted(AROUND_ANOTHER))
def test_an_estimator_around_another_reports_its_certificates(name):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(24, 2)), np.arange(24) % 3
    X += y[:, None]
    around = {
        "AutoSVC": lambda: maxmargin.AutoSVC(random_state=0),
        "CalibratedSVC": lambda: CalibratedSVC(KernelSVC(C=10.0), cv=2),
        "OutputCodeClassifier": lambda: OutputCodeClassifier(LinearSVC(), code="one-vs-one"),
        "PathCV": lambda: PathCV(KernelSVC(), Cs=[0.1, 10.0], cv=2),
    }[name]()
    inner = getattr(around.fit(X, y), AROUND_ANOTHER[name])
    if name == "AutoSVC":  # its problem is that of the scaled rows
        X = around.scaling_.transform(X)
    for model in inner if isinstance(inner, list) else [inner]:
        check_certificate(model, X, y, None)
    gaps = [model.dual_gap_ for model in (inner if isinstance(inner, list) else [inner])]
    assert getattr(around, "dual_gap_", max(gaps)) == max(gaps)


def test_a_transformer_reports_no_certificate():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for name in WITHOUT_A_PROBLEM:
        assert not hasattr(getattr(maxmargin, name)().fit(X), "dual_gap_")
