"""Certificates for float32 rows hold for the kernel of those rows in exact arithmetic.

Everything is recomputed in double from fitted attributes. The lower bound is the dual value of a float64 fit
to 1e-9, recomputed as well.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from support.reference import kernel_svm_bounds

from maxmargin import CalibratedSVC, KernelSVC, PathCV
from maxmargin.kernels import RBF, KernelData, Linear, Polynomial
from maxmargin.methods.kernel_svm import rounding, solve, working_set
from maxmargin.methods.kernel_svm.problem import SvmProblem
from maxmargin.methods.kernel_svm.rounding import RoundedPoint
from maxmargin.methods.kernel_svm.solve import working_sets
from maxmargin.methods.kernel_svm.working_set import start
from maxmargin.solving.result import Status, Stop

TOL = 1e-3
GAMMA = 0.05
LOSSES = ["hinge", "squared-hinge"]
UNLIMITED = 10**9
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_container = pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def noisy(n=600, d=10, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    score = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def rbf(X, Z, gamma=GAMMA):
    """From differences in double, without a shortcut."""
    X, Z = (np.asarray(M.toarray() if sparse.issparse(M) else M, dtype=np.float64) for M in (X, Z))
    return np.exp(-gamma * sum((X[:, k, None] - Z[None, :, k]) ** 2 for k in range(X.shape[1])))


def primal_value(model, X, y, C, loss, kernel=rbf):
    a, Z = model.dual_coef_[0], model.support_vectors_
    targets = np.where(y == model.classes_[1], 1.0, -1.0)
    missing = np.maximum(0.0, 1.0 - targets * (kernel(X, Z) @ a + model.intercept_[0]))
    losses = missing if loss == "hinge" else 0.5 * missing**2
    return 0.5 * a @ kernel(Z, Z) @ a + C * losses.sum()


def dual_bound(X, y, C, loss, values=rbf, **parameters):
    """A lower bound of the optimum, from the coefficients of a fit in double."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        wide = X.astype(np.float64)
        model = KernelSVC(C, loss=loss, tol=1e-9, **{"gamma": GAMMA, **parameters}).fit(wide, y)
    K, a = values(X, X), np.zeros(len(y))
    a[model.support_] = model.dual_coef_[0]
    targets = np.where(y == model.classes_[1], 1.0, -1.0)
    return kernel_svm_bounds(a, model.intercept_[0], K, targets, np.full(len(y), float(C)), loss)[1]


def assert_honest(model, primal, dual):
    excess = (primal - dual) / primal
    assert excess <= model.dual_gap_ + 0.1 * model.tol
    assert model.status_ != "converged" or excess <= 1.1 * model.tol
    assert model.status_ != "converged" or model.dual_gap_ <= model.tol
    return excess


@every_loss
@pytest.mark.parametrize("C", [1e-3, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6])
def test_excess_is_within_the_reported_gap(loss, C):
    X, y = noisy(1200 if C == 1e5 else 500)
    dual = dual_bound(X, y, C, loss)
    for container in (np.asarray, sparse.csr_array):
        model = KernelSVC(C, gamma=GAMMA, loss=loss, tol=TOL).fit(container(X), y)
        assert model.status_ == "converged"
        assert_honest(model, primal_value(model, X, y, C, loss), dual)


@every_loss
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9])
def test_excess_with_offsets_and_scales(loss, scale, offset):
    X, y = noisy(300, d=4)
    spread = max(1.0, 1e-5 * offset)  # so that float32 keeps rows apart
    X = (scale * (offset + spread * X.astype(np.float64))).astype(np.float32)
    gamma = 0.3 / (spread * scale) ** 2
    C, kernel = 1e4, lambda X, Z: rbf(X, Z, gamma)
    dual = dual_bound(X, y, C, loss, kernel, gamma=gamma)
    for container in (np.asarray, sparse.csr_array):
        model = KernelSVC(C, gamma=gamma, loss=loss, tol=TOL).fit(container(X), y)
        assert_honest(model, primal_value(model, X, y, C, loss, kernel), dual)


