"""The steps of the kernel SVM take arrays of one dtype, layout and size, or none: nothing is converted."""

import numpy as np
import pytest

from maxmargin import _native
from maxmargin._native import NEVER
from maxmargin.kernels import RBF

N = 6
RULES = {"block": 4, "largest_block": N, "free_share": 0.7, "n_rounds": 3, "inner": 0.02}
RULES |= {"target": 1e-3, "tiny": 1e-12, "seconds": 60.0, "dual": 0.0, "n_threads": 1}


def samples():
    y = np.where(np.arange(N) % 2, 1.0, -1.0)
    return {
        "a": np.zeros(N),
        "g": y.copy(),
        "lower": np.minimum(y, 0.0),
        "upper": np.maximum(y, 0.0),
        "y": y,
        "cost": np.ones(N),
    }


def kernel_matrix():
    X = np.random.default_rng(0).normal(size=(N, 2))
    return X, RBF(0.5)(X)


def arguments(step):
    """Valid arguments of a step, by name."""
    X, K = kernel_matrix()
    everyone, cancel = np.arange(N), NEVER.copy()
    rounds = {"rows": K, "scratch": np.empty(N * N), **samples(), "squared": False, **RULES}
    limits = {name: samples()[name] for name in ("a", "g", "lower", "upper")}
    known = {"known": np.ones(N, dtype=np.uint8)}
    source = _native.RowFiller(X, RBF(0.5), _native.row_stats(X)).source
    return {
        "smo_block": {"K": K, **limits, "tolerance": 1e-3, "max_steps": 10, "cancel": cancel},
        "svm_look": {**samples(), "squared": False},
        "svm_rounds": {**rounds, "fetch": lambda which: which, "cancel": cancel},
        "svm_small_rounds": {**rounds, "source": source, "index": everyone, **known, "cancel": cancel},
        "svm_polish": {
            "rows": K,
            **known,
            **samples(),
            "squared": False,
            "seconds": 60.0,
            "fetch": lambda which: which,
            "cancel": cancel,
        },
        "subtract_rows": {
            "rows": K,
            "which": everyone[:2],
            "change": np.ones(2),
            "g": np.zeros(N),
            "n_threads": 1,
            "cancel": cancel,
        },
        "gather_rows": {
            "K": K,
            "which": everyone[:2],
            "columns": everyone[:3],
            "rows": np.empty((2, 3)),
            "slots": everyone[:2],
            "first": 0,
            "n_threads": 1,
            "cancel": cancel,
        },
    }[step]


CHANGED = {  # arrays that must be writeable
    "smo_block": {"a", "g"},
    "svm_look": {"a", "g"},
    "svm_rounds": {"a", "g", "scratch"},
    "svm_small_rounds": {"a", "g", "scratch", "rows", "known"},
    "svm_polish": {"a", "g"},
    "subtract_rows": {"g"},
    "gather_rows": {"rows"},
}
ARRAYS = [
    (step, name)
    for step in CHANGED
    for name, value in arguments(step).items()
    if isinstance(value, np.ndarray)
]


def call(step, **changes):
    return getattr(_native, step)(**(arguments(step) | changes))


def read_only(values):
    copy = values.copy()
    copy.flags.writeable = False
    return copy


@pytest.mark.parametrize("step", CHANGED)
def test_the_arguments_are_valid(step):
    call(step)
    call(step, **{name: read_only(v) for (s, name), v in valid_arrays(step) if name not in CHANGED[s]})


def valid_arrays(step):
    return [((s, name), arguments(s)[name]) for s, name in ARRAYS if s == step]


@pytest.mark.parametrize(("step", "name"), ARRAYS)
def test_another_dtype_or_layout_is_refused(step, name):
    values = arguments(step)[name]
    other = np.int32 if values.dtype == np.int64 else np.int64
    spread = np.repeat(values, 2, axis=-1)[..., ::2]
    for wrong in [values.astype(other), values[None], *([spread] if values.size > 1 else [])]:
        with pytest.raises(TypeError):
            call(step, **{name: wrong})


@pytest.mark.parametrize(("step", "name"), [(s, name) for s, name in ARRAYS if name in CHANGED[s]])
def test_a_result_must_be_writeable(step, name):
    with pytest.raises(TypeError):
        call(step, **{name: read_only(arguments(step)[name])})


@pytest.mark.parametrize(("step", "name"), ARRAYS)
def test_another_size_is_refused(step, name):
    values = arguments(step)[name]
    wrong = np.ascontiguousarray(values[..., :-1])
    if (step, name) in {("subtract_rows", "g"), ("gather_rows", "columns")}:
        wrong = np.repeat(values, 3)  # less than a whole row is allowed
    elif (step, name) == ("gather_rows", "K"):
        wrong = np.ascontiguousarray(values[:, :2])
    with pytest.raises(ValueError, match="do not fit each other"):
        call(step, **{name: wrong})


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("subtract_rows", "which"),
        ("gather_rows", "which"),
        ("gather_rows", "columns"),
        ("gather_rows", "slots"),
    ],
)
@pytest.mark.parametrize("number", [-1, N])
def test_rows_that_do_not_exist_are_refused(step, name, number):
    numbers = arguments(step)[name].copy()
    numbers[-1] = number
    with pytest.raises(ValueError, match="do not fit each other"):
        call(step, **{name: numbers})


@pytest.mark.parametrize(
    "answer", [lambda which: which[:-1], lambda which: which + N, lambda which: -1 - which]
)
def test_slots_that_do_not_exist_are_refused(answer):
    with pytest.raises(ValueError, match="do not fit each other"):
        call("svm_rounds", fetch=answer)
