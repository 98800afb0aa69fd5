"""What a file keeps of pipelines and their steps: tables, scalers and imputers of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from .expected import (
    Floats,
    Labels,
    Maybe,
    Model,
    Sizes,
    Such,
    Whole,
    Word,
)
from .parts import Fields, Kept

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
