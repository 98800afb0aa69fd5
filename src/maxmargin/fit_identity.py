"""What a fit is of, as short texts that can be compared: the estimator, its parameters, the data."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from . import __version__, _native
from .layout import is_sparse
from .rows import WeightedRows

__all__ = ["data_identity", "description", "parameter_identity"]

NOT_OF_THE_RESULT = ("n_jobs", "max_seconds", "random_state", "estimator")  # of the last two, see below


def parameter_identity(estimator: Any) -> dict[str, str]:
    """The class, its parameters but those that change no bit, and the library's version.

    Of a random state the seed is kept; an estimator speaks for itself when it is fitted.
    """
    own = {
        name: description(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in NOT_OF_THE_RESULT
    }
    return {"class": type(estimator).__name__, "version": __version__} | own


def data_identity(data: WeightedRows) -> dict[str, str]:
    """The rows with their order and layout, labels and weights; objects count by their number alone."""
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
    """A text that is the same for values that mean the same, in any process."""
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
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return f"{type(value).__name__}({description(_parts(value))[1:-1]})"


def _parts(value: Any) -> dict[str, Any]:
    if hasattr(value, "get_params"):
        return dict(value.get_params(deep=False))
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.compare}
    return dict(getattr(value, "__dict__", {}))
