"""The names of the file format, and where the package has what they stand for.

A file's names belong to version 1 of the format and never change. Public names (parameters, ``coef_``) are
the same in the package and need no entry. For everything private the left side below is the name in the file,
the right side the name in the package: rename an attribute or move a class, and its right side changes here,
but no file does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np


def _in(folder: str, *names: str) -> dict[str, str]:
    return {name: f"{folder}.{name}" for name in names}


# Kinds of objects in a file, and the class of each. Nothing in a file names a module or a class.
CLASSES: dict[str, str] = {
    **_in(
        "maxmargin",
        "AllPairsSVC",
        "AutoSVC",
        "BudgetPerceptron",
        "CalibratedSVC",
        "KernelEigenMap",
        "KernelMatchingPursuit",
    ),
    **_in("maxmargin", "KernelPegasos", "KernelPerceptron", "KernelSVC", "LaSVM", "LagrangianSVC"),
    **_in(
        "maxmargin",
        "LeastSquaresClassifier",
        "LinearProgramSVC",
        "LinearSVC",
        "OutputCodeClassifier",
        "PathCV",
    ),
    **_in(
        "maxmargin",
        "SparseKernelClassifier",
        "TopKSVC",
        "KernelSVR",
        "LinearSVR",
        "OneClassSVM",
        "SparseKernelRegressor",
    ),
    **_in("maxmargin.auto", "ColumnScaling"),
    **_in("maxmargin.methods.output_code", "ClonedColumns", "SharedColumns"),
    **_in("maxmargin.methods.budget", "Reservoir"),
    **_in(
        "maxmargin.kernels", "Laplacian", "Linear", "Polynomial", "Precomputed", "Product", "RBF", "Scaled"
    ),
    **_in("maxmargin.kernels", "OnColumns", "Exponential", "Sigmoid", "Sum"),
    **_in("maxmargin.losses", "Hinge", "Log", "Perceptron", "Squared", "SquaredHinge"),
    **_in("maxmargin.codes", "Code", "PairCode"),
    **_in(
        "maxmargin.decoders", "Coupling", "Hamming", "LossBased", "Margins", "PriorDecoder", "Probabilistic"
    ),
    **_in("maxmargin.decoders", "Votes", "DecoderReport", "CoupledPairs"),
    "WeightedDecoder": "maxmargin.decoders.LinearProgramDecoder",
    **_in("maxmargin.calibration", "CalibratedScores", "IsotonicCalibrator", "SigmoidCalibrator"),
    **_in("maxmargin.calibration", "SoftmaxCalibrator"),
    **_in("maxmargin.table", "TablePreparation"),
    **_in(
        "sklearn.preprocessing",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "RobustScaler",
        "StandardScaler",
    ),
    **_in("sklearn.impute", "SimpleImputer"),
    **_in("sklearn.pipeline", "Pipeline"),
}

_SEED = {"_seed": "_seed"}
_CODED = {**_SEED, "_learner": "_learner"}
_EXPANSION = {**_CODED, "_groups": "_groups", "_group_columns": "_group_columns"}
_ONLINE = {**_EXPANSION, "_memory": "_memory"}

# Private attributes, and parameters of private classes: name in the file -> name in the package, which is
# "attribute.field" for a field of one of the RECORDS.
ATTRIBUTES: dict[str, dict[str, str]] = {
    "AllPairsSVC": _EXPANSION,
    "BudgetPerceptron": _ONLINE,
    "KernelEigenMap": _SEED,
    "KernelMatchingPursuit": _EXPANSION,
    "KernelPegasos": _ONLINE,
    "KernelPerceptron": _ONLINE,
    "KernelSVC": {**_EXPANSION, "_last_rows": "_last_rows", "dual_coef_": "_dense_coef"},
    "KernelSVR": _SEED,
    "LaSVM": _EXPANSION,
    "LagrangianSVC": {**_EXPANSION, "_largest_weight": "_largest_weight"},
    "LeastSquaresClassifier": {**_CODED, "_last_classes": "_last_classes"},
    "LinearProgramSVC": _EXPANSION,
    "LinearSVC": _CODED,
    "LinearSVR": _SEED,
    "OneClassSVM": _SEED,
    "OutputCodeClassifier": {**_CODED, "_columns": "_columns"},
    "SparseKernelClassifier": {
        **_EXPANSION,
        "_classes_of_coef": "_classes_of_coef",
        "_path_coef": "_path_coef",
        "_reservoir": "_training.reservoir",
        "_n_batches": "_training.n_batches",
        "_n_rows": "_training.n_rows",
    },
    "SparseKernelRegressor": _SEED,
    "TopKSVC": _EXPANSION,
    "ClonedColumns": {
        "code": "code",
        "seed": "seed",
        "who": "who",
        "estimators": "estimators",
        "rows": "rows",
    },
    "SharedColumns": {"code": "code", "seed": "seed", "who": "who", "estimators": "estimators"},
    "Reservoir": {
        "X": "X",
        "labels": "labels",
        "weight": "weight",
        "keys": "keys",
        "seen": "seen",
        "complete": "complete",
    },
}


# Private attributes that are dataclasses of which a file has some fields, under names of their own. A field
# that has its default value is not in the file.
RECORDS: dict[str, dict[str, str]] = {
    "SparseKernelClassifier": {"_training": "maxmargin.methods.budget.TrainingMemory"},
}


def _set_scorer(model: Any) -> None:
    from sklearn.metrics import check_scoring

    model.scorer_ = check_scoring(getattr(model, "best_estimator_", model.estimator), model.scoring)


def _set_estimators(model: Any) -> None:
    model.estimators_ = list(model._columns.estimators)


def _set_imputed_type(model: Any) -> None:
    found = model.statistics_.dtype
    model._fit_dtype = model._fill_dtype = found if found.kind == "f" else np.dtype(np.float64)


def _set_none(attribute: str) -> Callable[[Any], None]:
    return lambda model: setattr(model, attribute, None)


# Attributes of the package that a file leaves out, and what sets them in a loaded model (None: nothing does).
OMITTED: dict[str, dict[str, Callable[[Any], None] | None]] = {
    "LagrangianSVC": {"_last": _set_none("_last")},
    "LinearProgramSVC": {"_last": None},
    "TopKSVC": {"_last": None},
    "OutputCodeClassifier": {"estimators_": _set_estimators},
    "PathCV": {"scorer_": _set_scorer},
    "SimpleImputer": dict.fromkeys(("_fit_dtype", "_fill_dtype"), _set_imputed_type),
}
OMITTED_FROM_ALL = {  # about how an estimator is called, not what it was trained on
    "_checkpoint",
    "_functions",
    "_importances",
    "_metadata_request",
    "_parent_callback_ctx",
    "_skl_callbacks",
    "_sklearn_version",
}
OUTPUT_CONFIG = "_sklearn_output_config"  # what set_output has set; one name in the file and in scikit-learn

_KIND_OF_CLASS_NAME = {path.rpartition(".")[2]: kind for kind, path in CLASSES.items()}


def class_of(kind: str) -> type:
    """The class of a kind of object."""
    return _imported(CLASSES[kind])


def _imported(path: str) -> type:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def kind_of(value: Any) -> str | None:
    """What a file calls objects like ``value``; None for a class that only shares the name of a known one."""
    kind = _KIND_OF_CLASS_NAME.get(type(value).__name__)
    return kind if kind is not None and class_of(kind) is type(value) else None


def attribute_of(kind: str, name: str) -> str:
    """The attribute, or the constructor's parameter, that ``name`` in a file stands for."""
    return ATTRIBUTES.get(kind, {}).get(name, name)


