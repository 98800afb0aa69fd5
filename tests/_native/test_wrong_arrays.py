"""Every function of the core, called with arrays that do not fit, raises: nothing is read or written beyond.

The calls go to the core itself, behind the checks of the door, so that no array depends on those alone.
"""

import contextlib
import re

import numpy as np
import pytest

from maxmargin import _core
from maxmargin._native import NEVER

N, D, C = 6, 3, 3  # samples, features, classes or columns
RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(N, D)), 2)
K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
LABELS, Y = np.arange(N) % C, np.where(np.arange(N) % 2, 1.0, -1.0)
EVERY, SOME = np.arange(N), np.array([4, 0, 2])
WITHOUT_ARRAYS = {"packed_size", "n_threads_limit", "set_blas", "simd_name"}


def matrix():
    return _core.Matrix(X)


def source():
    return _core.RowSource(matrix(), "rbf", 0.5, 0.0, 1.0, (X**2).sum(axis=1), None, 0.0)


PAIR_RULES = {
    "tol": 1e-3,
    "target": 1e-4,
    "polish_at_once_gap": 0.1,
    "polish_gap": 1e-8,
    "free_share": 0.7,
    "inner": 0.02,
}
PAIR_RULES |= {"negligible_rounding": 3e-8, "double_errors": 8.0, "min_block": 128, "blocks_per_problem": 8}
PAIR_RULES |= {
    "max_block": 4096,
    "rounds_per_step": 16,
    "max_iter": 100,
    "max_steps": 4,
    "max_polished": 1000,
}
PAIR_RULES |= {"max_polished_at_once": 128, "max_eager_class": 2, "seconds": 60.0}


def pair_results():
    """Room for the results of the three pairs of three classes."""
    numbers = {"intercept": np.zeros(C), "first": np.zeros((C, 2)), "last": np.zeros((C, 4))}
    counts = {name: np.zeros(C, dtype=np.int32) for name in ("n_iter", "n_support")}
    counts["n_values"] = np.zeros(C, dtype=np.int64)
    ends = {"seconds": np.zeros(C, dtype=np.float32), "end": np.zeros(C, dtype=np.uint8)}
    return {"coef": np.zeros((N, C - 1)), **numbers, **counts, **ends}


