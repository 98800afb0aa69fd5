"""Data and estimators on which certificates are recomputed: any precision, layout, scale, offset and cost."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

import maxmargin
from maxmargin import kernels


@dataclass(frozen=True)
class Case:
    """What is drawn; the numbers themselves come from a seed."""

    seed: int
    n_samples: int
    n_features: int
    n_classes: int
    scale: float
    offset: float
    dtype: str
    layout: str
    separation: float
    weighted: bool

    def data(self):
        rng = np.random.default_rng(self.seed)
        Z = rng.normal(size=(self.n_samples, self.n_features))
        y = rng.integers(0, self.n_classes, self.n_samples)
        y[: self.n_classes] = np.arange(self.n_classes)
        moved = rng.random(self.n_features) < 0.6
        X = self.offset * moved + self.scale * (Z + self.separation * y[:, None])
        if self.layout == "sparse":
            X[rng.random(X.shape) < 0.4] = 0.0
        X = X.astype(self.dtype)
        weight = None
        if self.weighted:
            weight = rng.choice([0.0, 0.5, 1.0, 2.0, 3.3], self.n_samples)
            weight[: self.n_classes] = 1.0
        return sparse.csr_array(X) if self.layout != "dense" else X, y, weight


def powers(low, high):
    return st.integers(low, high).map(lambda k: 10.0**k)


def cases(dtypes=("float64", "float32")):
    return st.builds(
        Case,
        seed=st.integers(0, 2**32 - 1),
        n_samples=st.integers(6, 12),
        n_features=st.integers(1, 4),
        n_classes=st.sampled_from([2, 2, 3]),
        scale=powers(-6, 6),
        offset=st.one_of(st.just(0.0), powers(0, 9), powers(0, 9).map(lambda size: -size)),
        dtype=st.sampled_from(dtypes),
        layout=st.sampled_from(["dense", "sparse", "full CSR"]),
        separation=st.sampled_from([0.0, 1.0, 3.0]),
        weighted=st.booleans(),
    )


TOLERANCES = st.sampled_from([1e-3, 1e-4, 1e-6])
COSTS = powers(-5, 5)
ALPHAS = powers(-7, 2)
KERNELS = st.sampled_from([
    "linear",
    "rbf",
    "laplacian",
    "exponential",
    kernels.Polynomial(degree=2, coef0=1.0),
    kernels.Polynomial(degree=3),
    kernels.Linear() + kernels.RBF(),
    kernels.Laplacian() * kernels.Polynomial(degree=2, coef0=0.5),
    1e-3 * kernels.RBF(),
    "sigmoid",
])  # fmt: skip
FLAGS = st.booleans()


def estimators(name, **parameters):
    return st.builds(getattr(maxmargin, name), tol=TOLERANCES, random_state=st.just(0), **parameters)


CERTIFIED = {
    "AllPairsSVC": estimators("AllPairsSVC", C=COSTS, kernel=KERNELS, max_iter=st.just(50)),
    "KernelSVC": estimators(
        "KernelSVC",
        C=COSTS,
        loss=st.sampled_from(["hinge", "squared-hinge"]),
        kernel=KERNELS,
        code=st.sampled_from(["one-vs-rest", "one-vs-one"]),
        max_iter=st.just(500),
    ),
    "KernelSVR": estimators(
        "KernelSVR",
        C=COSTS,
        loss=st.sampled_from(["epsilon-insensitive", "squared-epsilon-insensitive", "pinball", "huber"]),
        kernel=KERNELS,
        epsilon=st.sampled_from([0.0, 0.1, 0.6]),
        quantile=st.sampled_from([0.1, 0.5]),
        delta=st.sampled_from([0.1, 1.0]),
        max_iter=st.just(500),
    ),
    "LaSVM": estimators("LaSVM", C=COSTS, kernel=KERNELS, max_iter=st.just(50)),
    "LagrangianSVC": estimators(
        "LagrangianSVC",
        C=COSTS,
        kernel=KERNELS,
        solver=st.sampled_from(["newton", "lagrangian"]),
        n_components=st.sampled_from([None, None, 1, 3, 20]),
        max_iter=st.just(1000),
    ),
    "LeastSquaresClassifier": estimators(
        "LeastSquaresClassifier",
        C=COSTS,
        penalty=st.sampled_from([None, "ridge", "lasso"]),
        fit_intercept=FLAGS,
    ),
    "LinearProgramSVC": estimators(
        "LinearProgramSVC",
        C=COSTS,
        kernel=st.one_of(st.none(), KERNELS),
        multi_class=st.sampled_from(["code", "joint"]),
        fit_intercept=FLAGS,
        features=st.sampled_from(["columns", "eigen"]),
        n_components=st.sampled_from([1, 3, 20]),
    ),
    "LinearSVC": st.one_of(
        *(
            estimators(
                "LinearSVC",
                C=COSTS,
                loss=st.just(loss),
                solver=st.sampled_from(solvers),
                fit_intercept=FLAGS,
                penalize_intercept=st.sampled_from([False, False, True]),
                code=st.sampled_from(["one-vs-rest", "one-vs-one"]),
            )
            for loss, solvers in {
                "hinge": ["newton", "dual-cd"],
                "squared-hinge": ["newton", "dual-cd", "truncated-newton"],
                "log": ["newton", "truncated-newton"],
            }.items()
        )
    ),
    "OneClassSVM": estimators(
        "OneClassSVM", nu=st.sampled_from([0.05, 0.3, 0.8]), kernel=KERNELS, max_iter=st.just(500)
    ),
    "SparseKernelClassifier": estimators(
        "SparseKernelClassifier",
        budget=st.integers(2, 7),
        alpha=ALPHAS,
        kernel=KERNELS,
        loss=st.sampled_from(["squared-hinge", "log", "squared", "hinge"]),
    ),
    "TopKSVC": estimators(
        "TopKSVC",
        alpha=ALPHAS,
        kernel=KERNELS,
        fit_intercept=FLAGS,
        true_class=st.sampled_from(["include", "exclude"]),
    ),
}
UNCERTIFIED = {"BudgetPerceptron", "KernelMatchingPursuit", "KernelPegasos", "KernelPerceptron"}
AROUND_ANOTHER = {  # the attribute that holds what it fits
    "AutoSVC": "estimator_",
    "CalibratedSVC": "estimator_",
    "OutputCodeClassifier": "estimators_",
    "PathCV": "best_estimator_",
}
WITHOUT_A_PROBLEM = {"KernelEigenMap"}


def public_estimators():
    """The names of the classes in ``maxmargin.__all__`` that can be fitted."""
    found = {name: getattr(maxmargin, name) for name in maxmargin.__all__}
    return {name for name, value in found.items() if isinstance(value, type) and hasattr(value, "fit")}


SUM = kernels.Linear() + kernels.RBF()
PRODUCT = kernels.Laplacian() * kernels.Polynomial(degree=2, coef0=0.5)
FOUND = [  # by fuzzing: gaps or ends that were false, or a referee that was
    (
        "LinearSVC",
        {"C": 1e3, "solver": "newton", "fit_intercept": False},
        Case(3_000_058_564, 6, 4, 2, 1e-3, 1e5, "float64", "sparse", 0, False),
    ),
    (
        "LaSVM",
        {"C": 1e3, "tol": 1e-6, "kernel": "rbf"},
        Case(12, 6, 4, 3, 1e-5, -10, "float64", "sparse", 0, False),
    ),
    (
        "LaSVM",
        {"tol": 1e-6, "kernel": kernels.Polynomial(degree=3)},
        Case(3319, 9, 3, 2, 1e-6, -1e3, "float32", "full CSR", 3.0, True),
    ),
    (
        "LaSVM",
        {"C": 1e4, "tol": 1e-6, "kernel": SUM},
        Case(31688, 12, 2, 2, 1e-5, -1e4, "float64", "dense", 0, True),
    ),
    (
        "LaSVM",
        {"C": 0.1, "tol": 1e-4, "kernel": SUM},
        Case(2242272168, 7, 1, 2, 1e4, 0.0, "float64", "dense", 0, True),
    ),
    (
        "LaSVM",
        {"C": 0.1, "tol": 1e-3, "kernel": SUM, "max_iter": 50},
        Case(7084, 10, 4, 2, 1e5, 0.0, "float64", "full CSR", 3.0, True),
    ),
    (
        "LagrangianSVC",
        {"C": 1e3, "solver": "lagrangian"},
        Case(182, 6, 4, 2, 1e4, 0, "float32", "dense", 0, True),
    ),
    (
        "LagrangianSVC",
        {"kernel": "sigmoid", "solver": "newton"},
        Case(0, 12, 1, 3, 1.0, -1.0, "float32", "dense", 0, False),
    ),
    (
        "LinearProgramSVC",
        {"C": 10.0, "fit_intercept": False},
        Case(8192, 6, 2, 2, 1, 1e5, "float64", "dense", 0, False),
    ),
    (
        "LinearProgramSVC",
        {"C": 1e5, "multi_class": "joint"},
        Case(6, 6, 3, 2, 1.0, 1e5, "float32", "dense", 0.0, False),
    ),
    (
        "KernelSVC",
        {"C": 0.1, "tol": 1e-6, "kernel": kernels.Polynomial(degree=2, coef0=1.0), "loss": "squared-hinge"},
        Case(3158, 6, 2, 2, 1e5, 1e8, "float64", "full CSR", 0, False),
    ),
    (
        "KernelSVC",
        {"tol": 1e-4, "kernel": "linear", "max_iter": 500},
        Case(301, 6, 1, 2, 1e6, -1.0, "float32", "full CSR", 0, False),
    ),
    (
        "KernelSVC",
        {"C": 0.01, "tol": 1e-4, "kernel": PRODUCT, "code": "one-vs-rest"},
        Case(3387, 10, 3, 3, 1e-4, 1e3, "float64", "dense", 0, True),
    ),
    (
        "AllPairsSVC",
        {"C": 1e-3, "tol": 1e-6, "kernel": PRODUCT, "max_iter": 50},
        Case(2146913, 6, 1, 3, 1e-6, 1e8, "float64", "dense", 1.0, True),
    ),
    (
        "LeastSquaresClassifier",
        {"C": 100.0, "penalty": None, "tol": 1e-6},
        Case(2105, 12, 2, 2, 1e-4, -1e9, "float64", "full CSR", 0, True),
    ),
    (
        "LeastSquaresClassifier",
        {"C": 0.01, "penalty": None, "tol": 1e-4, "fit_intercept": False},
        Case(151717900, 10, 4, 2, 1e-6, -1e8, "float32", "full CSR", 3.0, True),
    ),
    (
        "LeastSquaresClassifier",
        {"penalty": None, "tol": 1e-6},
        Case(57842, 10, 2, 3, 1e-6, -100.0, "float32", "dense", 3.0, True),
    ),
    (
        "SparseKernelClassifier",
        {"alpha": 1e-6, "budget": 5, "kernel": SUM, "tol": 1e-4},
        Case(392, 6, 4, 3, 1e5, -1e4, "float64", "dense", 0, False),
    ),
    (
        "SparseKernelClassifier",
        {"alpha": 1e-6, "budget": 7, "kernel": SUM, "loss": "hinge", "tol": 1e-4},
        Case(3876470, 8, 2, 3, 1e-6, 100.0, "float64", "dense", 3.0, False),
    ),
    (
        "SparseKernelClassifier",
        {"alpha": 10.0, "budget": 2},
        Case(0, 11, 1, 2, 1.0, 1e7, "float32", "dense", 1.0, False),
    ),
    (
        "KernelSVC",
        {"kernel": "linear", "max_iter": 500},
        Case(1, 6, 1, 2, 1.0, -1e7, "float32", "sparse", 3.0, False),
    ),
    (
        "LaSVM",
        {"kernel": SUM, "max_iter": 50, "tol": 1e-4},
        Case(1, 6, 3, 3, 10.0, -1e9, "float32", "dense", 0.0, True),
    ),
    (
        "LagrangianSVC",
        {"n_components": 20, "solver": "lagrangian", "max_iter": 1000},
        Case(2663630040, 6, 2, 2, 1.0, -1e6, "float64", "dense", 3.0, False),
    ),
    (
        "LinearProgramSVC",
        {"C": 1e4, "kernel": "rbf", "features": "eigen", "n_components": 20, "tol": 1e-3},
        Case(4, 6, 4, 3, 1e4, 0.0, "float32", "sparse", 1.0, True),
    ),
    (
        "LeastSquaresClassifier",
        {"penalty": None, "fit_intercept": False},
        Case(8, 8, 4, 3, 1e-4, 1e8, "float32", "dense", 1.0, False),
    ),
    (
        "LinearSVC",
        {"C": 100.0, "fit_intercept": False, "solver": "newton", "tol": 1e-6},
        Case(498605, 9, 4, 2, 1e4, -1.0, "float64", "dense", 1.0, True),
    ),
    (
        "LinearSVC",
        {"C": 1e3, "code": "one-vs-one", "solver": "dual-cd", "tol": 1e-6},
        Case(72993, 9, 3, 3, 1e5, -1e7, "float64", "dense", 3.0, True),
    ),
    (
        "LinearSVC",
        {"C": 1e3, "loss": "log", "solver": "truncated-newton", "penalize_intercept": True, "tol": 1e-3},
        Case(3, 6, 3, 2, 10.0, 1e3, "float64", "sparse", 1.0, True),
    ),
    (
        "KernelSVC",
        {"C": 10.0, "kernel": "linear", "loss": "squared-hinge", "max_iter": 500, "tol": 1e-3},
        Case(0, 6, 3, 2, 1.0, 1e4, "float32", "dense", 0.0, False),
    ),
    (
        "LinearProgramSVC",
        {"C": 0.1, "kernel": kernels.Polynomial(degree=3), "multi_class": "joint", "fit_intercept": False},
        Case(811, 11, 2, 2, 1e3, 1e8, "float64", "dense", 0.0, False),
    ),
    (  # failed once, and never again in thousands of fits, which all had the same bits
        "KernelSVC",
        {"C": 1e-3, "kernel": "linear", "loss": "squared-hinge", "max_iter": 500, "tol": 1e-4},
        Case(11815, 7, 3, 3, 1.0, -1e6, "float32", "dense", 3.0, True),
    ),
    (
        "LeastSquaresClassifier",
        {"fit_intercept": False, "penalty": None, "tol": 1e-3},
        Case(0, 7, 2, 2, 1e-5, 1e9, "float64", "dense", 0.0, False),
    ),
    (
        "LinearProgramSVC",
        {
            "C": 100.0,
            "kernel": kernels.Linear() + kernels.RBF("median"),
            "n_components": 1,
            "fit_intercept": False,
            "tol": 1e-3,
        },
        Case(3, 9, 2, 2, 1.0, 1e8, "float64", "sparse", 0.0, False),
    ),
    (
        "AllPairsSVC",
        {"C": 100.0, "kernel": "linear", "max_iter": 50, "tol": 1e-3},
        Case(52679, 10, 3, 2, 1.0, 1e7, "float64", "dense", 0.0, False),
    ),
    (
        "LagrangianSVC",
        {"C": 0.1, "kernel": kernels.Polynomial(degree=2, coef0=1.0), "solver": "newton", "tol": 1e-3},
        Case(11, 6, 3, 2, 1.0, 1e4, "float64", "dense", 0.0, False),
    ),
    (
        "LaSVM",
        {"C": 0.01, "kernel": kernels.Polynomial(degree=2, coef0=1.0), "max_iter": 50},
        Case(508966, 9, 1, 2, 0.1, -1e6, "float32", "dense", 0.0, True),
    ),
    (
        "AllPairsSVC",
        {"kernel": PRODUCT, "max_iter": 50},
        Case(1, 6, 1, 2, 10.0, 1e5, "float64", "full CSR", 3.0, False),
    ),
    (
        "LinearProgramSVC",
        {
            "kernel": PRODUCT,
            "multi_class": "joint",
            "fit_intercept": False,
            "features": "eigen",
            "n_components": 20,
            "tol": 1e-3,
        },
        Case(4, 6, 1, 2, 1e-4, 0.0, "float64", "dense", 0.0, False),
    ),
    (
        "KernelSVC",
        {
            "C": 100.0,
            "kernel": kernels.Polynomial(degree=2, coef0=1.0),
            "loss": "squared-hinge",
            "max_iter": 500,
            "tol": 1e-3,
        },
        Case(0, 7, 1, 2, 1.0, 1e9, "float32", "dense", 0.0, False),
    ),
]
