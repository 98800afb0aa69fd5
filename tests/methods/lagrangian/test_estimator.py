"""LagrangianSVC against its peers, and what it refuses."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.svm import LinearSVC as PeerSVC
from support.interrupts import interrupt_inside
from support.lagrangian_problems import SOLVERS, dot, standardised

from maxmargin import LagrangianSVC, LinearSVC
from maxmargin.methods.lagrangian import cholesky


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_solution_as_linear_svc_and_scikit_learn(solver):
    X, y = standardised(load_breast_cancer)
    ours = LagrangianSVC(0.02, solver=solver, tol=1e-10).fit(X, y)
    same = LinearSVC(0.02, loss="squared-hinge", penalize_intercept=True, tol=1e-12).fit(X, y)
    peer = PeerSVC(C=0.01, tol=1e-10, dual=False).fit(X, y)
    assert ours.solver_ == solver
    for other in (same, peer):
        np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-5)
        np.testing.assert_allclose(ours.intercept_, other.intercept_, atol=1e-5)
    assert ours.objective_ == pytest.approx(same.objective_, rel=1e-9)
    assert ours.n_support_ == pytest.approx(same.n_support_, abs=2)


@pytest.mark.parametrize("solver", SOLVERS)
def test_linear_kernel_in_any_space_equals_the_linear_svm(solver):
    X, y = standardised(load_wine)
    linear = LagrangianSVC(0.05, solver=solver, tol=1e-10).fit(X, y)
    held = LagrangianSVC(0.05, kernel=dot, solver=solver, tol=1e-10).fit(X, y)
    turned = LagrangianSVC(0.05, n_components=13, solver=solver, tol=1e-10, random_state=0).fit(X, y)
    matrix = LagrangianSVC(0.05, kernel="precomputed", solver=solver, tol=1e-10).fit(X @ X.T, y)
    assert [m.space_ for m in (linear, held, turned, matrix)] == ["linear", "kernel", "eigen", "kernel"]
    assert turned.trace_captured_ == pytest.approx(1.0)
    scores = linear.decision_function(X)
    for model, rows in [(held, X), (turned, X), (matrix, X @ X.T)]:
        np.testing.assert_allclose(model.decision_function(rows), scores, atol=1e-4)
        assert model.objective_ == pytest.approx(linear.objective_, rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_equals_sparse_for_wide_and_tall_data(solver, dtype):
    X, y = standardised(load_wine)
    X = np.where(np.abs(X) < 0.3, 0.0, X).astype(dtype)
    dense = LagrangianSVC(0.05, solver=solver, tol=1e-9).fit(X, y)
    thin = LagrangianSVC(0.05, solver=solver, tol=1e-9).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-5)
    wide = np.hstack([X, np.zeros((len(X), 500), dtype=dtype)])  # more features than rows, none of use
    more = LagrangianSVC(0.05, solver=solver, tol=1e-9).fit(wide, y)
    np.testing.assert_allclose(more.coef_[:, :13], dense.coef_, atol=1e-5)


def test_strings_with_a_callable_kernel():
    words = ["aab", "aba", "abb", "bba", "ccd", "cdc", "ddc", "dcd"] * 2

    def common(X, Z):
        return np.array([[len(set(x) & set(z)) for z in Z] for x in X], dtype=float)

    labels = np.array([0] * 4 + [1] * 4 + [0] * 4 + [1] * 4)
    for solver in SOLVERS:
        for n_components in ("auto", 2):
            model = LagrangianSVC(kernel=common, solver=solver, n_components=n_components).fit(words, labels)
            assert model.predict(["ab", "dc"]).tolist() == [0, 1]


def test_eigen_features_bound_the_distance_from_the_kernel_optimum():
    X, y = standardised(load_digits, [3, 8])
    exact = LagrangianSVC(kernel="rbf", tol=1e-9).fit(X, y)
    gaps = []
    for S in (20, 80, 320):
        model = LagrangianSVC(kernel="rbf", n_components=S, kernel_gap=True, tol=1e-9, random_state=0)
        model.fit(X, y)
        assert (model.space_, model.n_components_) == ("eigen", S)
        assert model.objective_ * (1 - model.kernel_gap_) <= exact.objective_ <= model.objective_
        gaps.append(model.kernel_gap_)
    assert 1.0 > gaps[0] > gaps[1] > gaps[2] > 0.0
    np.testing.assert_allclose(exact.decision_function(X), model.decision_function(X), atol=0.1)
    assert not hasattr(model.set_params(kernel_gap=False).fit(X, y), "kernel_gap_")


@pytest.mark.parametrize("solver", SOLVERS)
def test_eigen_feature_objective_equals_the_kernel_objective(solver):
    """Landmarks this time: the primal value on the features is that of the expansion that is kept."""
    X, y = standardised(load_digits)
    model = LagrangianSVC(kernel="rbf", n_components=60, solver=solver, kernel_gap=True, random_state=0)
    model.fit(X, y == 8)
    assert 60 <= len(model.support_) < 100
    u, target = model.dual_coef_[0], np.where(y == 8, 1.0, -1.0)
    outputs = model.decision_function(X)
    K, b = model.kernel_(model.support_vectors_, model.support_vectors_), model.intercept_[0]
    shortfall = np.maximum(0.0, 1.0 - target * outputs)
    assert 0.5 * (u @ K @ u + b * b + shortfall @ shortfall) == pytest.approx(model.objective_, rel=1e-6)
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)


def test_many_rows_use_eigen_features_automatically(monkeypatch):
    monkeypatch.setattr("maxmargin.methods.lagrangian.estimator.MAX_AUTO_KERNEL_ROWS", 100)
    monkeypatch.setattr("maxmargin.methods.lagrangian.estimator.MAX_KERNEL_ROWS", 150)
    monkeypatch.setattr("maxmargin.methods.lagrangian.estimator.AUTO_COMPONENTS", 30)
    X, y = standardised(load_wine)
    model = LagrangianSVC(kernel="rbf", random_state=0).fit(X, y)
    assert (model.space_, model.n_components_) == ("eigen", 30)
    assert LagrangianSVC(kernel="rbf").fit(X[::2], y[::2]).space_ == "kernel"
    with pytest.raises(ValueError, match=r"at most 150 different rows; got 178\. Set n_components to"):
        LagrangianSVC(kernel="rbf", n_components=None).fit(X, y)


def test_refit_in_another_space_removes_old_attributes():
    X, y = standardised(load_wine)
    model = LagrangianSVC(kernel="rbf", n_components=10).fit(X, y)
    model.set_params(kernel="linear", n_components="auto").fit(X, y)
    assert not any(hasattr(model, name) for name in ("support_", "dual_coef_", "trace_captured_"))
    assert not hasattr(model, "gamma_")
    assert not hasattr(model.set_params(kernel="rbf").fit(X, y), "coef_")


def test_ctrl_c_is_seen_while_a_matrix_is_factorised(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 20)), rng.integers(0, 2, size=600)
    interrupt_inside(monkeypatch, cholesky, "_factorise")
    with pytest.raises(KeyboardInterrupt):
        LagrangianSVC(kernel="rbf", solver="lagrangian", tol=1e-14, n_jobs=1).fit(X, y)


def test_auto_uses_coordinate_descent_for_wide_problems(monkeypatch):
    X, y = standardised(load_wine)
    newton = LagrangianSVC(0.1, tol=1e-8).fit(X, y)
    monkeypatch.setattr("maxmargin.methods.lagrangian.estimator.MAX_NEWTON_ORDER", 10)
    descent = LagrangianSVC(0.1, tol=1e-8, random_state=0, warm_start=True).fit(X, y).fit(X, y)
    assert (newton.solver_, descent.solver_) == ("newton", "dual-cd")
    np.testing.assert_allclose(descent.coef_, newton.coef_, atol=1e-4)
    assert LagrangianSVC(kernel="rbf").fit(X, y).solver_ == "newton"
    assert LagrangianSVC(n_components=5).fit(X, y).solver_ == "newton"


BAD_PARAMETERS = {
    "C": (0.0, r"C must be a finite number > 0; got 0\.0"),
    "solver": ("smo", r"solver must be one of \['auto', 'lagrangian', 'newton'\]; got 'smo'"),
    "mu": ("big", "mu must be a finite number > 0; got 'big'"),
    "n_components": (0, "n_components must be an integer >= 1; got 0"),
    "kernel_gap": (1, "kernel_gap must be True or False; got 1"),
    "warm_start": ("no", "warm_start must be True or False; got 'no'"),
    "kernel": ("gauss", "kernel must be"),
    "tol": (0.0, r"tol must be a finite number > 0; got 0\.0"),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters_are_refused(name):
    value, match = BAD_PARAMETERS[name]
    with pytest.raises(ValueError, match=match):
        LagrangianSVC(**{name: value}).fit(*standardised(load_wine))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("code", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize("n_components", ["auto", 5])
def test_zero_kernel_fits_the_intercept_only(solver, code, n_components):
    X, y = standardised(load_wine)
    model = LagrangianSVC(
        kernel=lambda A, B: np.zeros((len(A), len(B))), solver=solver, code=code, n_components=n_components
    ).fit(X, y)
    assert model.status_ == "converged"
    assert np.isfinite(model.decision_function(X)).all()