def calls():
    """Valid arguments of every function, by name; new arrays at each call."""
    ones, zeros, cancel = np.ones(N), np.zeros(N), NEVER.copy()
    rule = {"n_threads": 2, "cancel": cancel}
    samples = {"a": zeros.copy(), "g": Y.copy(), "lower": np.minimum(Y, 0.0), "upper": np.maximum(Y, 0.0)}
    svm = {**samples, "y": Y, "cost": ones, "squared": False}
    rounds = {"scratch": np.empty(N * N), **svm, "block": 4, "largest_block": N, "free_share": 0.7}
    rounds |= {"n_rounds": 3, "inner": 0.02, "target": 1e-3, "tiny": 1e-12, "seconds": 60.0, "dual": 0.0}
    known = np.ones(N, dtype=np.uint8)
    kernel = {"name": "rbf", "gamma": 0.5, "coef0": 0.0, "degree": 1.0}
    sides = {"X": matrix(), "Z": matrix(), **kernel, "x_rows": SOME.copy(), "z_rows": EVERY.copy()}
    sides |= {"x_sqnorms": (X**2).sum(axis=1), "z_sqnorms": (X**2).sum(axis=1), "centre": np.zeros(D)}
    sides |= {"step": 0.0}
    hinge = {"y": Y, "cost": ones, "anchor": ones, "sharpness": 1.0, "hinge": True, "scores": zeros}
    topk = {"labels": LABELS, "cost": ones, "sqnorm": ones, "k": 1, "include": True, "constant": 1.0}
    topk |= {"A": np.zeros((N, C)), "gaps": np.zeros(N), "moved": known.copy()}
    ascent = {"passed_over": 0.0, "method": "exact"}
    model = {"X": matrix(), "index": EVERY, "W": np.zeros((D, C)), "offset": np.zeros(C)}
    columns = {"a": np.zeros((C, N)), "scale": np.ones(C), "t": np.ones(C, dtype=np.int64)}
    held = {"K": K.copy(), "numbers": np.ones((4, N)), "sample": EVERY.copy(), "counts": np.array([2, 2])}
    lasvm = {"tau": 1e-3, "max_support": 0}
    reduced = {"phi": X, "y": np.ones((C, N)), "cost": np.ones((C, N)), "loss": "log", "alpha": 0.1}
    table = np.zeros((N, C))
    indices, indptr = np.tile(np.arange(D), N), np.arange(N + 1) * D
    packed = np.zeros(_core.packed_size(N), dtype=np.int16)
    return {
        "add_support": {"j": 1, "y": np.ones(C), "u": np.ones(C), "alpha": 0.1, **columns},
        "back_fit": {"K": K, "targets": np.ones((N, C)), "loss": "hinge", "alpha": 0.1, **columns}
        | {"cancel": cancel},
        "best_intercept": {**hinge, "start": 0.0},
        "are_ordered": {name: table.copy() for name in ("scores", "first", "second")}
        | {"out": np.zeros(N, dtype=np.uint8)},
        "code_sums": {"F": X, "code": np.ones((C, D), dtype=np.int8)}
        | {name: np.empty((N, C)) for name in ("high", "low", "votes")},
        "compact_rows": {"rows": K.copy(), "which": SOME, "counts": np.array([2, 1, 2])}
        | {"kept": np.array([0, 3]), **rule},
        "compressed_fault": {"indices": indices, "indptr": indptr, "n_values": N * D, "n_minor": D},
        "csv_first_row": {"text": np.frombuffer(b"a,b\n1,2\n", np.uint8), "at_end": True, "delimiter": ","},
        "dual_cd_epochs": {"X": matrix(), "index": EVERY, "y": Y, "wanted": ones, "upper": ones}
        | {
            "ridge": zeros,
            "sqnorm": ones,
            "bias_weight": 1.0,
            "a": zeros.copy(),
            "w": np.zeros(D),
            "bias": np.zeros(1),
        }
        | {"order": EVERY.copy(), "n_active": np.array([N]), "violation": np.zeros(2)}
        | {"seed": 0, "epoch": 0, "n_epochs": 2, "enough": 0.0, "cancel": cancel},
        "exp": {"x": X, "out": np.empty_like(X)},
        "first_outside": {"indices": EVERY, "end": N},
        "gather_rows": {"K": K, "which": SOME, "columns": EVERY, "rows": np.empty((3, N))}
        | {"slots": np.arange(3), "first": 0, **rule},
        "grid_step_f64": {"X": matrix(), "subset": SOME, "n_threads": 2},
        "hash_rows": {"X": matrix(), "out": np.empty(N, dtype=np.uint64), "n_threads": 2},
        "inverse_halves": {**reduced, "F": np.zeros((C, N)), "inverse_of_L": np.eye(D)}
        | {"halves": np.empty((C, D, D)), **rule},
        "kernel_block": {**sides, "out": np.empty((3, N)), **rule},
        "kernel_fill": {"source": source(), "which": SOME, "others": EVERY, "rows": np.empty((N, N))}
        | {"slots": np.arange(3), "first": 0, **rule},
        "kernel_grouped_matmul": {
            **sides,
            "starts": np.array([0, 2, N]),
            "column_starts": np.array([0, 1, 3]),
        }
        | {"columns": np.array([0, 1, 2]), "values": np.ones(10), "out": np.empty((3, C)), "n_threads": 2},
        "kernel_matmul": {**sides, "A": np.ones((N, 2)), "out": np.empty((3, 2)), **rule},
        "lasso_epochs": {"G": np.eye(D), "w": np.zeros(D), "gradient": np.ones(D)}
        | {"n_epochs": 3, "still": 0.0, "cancel": cancel},
        "lasvm_block": {"selection": "active", "group": 1, **lasvm, "Kb": np.ones((3, 5))}
        | {"block_sample": np.arange(7, 10), "block_y": Y[:3].copy(), "block_cost": np.ones(3), **held}
        | {"cancel": cancel},
        "lasvm_reprocess": {**lasvm, "n_steps": 3, **held, "cancel": cancel},
        "loss_conjugate": {"name": "hinge", "slopes": zeros, "out": np.empty(N)},
        "loss_slope": {"name": "hinge", "margins": zeros, "out": np.empty(N)},
        "loss_value": {"name": "hinge", "margins": zeros, "out": np.empty(N)},
        "on_grid_f64": {"X": matrix(), "subset": SOME, "step": 0.01, "n_threads": 2},
        "online_block": {"loss": "hinge", "alpha": 0.1, "seed": 0, "K": K, "pool": EVERY}
        | {"targets": np.ones((N, C)), "weight": ones, "outputs": np.zeros((N, C))}
        | {"column_of": np.arange(2), "coef": np.zeros((N, C))}
        | {name: np.zeros(C) for name in ("time", "sqnorm", "suffered", "seen")}
        | {"slots": np.arange(2), "n_support": np.array([2]), "n_updates": np.array([0]), "cancel": cancel},
        "pair_sums": {"F": np.zeros((N, 3))} | {name: np.empty((N, 3)) for name in ("high", "low", "votes")},
        "pairs_step": {"t": np.ones(C), "u": 1.0, "p": np.zeros(C)},
        "pairs_sweep": {"K": K, "labels": LABELS, "cost": ones, "weight": 1.0, "a": table.copy()}
        | {"F": np.zeros((C, N)), "bias": np.zeros(C), "order": EVERY, "cancel": cancel},
        "reduced_newton": {**reduced, "tol": 1e-3, "max_steps": 5, "b": D, "V": np.zeros((C, D))}
        | {"F": np.zeros((C, N)), "primal": np.empty(C), "gap": np.empty(C), **rule},
        "row_sqnorms_f64": {"X": matrix(), "centre": np.ones(D), "out": np.empty(N)},
        "rows_dot": {"X": matrix(), "index": SOME, "W": np.ones((2, D)), "out": np.empty((3, 2)), **rule},
        "rows_equal": {"X": matrix(), "left": SOME, "right": SOME, "out": np.empty(3, dtype=bool)},
        "rows_gram": {"X": matrix(), "index": SOME, "weight": np.ones(3), "centre": np.zeros(D)}
        | {"out": np.empty((D, D)), **rule},
        "rows_sqnorm": {"X": matrix(), "index": SOME, "out": np.empty(3), **rule},
        "rows_sum": {"X": matrix(), "index": SOME, "u": np.ones(3), "out": np.empty(D), **rule},
        "small_columns": {"X": matrix(), "index": EVERY, "labels": LABELS, "cost": ones}
        | {"code": np.array([[1, -1], [-1, 0], [-1, 1]], dtype=np.int8), "starts": np.array([0, N])}
        | {"hinge": True, "free_intercept": True, "penalised": False, "coef": np.zeros((2, D + 1))}
        | {"numbers": np.zeros((2, 5)), "anchor": np.zeros(N + 4), "dual_share": np.zeros(N + 4)}
        | {"ends": np.zeros(2, dtype=np.int64), "n_checks": np.zeros(2, dtype=np.int64)}
        | {"checks": np.zeros((2, 9, 5)), "tol": 1e-3, "max_iter": 100, "max_steps": 8, "max_seconds": 60.0}
        | rule,
        "smo_block": {"K": K, **samples, "tolerance": 1e-3, "max_steps": 10, "cancel": cancel},
        "step_length": {**hinge, "along": ones, "free_intercept": True, "linear": -1.0, "quadratic": 1.0},
        "subtract_rows": {"rows": K, "which": SOME, "change": np.ones(3), "g": zeros.copy(), **rule},
        "svm_dual": {"a": zeros.copy(), "g": Y.copy(), "y": Y},
        "pack_rows": {"values": packed, "n": N, "largest": 1.0, "K": K, "first": 0},
        "svm_packed_block": {"values": packed, "largest": 1.0, **samples, "ridge": np.ones(N)}
        | {"tolerance": 1e-3, "max_products": 3, "seconds": 1.0, "n_threads": 1, "cancel": cancel},
        "svm_look": svm,
        "svm_pairs": {"source": source(), "index": EVERY.copy(), "starts": np.array([0, 2, 4, N])}
        | {"cost": ones, "length": ones, "squared": False, "rules": PAIR_RULES, **pair_results(), **rule},
        "svm_paths": {"K": K, "index": EVERY.copy(), "starts": np.array([0, 2, N]), "y": Y, "cost": ones}
        | {"factors": np.ones(2), "squared": False, "rules": PAIR_RULES, "coef": np.zeros((N, 2))}
        | {"intercept": np.zeros((2, 2)), "gap": np.zeros((2, 2)), "end": np.zeros((2, 2), dtype=np.uint8)}
        | {"n_support": np.zeros((2, 2), dtype=np.int32), "seconds": np.zeros((2, 2)), **rule},
        "svm_polish": {"rows": K, "known": known, **svm, "seconds": 60.0, "fetch": lambda which: which}
        | {"cancel": cancel},
        "svm_rounds": {"rows": K, **rounds, "fetch": lambda which: which, **rule},
        "svm_small_rounds": {"rows": K.copy(), **rounds, "source": source(), "index": EVERY, "known": known}
        | rule,
        "tanh": {"x": zeros.copy()},
        "topk_look": {**model, **topk, **rule},
        "topk_project": {"a": np.ones(C), "k": 1, "include": True, "rho": 1.0, "u": np.empty(C)},
        "topk_prox": {"labels": LABELS, "k": 1, "include": True, "centre": table, "Z": table, "tau": 1.0}
        | {"A": table.copy(), "value": np.empty(N), "faces": np.empty((N, C), dtype=np.uint8), **rule},
        "topk_sweep": {**model, **topk, **ascent, "order": EVERY, "cancel": cancel},
        "topk_tile": {**topk, **ascent, "which": SOME, "G": np.eye(3), "Z": np.zeros((3, C))}
        | {"change": np.zeros((3, C)), "n_passes": 1},
        "useful_centre_f64": {"X": matrix(), "subset": SOME, "centre": np.empty(D)},
    }


