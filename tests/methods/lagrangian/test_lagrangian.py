"""The Lagrangian SVM: the textbook program, the published iteration, its systems, and the estimator."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as PeerSVC
from support.interrupts import interrupt_inside
from support.properties import examples
from support.reference import lagrangian_dual, lagrangian_primal, svm_objective, svm_primal

from maxmargin import LagrangianSVC, LinearSVC
from maxmargin.data.rows import Rows
from maxmargin.kernels import RBF, Linear
from maxmargin.kernels.data import KernelData
from maxmargin.methods.eigen_map.features import find_eigen_features
from maxmargin.methods.lagrangian import cholesky
from maxmargin.methods.lagrangian import iteration as lagrangian
from maxmargin.methods.lagrangian import newton as kernel_newton
from maxmargin.methods.lagrangian.cholesky import Factor
from maxmargin.methods.lagrangian.iteration import lagrangian as iterate
from maxmargin.methods.lagrangian.iteration import row_mu
from maxmargin.methods.lagrangian.newton import kernel_newton as solve_by_newton
from maxmargin.methods.lagrangian.problem import LagrangianProblem
from maxmargin.methods.lagrangian.systems import EigenSystem, FeatureSystem, KernelSystem
from maxmargin.solving.result import Status, Stop
from maxmargin.solving.row_pool import RowPool

SOLVERS = ("newton", "lagrangian")


def noisy(seed, n=60, d=4, C=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.2, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y, C * rng.uniform(0.2, 3.0, size=n)


def rbf(X, Z):
    return np.exp(-0.3 * ((X[:, None] - Z) ** 2).sum(axis=2))


def dot(X, Z):
    return X @ Z.T


def standardised(load, classes=None):
    X, y = load(return_X_y=True)
    keep = slice(None) if classes is None else np.isin(y, classes)
    return StandardScaler().fit_transform(X[keep]), y[keep]


def systems(X, cost):
    """Every form of one and the same system, that of a linear kernel."""
    rows, K = Rows(X, np.arange(len(X))), X @ X.T
    found = find_eigen_features(
        KernelData(Linear(), X, rows.index), X.shape[1], rng=np.random.default_rng(0), weight=cost
    )
    turned = Rows(found.features, rows.index)
    return {
        "features": FeatureSystem(rows, cost),
        "csr": FeatureSystem(Rows(sparse.csr_array(X), rows.index), cost),
        "kernel": KernelSystem(K + 1.0, cost),
        "eigen": EigenSystem(turned, cost, found.eigenvalues),
        "eigen, factorised": FeatureSystem(turned, cost),
    }


# ---- the textbook program ----


@pytest.mark.parametrize("which", ["linear", "kernel", "eigen"])
@examples(60, 200)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 40),
    d=st.integers(1, 6),
    exponent=st.floats(-4.0, 4.0),
)
def test_the_optimum_is_that_of_the_textbook_program(which, seed, n, d, exponent):
    X, y, cost = noisy(seed, n, d, 10.0**exponent)
    kernel = {"linear": "linear", "kernel": RBF(0.3), "eigen": RBF(0.3)}[which]
    model = LagrangianSVC(
        10.0**exponent,
        kernel=kernel,
        n_components=min(n, 7) if which == "eigen" else "auto",
        tol=1e-9,
        random_state=0,
    ).fit(X, y, cost / 10.0**exponent)
    K = X @ X.T if which == "linear" else rbf(X, X)
    if which == "eigen":  # the features of the rows, from the fitted expansion's landmarks
        found = find_eigen_features(
            KernelData(RBF(0.3), X, np.arange(n)), min(n, 7), rng=np.random.default_rng(1), weight=cost
        )
        K = found.features @ found.features.T
    a, best = lagrangian_dual(K, y, cost)
    assert model.space_ == which
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert lagrangian_primal(y * a, K, y, cost) >= model.objective_ * (1 - 1e-8)
    if which == "linear":
        w, b = model.coef_[0], model.intercept_[0]
        ours = svm_objective(w, b, X, y, cost, "squared-hinge", "penalised")
        assert ours == pytest.approx(model.objective_, rel=1e-9)
    elif which == "kernel":
        u = np.zeros(n)
        u[model.support_] = model.dual_coef_[0]
        assert lagrangian_primal(u, K, y, cost) == pytest.approx(model.objective_, rel=1e-9)
        assert model.intercept_[0] == pytest.approx(u.sum(), abs=1e-9 * np.abs(u).sum())


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), exponent=st.floats(-3.0, 0.0), scale=st.floats(0.1, 10.0))
def test_the_iteration_from_random_starts_ends_at_the_textbook_optimum(seed, exponent, scale):
    X, y, cost = noisy(seed, 25, 3, 10.0**exponent)
    rng = np.random.default_rng(seed)
    a, best = lagrangian_dual(X @ X.T, y, cost)
    for name, system in systems(X, cost).items():
        problem = LagrangianProblem(system, y)
        begin = scale * cost.max() * rng.normal(size=len(y))
        own = rng.uniform(0.3, 0.95) * 2.0 / cost
        mu = own if rng.integers(2) else np.full(len(y), own.min())  # each row's own, and one for all
        result = iterate(
            problem,
            stop=Stop(tol=1e-10, max_iter=100_000),
            mu=mu,
            state=lagrangian.start(problem, begin, mu),
        )
        assert result.status is Status.CONVERGED, name
        assert result.objective == pytest.approx(best, rel=1e-8), name
        np.testing.assert_allclose(
            y * result.dual_coef, a, atol=1e-4 * a.max()
        )  # the same point, not only the same value


def test_newton_and_the_iteration_agree_and_newton_takes_few_steps():
    X, y, cost = noisy(3, 300, 6, C=3.0)
    system = KernelSystem(rbf(X, X) + 1.0, cost)
    few = solve_by_newton(system, y, stop=Stop(tol=1e-12))
    many = iterate(LagrangianProblem(system, y), stop=Stop(tol=1e-10, max_iter=100_000))
    assert few.status is many.status is Status.CONVERGED
    assert few.n_iter <= 8 < 30 < many.n_iter
    np.testing.assert_allclose(few.coef, y * np.maximum(0.0, y * many.coef), atol=1e-4 * cost.max())


@pytest.mark.parametrize("C", [1e-10, 1e-6, 1e6, 1e10])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_extreme_costs(C, kernel):
    X, y = standardised(load_wine)
    model = LagrangianSVC(C, kernel=kernel, tol=1e-6).fit(X, y)
    assert model.status_ == "converged"


@pytest.mark.parametrize("C", [1e-6, 1e-12])
def test_a_small_cost_gives_a_classifier_all_the_same(C):
    X, y = make_classification(400, 20, n_informative=5, flip_y=0.1, random_state=0)
    scores = [
        model.fit(X, y).score(X, y)
        for model in (
            LagrangianSVC(C),
            LagrangianSVC(C, solver="lagrangian"),
            LagrangianSVC(C, n_components=20),
            LagrangianSVC(C, kernel=dot),
        )
    ]
    assert scores == pytest.approx([0.7575] * 4, abs=0.003)


# ---- the iteration ----


@pytest.mark.parametrize("given", [False, True])
def test_the_iteration_is_the_published_one(given):
    """Each a is Q^{-1} (e + max(0, Qa - e - mu a)) of the one before, with Q as a matrix."""
    X, y, cost = noisy(1)
    Q = np.outer(y, y) * (X @ X.T + 1.0) + np.diag(1.0 / cost)
    mu, a, seen = 1.9 / (cost.max() if given else cost), np.linalg.solve(Q, np.ones(len(y))), []
    problem = LagrangianProblem(FeatureSystem(Rows(X, np.arange(len(y))), cost), y)

    def keep(check, state):
        seen.append((check.n_iter, state.a.copy()))

    stop = Stop(tol=1e-300, max_iter=24)
    iterate(problem, stop=stop, mu=row_mu(mu, cost) if given else None, callback=keep)
    assert [n for n, _ in seen] == [0, 8, 16, 24]
    for k in range(1, 25):
        if k % 8 == 0:
            np.testing.assert_allclose(seen[k // 8][1], a, rtol=1e-8, atol=1e-10)
        a = np.linalg.solve(Q, 1.0 + np.maximum(0.0, Q @ a - 1.0 - mu * a))


def test_the_iteration_contracts_as_fast_as_theory_says():
    """||S Q (a' - a*)|| <= max_k |1 - 1.9 / q_k| ||S Q (a - a*)||, S = diag(sqrt(c)), q_k those of S Q S."""
    X, y, cost = noisy(2, 40, 3, C=0.2)
    Q = np.outer(y, y) * (X @ X.T + 1.0) + np.diag(1.0 / cost)
    problem = LagrangianProblem(KernelSystem(X @ X.T + 1.0, cost), y)
    optimum, _ = lagrangian_dual(X @ X.T, y, cost)
    images = []

    def keep(check, state):
        images.append(np.linalg.norm(np.sqrt(cost) * (Q @ (state.a - optimum))))

    iterate(problem, stop=Stop(tol=1e-300, max_iter=80), callback=keep)
    scaled = np.sqrt(np.outer(cost, cost)) * Q
    rate = np.abs(1.0 - 1.9 / np.linalg.eigvalsh(scaled)).max()
    for before, after in itertools.pairwise(images[1:]):
        assert after <= rate**8 * before + 1e-6
    assert images[-1] < 1e-3 * images[1]


@pytest.mark.parametrize("factor", [0.05, 0.5, 0.95, 0.999])
def test_mu_inside_its_range_converges(factor):
    X, y, cost = noisy(4, C=0.5)
    problem = LagrangianProblem(FeatureSystem(Rows(X, np.arange(len(y))), cost), y)
    result = iterate(problem, stop=Stop(tol=1e-6, max_iter=100_000), mu=factor * 2.0 / cost)
    assert result.status is Status.CONVERGED
    mu = row_mu(factor * 2.0 / cost.max(), cost)
    assert iterate(problem, stop=Stop(tol=1e-6, max_iter=100_000), mu=mu).status is Status.CONVERGED


def test_mu_outside_its_range_is_refused():
    X, y, cost = noisy(4)
    with pytest.raises(ValueError, match=r"mu must lie between 0 and 2 / max C_i = 0\.\d+.*got 5\.0"):
        row_mu(5.0, cost)
    for mu, weight in [
        (2.0, np.ones(60)),
        (1.9, np.r_[np.ones(59), 2.0]),
    ]:  # 1.9 / C is too much with weights
        with pytest.raises(ValueError, match=r"mu must lie between 0 and 2 / max C_i = [12], .*Lower mu"):
            LagrangianSVC(mu=mu, solver="lagrangian").fit(X, y, weight)
    LagrangianSVC(mu=1.9, solver="lagrangian").fit(X, y)
    with pytest.raises(ValueError, match=r"mu must be a finite number > 0; got 0\.0"):
        LagrangianSVC(mu=0.0).fit(X, y)


def plain_iteration(X, y, cost, mu, tol):
    """The iteration of the paper on all rows: steps, in eights, until the textbook gap is at most tol."""
    H = y[:, None] * np.hstack([X, np.ones((len(X), 1))])
    inner = np.linalg.inv(np.eye(H.shape[1]) + (H.T * cost) @ H)

    def solve(z):
        return cost * (z - H @ (inner @ (H.T @ (cost * z))))

    def primal(w):
        missing = np.maximum(0.0, 1.0 - H @ w)
        return 0.5 * (w @ w + cost @ missing**2)

    a, n, best = solve(np.ones(len(y))), 1, -np.inf
    while True:
        image = H @ (H.T @ a) + a / cost
        surplus = np.maximum(0.0, image - 1.0 - mu * a)
        if n % 8 == 0:
            feasible = np.where(surplus > 0.0, 0.0, np.maximum(a, 0.0))
            w = H.T @ feasible
            t = feasible.sum() / (w @ w + feasible @ (feasible / cost))
            best = max(best, 0.5 * t * feasible.sum())
            if min(primal(t * w), primal(H.T @ a)) * (1.0 - tol) <= best:
                return n
        a, n = solve(1.0 + surplus), n + 1


@pytest.mark.parametrize("C", [0.01, 0.1])
def test_repeated_rows_take_the_steps_that_they_take_one_by_one(C):
    X, y, _ = noisy(8, 80, 4)
    X, y = np.vstack([X, np.repeat(X[:1], 1000, axis=0)]), np.append(y, np.repeat(y[:1], 1000))
    expected = plain_iteration(X, y, np.full(len(y), C), 1.9 / C, 1e-6)
    for mu in (None, 1.9 / C):
        model = LagrangianSVC(C, mu=mu, solver="lagrangian", tol=1e-6).fit(X, y)
        assert model.n_iter_ == expected
    slow = plain_iteration(X[:81], y[:81], np.append(np.full(80, C), 1000.0 * C), 1.9 / (1000.0 * C), 1e-6)
    assert slow > 5 * expected  # one mu for all rows would be so much slower


def test_equal_rows_leave_the_range_of_mu_as_it_is():
    X, y = load_iris(return_X_y=True)  # one row is there twice
    exact = LagrangianSVC(0.1, tol=1e-9).fit(X, y)
    model = LagrangianSVC(0.1, mu=19.0, solver="lagrangian", tol=1e-9, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-4)
    with pytest.raises(ValueError, match=r"2 / max C_i = 20, .*got 20\.0"):
        LagrangianSVC(0.1, mu=20.0, solver="lagrangian").fit(X, y)
    with pytest.raises(ValueError, match=r"2 / max C_i = 10, .*got 19\.0"):
        LagrangianSVC(0.1, mu=19.0, class_weight={2: 2.0}, solver="lagrangian").fit(X, y)
    weight = np.random.default_rng(0).uniform(0.1, 1.0, size=len(y))  # unequal ones are merged too
    more = LagrangianSVC(0.1, mu=19.0, solver="lagrangian", max_iter=100_000)
    assert (
        more.fit(np.vstack([X, X]), np.append(y, y), np.append(weight, weight[::-1])).status_ == "converged"
    )
    LagrangianSVC(0.1, mu=1e9, solver="newton").fit(X, y)  # where there is no such step


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_certificates_are_non_negative_and_shrink(solver, kernel):
    X, y = standardised(load_breast_cancer)
    model = LagrangianSVC(0.1, solver=solver, kernel=kernel, tol=1e-8, max_iter=10**5).fit(X, y)
    gaps = [check.gap for check in model.history_[0]]
    assert min(gaps) >= -1e-12
    assert gaps[-1] <= 1e-8 < gaps[0]
    duals = [check.dual for check in model.history_[0]]
    assert duals == sorted(duals)
    if solver == "lagrangian":
        assert all(later < 0.9 * earlier for earlier, later in zip(gaps[1::4], gaps[5::4], strict=False))


# ---- systems ----


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 40), d=st.integers(1, 6), exponent=st.floats(-3, 3))
def test_all_systems_are_the_same_dense_one(seed, n, d, exponent):
    X, _, cost = noisy(seed, n, d, 10.0**exponent)
    rng = np.random.default_rng(seed)
    z, u, G = rng.normal(size=n), rng.normal(size=n), X @ X.T + 1.0
    solution = np.linalg.solve(G + np.diag(1.0 / cost), z)
    for name, system in systems(X, cost).items():
        coef = system.combine(u)
        scores = system.scores(coef)
        close = 1e-9 * max(1.0, cost.max()) * cost.max()
        np.testing.assert_allclose(system.solve(z), solution, rtol=1e-6, atol=close, err_msg=name)
        np.testing.assert_allclose(scores, G @ u, rtol=1e-9, atol=1e-9 * np.abs(G).max() * n, err_msg=name)
        assert system.sqnorm(coef, scores) == pytest.approx(u @ G @ u, rel=1e-6, abs=1e-9 * n)


