"""Estimators, and what they hold, as values of a file by the tables of ``kept_*``; and back, checked."""

from __future__ import annotations

import warnings
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ...archive import ModelFormatError
from .estimators import COLUMNS, ESTIMATORS
from .expected import Sizes
from .parts import (
    HELPERS,
    STEPS,
    Kept,
    pack_pipeline,
)
from .values import Decoder, Encoder

KINDS: dict[str, Kept] = {**ESTIMATORS, **COLUMNS, **HELPERS, **STEPS}
MODELS = (*ESTIMATORS, *STEPS)
NOT_DATA = {  # attributes of any estimator that are about how it is called, not what it has learned
    "_checkpoint",
    "_functions",
    "_metadata_request",
    "_parent_callback_ctx",
    "_skl_callbacks",
    "_sklearn_version",
}
OUTPUT = "_sklearn_output_config"  # of set_output
MOST_PIPELINES = 4  # within one another: scikit-learn's time doubles with each


def kept_of(value: Any) -> Kept | None:
    """The row of the tables that is about the class of ``value``, not about a class of the same name."""
    kept = KINDS.get(type(value).__name__)
    return kept if kept is not None and kept.load_class(type(value).__name__) is type(value) else None


# ---- objects to values ----


def encode_model(model: Any, *, clocks: bool = True) -> tuple[Any, dict[str, np.ndarray]]:
    """JSON and arrays of a fitted model; a ``ValueError`` where it has something that a file cannot hold."""
    encoder = Encoder(_encode_object, clocks)
    return encoder(model, "model"), encoder.arrays


def _encode_object(encoder: Encoder, value: Any, path: str) -> Any:
    kept = kept_of(value)
    if kept is None:
        raise ValueError(_refusal(value, path))
    name = type(value).__name__
    if kept.pack is not None:
        packed = {key: encoder(item, f"{path}/{key}") for key, item in kept.pack(value).items()}
        return {"kind": name, "parameters": {}, "fitted": packed}
    parameters = {
        key: _encode_parameter(encoder, getattr(value, key), f"{path}/{key}", kept)
        for key in kept.parameter_names(type(value))
    }
    state = _learned(value, kept)
    fitted = {key: encoder(state[key], f"{path}/{key}") for key in kept.attributes if key in state}
    if OUTPUT in state:
        fitted[OUTPUT] = encoder(state[OUTPUT], f"{path}/{OUTPUT}")
    unknown = set(state) - set(kept.attributes) - set(kept.left_out) - set(parameters) - NOT_DATA - {OUTPUT}
    if unknown and not is_dataclass(value):
        raise ValueError(
            f"{path} has attributes that a model file does not know: {sorted(unknown)}. Delete them."
        )
    missing = [key for key in kept.fitted if key not in state]
    if missing and not is_dataclass(value):
        raise ValueError(f"{path}: this {name} is not fitted ({missing[0]} is missing); call fit first.")
    return {"kind": name, "parameters": parameters, "fitted": fitted}


def _learned(value: Any, kept: Kept) -> dict[str, Any]:
    if is_dataclass(value):
        return {name: getattr(value, name) for name in kept.attributes}
    return dict(vars(value))


def _encode_parameter(encoder: Encoder, value: Any, path: str, kept: Kept) -> Any:
    """A parameter; an estimator among them without what it has learned: it is a pattern for clones."""
    is_estimator = hasattr(value, "get_params") and not isinstance(value, type)
    if not is_estimator:
        if path.endswith("/random_state") and not isinstance(value, int | np.integer | type(None)):
            raise ValueError(
                f"{path} is a {type(value).__name__}; a model file holds an integer or None. Use "
                "set_params(random_state=0), which changes no prediction."
            )
        return encoder(value, path)
    inner = kept_of(value)
    if inner is None or type(value).__name__ not in MODELS:
        raise ValueError(_refusal(value, path))
    if isinstance(value, Pipeline):
        packed = pack_pipeline(value)
        steps = [_encode_parameter(encoder, s, f"{path}/{i}", inner) for i, s in enumerate(packed["steps"])]
        return {"kind": "Pipeline", "parameters": {}, "fitted": {"names": packed["names"], "steps": steps}}
    names = inner.parameter_names(type(value))
    parameters = {
        key: _encode_parameter(encoder, getattr(value, key), f"{path}/{key}", inner) for key in names
    }
    return {"kind": type(value).__name__, "parameters": parameters, "fitted": None}