ARRAYS = [
    (name, argument)
    for name, arguments in calls().items()
    for argument, value in arguments.items()
    if isinstance(value, np.ndarray)
]
FREE_LENGTH = {  # arrays that may be shorter: they hold text, a list of numbers, or a result of one argument
    *(("csv_first_row", "text"), ("first_outside", "indices"), ("subtract_rows", "g"), ("tanh", "x")),
    *(
        ("compact_rows", "rows"),
        ("gather_rows", "columns"),
        ("kernel_fill", "others"),
    ),
    *(("grid_step_f64", "subset"), ("on_grid_f64", "subset"), ("useful_centre_f64", "subset")),
    *((name, "order") for name in ("pairs_sweep", "topk_sweep")),
    *(("compressed_fault", name) for name in ("indices", "indptr")),
}
MAY_HAVE = {  # shapes that fit as well: room for fewer rows or support vectors
    *(("add_support", "a", (C, N - 1)), ("back_fit", "K", (N, N - 1)), ("gather_rows", "K", (N - 1, N))),
    *(
        ("kernel_fill", "rows", (N - 1, N)),
        ("pack_rows", "K", (N - 1, N)),
        ("subtract_rows", "rows", (N - 1, N)),
    ),
}
NOT_INDEX = {  # whole numbers that are not used as indices: counts of updates, names of samples
    *(
        ("add_support", "t"),
        ("back_fit", "t"),
        ("online_block", "n_updates"),
        ("lasvm_block", "block_sample"),
    ),
    *((name, "sample") for name in ("lasvm_block", "lasvm_reprocess")),
    *(("first_outside", "indices"), ("compressed_fault", "indices"), ("compressed_fault", "indptr")),
    *(("small_columns", "ends"), ("small_columns", "n_checks"), ("svm_pairs", "n_values")),
}
REFUSED = (TypeError, ValueError, IndexError)


