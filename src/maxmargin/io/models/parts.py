"""What a file holds of the parts of a model: kernels, codes, decoders, curves, pipelines and their steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...codes import PairCode
from ...kernels import OnColumns
from .schema import (
    Fields,
    Flag,
    Flags,
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
    StoredClass,
    Such,
    Whole,
    Word,
)

KERNELS = (
    "OnColumns",
    "Exponential",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "RBF",
    "Scaled",
    "Sigmoid",
    "Sum",
)
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
    "must be a finite number or a string",
)
FOCUS = Maybe(Word(("support-vectors",)))


def _check_knots(curve: Mapping[str, Any], sizes: Sizes) -> None:
    knots, heights = curve["knots_"], curve["values_"]
    rising = len(knots) > 0 and (np.diff(knots) > 0.0).all()
    if not rising or not (np.diff(heights) >= 0.0).all() or heights.max() > 1.0:
        raise ValueError("the values of an isotonic curve must not fall, and must be between 0 and 1")


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
ANY_REAL = Real(finite=False)
GAMMA: Fields = {"gamma": NUMBER_OR_WORD}
PAIR: Fields = {"left": Object(KERNELS), "right": Object(KERNELS)}

CODES = ("Code", "PairCode")


def _check_n_pairs(code: Mapping[str, Any], sizes: Sizes) -> None:
    n_columns = code["n_classes"] * (code["n_classes"] - 1) // 2
    if not sizes.agree("columns", n_columns):
        raise ValueError(f"a code of all pairs must have {n_columns} columns")


PARTS: dict[str, StoredClass] = {
    # kernels
    "OnColumns": StoredClass(
        fitted={"kernel": Object(KERNELS), "columns": Ints(("kernel columns",), below="features")},
        pack=lambda kernel: {"kernel": kernel.kernel, "columns": np.array(kernel.columns)},
        unpack=lambda values: OnColumns(**values),
    ),
    "Exponential": StoredClass(GAMMA),
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
    "PairCode": StoredClass(
        fitted={"n_classes": Whole(2, size="classes")},
        checks=(_check_n_pairs,),
        pack=lambda code: {"n_classes": code.n_classes},
        unpack=lambda values: PairCode(**values),
    ),
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
            **dict.fromkeys(("loss_before", "loss_after", "bound", "chosen"), ANY_REAL),
            "focused": Flag(),
            **dict.fromkeys(("error_before", "error_after"), ANY_REAL),
        },
    ),
    # probabilities
    "SigmoidCalibrator": StoredClass(
        fitted={
            **dict.fromkeys(("slope_", "offset_", "center_"), Real()),
            "scale_": Real(above=0.0),
            "gradient_norm_": ANY_REAL,
        },
    ),
    "SoftmaxCalibrator": StoredClass(
        fitted={"slope_": Real(), "scale_": Real(above=0.0), "gradient_norm_": ANY_REAL},
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
        fitted={"curves_": Listed(CURVES), "code_": Maybe(Object(CODES))},
        checks=(_check_pairs,),
    ),
    # columns
    "ColumnScaling": StoredClass(
        {
            "bent": Flags(("scaled columns",)),
            **dict.fromkeys(("origin", "center"), Floats(("scaled columns",))),
            **dict.fromkeys(("unit", "scale"), Floats(("scaled columns",), least=np.finfo(np.float64).tiny)),
            "rotation": Maybe(Floats(("scaled columns", "scaled columns"))),
        },
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
    """Names and steps as two lists."""
    if pipeline.memory is not None:
        raise ValueError("the Pipeline has a cache folder (memory); set memory=None before saving.")
    names, steps = zip(*pipeline.steps)
    return {"names": list(names), "steps": list(steps)}


def _unpack_pipeline(packed: dict[str, Any]) -> Any:
    from sklearn.pipeline import Pipeline

    names, steps = packed["names"], packed["steps"]
    if set(packed) != {"names", "steps"} or len(names) != len(steps) or not steps:
        raise ValueError("a pipeline must have one name for each step")
    if len(set(names)) < len(names) or not all(type(name) is str and "__" not in name for name in names):
        raise ValueError("the steps of a pipeline must have different names")
    if not all(step is None or step == "passthrough" or hasattr(step, "get_params") for step in steps):
        raise ValueError("the steps of a pipeline must be estimators")
    if not all(hasattr(step, "transform") for step in steps[:-1] if step not in (None, "passthrough")):
        raise ValueError("every step of a pipeline but the last must have transform")
    return Pipeline(list(zip(names, steps)))


def check_pipeline(pipeline: Mapping[str, Any], sizes: Sizes) -> None:
    """Each step is valid and takes as many features as the step before returns."""
    width = None
    for step in pipeline["steps"]:
        if step in (None, "passthrough"):
            continue
        Model().check(step, sizes)
        taken = getattr(step, "n_features_in_", None)
        if width is not None and taken is not None and taken != width:
            raise ValueError("a step of a pipeline must take as many features as the step before returns")
        width = _width_after(step)


def _width_after(step: Any) -> int | None:
    if type(step).__name__ == "SimpleImputer" and not step.keep_empty_features:
        return int(np.sum(~np.isnan(step.statistics_.astype(float))))  # columns without a value are dropped
    for name in ("n_features_out_", "n_components_"):
        if hasattr(step, name):
            return int(getattr(step, name))
    return getattr(step, "n_features_in_", None)


def _are_statistics(value: Any, sizes: Sizes) -> bool:
    """Floats; scikit-learn stores a constant as a Python number for each feature."""
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
            "indicator_": Such(
                lambda value, sizes: value is None, "must be null: indicators are not supported"
            ),
        },
        optional=NAMES,
    ),
    "Pipeline": StoredClass(pack=pack_pipeline, unpack=_unpack_pipeline, checks=(check_pipeline,)),
    "TablePreparation": StoredClass(pack=_pack_table, unpack=_unpack_table),
}