def parameter_names(kind: str) -> list[str]:
    """The constructor's parameters, by their names in a file."""
    cls = class_of(kind)
    if is_dataclass(cls):
        found = [field.name for field in fields(cls) if field.init]
    else:
        found = [name for name in inspect.signature(cls).parameters if name not in ("args", "kwargs")]
    file_names = {attribute: name for name, attribute in ATTRIBUTES.get(kind, {}).items()}
    return [file_names.get(name, name) for name in found]


def constructed(kind: str, parameters: Mapping[str, Any]) -> Any:
    """A new object with parameters by their names in a file."""
    return class_of(kind)(**{attribute_of(kind, name): value for name, value in parameters.items()})


def attribute_values(value: Any, kind: str) -> dict[str, Any]:
    """All attributes of an estimator, and the fields of its records, by their names in the package."""
    found = dict(vars(value))
    for attribute in RECORDS.get(kind, {}):
        record = found.pop(attribute, None)
        if record is not None:
            given = {f.name: getattr(record, f.name) for f in fields(record)}
            default = type(record)()
            found |= {f"{attribute}.{k}": v for k, v in given.items() if v is not getattr(default, k)}
    return found


def set_attributes(value: Any, kind: str, fitted: Mapping[str, Any]) -> None:
    """Put what a file has onto a new object, then what follows from it."""
    records: dict[str, dict[str, Any]] = {attribute: {} for attribute in RECORDS.get(kind, {})}
    for name, item in fitted.items():
        attribute, _, field = attribute_of(kind, name).partition(".")
        if field:
            records[attribute][field] = item
        else:
            object.__setattr__(value, attribute, item)
    for attribute, items in records.items():
        setattr(value, attribute, _imported(RECORDS[kind][attribute])(**items))
    for attribute, restore in OMITTED.get(kind, {}).items():
        if restore is not None:
            restore(value)
        else:
            value.__dict__.pop(attribute, None)