@pytest.mark.parametrize("n", [1, 5, 192, 193, 500])
def test_the_factor_is_numpys(n):
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, n))
    A = np.einsum("ik,jk", half, half) + np.eye(n)
    right, solutions = rng.normal(size=n), []
    for n_threads in (1, 2, 3):
        with RowPool(n_threads) as pool:
            factor = Factor(A.copy, pool)
            expected = np.linalg.cholesky(A)
        np.testing.assert_allclose(np.tril(factor.L), expected, atol=1e-10 * n)
        solutions.append(factor.solve(right))
    assert np.array_equal(solutions[0], solutions[1])
    assert np.array_equal(solutions[0], solutions[2])
    np.testing.assert_allclose(A @ solutions[0], right, atol=1e-8)


def test_rounding_is_met_with_a_shift_and_an_indefinite_matrix_refused():
    rng = np.random.default_rng(0)
    low = rng.normal(size=(300, 5))
    with RowPool(1) as pool:
        assert 0.0 < Factor(lambda: low @ low.T, pool).shift < 1e-9
        with pytest.raises(np.linalg.LinAlgError):
            Factor(lambda: low @ low.T - np.eye(300), pool)


def test_an_indefinite_kernel_is_refused_and_eigen_features_take_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, size=60)
    with pytest.raises(ValueError, match=r"eigenvalues below -1 / .*Lower C.*n_components"):
        LagrangianSVC(100.0, kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, y)
    model = LagrangianSVC(100.0, kernel="sigmoid", gamma=2.0, coef0=-1.0, n_components=10).fit(X, y)
    assert model.status_ == "converged"