def _refusal(value: Any, path: str) -> str:
    about = f"{path} is a {type(value).__module__}.{type(value).__name__}"
    if callable(value) and not hasattr(value, "get_params"):
        return f"{about}: a model file holds data, never code. Use a kernel or a parameter that has a name."
    return (
        f"{about}, which a model file cannot hold. It holds the estimators of maxmargin, what they are made "
        f"of, and pipelines of them with {', '.join(sorted(set(STEPS) - {'Pipeline', 'TablePreparation'}))}."
    )


# ---- values to objects ----


def decode_model(tree: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The model, once everything in it has been checked; a ``ModelFormatError`` otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were given when the model was fitted
        try:
            if _pipelines_deep(tree) > MOST_PIPELINES:
                raise ValueError(f"more than {MOST_PIPELINES} pipelines are within one another")
            decoder = Decoder(arrays, _make)
            model = decoder(tree)
            if type(model).__name__ not in MODELS or decoder.used != set(arrays):
                raise ValueError("the header must describe one model that has all arrays of the file")
            _visit(model, Sizes(_visit))
            try_model(model, sum(array.size for array in arrays.values()))
        except MemoryError:
            raise
        except Exception as error:
            text = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            raise ModelFormatError(f"the model does not fit together: {text}") from None
    return model


def _pipelines_deep(tree: Any) -> int:
    """How many pipelines are within one another, anywhere in what a file describes."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    own = isinstance(tree, dict) and tree.get("kind") == "Pipeline"
    return own + max(map(_pipelines_deep, parts), default=0)


def _make(name: str, parameters: dict[str, Any], fitted: dict[str, Any] | None) -> Any:
    if not isinstance(name, str) or name not in KINDS:
        raise ValueError(f"{name!r:.60} is nothing that a model has")
    kept = KINDS[name]
    if kept.unpack is not None and fitted is not None:
        return kept.unpack(fitted)
    cls = kept.load_class(name)
    unknown = set(parameters) - set(kept.parameter_names(cls))
    unknown |= set(fitted or {}) - set(kept.attributes) - {OUTPUT}
    if unknown:
        raise ValueError(f"{name} has no {sorted(unknown)[0]!r:.60}")
    made = cls(**parameters)
    for key, value in (fitted or {}).items():
        object.__setattr__(made, key, value)
    if fitted is not None:
        for key, rebuild in kept.left_out.items():
            if rebuild is not None:
                rebuild(made)
            else:
                made.__dict__.pop(key, None)
    return made


def _visit(value: Any, sizes: Sizes) -> None:
    """Check one object and all that it holds."""
    name = type(value).__name__
    kept = KINDS[name]
    state = _learned(value, kept)
    for key, expected in kept.parameters.items():
        _look(name, key, expected, getattr(value, key), sizes)
    for key, expected in kept.attributes.items():
        if key in kept.fitted or key in state:
            if key not in state:
                raise ValueError(f"{name}: {key} is missing")
            _look(name, key, expected, state[key], sizes)
    if OUTPUT in state and state[OUTPUT] not in [
        {"transform": how} for how in ("default", "pandas", "polars")
    ]:
        raise ValueError(f"{name}: what set_output has set must be default, pandas or polars")
    if hasattr(value, "_check_parameters"):
        value._check_parameters()
    for check in kept.checks:
        check(value, sizes)


def _look(name: str, key: str, expected: Any, value: Any, sizes: Sizes) -> None:
    try:
        expected.check(value, sizes)
    except ValueError as error:
        raise ValueError(
            f"{name}: {key} {error}"
            if not str(error).startswith(("must", "has"))
            else f"{key} of {name} {error}"
        ) from None


METHODS = ("decision_function", "predict", "predict_proba", "transform")
FEW = 1 << 20  # features that a row may always have


def try_model(model: Any, n_values: int = 0) -> None:
    """Predict a row of zeros by every method there is; a ``ValueError`` where an answer is not finite.

    What begins with a table of names is tried from its second step on. What has more features than
    ``n_values``, the numbers in the model, is not tried: CSR matrices and kernels of numbers can claim any
    width, and a row would take the memory that a file of a few bytes asks for.
    """
    steps = getattr(model, "steps", None)
    if steps and getattr(steps[0][1], "layout_", "matrix") != "matrix":
        for _, step in steps[1:]:
            try_model(step, n_values)
        return
    n_features = getattr(model, "n_features_in_", None)
    if n_features is None or getattr(model, "layout_", "matrix") != "matrix":
        return
    if n_features > max(FEW, n_values):
        return
    row = np.zeros((1, int(n_features)))
    for name in METHODS:
        method = getattr(model, name, None)
        if method is None:
            continue
        answer = method(row)
        values = getattr(answer, "to_numpy", lambda answer=answer: answer)()
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(f"{name} of a row of zeros is not finite")
