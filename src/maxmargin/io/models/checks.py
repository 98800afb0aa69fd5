"""What the values of one model must have in common, beyond the shapes of single arrays.

Each check gets the model's values by their names in the file, and the sizes known so far; it raises a
``ValueError`` that says what does not fit. Checks run before native code sees any array of a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .schema import Floats, Ints, Points, Sizes

Values = Mapping[str, Any]  # by name in the file
EXPANSION = ("kernel_", "support_vectors_", "dual_coef_", "n_support_", "_groups", "_group_columns")


def _require(model: Values, names: tuple[str, ...]) -> None:
    missing = [name for name in names if name not in model]
    if missing:
        raise ValueError(f"{', '.join(missing)} is missing")


def _has_word(kernel: Any) -> bool:
    """Whether a kernel, or a part of one, has a gamma that is still a rule such as 'scale'."""
    parts = [getattr(kernel, name) for name in ("left", "right", "kernel") if hasattr(kernel, name)]
    return isinstance(getattr(kernel, "gamma", 0.0), str) or any(map(_has_word, parts))


def _is_precomputed(kernel: Any) -> bool:
    return type(kernel).__name__ == "Precomputed"


def check_kernel_points(kernel: Any, points: Any, rows: str, sizes: Sizes) -> None:
    """Points that a kernel is evaluated at: columns of a precomputed kernel, or rows of features."""
    if _has_word(kernel):
        raise ValueError("the parameters of kernel_ must be numbers")
    if _is_precomputed(kernel):
        Ints((rows,), below="features").check(points, sizes)
    else:
        Points(rows).check(points, sizes)


def check_groups(model: Values, sizes: Sizes) -> None:
    """Groups of support vectors are consecutive, from the first support vector to the last."""
    groups, used = model.get("_groups"), model.get("_group_columns")
    if (groups is None) != (used is None and "pair_coef_" not in model):
        raise ValueError("_groups and _group_columns must both be present or both be missing")
    if groups is not None:
        ends = groups[0] == 0 and groups[-1] == model["n_support_"] if len(groups) else False
        if len(groups) != sizes["classes"] + 1 or not ends or (np.diff(groups) < 0).any():
            raise ValueError("_groups must rise from 0 to the number of support vectors")


def check_pair_coef(model: Values, sizes: Sizes) -> None:
    """Coefficients are stored either by pairs of classes, which only one-vs-one has, or by columns."""
    by_pairs = "pair_coef_" in model
    if by_pairs == ("dual_coef_" in model):
        raise ValueError("there must be either dual_coef_ or pair_coef_")
    if by_pairs and type(model["code_"]).__name__ != "PairCode":
        raise ValueError("pair_coef_ needs a code of all pairs")
    if by_pairs and sizes["other classes"] != sizes["classes"] - 1:
        raise ValueError("pair_coef_ must have a column for each other class")


def check_outputs(model: Values, sizes: Sizes) -> None:
    """A coefficient for each column of the code, and points that fit the kernel."""
    joint = model.get("multi_class") == "joint" and sizes["classes"] == 2
    if sizes["outputs"] != (2 if joint else sizes["columns"]):
        raise ValueError("there must be as many columns of coefficients as the code has columns")
    if "support_vectors_" in model:
        check_points(model, sizes)


def check_points(model: Values, sizes: Sizes) -> None:
    """Support vectors that fit the kernel."""
    check_kernel_points(model["kernel_"], model["support_vectors_"], "support", sizes)


def check_lagrangian(model: Values, sizes: Sizes) -> None:
    """Which attributes there are depends on the space."""
    _require(model, ("coef_",) if model["space_"] == "linear" else EXPANSION)


def check_top_k(model: Values, sizes: Sizes) -> None:
    """Which attributes there are depends on the kernel."""
    _require(model, ("coef_", "n_support_") if type(model["kernel_"]).__name__ == "Linear" else EXPANSION)


def check_linear_program(model: Values, sizes: Sizes) -> None:
    """Which attributes there are depends on the kernel."""
    _require(model, ("coef_",) if model["kernel"] is None else EXPANSION)
    if model["kernel"] is None and model["coef_"].shape[1] != sizes["features"]:
        raise ValueError("coef_ must have a column for each feature")


def check_memory(model: Values, sizes: Sizes) -> None:
    """The state of an online method."""
    memory, n_outputs = model["_memory"], sizes["outputs"]
    if set(memory) != {"time", "sqnorm", "n_updates", "coef"}:
        raise ValueError("_memory must have time, sqnorm, n_updates and coef")
    Floats((n_outputs,)).check(memory["time"], sizes)
    Floats((n_outputs,)).check(memory["sqnorm"], sizes)
    Ints((1,)).check(memory["n_updates"], sizes)
    Floats(("support", n_outputs)).check(memory["coef"], sizes)


def check_path(model: Values, sizes: Sizes) -> None:
    """Coefficients at the budgets of the path, and the step counts of the published method."""
    path, n_outputs = model["budget_path_"], sizes["outputs"]
    Ints(("budgets",), least=1).check(path["budget"], sizes)
    for name in ("loss", "gap", "score"):
        Floats(("budgets",), finite=False).check(path[name], sizes)
    if sorted(model["_path_coef"]) != path["budget"].tolist():
        raise ValueError("_path_coef must have the budgets of budget_path_")
    for budget, coef in model["_path_coef"].items():
        Floats((budget, n_outputs)).check(coef, sizes)
    if model["t_"].shape not in ((0,), (n_outputs,)) or (model["t_"] < 0).any():
        raise ValueError("t_ must be empty or have a count for each column")


def check_calibrated(model: Values, sizes: Sizes) -> None:
    """Classes and features are those of the inner model."""
    inner = model["estimator_"]
    same = (
        np.array_equal(inner.classes_, model["classes_"]) and inner.n_features_in_ == model["n_features_in_"]
    )
    if not same:
        raise ValueError("classes_ and n_features_in_ must be those of estimator_")


def check_auto(model: Values, sizes: Sizes) -> None:
    """Classes are those of the inner model, which takes the columns that the scaling returns."""
    inner, scaling, table = model["estimator_"], model["scaling_"], model["table_"]
    if not np.array_equal(inner.classes_, model["classes_"]):
        raise ValueError("classes_ must be those of estimator_")
    n_in, n_out = (
        (model["n_features_in_"],) * 2 if table is None else (table.n_features_in_, table.n_features_out_)
    )
    if model["n_features_in_"] != n_in or not inner.n_features_in_ == len(scaling.scale) == n_out:
        raise ValueError("table_, scaling_ and estimator_ must fit each other's columns")
    if len({len(column) for column in model["candidates_"].values()}) != 1:
        raise ValueError("candidates_ must have lists of one length")


def check_columns(model: Values, sizes: Sizes) -> None:
    """A clone for each column, or one model of the same code for all."""
    columns = model["_columns"]
    code, models = model["code_"], columns.estimators
    shared = type(columns).__name__ == "SharedColumns"
    if columns.code != code or len(models) != (1 if shared else code.n_columns):
        raise ValueError("there must be one model for each column of the code, or one for all")
    if shared and (models[0] is None or getattr(models[0], "code_", None) != code):
        raise ValueError("one model for all columns must have their code")
    rows = getattr(columns, "rows", None)
    if rows is not None:
        if len(rows) != len(models):
            raise ValueError("there must be rows for each column")
        for chosen in rows:
            if chosen is not None:
                Ints(("column rows",), below="features").check(chosen, sizes.inner())
    known = [m.n_features_in_ for m in models if m is not None and hasattr(m, "n_features_in_")]
    if rows is None and "features" in sizes and any(n != sizes["features"] for n in known):
        raise ValueError("the models of the columns must have as many features as the classifier")


def check_search(model: Values, sizes: Sizes) -> None:
    """The chosen model is a point of the grid and has the classes of the search."""
    if model["best_index_"] >= len(model["cv_results_"]["params"]):
        raise ValueError("best_index_ must be a point of the grid")
    best = model.get("best_estimator_")
    if (best is not None) != bool(model["refit"]):
        raise ValueError("best_estimator_ must be present if refit is true, and only then")
    own, classes = getattr(best, "classes_", None), model.get("classes_")
    if best is not None and (
        (own is None) != (classes is None)
        or not (own is None or classes is None or np.array_equal(own, classes))
    ):
        raise ValueError("best_estimator_ must have the classes of the search")


def check_eigen_map(model: Values, sizes: Sizes) -> None:
    """Landmarks fit the kernel and the projection."""
    check_kernel_points(model["kernel_"], model["landmarks_"], "landmarks", sizes)