# ---- the estimator against its peers ----


@pytest.mark.parametrize("solver", SOLVERS)
def test_it_equals_the_linear_svm_and_scikit_learns(solver):
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
def test_a_linear_kernel_in_any_space_is_the_linear_svm(solver):
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
def test_dense_is_sparse_and_wide_is_tall(solver, dtype):
    X, y = standardised(load_wine)
    X = np.where(np.abs(X) < 0.3, 0.0, X).astype(dtype)
    dense = LagrangianSVC(0.05, solver=solver, tol=1e-9).fit(X, y)
    thin = LagrangianSVC(0.05, solver=solver, tol=1e-9).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-5)
    wide = np.hstack([X, np.zeros((len(X), 500), dtype=dtype)])  # more features than rows, none of use
    more = LagrangianSVC(0.05, solver=solver, tol=1e-9).fit(wide, y)
    np.testing.assert_allclose(more.coef_[:, :13], dense.coef_, atol=1e-5)


def test_strings_with_a_function_as_the_kernel():
    words = ["aab", "aba", "abb", "bba", "ccd", "cdc", "ddc", "dcd"] * 2

    def common(X, Z):
        return np.array([[len(set(x) & set(z)) for z in Z] for x in X], dtype=float)

    labels = np.array([0] * 4 + [1] * 4 + [0] * 4 + [1] * 4)
    for solver in SOLVERS:
        for n_components in ("auto", 2):
            model = LagrangianSVC(kernel=common, solver=solver, n_components=n_components).fit(words, labels)
            assert model.predict(["ab", "dc"]).tolist() == [0, 1]


