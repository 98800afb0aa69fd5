"""Paths over C and alpha: warm and cold solutions agree, and a path says how it was found."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from maxmargin import (
    AllPairsSVC,
    CalibratedSVC,
    KernelPegasos,
    KernelSVC,
    LagrangianSVC,
    LeastSquaresClassifier,
    LinearProgramSVC,
    LinearSVC,
    SparseKernelClassifier,
    path,
)

CS = [10.0, 0.1, 1.0]
CONVEX = {
    "kernel": (KernelSVC(tol=1e-7), "kernel-rows"),
    "squared hinge": (KernelSVC(tol=1e-7, loss="squared-hinge", code="one-vs-rest"), "kernel-rows"),
    "linear": (LinearSVC(tol=1e-7), "cold"),
    "lagrangian": (LagrangianSVC(tol=1e-7), "warm-start"),
    "lagrangian, rbf": (LagrangianSVC(tol=1e-7, kernel="rbf"), "warm-start"),
    "least squares": (LeastSquaresClassifier(tol=1e-7), "warm-start"),
    "program": (LinearProgramSVC(tol=1e-7), "warm-start"),
    "all pairs": (AllPairsSVC(tol=1e-7), "cold"),
    "pipeline": (make_pipeline(StandardScaler(), KernelSVC(tol=1e-7)), "warm-start"),
}


def data(n=120, n_classes=3, seed=0):
    X, y = make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.1, random_state=seed
    )
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("name", CONVEX)
def test_warm_and_cold_solutions_agree(name):
    estimator, start = CONVEX[name]
    X, y = data()
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    found = path(estimator, X, y, Cs=CS, sample_weight=weight)
    assert found.start == start
    assert found.values.tolist() == CS
    for C, model, objective, gap in zip(CS, found.estimators, found.objectives, found.dual_gaps):
        last = model[-1] if name == "pipeline" else model
        assert last.C == C
        assert gap == last.dual_gap_ <= 1e-7
        cold = clone(estimator).set_params(**{found.parameter: C})
        step = {"kernelsvc__sample_weight": weight} if name == "pipeline" else {"sample_weight": weight}
        cold.fit(X, y, **step)
        known = (cold[-1] if name == "pipeline" else cold).objective_
        assert objective == pytest.approx(known, rel=2e-7)


def test_the_kernel_svm_is_that_of_scikit_learn():
    X, y = data(n_classes=2)
    found = path(KernelSVC(tol=1e-9, gamma=0.2), X, y, Cs=CS)
    for C, model in zip(CS, found.estimators):
        oracle = SVC(C=C, gamma=0.2, tol=1e-9).fit(X, y)
        assert_allclose(model.decision_function(X), oracle.decision_function(X), atol=1e-5)


def test_kernel_rows_are_shared():
    X, y = data(n=600, n_classes=2)
    found = path(KernelSVC(gamma=0.2), X, y, Cs=[0.1, 1, 10])
    cold = [clone(model).fit(X, y).history_[0][-1].kernel_values for model in found.estimators]
    assert found.kernel_values.sum() < 0.6 * sum(cold)
    assert (found.kernel_values >= 0).all()
    assert (found.seconds > 0.0).all()


def test_budgeted_models_of_a_path_share_their_support_vectors():
    X, y = data()
    estimator = SparseKernelClassifier(budget=15, random_state=0)
    found = path(estimator, X, y, alphas=[1e-3, 1e-1])
    own = clone(estimator).fit(X, y)
    assert found.start == "support-vectors"
    for alpha, model in zip([1e-3, 1e-1], found.estimators):
        assert model.alpha == model.alpha_ == alpha
        assert sorted(model.support_) == sorted(own.support_)
        assert model.dual_gap_ <= model.tol
    grown = clone(estimator).set_params(alpha=1e-3)  # a set of this alpha's own is as good as that of its fit
    same = path(grown, X, y, alphas=[1e-3]).estimators[0]
    assert same.objective_ == pytest.approx(clone(grown).fit(X, y).objective_, rel=2e-3)
    assert not hasattr(estimator, "support_")


def test_a_model_that_clones_what_is_inside_it_starts_cold():
    X, y = data(60)
    found = path(CalibratedSVC(KernelSVC()), X, y, Cs=[1.0, 2.0])
    assert (found.start, found.parameter) == ("cold", "estimator__C")
    found = path(KernelPegasos(random_state=0), X, y, alphas=[0.1])
    assert (found.start, found.parameter) == ("cold", "alpha")


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "give exactly one of Cs and alphas"),
        ({"Cs": [1], "alphas": [1]}, "give exactly one of Cs and alphas"),
        ({"alphas": [1.0]}, "has no parameter alpha"),
        ({"Cs": [1.0, -1.0]}, "Cs must be a list"),
        ({"Cs": []}, "Cs must be a list"),
    ],
)
def test_bad_grids_are_refused(given, match):
    with pytest.raises(ValueError, match=match):
        path(KernelSVC(), *data(60), **given)