@every_loss
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, 0.1, 1.0), 2.0 * RBF(GAMMA) + Linear()])
def test_other_kernels_have_double_certificates_too(loss, kernel):
    X, y = noisy(150, d=6)

    def values(X, Z):
        return kernel(X.astype(np.float64), Z.astype(np.float64))

    C = 1e4
    dual = dual_bound(X, y, C, loss, values, kernel=kernel, max_iter=3000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KernelSVC(C, kernel=kernel, loss=loss, tol=TOL, max_iter=3000).fit(X, y)
    assert_honest(model, primal_value(model, X, y, C, loss, values), dual)


def precomputed(X, Z, K):
    """Values of the matrix itself; points are column indices."""
    rows = np.arange(len(K)) if X.ndim == 2 else X
    return K[np.ix_(rows, Z)].astype(np.float64)


@every_loss
def test_a_precomputed_float32_matrix_is_what_it_is(loss):
    X, y = noisy(400)
    K, C = rbf(X, X).astype(np.float32), 1e5
    exact = K.astype(np.float64)
    model = KernelSVC(C, kernel="precomputed", loss=loss, tol=TOL).fit(K, y)
    primal = primal_value(model, K, y, C, loss, lambda X, Z: precomputed(X, Z, K))
    coef = np.zeros(len(y))
    wide = KernelSVC(C, kernel="precomputed", loss=loss, tol=1e-9).fit(exact, y)
    coef[wide.support_] = wide.dual_coef_[0]
    _, dual = kernel_svm_bounds(coef, 0.0, exact, 2.0 * y - 1.0, np.full(len(y), C), loss)
    assert_honest(model, primal, dual)


def test_a_function_of_rows_is_evaluated_in_double():
    X, y = noisy(200)
    C = 1e5
    model = KernelSVC(C, kernel=lambda X, Z: rbf(X, Z).astype(X.dtype), tol=TOL).fit(X, y)
    assert_honest(model, primal_value(model, X, y, C, "hinge"), dual_bound(X, y, C, "hinge"))


@every_loss
def test_large_problems_shrink_and_end_in_double(monkeypatch, loss):
    monkeypatch.setattr(working_set, "MAX_SMALL_SAMPLES", 64)
    monkeypatch.setattr(working_set, "N_INITIAL_ROWS", 256)
    X, y = noisy(900)
    problem = SvmProblem(KernelData(RBF(GAMMA), X, np.arange(900)), 2.0 * y - 1.0, np.full(900, 1e5))
    problem = replace(problem, squared=loss != "hinge")
    result = working_sets(problem, stop=Stop(TOL, 100_000), cache_bytes=400_000)
    primal, _ = kernel_svm_bounds(result.coef, result.intercept, rbf(X, X), problem.y, problem.cost, loss)
    assert result.status is Status.CONVERGED
    assert (primal - dual_bound(X, y, 1e5, loss)) / primal <= result.gap + 0.1 * TOL <= 1.1 * TOL


@every_loss
def test_columns_that_share_kernel_values_end_in_double(loss):
    X, y = noisy(240, d=400, n_classes=3)
    X[:, 6:] *= 1e-3
    model = KernelSVC(1e6, gamma=GAMMA, loss=loss, tol=TOL).fit(X, y)
    assert model.status_ == "converged"
    K = rbf(X, X)
    for t in range(model.code_.n_columns):
        which, targets = model.code_.column(y, t)
        a = np.zeros(len(y))
        a[model.support_] = model.dual_coef_[t]
        part = (K[np.ix_(which, which)], targets, np.full(len(which), 1e6), loss)
        primal, dual = kernel_svm_bounds(a[which], model.intercept_[t], *part)
        assert (primal - dual) / primal <= model.dual_gap_ + 0.1 * TOL <= 1.1 * TOL


def test_a_path_stays_in_double():
    X, y = noisy(300)
    Cs = [1.0, 1e3, 1e5]
    for C, model in zip(Cs, KernelSVC(gamma=GAMMA, tol=TOL).path(X, y, Cs)):
        assert model.status_ == "converged"
        assert_honest(model, primal_value(model, X, y, C, "hinge"), dual_bound(X, y, C, "hinge"))


def in_float32(monkeypatch):
    """Count the solves that begin in double."""
    begun, go = [], solve.Solve._go_double

    def spy(self):
        begun.append(len(self.state.a))
        return go(self)

    monkeypatch.setattr(solve.Solve, "_go_double", spy)
    return begun


def test_folds_of_stored_kernel_values_go_on_in_double(monkeypatch):
    X, y = noisy(300)
    begun = in_float32(monkeypatch)
    CalibratedSVC(KernelSVC(1e5, gamma=GAMMA), cv=2).fit(X, y)
    assert len(begun) == 3  # the fit to all rows, and one without each fold
    begun.clear()
    search = PathCV(KernelSVC(gamma=GAMMA), Cs=[1.0, 1e5], gammas=[GAMMA], cv=2).fit(X, y)
    assert search.cv_results_["max_dual_gap"].max() <= TOL
    assert len([n for n in begun if n == 150]) == 2


@every_loss
@pytest.mark.parametrize("small", [True, False])
def test_a_solve_resumes_in_double_bit_for_bit(monkeypatch, loss, small):
    if not small:
        monkeypatch.setattr(working_set, "MAX_SMALL_SAMPLES", 0)
    X, y = noisy(300)
    cost = np.full(300, 1e5)

    def problem(n_threads):
        return SvmProblem(
            KernelData(RBF(GAMMA), X, np.arange(300), n_threads), 2.0 * y - 1.0, cost, loss != "hinge"
        )

    states, stop = [], Stop(1e-8, 100_000)
    whole = working_sets(
        problem(1), stop=stop, cache_bytes=UNLIMITED, callback=lambda _, state: states.append(state.copy())
    )
    assert whole.status is Status.CONVERGED
    assert states[-1].double
    assert not states[0].double
    for n_threads, state in [(3, None), *((1, state) for state in states)]:
        other = working_sets(problem(n_threads), stop=stop, cache_bytes=UNLIMITED, state=state)
        np.testing.assert_array_equal(other.coef, whole.coef)
        assert other.intercept == whole.intercept
        assert other.history[-1].primal == whole.history[-1].primal


def test_a_fit_that_ends_early_reports_what_rounding_can_do():
    X, y = noisy(1200)
    for C in (1e4, 1e6):
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            model = KernelSVC(C, gamma=GAMMA, tol=1e-5, max_iter=1).fit(X, y)
        assert_honest(model, primal_value(model, X, y, C, "hinge"), dual_bound(X, y, C, "hinge"))


def test_no_time_for_double_is_not_converged(monkeypatch):
    """The last certificate in double is given up when time runs out; the gap then includes an estimate."""
    X, y = noisy(500)
    problem = SvmProblem(KernelData(RBF(GAMMA), X, np.arange(500)), 2.0 * y - 1.0, np.full(500, 1e5))
    for module in (rounding, solve):
        monkeypatch.setattr(module, "in_parts", lambda outputs, rows, late: None)
    result = working_sets(problem, stop=Stop(TOL, 200), cache_bytes=UNLIMITED)
    K = rbf(X, X)
    primal, dual = kernel_svm_bounds(result.coef, result.intercept, K, problem.y, problem.cost, "hinge")
    assert result.status is not Status.CONVERGED
    assert (primal - dual) / primal <= result.gap


@every_loss
def test_measured_rounding_bounds_the_true_gap(loss):
    """For any coefficients, the gap of rounded outputs plus the measured rounding bounds the true gap."""
    X, y = noisy(400)
    K = rbf(X, X)
    rng = np.random.default_rng(0)
    for C in (1.0, 1e3, 1e6):
        problem = SvmProblem(
            KernelData(RBF(GAMMA), X, np.arange(400)), 2.0 * y - 1.0, np.full(400, C), loss != "hinge"
        )
        a = C * problem.y * np.clip(rng.normal(size=400), 0.0, 1.0)
        state = start(problem, TOL, True, a)
        a, every = state.a, np.arange(400)
        f = K.astype(np.float32).astype(np.float64) @ a
        g = problem.y - f - problem.ridge * a
        b = problem.intercept(every, a, g)
        point = RoundedPoint(problem, a, g, b, every)
        exact = problem.gap(every, a, problem.y - K @ a - problem.ridge * a, b)
        assert exact <= problem.gap(every, a, g, b) + point.gap_error
        assert abs(
            problem.dual(every, a, problem.y - K @ a - problem.ridge * a) - problem.dual(every, a, g)
        ) <= (point.dual_error)


def test_float64_rows_measure_nothing(monkeypatch):
    monkeypatch.setattr(solve, "RoundedPoint", None)
    X, y = noisy(100)
    assert KernelSVC(1e4, gamma=GAMMA).fit(X.astype(np.float64), y).status_ == "converged"


@every_loss
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_in_double_is_part_of_the_gap(loss, dtype):
    """Linear kernel values of rows far from 0 cancel even in double, so no fit can show convergence."""
    X, y = noisy(60, d=5)
    X = (1e9 + 1e4 * X.astype(np.float64)).astype(dtype)
    with pytest.warns(ConvergenceWarning):
        model = KernelSVC(1e3, kernel="linear", loss=loss, tol=TOL, max_seconds=5.0).fit(X, y)
    assert model.status_ != "converged"
    assert model.dual_gap_ > TOL