def call(name, **changes):
    arguments = calls()[name]
    order = re.match(r"\w+\((.*)\)", getattr(_core, name).__doc__)[1]
    assert all(f"{argument}: " in order for argument in arguments)
    return getattr(_core, name)(**(arguments | changes))


def is_written(name, argument):
    return bool(re.search(rf"\b{argument}: ndarray\[[^\]]*device='cpu'\]", getattr(_core, name).__doc__))


def test_every_function_is_tried():
    functions = {name for name in dir(_core) if type(getattr(_core, name)).__name__ == "nb_func"}
    single = {name for name in functions if name.endswith("_f32")}  # the same templates as _f64
    assert functions - single - WITHOUT_ARRAYS == set(calls())


@pytest.mark.parametrize("name", list(calls()))
def test_the_arguments_are_valid(name):
    call(name)


@pytest.mark.parametrize(("name", "argument"), ARRAYS)
def test_another_dtype_layout_or_dimension_is_refused(name, argument):
    values = calls()[name][argument]
    other = np.int16 if values.dtype.kind == "i" and values.dtype != np.int16 else np.int64
    spread = np.repeat(values, 2, axis=-1)[..., ::2]
    with np.errstate(invalid="ignore"):  # outputs are memory as it comes
        cast = values.astype(other)
    for wrong in [cast, values[None], *([spread] if values.size > 1 else [])]:
        if name == "exp" and wrong.ndim == 3:
            continue
        with pytest.raises(REFUSED):
            call(name, **{argument: wrong})