def test_eigen_features_bound_the_distance_from_the_kernels_optimum():
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
def test_a_function_of_the_eigen_features_has_the_same_objective_with_the_kernel(solver):
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


def test_many_rows_go_to_eigen_features_by_themselves(monkeypatch):
    monkeypatch.setattr("maxmargin.methods.lagrangian.estimator.MAX_AUTO_KERNEL_ROWS", 100)
    monkeypatch.setattr("maxmargin.methods.lagrangian.estimator.MAX_KERNEL_ROWS", 150)
    monkeypatch.setattr("maxmargin.methods.lagrangian.estimator.AUTO_COMPONENTS", 30)
    X, y = standardised(load_wine)
    model = LagrangianSVC(kernel="rbf", random_state=0).fit(X, y)
    assert (model.space_, model.n_components_) == ("eigen", 30)
    assert LagrangianSVC(kernel="rbf").fit(X[::2], y[::2]).space_ == "kernel"
    with pytest.raises(ValueError, match=r"at most 150 different rows; got 178\. Set n_components to"):
        LagrangianSVC(kernel="rbf", n_components=None).fit(X, y)


def test_a_refit_forgets_what_belongs_to_another_space():
    X, y = standardised(load_wine)
    model = LagrangianSVC(kernel="rbf", n_components=10).fit(X, y)
    model.set_params(kernel="linear", n_components="auto").fit(X, y)
    assert not any(hasattr(model, name) for name in ("support_", "dual_coef_", "trace_captured_"))
    assert not hasattr(model, "gamma_")
    assert not hasattr(model.set_params(kernel="rbf").fit(X, y), "coef_")


