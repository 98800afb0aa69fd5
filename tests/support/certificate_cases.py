"""Data and estimators on which certificates are recomputed: any precision, layout, scale, offset and cost."""

from hypothesis import strategies as st

import maxmargin

from .estimator_strategies import ALPHAS, COSTS, FLAGS, KERNELS, estimators

# What a refusal says; one of nu names the classes, whose weights or outputs leave no margin.
REMEDIES = (
    "cale the features",
    "gamma",
    "positive kernel",
    "raise alpha",
    "another kernel",
    "balance the classes",
)

CERTIFIED = {
    "AllPairsSVC": estimators("AllPairsSVC", C=COSTS, kernel=KERNELS, max_iter=st.just(50)),
    "KernelSVC": st.one_of(
        estimators(
            "KernelSVC",
            C=COSTS,
            loss=st.sampled_from(["hinge", "squared-hinge"]),
            kernel=KERNELS,
            code=st.sampled_from(["one-vs-rest", "one-vs-one"]),
            max_iter=st.just(500),
        ),
        estimators(
            "KernelSVC",
            nu=st.sampled_from([0.05, 0.3, 0.8]),
            kernel=KERNELS,
            code=st.sampled_from(["one-vs-rest", "one-vs-one"]),
            max_iter=st.just(500),
        ),
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
    "LinearSVR": st.one_of(
        *(
            estimators(
                "LinearSVR",
                C=COSTS,
                loss=st.just(loss),
                solver=st.sampled_from(solvers),
                epsilon=st.sampled_from([0.0, 0.1, 0.6]),
                quantile=st.sampled_from([0.1, 0.5]),
                delta=st.sampled_from([0.1, 1.0]),
                fit_intercept=FLAGS,
                penalize_intercept=st.sampled_from([False, False, True]),
            )
            for loss, solvers in {
                "epsilon-insensitive": ["newton", "dual-cd"],
                "pinball": ["newton", "dual-cd"],
                "squared-epsilon-insensitive": ["newton", "dual-cd", "truncated-newton"],
                "huber": ["newton", "truncated-newton"],
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
    "SparseKernelRegressor": estimators(
        "SparseKernelRegressor",
        budget=st.integers(1, 7),
        alpha=ALPHAS,
        kernel=KERNELS,
        loss=st.sampled_from(["squared", "huber", "pinball"]),
        quantile=st.sampled_from([0.1, 0.5]),
        delta=st.sampled_from([0.1, 1.0]),
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
