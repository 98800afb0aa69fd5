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