# ---- warm starts, paths, resuming ----


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "space", [{"kernel": "linear"}, {"kernel": "rbf"}, {"kernel": "rbf", "n_components": 40}]
)
def test_warm_starts_change_nothing_but_time(solver, space):
    X, y = standardised(load_wine)
    warm = LagrangianSVC(solver=solver, warm_start=True, tol=1e-9, random_state=0, **space)
    for C in (0.02, 0.03, 0.03):
        warm.set_params(C=C).fit(X, y)
        cold = LagrangianSVC(C, solver=solver, tol=1e-9, random_state=0, **space).fit(X, y)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-9)
        np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-4)
    assert warm.n_iter_ <= min(cold.n_iter_, 8)  # the last of them began where it had to end
    warm.fit(X[::2], y[::2])  # other rows: from the beginning
    cold.fit(X[::2], y[::2])
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-4)


CHANGES = [
    {"code": "one-vs-one"},
    {"C": 0.5},
    {"gamma": 2.0},
    {"kernel": "laplacian"},
    {"kernel": "linear"},
    {"n_components": 9},
    {"n_components": None},
    {"class_weight": {0: 3.0}},
    {"solver": "newton"},
]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "space", [{"kernel": "linear"}, {"kernel": "rbf"}, {"kernel": "rbf", "n_components": 12}]
)
def test_warm_starts_after_any_change_end_at_the_same_optimum(solver, space):
    X, y = standardised(load_wine)
    given = {"C": 0.05, "solver": solver, "tol": 1e-7, "random_state": 0, "max_iter": 100_000, **space}
    for change in CHANGES:
        warm = LagrangianSVC(warm_start=True, **given).fit(X, y)
        for parameters in ({**given, **change}, given):  # there and back
            warm.set_params(code="one-vs-rest", gamma="scale", n_components="auto")
            warm.set_params(class_weight=None).set_params(**parameters).fit(X, y)
            cold = LagrangianSVC(**parameters).fit(X, y)
            assert warm.status_ == "converged"
            assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-7), change
    for other in (np.array(["c", "b", "a"])[y], np.where(y == 2, 0, y), (y + 1) % 3):
        cold = LagrangianSVC(**given).fit(X, other)
        warm = LagrangianSVC(warm_start=True, **given).fit(X, y).fit(X, other)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-7)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_path_over_C_is_continuous(kernel):
    X, y = standardised(load_wine, [0, 1])
    path = [
        LagrangianSVC(C, kernel=kernel, tol=1e-10).fit(X, y).decision_function(X)
        for C in np.geomspace(0.1, 0.11, 6)
    ]
    moves = [np.abs(b - a).max() for a, b in itertools.pairwise(path)]
    assert max(moves) < 0.02
    assert max(moves) < 3 * min(moves)


