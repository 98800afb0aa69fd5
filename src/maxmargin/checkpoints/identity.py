"""The identity of a fit (estimator, parameters, data) as short strings that can be compared."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from numbers import Real
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from .. import __version__, _native
from .._native import is_sparse
from ..data import WeightedRows

__all__ = ["data_identity", "description", "parameter_identity"]

# Raised whenever a solver's State gets another name or meaning: an older checkpoint is then refused.
STATE_FORMAT = 8
PARAMETERS_LEFT_OUT = (
    "n_jobs",
    "max_seconds",
    "random_state",
    "estimator",
)  # the last two are treated separately


def parameter_identity(estimator: Any) -> dict[str, str]:
    """The class, the parameters that affect the result, and the version of the library.

    A random state is represented by its seed, which the caller adds; a nested estimator adds its own identity
    when it is fitted.
    """
    own = {
        name: description(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in PARAMETERS_LEFT_OUT
    }
    fixed = {"version": __version__, "checkpoint format": str(STATE_FORMAT)}
    return {"class": type(estimator).__name__} | fixed | own


def data_identity(data: WeightedRows) -> dict[str, str]:
    """The rows with their order and layout, labels and weights; of objects, only their number."""
    X = data.rows.X
    digest = hashlib.sha256()
    if X.ndim == 2:
        digest.update(_native.hash_rows(X, data.rows.n_threads).data)
    elif X.dtype != object:
        digest.update(np.ascontiguousarray(X).data)
    for part in (data.rows.index, data.labels, data.weight):
        digest.update(np.ascontiguousarray(part).data)
    layout = "sparse" if is_sparse(X) else "dense"
    return {"X": f"{layout} {X.dtype} {X.shape}", "the data's SHA-256": digest.hexdigest()}


def description(value: Any) -> str:
    """A string that is the same for equivalent values, in any process."""
    if value is None or isinstance(value, bool | str):
        return repr(value)
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest = hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
        return f"array {value.dtype} {value.shape} {digest[:16]}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k!r}: {description(v)}" for k, v in sorted(value.items(), key=str)) + "}"
    if isinstance(value, list | tuple | np.ndarray):
        return "[" + ", ".join(description(v) for v in value) + "]"
    if isinstance(value, MethodType):
        return f"{description(value.__func__)} of {description(value.__self__)}"
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__} {_digest_of(value)[:16]}"
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return f"{type(value).__name__}({description(_parts(value))[1:-1]})"


def _parts(value: Any) -> dict[str, Any]:
    if hasattr(value, "get_params"):
        return dict(value.get_params(deep=False))
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.compare}
    try:
        made_from = value.__reduce_ex__(4)  # everything a copy needs
    except Exception:  # a class that cannot be copied may raise anything
        return dict(getattr(value, "__dict__", {}))
    return {"made from": made_from if isinstance(made_from, str) else made_from[1:3]}


def _digest_of(function: FunctionType) -> str:
    """SHA-256 of a function's own code and values; functions it refers to count by name."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    values = [*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    texts = [v.__qualname__ if callable(v) and hasattr(v, "__qualname__") else description(v) for v in values]
    return hashlib.sha256("\n".join([_code_text(function.__code__), *texts]).encode()).hexdigest()


def _code_text(code: CodeType) -> str:
    constants = [_code_text(c) if isinstance(c, CodeType) else _constant_text(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {constants}"


def _constant_text(value: Any) -> str:
    """The constant as a string; sets are sorted because their order differs between processes."""
    return str(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
