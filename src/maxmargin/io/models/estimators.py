"""What a file keeps of each estimator: one row of names for every fitted attribute, and what it must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...solving import Status
from .checks import (
    check_calibrated,
    check_columns,
    check_eigen_map,
    check_groups,
    check_lagrangian,
    check_linear_program,
    check_memory,
    check_outputs,
    check_path,
    check_search,
    check_top_k,
)
from .expected import (
    Anything,
    Flags,
    Floats,
    Ints,
    Keyed,
    Labels,
    Listed,
    Maybe,
    Model,
    Object,
    Real,
    Such,
    Whole,
    Word,
)
from .parts import (
    DECODERS,
    KERNELS,
    Fields,
    Kept,
)
from .values import is_history

REAL = Real(finite=False)
NAMES: Fields = {"feature_names_in_": Labels("features", least=1, ascending=False)}
STATUS = Word(tuple(str(status) for status in Status))
HISTORY = Such(
    lambda value, sizes: isinstance(value, list) and len(value) > 0 and all(map(is_history, value)),
    "must be a list of certificates",
)

CODED: Fields = {  # every classifier that has a code
    "_seed": Whole(0, 2**31),
    "n_features_in_": Whole(1, size="features"),
    "classes_": Labels("classes"),
    "code_": Object(("Code",)),
    "decoder_": Object(DECODERS),
    "_learner": Maybe(Object(DECODERS)),
    "history_": HISTORY,
    "n_iter_": Whole(),
    "objective_": REAL,
    "dual_gap_": REAL,
    "status_": STATUS,
}
OF_SOME: Fields = {**NAMES, "fold_gap_": REAL}
LINEAR: Fields = {"coef_": Floats(("outputs", "features")), "intercept_": Floats(("outputs",))}
KERNEL: Fields = {  # every kernel expansion
    "kernel_": Object(KERNELS),
    "support_": Maybe(Ints(("support",))),
    "support_vectors_": Such(lambda value, sizes: value is not None, "must be there"),  # see check_outputs
    "dual_coef_": Floats(("outputs", "support")),
    "intercept_": Floats(("outputs",)),
    "n_support_": Whole(size="support"),
    "_groups": Maybe(Ints(("starts",))),
    "_group_columns": Maybe(Flags(("classes", "outputs"))),
}
GAMMA: Fields = {"gamma_": Real(above=0.0)}
LANDMARKS: Fields = {"n_components_": Whole(1), "trace_captured_": REAL}
MACHINE = (check_groups, check_outputs)
ANY_EXPANSION: Fields = {name: what for name, what in KERNEL.items() if name != "intercept_"}


def machine(
    module: str, fitted: Any = None, optional: Any = None, *checks: Any, left_out: Any = None
) -> Kept:
    """A classifier that is always a kernel expansion."""
    return Kept(
        module,
        fitted={**CODED, **KERNEL, **(fitted or {})},
        optional={**OF_SOME, **GAMMA, **(optional or {})},
        checks=(*MACHINE, *checks),
        left_out=left_out or {},
    )


def either(module: str, fitted: Any, optional: Any, *checks: Any, left_out: Any = None) -> Kept:
    """A classifier that is linear in the features of X, or a kernel expansion."""
    return Kept(
        module,
        fitted={**CODED, "intercept_": LINEAR["intercept_"], **fitted},
        optional={**OF_SOME, "coef_": LINEAR["coef_"], **ANY_EXPANSION, **GAMMA, **optional},
        checks=(*checks, *MACHINE),
        left_out=left_out or {},
    )


def _forget(model: Any) -> None:
    model._last = None


def _no_eigen(model: Any) -> None:
    model._eigen = None


def _scorer(model: Any) -> None:
    from sklearn.metrics import check_scoring

    model.scorer_ = check_scoring(getattr(model, "best_estimator_", model.estimator), model.scoring)


def _estimators(model: Any) -> None:
    model.estimators_ = list(model._columns.estimators)


ONLINE: Fields = {"_memory": Such(lambda value, sizes: isinstance(value, dict), "must be a state")}

ESTIMATORS: dict[str, Kept] = {
    "AllPairsSVC": machine("maxmargin.methods.all_pairs.estimator"),
    "BudgetPerceptron": machine("maxmargin.methods.baselines.online", ONLINE, None, check_memory),
    "KernelPegasos": machine("maxmargin.methods.baselines.online", ONLINE, None, check_memory),
    "KernelPerceptron": machine("maxmargin.methods.baselines.online", ONLINE, None, check_memory),
    "KernelMatchingPursuit": machine("maxmargin.methods.baselines.greedy"),
    "LaSVM": machine("maxmargin.methods.baselines.greedy"),
    "KernelSVC": machine(
        "maxmargin.methods.kernel_svm.estimator", {"cache_mb_": Real(above=0.0), "_last_rows": Anything()}
    ),
    "SparseKernelClassifier": machine(
        "maxmargin.methods.budget.estimator",
        {
            "_classes_of_coef": Labels("classes"),
            "alpha_": Real(above=0.0),
            "t_": Such(
                lambda t, sizes: isinstance(t, np.ndarray) and t.dtype == np.int64, "must be integers"
            ),
            "budget_path_": Keyed(Word(("budget", "loss", "gap", "score")), Anything()),
            "_path_coef": Keyed(Whole(1), Anything()),
            "calibrator_": Maybe(Object(("CalibratedScores",))),
        },
        {"_reservoir": Object(("Reservoir",)), "_n_batches": Whole(1)},
        check_path,
        left_out=dict.fromkeys(("_training", "_fitted_on", "_foreign", "_stream_so_far")),
    ),
    "LinearSVC": Kept(
        "maxmargin.methods.linear.estimator",
        fitted={**CODED, **LINEAR, "solver_": Word(), "n_support_": Whole()},
        optional=OF_SOME,
        checks=(check_outputs,),
    ),
    "LeastSquaresClassifier": Kept(
        "maxmargin.methods.least_squares.estimator",
        fitted={**CODED, **LINEAR, "_last_classes": Anything()},
        optional={**OF_SOME, "loo_scores_": Anything(), "loo_error_": REAL, "rank_": Whole()},
        checks=(check_outputs,),
    ),
    "LagrangianSVC": either(
        "maxmargin.methods.lagrangian.estimator",
        {
            "kernel_": Object(KERNELS),
            "solver_": Word(),
            "space_": Word(("linear", "kernel", "eigen")),
            "_largest_weight": REAL,
        },
        {**LANDMARKS, "kernel_gap_": REAL},
        check_lagrangian,
        left_out={"_last": _forget},
    ),
    "LinearProgramSVC": either(
        "maxmargin.methods.linear_program.estimator",
        {"n_nonzero_": Whole()},
        {"coef_": Floats(("outputs", "used features")), "trace_captured_": REAL},
        check_linear_program,
        left_out={"_eigen": _no_eigen, "_working_sets": None, "_last_kind": None},
    ),
    "TopKSVC": either(
        "maxmargin.methods.top_k.estimator",
        {"kernel_": Object(KERNELS)},
        {},
        check_top_k,
        left_out={"_last": None},
    ),
    "CalibratedSVC": Kept(
        "maxmargin.methods.kernel_svm.calibrated",
        fitted={
            "estimator_": Model(("KernelSVC",)),
            "classes_": Labels("classes"),
            "fold_gap_": REAL,
            "calibrator_": Object(("CalibratedScores", "CoupledPairs")),
            "n_features_in_": Whole(1, size="features"),
        },
        optional=NAMES,
        checks=(check_calibrated,),
    ),
    "OutputCodeClassifier": Kept(
        "maxmargin.methods.output_code.estimator",
        fitted={
            **{name: CODED[name] for name in ("_seed", "classes_", "code_", "decoder_", "_learner")},
            "_columns": Object(("ClonedColumns", "SharedColumns")),
        },
        optional={
            **OF_SOME,
            "n_features_in_": Whole(1, size="features"),
            **{name: CODED[name] for name in ("history_", "n_iter_", "objective_", "dual_gap_", "status_")},
        },
        checks=(check_columns,),
        left_out={"estimators_": _estimators},
    ),
    "PathCV": Kept(
        "maxmargin.selection.path_cv",
        fitted={
            "classes_": Labels("classes"),
            "cv_results_": Keyed(Word(), Anything()),
            "n_splits_": Whole(1),
            "start_": Word(),
            "best_index_": Whole(),
            "best_score_": REAL,
            "best_params_": Keyed(Word(), Anything()),
        },
        optional={**NAMES, "n_features_in_": Whole(1, size="features"), "best_estimator_": Model()},
        checks=(check_search,),
        left_out={"scorer_": _scorer},
    ),
    "KernelEigenMap": Kept(
        "maxmargin.methods.eigen_map.transformer",
        fitted={
            "_seed": Whole(0, 2**31),
            "n_features_in_": Whole(1, size="features"),
            "kernel_": Object(KERNELS),
            "eigenvalues_": Floats(("components",), least=0.0),
            "trace_captured_": REAL,
            "n_components_": Whole(1, size="components"),
            "landmarks_": Such(
                lambda value, sizes: value is not None, "must be there"
            ),  # see check_eigen_map
            "landmark_indices_": Maybe(Ints(("landmarks",))),
            "method_": Word(),
            "projection_": Floats(("landmarks", "components")),
        },
        optional={**NAMES, **GAMMA},
        checks=(check_eigen_map,),
    ),
}
COLUMNS: dict[str, Kept] = {
    name: Kept(
        f"maxmargin.methods.output_code.{module}",
        {
            "code": Object(("Code",)),
            "seed": Whole(),
            "who": Word(("OutputCodeClassifier",)),
            "estimators": Listed(Maybe(Model())),
            **rows,
        },
    )
    for name, module, rows in (
        ("ClonedColumns", "columns", {"rows": Maybe(Listed(Anything()))}),
        ("SharedColumns", "shared_columns", {}),
    )
}
