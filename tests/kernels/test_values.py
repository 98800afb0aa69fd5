"""Kernel values that a user gives: arrays that the user keeps, matrices that are none, values not finite."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import roc_auc_score

from maxmargin import (
    AllPairsSVC,
    BudgetPerceptron,
    KernelEigenMap,
    KernelMatchingPursuit,
    KernelPegasos,
    KernelPerceptron,
    KernelSVC,
    LagrangianSVC,
    LaSVM,
    LinearProgramSVC,
    SparseKernelClassifier,
    TopKSVC,
)
from maxmargin.data.checks import check_symmetric
from maxmargin.kernels import RBF, FromFunction, Linear, Polynomial
from maxmargin.kernels.data import KernelData

MACHINES = [
    KernelSVC(),
    KernelSVC(cache_mb=0.01, loss="squared-hinge"),
    LagrangianSVC(),
    LagrangianSVC(solver="lagrangian"),
    LagrangianSVC(n_components=6),
    LinearProgramSVC(),
    LinearProgramSVC(n_components=6),
    AllPairsSVC(),
    SparseKernelClassifier(),
    LaSVM(),
    *(KernelEigenMap(6, method=name) for name in ("exact", "landmarks", "pivoted-cholesky", "randomized")),
]
machines = pytest.mark.parametrize("machine", MACHINES, ids=lambda m: str(m).replace("\n", ""))


def with_kernel(machine, kernel):
    machine = clone(machine).set_params(kernel=kernel)
    return machine.set_params(random_state=0) if "random_state" in machine.get_params() else machine


class Memo:
    """A kernel that keeps what it has computed, and lets nobody write to it."""

    def __init__(self, writeable):
        self.kept, self.writeable = {}, writeable

    def __call__(self, P, Q):
        key = P.tobytes(), Q.tobytes()
        if key not in self.kept:
            K = np.exp(-0.3 * ((P[:, None] - Q) ** 2).sum(axis=2))
            K.flags.writeable = self.writeable
            self.kept[key] = K, K.copy()
        return self.kept[key][0]


@machines
@pytest.mark.parametrize("writeable", [False, True])
def test_arrays_that_a_kernel_keeps_are_not_written_to(machine, writeable):
    X, y = load_iris(return_X_y=True)
    kernel = Memo(writeable)
    model = with_kernel(machine, kernel)
    outputs = model.transform if isinstance(machine, KernelEigenMap) else model.decision_function
    model.fit(X, y)
    first = outputs(X)
    model.fit(X, y)
    np.testing.assert_array_equal(outputs(X), first)
    assert all(np.array_equal(K, copy) for K, copy in kernel.kept.values())


def test_what_kernel_data_hands_out_may_be_written_to():
    X, every = np.random.default_rng(0).normal(size=(8, 2)), np.arange(8)
    kernel = Memo(writeable=False)
    data = KernelData(FromFunction(kernel), X, every)
    for K in (data.gram(X), data.between(every, every), data.block(every, X), data.diagonal(X)):
        K += 1.0
    np.testing.assert_array_equal(data.gram(X), kernel(X, X))


def all_nan(P, Q):
    return np.full((len(P), len(Q)), np.nan)


def some_infinite(P, Q):
    K = P @ Q.T
    return np.where(K > 80.0, np.inf, K)


@machines
@pytest.mark.parametrize("kernel", [all_nan, some_infinite])
def test_values_that_are_not_finite_are_refused(machine, kernel):
    with pytest.raises(ValueError, match="kernel values are not finite, or their squares overflow"):
        with_kernel(machine, kernel).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize("n", [150, 2100, 3000])
@pytest.mark.parametrize(("degree", "gamma"), [(200, 1e3), (2.5, 10.0)])
def test_compiled_kernels_that_overflow_are_refused(n, degree, gamma):
    X, y = make_classification(n, 5, random_state=0)
    for machine in (KernelSVC(), KernelSVC(loss="squared-hinge"), AllPairsSVC(), LagrangianSVC()):
        model = clone(machine).set_params(kernel="poly", degree=degree, gamma=gamma)
        for dtype in (np.float64, np.float32):
            with pytest.raises(ValueError, match="kernel values are not finite"):
                model.fit(X.astype(dtype), y)


OVERFLOWING = {  # at the longest row; the others' values are finite
    "float32 only": (np.float32, Polynomial(degree=3, gamma=1e14)),
    "polynomial": (np.float64, Polynomial(degree=200, gamma=1e3)),
    "sum": (np.float64, RBF(gamma=1.0) + Polynomial(degree=200, gamma=1e3)),
    "product": (np.float64, RBF(gamma=1.0) * Polynomial(degree=200, gamma=1e3)),
    "multiple": (np.float32, 1e30 * Linear()),
}


@pytest.mark.parametrize("of", sorted(OVERFLOWING))
@pytest.mark.parametrize(
    "machine",
    [*MACHINES, TopKSVC(), KernelPegasos(), KernelPerceptron(), BudgetPerceptron(), KernelMatchingPursuit()],
    ids=lambda m: str(m).replace("\n", ""),
)
def test_a_row_at_which_the_kernel_overflows_is_refused(machine, of):
    """A fit in double, or one that never looked at the row, once returned a model that could not predict."""
    dtype, kernel = OVERFLOWING[of]
    X, y = make_classification(60, 5, random_state=0)
    X *= 1e-4
    X[7] *= 1e9
    with pytest.raises(ValueError, match="kernel values are not finite"):
        with_kernel(machine, kernel).fit(X.astype(dtype), y)


@machines
@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-5), (np.float32, 1e-2)])
def test_a_matrix_that_is_not_symmetric_is_refused(machine, dtype, error):
    X, y = load_iris(return_X_y=True)
    K = (X @ X.T).astype(dtype)
    K[140, 3] += error * K.max()
    with pytest.raises(ValueError, match=r"must be symmetric to fit; its entries are up to \d+ and differ"):
        with_kernel(machine, "precomputed").fit(K, y)


@pytest.mark.parametrize("place", [(0, 1), (6, 2), (2, 6), (4, 5)])
@pytest.mark.parametrize(("dtype", "limit"), [(np.float64, 1e-6), (np.float32, 1e-3)])
def test_every_tile_is_looked_at_and_rounding_allowed(place, dtype, limit):
    K = np.full((7, 7), -2.0, dtype=dtype)
    K[place] -= 1.9 * limit
    check_symmetric(K, tile=3)
    K[place] -= 0.2 * limit
    with pytest.raises(ValueError, match="symmetric"):
        check_symmetric(K, tile=3)
    check_symmetric(np.zeros((4, 4), dtype=dtype))


@pytest.mark.parametrize(
    "machine", [KernelSVC(), LinearProgramSVC(), LinearProgramSVC(n_components=9)], ids=str
)
def test_warm_starts_after_any_change_end_at_the_same_optimum(machine):
    X, y = load_iris(return_X_y=True)
    given = with_kernel(machine, "rbf").set_params(tol=1e-7)
    labels = [(y + 1) % 3, np.where(y == 2, 0, y)]
    changes = [{"code": "one-vs-one"}, {"code": "one-vs-rest"}, {"C": 5.0}, {"gamma": 3.0}]
    for change, target in [*((change, y) for change in changes), *(({}, other) for other in labels)]:
        warm = clone(given).set_params(warm_start=True).fit(X, y)
        warm.set_params(**change).fit(X, target)
        cold = clone(given).set_params(**change).fit(X, target)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-7)


@pytest.mark.parametrize("C", [1e-7, 1e-12])
def test_a_small_cost_leaves_zero(C):
    X, y = make_classification(300, 5, flip_y=0.02, weights=[0.7], random_state=0)
    for machine in (KernelSVC(C), KernelSVC(C, loss="squared-hinge"), AllPairsSVC(C)):
        assert roc_auc_score(y, machine.fit(X, y).decision_function(X)) > 0.8
