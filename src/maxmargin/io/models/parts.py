"""How a table says what a file keeps of a class: its module, its parameters, its fitted attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
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

Check = Callable[[Any, Sizes], None]
Rebuild = Callable[[Any], None]
Fields = dict[str, Expected]


@dataclass(frozen=True)
class Kept:
    """One class whose objects a file can hold.

    Nothing in a file names a module or a class: the key of the table does, and the table is code.
    """

    module: str
    parameters: Mapping[str, Expected] = field(default_factory=dict)  # of an estimator: those worth checking
    fitted: Mapping[str, Expected] = field(default_factory=dict)
    optional: Mapping[str, Expected] = field(default_factory=dict)  # fitted, where there are such
    checks: tuple[Check, ...] = ()  # of the whole object, after every attribute has been looked at
    left_out: Mapping[str, Rebuild | None] = field(default_factory=dict)  # not kept; made again by a function
    pack: Callable[[Any], dict[str, Any]] | None = None  # instead of attributes: what there is to keep
    unpack: Callable[[dict[str, Any]], Any] | None = None  # and the object made from it

    @property
    def attributes(self) -> dict[str, Expected]:
        """All fitted attributes."""
        return {**self.fitted, **self.optional}

    def load_class(self, name: str) -> type:
        """The class."""
        return getattr(import_module(self.module), name)

    def parameter_names(self, cls: type) -> list[str]:
        """What the constructor takes."""
        if is_dataclass(cls):
            return [f.name for f in fields(cls) if f.init]
        return [name for name in inspect.signature(cls).parameters if name not in ("args", "kwargs")]


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


def _check_knots(curve: Any, sizes: Sizes) -> None:
    rising = len(curve.knots_) > 0 and (np.diff(curve.knots_) > 0.0).all()
    if not rising or not (np.diff(curve.values_) >= 0.0).all() or curve.values_.max() > 1.0:
        raise ValueError("an isotonic curve must rise from knot to knot, within 0 and 1")


def _check_pairs(pairs: Any, sizes: Sizes) -> None:
    if pairs.code_ is not None and len(pairs.curves_) != pairs.code_.n_columns:
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

HELPERS: dict[str, Kept] = {
    # kernels
    "Laplacian": Kept("maxmargin.kernels", GAMMA),
    "Linear": Kept("maxmargin.kernels"),
    "Polynomial": Kept("maxmargin.kernels", {**GAMMA, "degree": Real(), "coef0": Real()}),
    "Precomputed": Kept("maxmargin.kernels"),
    "Product": Kept("maxmargin.kernels", PAIR),
    "RBF": Kept("maxmargin.kernels", GAMMA),
    "Scaled": Kept("maxmargin.kernels", {"factor": Real(above=0.0), "kernel": Object(KERNELS)}),
    "Sigmoid": Kept("maxmargin.kernels", {**GAMMA, "coef0": Real()}),
    "Sum": Kept("maxmargin.kernels", PAIR),
    # codes and losses
    "Code": Kept("maxmargin.codes.family", {"matrix": Ints(("classes", "columns"), -1, 2), "name": Word()}),
    **{name: Kept("maxmargin.losses", {"name": Word()}) for name in LOSSES},
    # decoders
    "Margins": Kept("maxmargin.decoders.registry", fitted={"name": Word(("margins",))}),
    "Votes": Kept("maxmargin.decoders.registry", fitted={"name": Word(("votes",))}),
    "Hamming": Kept("maxmargin.decoders.registry", fitted={"name": Word(("hamming",))}),
    "LossBased": Kept("maxmargin.decoders.registry", {"loss": Object(LOSSES)}),
    "Probabilistic": Kept(
        "maxmargin.decoders.probabilities",
        {"curves": Maybe(Listed(CURVES, "columns"))},
        fitted={"name": Word(("probabilistic",))},
    ),
    "Coupling": Kept(
        "maxmargin.decoders.probabilities",
        {"curves": Maybe(Listed(CURVES, "columns"))},
        fitted={"name": Word(("coupling",))},
    ),
    "WeightedDecoder": Kept(
        "maxmargin.decoders.weighted",
        {**LEARNING, "method": Word(("lp",)), "margin": NUMBER_OR_WORD, "epsilon": Real()},
    ),
    "PriorDecoder": Kept(
        "maxmargin.decoders.prior", {**LEARNING, "nu": NUMBER_OR_WORD}, fitted={"name": Word(("prior",))}
    ),
    "DecoderReport": Kept(
        "maxmargin.decoders.learned_weights",
        {
            "status": Word(),
            **dict.fromkeys(("n_iter", "n_constraints", "n_pairs"), Whole()),
            **dict.fromkeys(("loss_before", "loss_after", "bound", "chosen"), REAL),
            "focused": Flag(),
            **dict.fromkeys(("error_before", "error_after"), REAL),
        },
    ),
    # probabilities
    "SigmoidCalibrator": Kept(
        "maxmargin.calibration",
        fitted={
            **dict.fromkeys(("slope_", "offset_", "center_"), Real()),
            "scale_": Real(above=0.0),
            "gradient_norm_": REAL,
        },
    ),
    "SoftmaxCalibrator": Kept(
        "maxmargin.calibration",
        fitted={"slope_": Real(), "scale_": Real(above=0.0), "gradient_norm_": REAL},
        optional={
            "bend_": Real(),
            "bend_scale_": Real(above=0.0),
            "curve_": Object(("SigmoidCalibrator",)),
        },
    ),
    "IsotonicCalibrator": Kept(
        "maxmargin.calibration",
        fitted={"knots_": Floats(("knots",)), "values_": Floats(("knots",), least=0.0)},
        checks=(_check_knots,),
    ),
    "CalibratedScores": Kept(
        "maxmargin.calibration", {"method": METHOD}, fitted={"calibrator_": Maybe(Object(CALIBRATORS))}
    ),
    "CoupledPairs": Kept(
        "maxmargin.decoders.coupling",
        {"method": METHOD},
        fitted={"curves_": Listed(CURVES), "code_": Maybe(Object(("Code",)))},
        checks=(_check_pairs,),
    ),
    # streams
    "Reservoir": Kept(
        "maxmargin.methods.budget.stream",
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


def check_pipeline(pipeline: Any, sizes: Sizes) -> None:
    """Each step is sound, and takes what the one before gives."""
    width = None
    for _, step in pipeline.steps:
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


def _imputed_type(model: Any) -> None:
    found = model.statistics_.dtype
    model._fit_dtype = model._fill_dtype = found if found.kind == "f" else np.dtype(np.float64)


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


STEPS: dict[str, Kept] = {
    "StandardScaler": Kept(
        "sklearn.preprocessing",
        fitted={
            **FEATURES,
            "mean_": Maybe(PER_FEATURE),
            "var_": Maybe(PER_FEATURE),
            "scale_": Maybe(POSITIVE),
            "n_samples_seen_": SEEN,
        },
        optional=NAMES,
    ),
    "MinMaxScaler": Kept(
        "sklearn.preprocessing",
        fitted={
            **FEATURES,
            **dict.fromkeys(("min_", "scale_", "data_min_", "data_max_", "data_range_"), PER_FEATURE),
            "n_samples_seen_": SEEN,
        },
        optional=NAMES,
    ),
    "MaxAbsScaler": Kept(
        "sklearn.preprocessing",
        fitted={**FEATURES, "scale_": POSITIVE, "max_abs_": PER_FEATURE, "n_samples_seen_": SEEN},
        optional=NAMES,
    ),
    "RobustScaler": Kept(
        "sklearn.preprocessing",
        fitted={**FEATURES, "center_": Maybe(PER_FEATURE), "scale_": Maybe(POSITIVE)},
        optional=NAMES,
    ),
    "Normalizer": Kept(
        "sklearn.preprocessing", {"norm": Word(("l1", "l2", "max"))}, optional={**FEATURES, **NAMES}
    ),
    "SimpleImputer": Kept(
        "sklearn.impute",
        fitted={
            **FEATURES,
            "statistics_": Such(_are_statistics, "must be a number for each feature"),
            "indicator_": Such(lambda value, sizes: value is None, "must be null: no indicators are kept"),
        },
        optional=NAMES,
        left_out=dict.fromkeys(("_fit_dtype", "_fill_dtype"), _imputed_type),
    ),
    "Pipeline": Kept(
        "sklearn.pipeline", pack=pack_pipeline, unpack=_unpack_pipeline, checks=(check_pipeline,)
    ),
    "TablePreparation": Kept("maxmargin.table.preparation", pack=_pack_table, unpack=_unpack_table),
}