def test_solvers_resume_bit_for_bit():
    X, y, cost = noisy(6, 200, 5)
    system = KernelSystem(rbf(X, X) + 1.0, cost)
    problem = LagrangianProblem(system, y)
    stop = Stop(tol=1e-9, max_iter=10_000)
    ways = [
        lambda **more: iterate(problem, stop=stop, **more),
        lambda **more: solve_by_newton(system, y, stop=stop, **more),
    ]
    for solve, when in zip(ways, (16, 2), strict=True):
        saved = []

        def keep(check, state, saved=saved, when=when):
            if check.n_iter == when:
                saved.append(state.copy())

        whole = solve(callback=keep)
        resumed = solve(state=saved[0])
        assert whole.n_iter > when
        np.testing.assert_array_equal(resumed.coef, whole.coef)
        np.testing.assert_array_equal(resumed.dual_coef, whole.dual_coef)
        assert [check.gap for check in resumed.history] == [
            check.gap for check in whole.history if check.n_iter >= when
        ]


def test_a_start_from_half_of_the_rows_changes_nothing_but_time(monkeypatch):
    X, y, cost = noisy(7, 900, 4)
    system = KernelSystem(rbf(X, X) + 1.0, cost)
    sampled = solve_by_newton(system, y, stop=Stop(tol=1e-10))
    monkeypatch.setattr(kernel_newton, "MIN_ROWS_FOR_SAMPLED_START", 10**9)
    plain = solve_by_newton(system, y, stop=Stop(tol=1e-10))
    assert sampled.objective == pytest.approx(plain.objective, rel=1e-9)
    np.testing.assert_allclose(sampled.coef, plain.coef, atol=1e-6)


