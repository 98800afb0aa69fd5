"""The estimators that the contract's tests run over, what kind each is, and data for them."""

import numpy as np
from sklearn.datasets import make_blobs

import maxmargin

# Estimators to try, each with the parameters that make its answers sharp enough to compare.
ESTIMATORS = [
    maxmargin.LinearSVC(tol=1e-8),
    maxmargin.LinearSVC(tol=1e-8, loss="squared-hinge", code="one-vs-one"),
    maxmargin.LinearSVC(tol=1e-8, solver="dual-cd", max_iter=20_000),
    maxmargin.LinearSVC(tol=1e-8, loss="squared-hinge", solver="truncated-newton"),
    maxmargin.LinearSVC(tol=1e-8, loss="log"),
    maxmargin.LinearSVC(tol=1e-8, code="sparse-random", random_state=0),
    maxmargin.LeastSquaresClassifier(tol=1e-8),
    maxmargin.LeastSquaresClassifier(tol=1e-8, penalty=None, code="one-vs-one"),
    maxmargin.LeastSquaresClassifier(tol=1e-8, penalty="lasso"),
    maxmargin.KernelSVC(tol=1e-8),
    maxmargin.KernelSVC(tol=1e-8, decoder="coupling"),
    maxmargin.KernelSVC(tol=1e-8, loss="ramp"),
    maxmargin.KernelSVC(tol=1e-8, nu=0.3),
    maxmargin.LeastSquaresClassifier(tol=1e-8, code="sparse-random", decoder="probabilistic", random_state=0),
    maxmargin.LagrangianSVC(tol=1e-8),
    maxmargin.LagrangianSVC(tol=1e-8, kernel="rbf", code="one-vs-one"),
    maxmargin.LagrangianSVC(tol=1e-8, kernel="rbf", n_components=20, solver="lagrangian", random_state=0),
    maxmargin.AllPairsSVC(tol=1e-8),
    maxmargin.TopKSVC(tol=1e-8),
    maxmargin.TopKSVC(tol=1e-8, kernel="rbf"),
    maxmargin.LinearProgramSVC(tol=1e-8),
    maxmargin.LinearProgramSVC(tol=1e-8, penalty=None, code="one-vs-one"),
    maxmargin.LinearProgramSVC(tol=1e-8, multi_class="joint"),
    maxmargin.LinearProgramSVC(tol=1e-8, kernel="rbf"),
    maxmargin.LinearProgramSVC(tol=1e-8, kernel="rbf", features="eigen", n_components=20, random_state=0),
    maxmargin.KernelPerceptron(random_state=0),
    maxmargin.BudgetPerceptron(budget=50, random_state=0),
    maxmargin.KernelPegasos(random_state=0),
    maxmargin.LaSVM(tol=1e-6, max_iter=200),
    maxmargin.KernelMatchingPursuit(budget=10),
    maxmargin.SparseKernelClassifier(budget=20, random_state=0),
    maxmargin.SparseKernelClassifier(budget=20, loss="ramp", random_state=0),
    maxmargin.SparseKernelClassifier(budget=30, loss="log", alpha=1e-3, code="one-vs-one", random_state=0),
    # As printed it keeps equal rows apart, and then weights are no repetitions.
    maxmargin.SparseKernelClassifier.as_published(20, alpha=0.1, merge_duplicates=True, random_state=0),
    maxmargin.OutputCodeClassifier(maxmargin.KernelSVC(tol=1e-8)),
]

# Machines without classes: regression and novelty.
MACHINES = [
    maxmargin.KernelSVR(tol=1e-8),
    maxmargin.KernelSVR(loss="squared-epsilon-insensitive", kernel="polynomial", degree=2, tol=1e-8),
    maxmargin.KernelSVR(loss="pinball", quantile=0.8, tol=1e-8),
    maxmargin.KernelSVR(loss="huber", delta=0.2, tol=1e-8),
    maxmargin.KernelSVR(nu=0.4, tol=1e-8),
    maxmargin.SparseKernelRegressor(20, alpha=1e-3, tol=1e-8, random_state=0),
    maxmargin.SparseKernelRegressor(15, loss="huber", delta=0.3, tol=1e-6, random_state=0),
    maxmargin.SparseKernelRegressor(15, loss="pinball", quantile=0.8, tol=1e-6, random_state=0),
    maxmargin.LinearSVR(tol=1e-8),
    maxmargin.LinearSVR(loss="squared-epsilon-insensitive", solver="truncated-newton", tol=1e-8),
    maxmargin.LinearSVR(
        loss="pinball", quantile=0.8, solver="dual-cd", tol=1e-8, max_iter=20_000, random_state=0
    ),
    maxmargin.LinearSVR(loss="huber", delta=0.2, penalize_intercept=True, tol=1e-8),
    maxmargin.OneClassSVM(0.2, tol=1e-8),
]


def at_work(estimator):
    """The estimator that solves: one around another leaves limits and callbacks to that."""
    return estimator.get_params(deep=False).get("estimator", estimator)


def watched(estimator, *callbacks):
    at_work(estimator).set_callbacks(*callbacks)
    return estimator


def is_certified(estimator):
    """Whether it promises a duality gap: then it has a tolerance for it, and a method that bounds it.

    Others promise an end that is none of the failures.
    """
    parameters = at_work(estimator).get_params()
    return "tol" in parameters and parameters.get("refit", "newton") is not None


def has_budget(estimator):
    """Whether its certificates are those of a set of support vectors that grows to a budget."""
    return is_certified(estimator) and "budget" in at_work(estimator).get_params()


def is_joint(estimator):
    """Whether all columns are one problem, with one history: they share support vectors, are one program, are
    no columns of a code, or are certified by nothing."""
    parameters = at_work(estimator).get_params()
    joint = parameters.get("multi_class") == "joint" or "code" not in parameters
    return not is_certified(estimator) or "budget" in parameters or joint


def learns_out_of_fold(model):
    """Whether its decoder has learned from fits without a fold, which have certificates of their own."""
    return hasattr(model, "fold_gap_")


def never_content(estimator):
    if is_certified(estimator):
        at_work(estimator).set_params(tol=1e-300)
    return estimator


def three_classes(n=150, dtype=np.float64):
    X, y = make_blobs(n, n_features=5, centers=3, cluster_std=4.0, random_state=0)
    return (X / 5.0).astype(dtype), y


def real_targets(n=150, dtype=np.float64):
    X, y = three_classes(n, dtype)
    return X, np.sin(X.astype(np.float64)).sum(axis=1) + 0.2 * y


def two_classes(n=120):
    X, y = three_classes(n * 2)
    return X[y < 2], y[y < 2]
