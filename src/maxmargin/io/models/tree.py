"""Models as trees of values that a file can hold, and back: every value is checked before a model is used."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ...archive import ModelFormatError
from .estimators import COLUMNS, ESTIMATORS
from .names import (
    OMITTED,
    OMITTED_FROM_ALL,
    OUTPUT_CONFIG,
    RECORDS,
    attribute_of,
    attribute_values,
    constructed,
    kind_of,
    parameter_names,
    set_attributes,
)
from .parts import PARTS, STEPS, pack_pipeline
from .schema import Sizes, StoredClass
from .values import ValueDecoder, ValueEncoder

KINDS: dict[str, StoredClass] = {**ESTIMATORS, **COLUMNS, **PARTS, **STEPS}
MODELS = (*ESTIMATORS, *STEPS)
MAX_NESTED_PIPELINES = 4  # scikit-learn's time doubles with each


def is_model(value: Any) -> bool:
    """Whether ``value`` is an estimator that a file can hold, or a pipeline."""
    return kind_of(value) in MODELS


def _named_values(value: Any, kind: str) -> dict[str, Any]:
    """The parameters and fitted attributes of an object, by their names in a file."""
    stored = KINDS[kind]
    if stored.pack is not None:
        return stored.pack(value)
    parameters = {name: getattr(value, attribute_of(kind, name)) for name in parameter_names(kind)}
    return {**parameters, **_fitted_values(value, kind)}


def _fitted_values(value: Any, kind: str) -> dict[str, Any]:
    attributes = {name: attribute_of(kind, name) for name in KINDS[kind].attributes}
    if is_dataclass(value):
        return {name: getattr(value, attribute) for name, attribute in attributes.items()}
    state = attribute_values(value, kind)
    attributes[OUTPUT_CONFIG] = OUTPUT_CONFIG
    return {name: state[attribute] for name, attribute in attributes.items() if attribute in state}


# ---- objects to values ----


def encode_model(model: Any, *, clocks: bool = True) -> tuple[Any, dict[str, np.ndarray]]:
    """JSON and arrays of a fitted model; a ``ValueError`` if a file cannot hold something in it."""
    encoder = ValueEncoder(_encode_object, clocks)
    return encoder(model, "model"), encoder.arrays


def _encode_object(encoder: ValueEncoder, value: Any, path: str) -> Any:
    kind = kind_of(value)
    if kind is None:
        raise ValueError(_refusal(value, path))
    stored = KINDS[kind]
    if stored.pack is not None:
        packed = {name: encoder(item, f"{path}/{name}") for name, item in stored.pack(value).items()}
        return {"kind": kind, "parameters": {}, "fitted": packed}
    parameters = _encode_parameters(encoder, value, path, kind)
    fitted = _fitted_values(value, kind)
    if not is_dataclass(value):
        _check_complete(value, kind, fitted, path)
    encoded = {name: encoder(item, f"{path}/{name}") for name, item in fitted.items()}
    return {"kind": kind, "parameters": parameters, "fitted": encoded}


def _check_complete(value: Any, kind: str, fitted: Mapping[str, Any], path: str) -> None:
    """Everything that a fitted estimator has is stored, or left out on purpose."""
    known = {attribute_of(kind, name) for name in (*fitted, *parameter_names(kind))}
    unknown = set(vars(value)) - known - {*OMITTED.get(kind, {}), *RECORDS.get(kind, {})} - OMITTED_FROM_ALL
    if unknown:
        raise ValueError(
            f"{path} has attributes that a model file does not know: {sorted(unknown)}. Delete them."
        )
    missing = [name for name in KINDS[kind].fitted if name not in fitted]
    if missing:
        raise ValueError(f"{path}: this {kind} is not fitted ({missing[0]} is missing); call fit first.")


def _encode_parameters(encoder: ValueEncoder, value: Any, path: str, kind: str) -> dict[str, Any]:
    return {
        name: _encode_parameter(encoder, getattr(value, attribute_of(kind, name)), f"{path}/{name}")
        for name in parameter_names(kind)
    }


def _encode_parameter(encoder: ValueEncoder, value: Any, path: str) -> Any:
    """A parameter; an estimator without its fitted attributes, since it is only cloned."""
    is_estimator = hasattr(value, "get_params") and not isinstance(value, type)
    if not is_estimator:
        if path.endswith("/random_state") and not isinstance(value, int | np.integer | type(None)):
            raise ValueError(
                f"{path} is a {type(value).__name__}; a model file holds an integer or None. Call "
                "set_params(random_state=0), which changes no prediction."
            )
        return encoder(value, path)
    kind = kind_of(value)
    if kind not in MODELS:
        raise ValueError(_refusal(value, path))
    if isinstance(value, Pipeline):
        packed = pack_pipeline(value)
        steps = [_encode_parameter(encoder, step, f"{path}/{i}") for i, step in enumerate(packed["steps"])]
        return {"kind": "Pipeline", "parameters": {}, "fitted": {"names": packed["names"], "steps": steps}}
    return {"kind": kind, "parameters": _encode_parameters(encoder, value, path, kind), "fitted": None}


def _refusal(value: Any, path: str) -> str:
    about = f"{path} is a {type(value).__module__}.{type(value).__name__}"
    if callable(value) and not hasattr(value, "get_params"):
        return f"{about}: a model file holds data, never code. Use a kernel or a parameter that has a name."
    return (
        f"{about}, which a model file cannot hold. It holds estimators of maxmargin, their parts, and "
        f"pipelines of them with {', '.join(sorted(set(STEPS) - {'Pipeline', 'TablePreparation'}))}."
    )


# ---- values to objects ----


def decode_model(tree: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The model, once everything in it has been checked; a ``ModelFormatError`` otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fit has given them already
        try:
            if _pipelines_deep(tree) > MAX_NESTED_PIPELINES:
                raise ValueError(f"more than {MAX_NESTED_PIPELINES} pipelines are nested")
            decoder = ValueDecoder(arrays, _make)
            model = decoder(tree)
            if kind_of(model) not in MODELS or decoder.used != set(arrays):
                raise ValueError("the header must describe one model that uses all arrays of the file")
            _visit(model, Sizes(_visit))
            try_model(model, sum(array.size for array in arrays.values()))
        except MemoryError:
            raise
        except Exception as error:
            text = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            raise ModelFormatError(f"the model does not fit together: {text}") from None
    return model


def _pipelines_deep(tree: Any) -> int:
    """How deep pipelines are nested, anywhere in the tree."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    own = isinstance(tree, dict) and tree.get("kind") == "Pipeline"
    return own + max(map(_pipelines_deep, parts), default=0)


