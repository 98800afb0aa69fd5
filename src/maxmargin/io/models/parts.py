"""How a table says what a file keeps of a class: its module, its parameters, its fitted attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .expected import (
    Expected,
    Flag,
    Floats,
    Ints,
    Labels,
    Listed,
    Maybe,
    Model,
    Object,
    Points,
    Real,
    Sizes,
    Such,
    Whole,
    Word,
)

CheckModel = Callable[[Mapping[str, Any], Sizes], None]
Fields = dict[str, Expected]


@dataclass(frozen=True)
class StoredClass:
    """What a file holds of the objects of one class; every name is that of the file (see ``names``)."""

    parameters: Mapping[str, Expected] = field(default_factory=dict)  # of an estimator: those worth checking
    fitted: Mapping[str, Expected] = field(default_factory=dict)
    optional: Mapping[str, Expected] = field(default_factory=dict)  # fitted attributes that may be missing
    checks: tuple[CheckModel, ...] = ()  # of all values together, after each has been checked alone
    pack: Callable[[Any], dict[str, Any]] | None = None  # the values to store, instead of attributes
    unpack: Callable[[dict[str, Any]], Any] | None = None  # the object that such values describe

    @property
    def attributes(self) -> dict[str, Expected]:
        """All fitted attributes."""
        return {**self.fitted, **self.optional}


KERNELS = ("Laplacian", "Linear", "Polynomial", "Precomputed", "Product", "RBF", "Scaled", "Sigmoid", "Sum")
LOSSES = ("Hinge", "Log", "Perceptron", "Squared", "SquaredHinge")
DECODERS = (
    "Coupling",
    "Hamming",
    "LossBased",
    "Margins",
    "PriorDecoder",
    "Probabilistic",
    "Votes",
    "WeightedDecoder",
)
CURVES = Object(("IsotonicCalibrator", "SigmoidCalibrator"))
CALIBRATORS = ("IsotonicCalibrator", "SigmoidCalibrator", "SoftmaxCalibrator")
METHOD = Word(("isotonic", "sigmoid"))
NUMBER_OR_WORD = Such(
    lambda value, sizes: isinstance(value, str) or (isinstance(value, int | float) and np.isfinite(value)),
    "must be a finite number or a word",
)
FOCUS = Maybe(Word(("support-vectors",)))


def _check_knots(curve: Mapping[str, Any], sizes: Sizes) -> None:
    knots, heights = curve["knots_"], curve["values_"]
    rising = len(knots) > 0 and (np.diff(knots) > 0.0).all()
    if not rising or not (np.diff(heights) >= 0.0).all() or heights.max() > 1.0:
        raise ValueError("an isotonic curve must rise from knot to knot, within 0 and 1")


def _check_pairs(pairs: Mapping[str, Any], sizes: Sizes) -> None:
    if pairs["code_"] is not None and len(pairs["curves_"]) != pairs["code_"].n_columns:
        raise ValueError("there must be one curve for each column")


LEARNING: Fields = {
    "focus": FOCUS,
    "floor": Real(),
    "tol": Real(),
    "max_iter": Whole(1),
    "max_seconds": Real(finite=False),
    "weights": Maybe(Floats(("classes", "columns"))),
    "report": Maybe(Object(("DecoderReport",))),
}
REAL = Real(finite=False)
GAMMA: Fields = {"gamma": NUMBER_OR_WORD}
PAIR: Fields = {"left": Object(KERNELS), "right": Object(KERNELS)}

HELPERS: dict[str, StoredClass] = {
    # kernels
    "Laplacian": StoredClass(GAMMA),
    "Linear": StoredClass(),
    "Polynomial": StoredClass({**GAMMA, "degree": Real(), "coef0": Real()}),
    "Precomputed": StoredClass(),
    "Product": StoredClass(PAIR),
    "RBF": StoredClass(GAMMA),
    "Scaled": StoredClass({"factor": Real(above=0.0), "kernel": Object(KERNELS)}),
    "Sigmoid": StoredClass({**GAMMA, "coef0": Real()}),
    "Sum": StoredClass(PAIR),
    # codes and losses
    "Code": StoredClass({"matrix": Ints(("classes", "columns"), -1, 2), "name": Word()}),
    **{name: StoredClass({"name": Word()}) for name in LOSSES},
    # decoders
    "Margins": StoredClass(fitted={"name": Word(("margins",))}),
    "Votes": StoredClass(fitted={"name": Word(("votes",))}),
    "Hamming": StoredClass(fitted={"name": Word(("hamming",))}),
    "LossBased": StoredClass({"loss": Object(LOSSES)}),
    "Probabilistic": StoredClass(
        {"curves": Maybe(Listed(CURVES, "columns"))},
        fitted={"name": Word(("probabilistic",))},
    ),
    "Coupling": StoredClass(
        {"curves": Maybe(Listed(CURVES, "columns"))},
        fitted={"name": Word(("coupling",))},
    ),
    "WeightedDecoder": StoredClass(
        {**LEARNING, "method": Word(("lp",)), "margin": NUMBER_OR_WORD, "epsilon": Real()},
    ),
    "PriorDecoder": StoredClass({**LEARNING, "nu": NUMBER_OR_WORD}, fitted={"name": Word(("prior",))}),
    "DecoderReport": StoredClass(
        {
            "status": Word(),
            **dict.fromkeys(("n_iter", "n_constraints", "n_pairs"), Whole()),
            **dict.fromkeys(("loss_before", "loss_after", "bound", "chosen"), REAL),
            "focused": Flag(),
            **dict.fromkeys(("error_before", "error_after"), REAL),
        },
    ),
    # probabilities
    "SigmoidCalibrator": StoredClass(
        fitted={
            **dict.fromkeys(("slope_", "offset_", "center_"), Real()),
            "scale_": Real(above=0.0),
            "gradient_norm_": REAL,
        },
    ),
    "SoftmaxCalibrator": StoredClass(
        fitted={"slope_": Real(), "scale_": Real(above=0.0), "gradient_norm_": REAL},
        optional={
            "bend_": Real(),
            "bend_scale_": Real(above=0.0),
            "curve_": Object(("SigmoidCalibrator",)),
        },
    ),
    "IsotonicCalibrator": StoredClass(
        fitted={"knots_": Floats(("knots",)), "values_": Floats(("knots",), least=0.0)},
        checks=(_check_knots,),
    ),
    "CalibratedScores": StoredClass({"method": METHOD}, fitted={"calibrator_": Maybe(Object(CALIBRATORS))}),
    "CoupledPairs": StoredClass(
        {"method": METHOD},
        fitted={"curves_": Listed(CURVES), "code_": Maybe(Object(("Code",)))},
        checks=(_check_pairs,),
    ),
    # streams
    "Reservoir": StoredClass(
        {
            "X": Points("rows"),
            "labels": Ints(("rows",), below="classes"),
            "weight": Floats(("rows",), least=0.0),
            "keys": Floats(("rows",), least=0.0),
            "seen": Real(above=0.0),
            "complete": Flag(),
        },
    ),
}


FEATURES: Fields = {"n_features_in_": Whole(1, size="features")}
NAMES: Fields = {"feature_names_in_": Labels("features", least=1, ascending=False)}
PER_FEATURE = Floats(("features",))
POSITIVE = Floats(("features",), least=np.finfo(np.float64).tiny)
SEEN = Such(
    lambda n, sizes: isinstance(n, int | np.number | np.ndarray) and (np.asarray(n) >= 0).all(),
    "must be a count, or one for each feature",
)


def pack_pipeline(pipeline: Any) -> dict[str, Any]:
    """Names and steps, side by side."""
    if pipeline.memory is not None:
        raise ValueError("a Pipeline with memory names a folder; set memory=None before saving.")
    names, steps = zip(*pipeline.steps)
    return {"names": list(names), "steps": list(steps)}


def _unpack_pipeline(packed: dict[str, Any]) -> Any:
    from sklearn.pipeline import Pipeline

    names, steps = packed["names"], packed["steps"]
    if set(packed) != {"names", "steps"} or len(names) != len(steps) or not steps:
        raise ValueError("a pipeline must have a name for each step")
    if len(set(names)) < len(names) or not all(type(name) is str and "__" not in name for name in names):
        raise ValueError("the steps of a pipeline must have different names")
    if not all(step is None or step == "passthrough" or hasattr(step, "get_params") for step in steps):
        raise ValueError("the steps of a pipeline must be estimators")
    if not all(hasattr(step, "transform") for step in steps[:-1] if step not in (None, "passthrough")):
        raise ValueError("all steps of a pipeline but the last must transform")
    return Pipeline(list(zip(names, steps)))


def check_pipeline(pipeline: Mapping[str, Any], sizes: Sizes) -> None:
    """Each step is sound, and takes what the one before gives."""
    width = None
    for step in pipeline["steps"]:
        if step in (None, "passthrough"):
            continue
        Model().check(step, sizes)
        taken = getattr(step, "n_features_in_", None)
        if width is not None and taken is not None and taken != width:
            raise ValueError("a step of a pipeline must take as many features as the one before gives")
        width = _width_after(step)


def _width_after(step: Any) -> int | None:
    if type(step).__name__ == "SimpleImputer" and not step.keep_empty_features:
        return int(np.sum(~np.isnan(step.statistics_.astype(float))))  # what has no value is left out
    for name in ("n_features_out_", "n_components_"):
        if hasattr(step, name):
            return int(getattr(step, name))
    return getattr(step, "n_features_in_", None)


def _are_statistics(value: Any, sizes: Sizes) -> bool:
    """Floats; a constant is kept by scikit-learn as Python's number, one for each feature."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or not sizes.agree("features", len(value)):
        return False
    floats = value.dtype in (np.float32, np.float64)
    return floats or (value.dtype.hasobject and all(type(item) in (int, float) for item in value))


