"""A saved model equals the loaded one: the same types, state and answers, bit for bit."""

from dataclasses import fields, is_dataclass

import numpy as np
from scipy import sparse

from maxmargin.io import load, save

METHODS = (
    "decision_function",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "transform",
    "column_outputs",
)
STARTS = {"_last"}  # of a warm start, which a file does not hold


def saved(model, path):
    save(model, path)
    return load(path)


def assert_equal(a, b, where="model"):
    """The same types and the same bits, recursively."""
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray) and a.dtype == object:
        assert_equal(a.tolist(), b.tolist(), where)
    elif isinstance(a, np.ndarray | np.generic):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), where
    elif sparse.issparse(a):
        for name in ("data", "indices", "indptr"):
            assert_equal(getattr(a, name), getattr(b, name), f"{where}.{name}")
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_equal(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, pair in enumerate(zip(a, b)):
            assert_equal(*pair, f"{where}[{i}]")
    elif hasattr(a, "get_params"):
        assert_same_state(a, b, where)
    elif is_dataclass(a):
        for field in fields(a):
            assert_equal(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    elif isinstance(a, float):
        assert repr(a) == repr(b), where
    elif not callable(a):
        assert a == b, where


def assert_same_state(a, b, where="model"):
    first, second = (dict(model.__getstate__()) for model in (a, b))
    for name in STARTS | {"_running"}:
        first.pop(name, None), second.pop(name, None)
    assert set(first) == set(second), where
    for name in first:
        assert_equal(first[name], second[name], f"{where}.{name}")


def answers(model, X):
    if hasattr(model, "best_params_") and not hasattr(model, "best_estimator_"):
        return {}
    return {name: getattr(model, name)(X) for name in METHODS if hasattr(model, name)}


def assert_same_answers(a, b, X):
    expected, found = answers(a, X), answers(b, X)
    assert set(expected) == set(found)
    for name in expected:
        assert_equal(np.asarray(expected[name]), np.asarray(found[name]), name)