def _make(kind: str, parameters: dict[str, Any], fitted: dict[str, Any] | None) -> Any:
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"{kind!r:.60} is not a part of a model")
    stored = KINDS[kind]
    if stored.unpack is not None and fitted is not None:
        return stored.unpack(fitted)
    unknown = set(parameters) - set(parameter_names(kind))
    unknown |= set(fitted or {}) - set(stored.attributes) - {OUTPUT_CONFIG}
    if unknown:
        raise ValueError(f"{kind} has no {sorted(unknown)[0]!r:.60}")
    made = constructed(kind, parameters)
    if fitted is not None:
        set_attributes(made, kind, fitted)
    return made


def _visit(value: Any, sizes: Sizes) -> None:
    """Check one object and everything in it."""
    kind = kind_of(value)
    if kind is None:
        raise ValueError(f"a {type(value).__name__} is not a part of a model")
    stored, values = KINDS[kind], _named_values(value, kind)
    for name, expected in {**stored.parameters, **stored.attributes}.items():
        if name in values:
            _check_value(kind, name, expected, values[name], sizes)
        elif name not in stored.optional:
            raise ValueError(f"{kind}: {name} is missing")
    if OUTPUT_CONFIG in values and values[OUTPUT_CONFIG] not in [
        {"transform": how} for how in ("default", "pandas", "polars")
    ]:
        raise ValueError(f"{kind}: the setting of set_output must be default, pandas or polars")
    if hasattr(value, "_check_parameters"):
        value._check_parameters()
    for check in stored.checks:
        check(values, sizes)


def _check_value(name: str, key: str, expected: Any, value: Any, sizes: Sizes) -> None:
    try:
        expected.check(value, sizes)
    except ValueError as error:
        raise ValueError(
            f"{name}: {key} {error}"
            if not str(error).startswith(("must", "has"))
            else f"{key} of {name} {error}"
        ) from None


TRIED_METHODS = ("decision_function", "predict", "predict_proba", "transform")
ALWAYS_TRIED_FEATURES = 1 << 20  # a row of so many zeros is cheap


def try_model(model: Any, n_values: int = 0) -> None:
    """Predict a row of zeros by every method; a ``ValueError`` if an answer is not finite.

    A pipeline that begins with a table of named columns is tried from its second step on, an ``AutoSVC`` of
    such a table from its estimator on. A model with more
    features than ``n_values``, the numbers in it, is not tried: CSR matrices and precomputed kernels can
    claim any width, and a row of that width would let a small file demand any amount of memory.
    """
    steps = getattr(model, "steps", None)
    if steps and getattr(steps[0][1], "layout_", "matrix") != "matrix":
        for _, step in steps[1:]:
            try_model(step, n_values)
        return
    if getattr(model, "table_", None) is not None:  # an AutoSVC of named columns
        try_model(model.estimator_, n_values)
        return
    n_features = getattr(model, "n_features_in_", None)
    if n_features is None or getattr(model, "layout_", "matrix") != "matrix":
        return
    if n_features > max(ALWAYS_TRIED_FEATURES, n_values):
        return
    row = np.zeros((1, int(n_features)))
    for name in TRIED_METHODS:
        method = getattr(model, name, None)
        if method is None:
            continue
        answer = method(row)
        values = getattr(answer, "to_numpy", lambda answer=answer: answer)()
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(f"{name} of a row of zeros is not finite")