def _pack_table(table: Any) -> dict[str, Any]:
    return dict(table.state())


def _unpack_table(packed: dict[str, Any]) -> Any:
    from ...table import TablePreparation

    return TablePreparation.from_state(packed)


STEPS: dict[str, StoredClass] = {
    "StandardScaler": StoredClass(
        fitted={
            **FEATURES,
            "mean_": Maybe(PER_FEATURE),
            "var_": Maybe(PER_FEATURE),
            "scale_": Maybe(POSITIVE),
            "n_samples_seen_": SEEN,
        },
        optional=NAMES,
    ),
    "MinMaxScaler": StoredClass(
        fitted={
            **FEATURES,
            **dict.fromkeys(("min_", "scale_", "data_min_", "data_max_", "data_range_"), PER_FEATURE),
            "n_samples_seen_": SEEN,
        },
        optional=NAMES,
    ),
    "MaxAbsScaler": StoredClass(
        fitted={**FEATURES, "scale_": POSITIVE, "max_abs_": PER_FEATURE, "n_samples_seen_": SEEN},
        optional=NAMES,
    ),
    "RobustScaler": StoredClass(
        fitted={**FEATURES, "center_": Maybe(PER_FEATURE), "scale_": Maybe(POSITIVE)},
        optional=NAMES,
    ),
    "Normalizer": StoredClass({"norm": Word(("l1", "l2", "max"))}, optional={**FEATURES, **NAMES}),
    "SimpleImputer": StoredClass(
        fitted={
            **FEATURES,
            "statistics_": Such(_are_statistics, "must be a number for each feature"),
            "indicator_": Such(lambda value, sizes: value is None, "must be null: no indicators are kept"),
        },
        optional=NAMES,
    ),
    "Pipeline": StoredClass(pack=pack_pipeline, unpack=_unpack_pipeline, checks=(check_pipeline,)),
    "TablePreparation": StoredClass(pack=_pack_table, unpack=_unpack_table),
}