@pytest.mark.parametrize(("name", "argument"), [pair for pair in ARRAYS if is_written(*pair)])
def test_a_result_must_be_writeable(name, argument):
    values = calls()[name][argument]
    values.flags.writeable = False
    with pytest.raises(REFUSED):
        call(name, **{argument: values})


@pytest.mark.parametrize(("name", "argument"), [pair for pair in ARRAYS if pair not in FREE_LENGTH])
def test_another_size_is_refused(name, argument):
    values = calls()[name][argument]
    wrongs = [np.ascontiguousarray(np.delete(values, -1, axis)) for axis in range(values.ndim)]
    for wrong in wrongs:
        if (name, argument, wrong.shape) in MAY_HAVE:
            continue
        with pytest.raises(REFUSED):
            call(name, **{argument: wrong})


@pytest.mark.parametrize(("name", "argument"), sorted(FREE_LENGTH))
def test_a_shorter_list_stays_within_its_arrays(name, argument):
    values = calls()[name][argument]
    call(name, **{argument: np.ascontiguousarray(values[:-1])})


@pytest.mark.parametrize(
    ("name", "argument"),
    [pair for pair in ARRAYS if calls()[pair[0]][pair[1]].dtype == np.int64 and pair not in NOT_INDEX],
)
@pytest.mark.parametrize("number", [-1, 1 << 40])
@pytest.mark.parametrize("place", [0, -1])
def test_an_index_of_nothing_is_refused(name, argument, number, place):
    values = calls()[name][argument].copy()
    values[place] = number
    with pytest.raises(REFUSED):
        call(name, **{argument: values})


@pytest.mark.parametrize(("name", "argument"), [p for p in ARRAYS if calls()[p[0]][p[1]].dtype == np.float64])
@pytest.mark.parametrize("number", [np.nan, np.inf, -1e308])
def test_any_number_ends_in_a_result_or_an_error(name, argument, number):
    values = calls()[name][argument]
    for place in (0, slice(None)):
        wrong = values.copy()
        wrong.reshape(-1)[place] = number
        with contextlib.suppress(REFUSED):
            call(name, **{argument: wrong})


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("gather_rows", {"first": 2**64 - 1}),
        ("kernel_fill", {"first": 2**64 - 1}),
        ("svm_rounds", {"largest_block": 1 << 32, "block": 1 << 20}),
        ("svm_small_rounds", {"largest_block": 1 << 32, "block": 1 << 20}),
        ("add_support", {"j": N}),
        ("topk_project", {"k": 100}),
        ("topk_tile", {"A": np.zeros((N, 0))}),
        ("topk_prox", {name: np.zeros((N, 0)) for name in ("A", "centre", "Z")}),
        ("svm_rounds", {"fetch": lambda which: which + N}),
        ("svm_rounds", {"fetch": lambda which: which[:-1]}),
        ("lasvm_block", {"group": 2**64 - 1, "counts": np.array([N, 2])}),
    ],
)
def test_numbers_that_would_wrap_around_are_refused(name, changes):
    with pytest.raises(REFUSED):
        call(name, **changes)


@pytest.mark.parametrize("arguments", [(None, np.zeros(D - 1)), (np.zeros(N - 1), None)])
def test_a_source_of_other_statistics_is_refused(arguments):
    wrong = _core.RowSource(matrix(), "rbf", 0.5, 0.0, 1.0, *arguments, 0.0)
    with pytest.raises(REFUSED):
        call("kernel_fill", source=wrong)


def test_sides_of_other_widths_are_refused():
    with pytest.raises(REFUSED):
        call("kernel_block", Z=_core.Matrix(X[:, :2].copy()))
