"""LaSVM against the printed steps and scikit-learn's SVC."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from support.reference import kernel_svm_bounds

from maxmargin import LaSVM
from maxmargin.kernels import RBF, Precomputed
from maxmargin.kernels.data import KernelData
from maxmargin.methods.baselines.lasvm import LasvmOptions, lasvm
from maxmargin.methods.kernel_svm import SvmProblem
from maxmargin.solving.result import Status, Stop


def blobs(n=300, centers=2, spread=3.0, seed=0):
    X, y = make_blobs(n, n_features=4, centers=centers, cluster_std=spread, random_state=seed)
    return X / 4.0, y


class PrintedLasvm:
    """PROCESS and REPROCESS of Bordes et al. (2005), section 3, with lists and loops.

    A step leaves both gradients of its pair equal but for rounding, and the next one starts from the larger:
    so samples are held and sums are taken in the order of lasvm.hpp, to round alike.
    """

    def __init__(self, K, y, cost, tau):
        self.K, self.y, self.tau = K, y, tau
        self.lower, self.upper = np.minimum(0, cost * y), np.maximum(0, cost * y)
        self.S, self.a, self.g = [], np.zeros(len(y)), np.zeros(len(y))

    def pair(self):
        up = [s for s in self.S if self.a[s] < self.upper[s]]
        down = [s for s in self.S if self.a[s] > self.lower[s]]
        return max(up, key=lambda s: self.g[s], default=None), min(
            down, key=lambda s: self.g[s], default=None
        )

    def middle(self):
        i, j = self.pair()
        ends = [self.g[s] for s in (i, j) if s is not None]
        return sum(ends) / len(ends) if ends else 0.0

    def step(self, i, j):
        K, a = self.K, self.a
        if i is None or j is None or a[i] >= self.upper[i] or a[j] <= self.lower[j]:
            return False
        if self.g[i] - self.g[j] <= self.tau:
            return False
        x = (self.g[i] - self.g[j]) / (K[i, i] + K[j, j] - 2 * K[i, j])
        room_i, room_j = self.upper[i] - a[i], a[j] - self.lower[j]
        x = min(x, room_i, room_j)
        a[i], a[j] = a[i] + x, a[j] - x
        if x == room_i:
            a[i] = self.upper[i]  # and not nearly
        if x == room_j:
            a[j] = self.lower[j]
        for s in self.S:
            self.g[s] -= x * (K[i, s] - K[j, s])
        return True

    def process(self, k):
        self.g[k] = self.y[k] - sum((self.a[s] * self.K[k, s] for s in self.S), 0.0)
        b = self.middle()
        wrong = self.y[k] * (self.g[k] - b) > self.tau
        self.S.append(k)
        i, j = self.pair()
        if not self.step(*((k, j) if self.y[k] > 0 else (i, k))) and len(self.S) > 1 and not wrong:
            self.drop(k)

    def drop(self, s):
        slot, last = self.S.index(s), self.S.pop()
        if slot < len(self.S):
            self.S[slot] = last

    def reprocess(self):
        if not self.step(*self.pair()):
            return False
        i, j = self.pair()
        largest, smallest = self.g[i], self.g[j]
        for s in self.S[::-1]:
            if self.a[s] == 0 and (self.g[s] >= largest if self.y[s] < 0 else self.g[s] <= smallest):
                self.drop(s)
        return True


def lasvm_problem(n=500, C=1.5):
    X, y = blobs(n)
    cost = C * np.random.default_rng(0).uniform(0.5, 2.0, size=n)
    return SvmProblem(KernelData(Precomputed(), RBF(0.7)(X), np.arange(n)), np.where(y == 1, 1.0, -1.0), cost)


@pytest.mark.parametrize("finishing", [False, True])
def test_an_epoch_of_lasvm_is_the_printed_one(finishing):
    problem = lasvm_problem()
    result = lasvm(problem, LasvmOptions(finishing=finishing), stop=Stop(max_iter=1), seed=[4])
    printed = PrintedLasvm(problem.kernel.X, problem.y, problem.cost, tau=1e-3)
    for k in np.random.default_rng([4, 0]).permutation(len(problem.y)):
        printed.process(k)
        printed.reprocess()
    while finishing and printed.reprocess():
        pass
    np.testing.assert_allclose(result.coef, printed.a, atol=1e-9)


@pytest.mark.parametrize("selection", ["active", "gradient"])
def test_selection_processes_the_right_sample(selection):
    problem = lasvm_problem()
    options = LasvmOptions(selection, n_candidates=20, finishing=False)
    result = lasvm(problem, options, stop=Stop(max_iter=1), seed=[4])
    printed = PrintedLasvm(problem.kernel.X, problem.y, problem.cost, tau=1e-3)
    order = np.random.default_rng([4, 0]).permutation(len(problem.y))
    for group in order.reshape(-1, 20):
        f = printed.K[group] @ printed.a + printed.middle()
        score = np.abs(f) if selection == "active" else problem.y[group] * f
        printed.process(group[np.argmin(score)])
        printed.reprocess()
    np.testing.assert_allclose(result.coef, printed.a, atol=1e-9)


@pytest.mark.parametrize("selection", ["random", "gradient"])
@pytest.mark.parametrize(("C", "kernel"), [(0.1, "rbf"), (10.0, "rbf"), (1.0, "poly"), (1.0, "linear")])
def test_lasvm_solves_the_problem_of_svc(selection, C, kernel):
    X, y = blobs()
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    kernel = {"kernel": kernel, "gamma": 0.5, "degree": 2, "coef0": 1.0}
    model = LaSVM(C, selection=selection, n_candidates=10, tol=1e-7, max_iter=500, random_state=0, **kernel)
    peer = SVC(C=C, tol=1e-9, **kernel).fit(X, y, weight)
    model.fit(X, y, weight)
    assert model.status_ == "converged"
    scale = np.abs(peer.decision_function(X)).max()
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=2e-3 * scale)


def test_the_certificate_of_lasvm_holds():
    """Bounds recomputed from nothing but the coefficients, at every quality of solution."""
    X, y = blobs()
    signs, cost = np.where(y == 1, 1.0, -1.0), 2.0
    for tol, max_iter in ((0.3, 20), (1e-2, 20), (1e-8, 200)):
        model = LaSVM(cost, gamma=0.5, tol=tol, max_iter=max_iter, random_state=0).fit(X, y)
        a = np.zeros(len(y))
        a[model.support_] = model.dual_coef_[0]
        assert abs(a.sum()) < 1e-9 * np.abs(a).sum()
        assert (signs * a >= 0.0).all()
        assert np.abs(a).max() <= cost
        f = RBF(0.5)(X) @ a
        primal = 0.5 * a @ f + cost * np.maximum(0.0, 1.0 - signs * (f + model.intercept_[0])).sum()
        dual = signs @ a - 0.5 * a @ f
        assert model.objective_ == pytest.approx(primal, rel=1e-9)
        assert model.dual_gap_ == pytest.approx((primal - dual) / primal, abs=1e-9)
        assert model.dual_gap_ <= tol


def test_lasvm_satisfies_the_kkt_conditions():
    X, y = blobs()
    model = LaSVM(1.0, gamma=0.5, tol=1e-9, max_iter=500, random_state=0).fit(X, y)
    margins = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    a = np.zeros(len(y))
    a[model.support_] = np.abs(model.dual_coef_[0])
    assert margins[a == 0.0].min() > 1.0 - 1e-3
    assert margins[a == 1.0].max() < 1.0 + 1e-3
    np.testing.assert_allclose(margins[(a > 0.0) & (a < 1.0)], 1.0, atol=1e-3)


def test_one_epoch_warns_of_its_gap():
    X, y = blobs(600)
    with pytest.warns(ConvergenceWarning, match="max_iter.*relative duality gap"):
        model = LaSVM(max_iter=1, tol=1e-6, random_state=0).fit(X, y)
    assert model.n_iter_ == 1
    assert 0.0 < model.dual_gap_ < 0.1


@settings(max_examples=20)
@given(st.integers(2, 60), st.integers(0, 100), st.sampled_from(["random", "active", "gradient"]))
def test_max_support_is_never_exceeded(max_support, seed, selection):
    X, y = blobs()
    model = LaSVM(max_support=max_support, selection=selection, n_candidates=5, random_state=seed)
    model.fit(X, y)
    assert max(check.n_support for check in model.history_[0]) <= max_support
    assert max_support - 1 <= model.n_support_ <= max_support
    assert model.status_ == "budget_full"


def test_lasvm_keeps_the_union_of_its_columns():
    X, y = blobs(centers=4)
    for code in ("one-vs-rest", "one-vs-one"):
        model = LaSVM(code=code, random_state=0, tol=1e-6, max_iter=200).fit(X, y)
        assert model.dual_coef_.shape == (model.code_.n_columns, model.n_support_)
        assert (model.dual_coef_ != 0.0).any(axis=0).all()
        assert (model.dual_coef_ == 0.0).any()
        np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
        which, signs = model.code_.column(y, 1)
        peer = SVC(tol=1e-8, gamma=model.gamma_).fit(X[which], signs)
        np.testing.assert_allclose(model._column_outputs(X)[:, 1], peer.decision_function(X), atol=5e-3)


@pytest.mark.parametrize("C", [1e-200, 1e-6, 1e4])
def test_lasvm_where_all_coefficients_are_at_a_bound_or_none_is(C):
    """With room for the intercept, two samples may violate optimality only together."""
    X, y = blobs()
    model = LaSVM(C, gamma=0.5, max_iter=200, random_state=0).fit(X, y)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(C * 300, rel=1e-2) or C > 1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the sigmoid gap need not close
@pytest.mark.parametrize("kernel", ["rbf", "sigmoid"])
def test_lasvm_on_rows_that_repeat_and_contradict(kernel):
    X = np.zeros((40, 3))
    X[:, 0] = np.arange(40) % 2
    y = np.repeat([0, 1], [15, 25])
    model = LaSVM(1e3, kernel=kernel, gamma=1.0, coef0=-1.0, max_iter=5, random_state=0)
    model.fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


def test_resumed_lasvm_is_bit_identical():
    problem, states, stop = lasvm_problem(), [], Stop(tol=1e-12, max_iter=4)
    whole = lasvm(
        problem, LasvmOptions(), stop=stop, seed=[1], callback=lambda _, state: states.append(state.copy())
    )
    rest = lasvm(problem, LasvmOptions(), stop=stop, seed=[1], state=states[2])
    np.testing.assert_array_equal(whole.coef, rest.coef)


def same_letters(left, right):
    return np.array([[len(set(a) & set(b)) / len(set(a) | set(b)) for b in right] for a in left])


def test_objects_and_precomputed_kernels():
    model = LaSVM(tol=1e-8, max_iter=200)
    words = np.array(["oak", "oaks", "soak", "fir", "firs", "rifle"])
    y = np.array(["o", "o", "o", "f", "f", "f"])
    model.set_params(kernel=same_letters, random_state=0).fit(words, y)
    assert model.score(words, y) == 1.0
    np.testing.assert_array_equal(model.support_vectors_, words[model.support_])
    X, y = blobs(100)
    named = model.set_params(kernel="rbf", gamma=0.5).fit(X, y).decision_function(X)
    K = RBF(0.5)(X)
    given_K = model.set_params(kernel="precomputed").fit(K, y).decision_function(K)
    np.testing.assert_allclose(given_K, named, atol=1e-3)


def test_bad_parameters_are_refused_clearly():
    X, y = blobs(20)
    for model, match in [
        (LaSVM(C=0), "C must be a finite number > 0"),
        (LaSVM(selection="loss"), "selection must be one of"),
        (LaSVM(max_support=1), "max_support must be an integer >= 2"),
    ]:
        with pytest.raises(ValueError, match=match):
            model.fit(X, y)


N_SINGLE = 120


def float32_problem(C, container=np.asarray):
    X, y = blobs(N_SINGLE, spread=4.0)
    X = X.astype(np.float32)
    return SvmProblem(
        KernelData(RBF(0.1), container(X), np.arange(N_SINGLE)),
        np.where(y == 1, 1.0, -1.0),
        np.full(N_SINGLE, C),
    )


@pytest.mark.parametrize("C", [1.0, 1e2, 1e3, 1e4])
def test_certificates_of_float32_rows_hold_for_the_exact_kernel(C):
    for container in (np.asarray, sparse.csr_array):
        problem = float32_problem(C, container)
        result = lasvm(problem, LasvmOptions(), stop=Stop(1e-3, 200), seed=[1])
        K = RBF(0.1)(problem.kernel.X.astype(np.float64))
        primal, dual = kernel_svm_bounds(result.coef, result.intercept, K, problem.y, problem.cost, "hinge")
        assert result.status is Status.CONVERGED
        assert (primal - dual) / primal <= result.gap + 1e-9
        assert result.gap <= 1e-3


def test_a_fit_resumes_in_double_bit_for_bit():
    states, stop = [], Stop(1e-4, 200)
    whole = lasvm(
        float32_problem(1e4),
        LasvmOptions(),
        stop=stop,
        seed=[1],
        callback=lambda _, s: states.append(s.copy()),
    )
    assert {state.K.dtype.name for state in states} == {"float32", "float64"}
    for state in states[1::3]:
        rest = lasvm(float32_problem(1e4), LasvmOptions(), stop=stop, seed=[1], state=state)
        np.testing.assert_array_equal(rest.coef, whole.coef)
        assert rest.intercept == whole.intercept


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_that_overflow_are_refused(dtype):
    X, y = blobs()
    for degree, gamma in ((200, 1e3), (2.5, 1e9)):
        with pytest.raises(ValueError, match="kernel values are not finite"):
            LaSVM(kernel="poly", degree=degree, gamma=gamma).fit(X.astype(dtype), y)
