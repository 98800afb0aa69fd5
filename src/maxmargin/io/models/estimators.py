"""What a file holds of each estimator: its fitted attributes by name, and what each must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...solving import Status
from .checks import (
    check_auto,
    check_calibrated,
    check_columns,
    check_eigen_map,
    check_groups,
    check_lagrangian,
    check_linear_program,
    check_memory,
    check_outputs,
    check_pair_coef,
    check_path,
    check_points,
    check_search,
    check_top_k,
)
from .parts import CODES, DECODERS, KERNELS
from .schema import (
    Anything,
    Fields,
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
    StoredClass,
    Such,
    Whole,
    Word,
)
from .values import is_histories

ANY_REAL = Real(finite=False)
NAMES: Fields = {"feature_names_in_": Labels("features", least=1, ascending=False)}
STATUS = Word(tuple(str(status) for status in Status))
HISTORY = Such(
    lambda value, sizes: len(value) > 0 and is_histories(value),
    "must be a list of certificates",
)

CODED: Fields = {  # every classifier that has a code
    "_seed": Whole(0, 2**31),
    "n_features_in_": Whole(1, size="features"),
    "classes_": Labels("classes"),
    "code_": Object(CODES),
    "decoder_": Object(DECODERS),
    "_learner": Maybe(Object(DECODERS)),
    "history_": HISTORY,
    "n_iter_": Whole(),
    "objective_": ANY_REAL,
    "dual_gap_": ANY_REAL,
    "status_": STATUS,
}
SOMETIMES: Fields = {**NAMES, "fold_gap_": ANY_REAL}
LINEAR: Fields = {"coef_": Floats(("outputs", "features")), "intercept_": Floats(("outputs",))}
KERNEL: Fields = {  # every kernel expansion
    "kernel_": Object(KERNELS),
    "support_": Maybe(Ints(("support",))),
    "support_vectors_": Such(lambda value, sizes: value is not None, "must not be null"),  # see check_outputs
    "dual_coef_": Floats(("outputs", "support")),
    "intercept_": Floats(("outputs",)),
    "n_support_": Whole(size="support"),
    "_groups": Maybe(Ints(("starts",))),
    "_group_columns": Maybe(Flags(("classes", "outputs"))),
}
GAMMA: Fields = {"gamma_": Real(above=0.0)}
LANDMARKS: Fields = {"n_components_": Whole(1), "trace_captured_": ANY_REAL}
EXPANSION_CHECKS = (check_groups, check_outputs)
ANY_EXPANSION: Fields = {name: what for name, what in KERNEL.items() if name != "intercept_"}


def kernel_classifier(fitted: Any = None, optional: Any = None, *checks: Any) -> StoredClass:
    """A classifier that is always a kernel expansion."""
    return StoredClass(
        fitted={**CODED, **KERNEL, **(fitted or {})},
        optional={**SOMETIMES, **GAMMA, **(optional or {})},
        checks=(*EXPANSION_CHECKS, *checks),
    )


def linear_or_kernel_classifier(fitted: Any, optional: Any, *checks: Any) -> StoredClass:
    """A classifier that is linear in the features of X, or a kernel expansion."""
    return StoredClass(
        fitted={**CODED, "intercept_": LINEAR["intercept_"], **fitted},
        optional={**SOMETIMES, "coef_": LINEAR["coef_"], **ANY_EXPANSION, **GAMMA, **optional},
        checks=(*checks, *EXPANSION_CHECKS),
    )


CERTIFIED: Fields = {  # every fit without classes
    **{name: CODED[name] for name in ("_seed", "n_features_in_", "history_", "n_iter_")},
    **{name: CODED[name] for name in ("objective_", "dual_gap_", "status_")},
}
MACHINE: Fields = {  # every kernel expansion without classes
    **CERTIFIED,
    **{name: what for name, what in KERNEL.items() if not name.startswith("_")},
    "cache_mb_": Real(above=0.0),
}
ALPHA_SEARCH = Keyed(Word(("budget", "alpha", "loss", "standard_error", "gap")), Anything())
BLOCKS: Fields = {"n_passes_": Whole(1), "n_rows_": Whole(1)}  # of a fit over blocks of rows
ONLINE: Fields = {"_memory": Such(lambda value, sizes: isinstance(value, dict), "must be a state")}

ESTIMATORS: dict[str, StoredClass] = {
    "AllPairsSVC": kernel_classifier(),
    "BudgetPerceptron": kernel_classifier(ONLINE, None, check_memory),
    "KernelPegasos": kernel_classifier(ONLINE, None, check_memory),
    "KernelPerceptron": kernel_classifier(ONLINE, None, check_memory),
    "KernelMatchingPursuit": kernel_classifier(),
    "LaSVM": kernel_classifier(),
    "KernelSVC": StoredClass(
        fitted={
            **CODED,
            **{name: what for name, what in KERNEL.items() if name != "dual_coef_"},
            "cache_mb_": Real(above=0.0),
            "_last_rows": Anything(),
        },
        optional={
            **SOMETIMES,
            **GAMMA,
            "dual_coef_": KERNEL["dual_coef_"],
            "pair_coef_": Floats(("support", "other classes")),
            "C_": Floats(("columns",)),
        },
        checks=(check_pair_coef, *EXPANSION_CHECKS),
    ),
    "KernelSVR": StoredClass(
        fitted=MACHINE,
        optional={
            **NAMES,
            **GAMMA,
            "epsilon_": Real(),
            "crossed_": Real(),
            "calibration_scores_": Floats(("calibration rows",)),
        },
        checks=(check_points,),
    ),
    "LinearSVR": StoredClass(
        fitted={
            **CERTIFIED,
            "coef_": Floats(("features",)),
            "intercept_": Floats(("outputs",)),
            "solver_": Word(),
            "n_support_": Whole(),
        },
        optional={**NAMES, "calibration_scores_": Floats(("calibration rows",))},
    ),
    "OneClassSVM": StoredClass(
        fitted={**MACHINE, "offset_": Floats(("outputs",))},
        optional={**NAMES, **GAMMA},
        checks=(check_points,),
    ),
    "SparseKernelRegressor": StoredClass(
        fitted={
            **{name: what for name, what in MACHINE.items() if name != "cache_mb_"},
            "alpha_": Real(above=0.0),
            "alpha_search_": ALPHA_SEARCH,
        },
        optional={**NAMES, **GAMMA, "calibration_scores_": Floats(("calibration rows",))},
        checks=(check_points,),
    ),
    "SparseKernelClassifier": kernel_classifier(
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
        {
            "alpha_search_": ALPHA_SEARCH,
            "_reservoir": Object(("Reservoir",)),
            "_n_batches": Whole(1),
            "_n_rows": Whole(1),
            **BLOCKS,
        },
        check_path,
    ),
    "LinearSVC": StoredClass(
        fitted={**CODED, **LINEAR, "solver_": Word(), "n_support_": Whole()},
        optional={**SOMETIMES, **BLOCKS},
        checks=(check_outputs,),
    ),
    "LeastSquaresClassifier": StoredClass(
        fitted={**CODED, **LINEAR, "_last_classes": Anything()},
        optional={**SOMETIMES, "loo_scores_": Anything(), "loo_error_": ANY_REAL, "rank_": Whole()},
        checks=(check_outputs,),
    ),
    "LagrangianSVC": linear_or_kernel_classifier(
        {
            "kernel_": Object(KERNELS),
            "solver_": Word(),
            "space_": Word(("linear", "kernel", "eigen")),
            "_largest_weight": ANY_REAL,
        },
        {**LANDMARKS, "kernel_gap_": ANY_REAL},
        check_lagrangian,
    ),
    "LinearProgramSVC": linear_or_kernel_classifier(
        {"n_nonzero_": Whole()},
        {"coef_": Floats(("outputs", "used features")), "trace_captured_": ANY_REAL},
        check_linear_program,
    ),
    "TopKSVC": linear_or_kernel_classifier(
        {"kernel_": Object(KERNELS)},
        {},
        check_top_k,
    ),
    "CalibratedSVC": StoredClass(
        fitted={
            "estimator_": Model(("KernelSVC",)),
            "classes_": Labels("classes"),
            "fold_gap_": ANY_REAL,
            "calibrator_": Object(("CalibratedScores", "CoupledPairs")),
            "n_features_in_": Whole(1, size="features"),
        },
        optional=NAMES,
        checks=(check_calibrated,),
    ),
    "AutoSVC": StoredClass(
        fitted={
            "estimator_": Model(("KernelSVC", "LinearSVC", "SparseKernelClassifier")),
            "table_": Maybe(Object(("TablePreparation",))),
            "scaling_": Object(("ColumnScaling",)),
            "calibrator_": Object(("CalibratedScores",)),
            "classes_": Labels("classes"),
            "candidates_": Keyed(Word(), Listed(Anything())),
            "choice_": Word(),
            "status_": STATUS,
            "n_features_in_": Whole(1, size="features"),
        },
        optional={**NAMES, **BLOCKS, "group_weights_": Maybe(Floats(("groups",), least=0.0))},
        checks=(check_auto,),
    ),
    "OutputCodeClassifier": StoredClass(
        fitted={
            **{name: CODED[name] for name in ("_seed", "classes_", "code_", "decoder_", "_learner")},
            "_columns": Object(("ClonedColumns", "SharedColumns")),
        },
        optional={
            **SOMETIMES,
            "n_features_in_": Whole(1, size="features"),
            **{name: CODED[name] for name in ("history_", "n_iter_", "objective_", "dual_gap_", "status_")},
        },
        checks=(check_columns,),
    ),
    "PathCV": StoredClass(
        fitted={
            "cv_results_": Keyed(Word(), Anything()),
            "n_splits_": Whole(1),
            "start_": Word(),
            "best_index_": Whole(),
            "best_score_": ANY_REAL,
            "best_params_": Keyed(Word(), Anything()),
        },
        optional={
            **NAMES,
            "classes_": Labels("classes"),
            "n_features_in_": Whole(1, size="features"),
            "best_estimator_": Model(),
        },
        checks=(check_search,),
    ),
    "KernelEigenMap": StoredClass(
        fitted={
            "_seed": Whole(0, 2**31),
            "n_features_in_": Whole(1, size="features"),
            "kernel_": Object(KERNELS),
            "eigenvalues_": Floats(("components",), least=0.0),
            "trace_captured_": ANY_REAL,
            "n_components_": Whole(1, size="components"),
            "landmarks_": Such(
                lambda value, sizes: value is not None, "must not be null"
            ),  # see check_eigen_map
            "landmark_indices_": Maybe(Ints(("landmarks",))),
            "method_": Word(),
            "projection_": Floats(("landmarks", "components")),
        },
        optional={**NAMES, **GAMMA},
        checks=(check_eigen_map,),
    ),
}
_COLUMNS: Fields = {
    "code": Object(CODES),
    "seed": Whole(),
    "who": Word(("OutputCodeClassifier",)),
    "estimators": Listed(Maybe(Model())),
}
COLUMNS: dict[str, StoredClass] = {
    "ClonedColumns": StoredClass({**_COLUMNS, "rows": Maybe(Listed(Anything()))}),
    "SharedColumns": StoredClass(_COLUMNS),
}