# ---- limits ----


def test_ctrl_c_is_seen_while_a_matrix_is_factorised(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 20)), rng.integers(0, 2, size=600)
    interrupt_inside(monkeypatch, cholesky, "_factorise")
    with pytest.raises(KeyboardInterrupt):
        LagrangianSVC(kernel="rbf", solver="lagrangian", tol=1e-14, n_jobs=1).fit(X, y)


def test_the_iteration_tells_where_it_stops_being_practical(monkeypatch):
    X, y = standardised(load_wine)
    monkeypatch.setattr("maxmargin.methods.lagrangian.spaces.MAX_ITERATED_ORDER", 10)
    with pytest.raises(ValueError, match=r"n_features \+ 1\), at most 10; got 14. Use solver='newton'"):
        LagrangianSVC(solver="lagrangian").fit(X, y)
    assert LagrangianSVC(solver="newton").fit(X, y).status_ == "converged"
    monkeypatch.undo()
    with pytest.warns(
        ConvergenceWarning, match=r"LagrangianSVC stopped \(max_iter\) with relative duality gap"
    ):
        LagrangianSVC(1e4, solver="lagrangian", max_iter=50).fit(X, y)


def test_auto_takes_coordinate_descent_for_wide_problems(monkeypatch):
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
def test_bad_parameters_are_refused_by_name(name):
    value, match = BAD_PARAMETERS[name]
    with pytest.raises(ValueError, match=match):
        LagrangianSVC(**{name: value}).fit(*standardised(load_wine))


def test_the_referees_agree_with_each_other():
    X, y, cost = noisy(5)
    _, _, primal = svm_primal(X, y, cost, "squared-hinge", "penalised")
    _, dual = lagrangian_dual(X @ X.T, y, cost)
    assert primal == pytest.approx(dual, rel=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("code", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize("n_components", ["auto", 5])
def test_a_kernel_of_zeros_leaves_the_intercept(solver, code, n_components):
    X, y = standardised(load_wine)
    model = LagrangianSVC(
        kernel=lambda A, B: np.zeros((len(A), len(B))), solver=solver, code=code, n_components=n_components
    ).fit(X, y)
    assert model.status_ == "converged"
    assert np.isfinite(model.decision_function(X)).all()
