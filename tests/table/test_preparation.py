"""Tables as matrices: the formulas, blocks of any size, columns at prediction, states, bad tables."""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator
from support.table_sources import TableSource, words

from maxmargin.io.readers.table import Block
from maxmargin.table import numeric
from maxmargin.table import statistics as running
from maxmargin.table.preparation import TablePreparation, TableWarning

TABLE = {
    "size": [1.0, 2.0, None, 6.0, 3.0],
    "colour": ["red", "blue", None, "red", "red"],
    "same": [7.0, 7.0, 7.0, 7.0, 7.0],
    "nothing": [None, None, None, None, None],
}


def block(table: dict, target: object = None) -> Block:
    n = len(next(iter(table.values())))
    return next(TableSource(table, ["a"] * n if target is None else target).blocks())


@pytest.fixture
def prepared() -> TablePreparation:
    return TablePreparation(dtype="float64").fit(block(TABLE))


def test_each_column_by_its_formula(prepared):
    assert prepared.get_feature_names_out().tolist() == [
        "size",
        "size is missing",
        "colour=blue",
        "colour=red",
        "colour is missing",
    ]
    assert prepared.dropped_ == {"same": "constant", "nothing": "no value"}
    present = np.array([1.0, 2.0, 6.0, 3.0])
    z = np.insert((present - present.mean()) / present.std(ddof=1), 2, 0.0)
    one_hot = [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 0]]
    np.testing.assert_allclose(prepared.transform(block(TABLE)), np.column_stack([z, one_hot]), rtol=1e-15)


@pytest.mark.parametrize("values", [[0, 0, 0, 0, 1], [5, 5, 5, 5, 4], [-1, -1, -1, 3, 7]])
def test_values_away_from_the_usual_one_decide_the_scale(values):
    x = np.array(values, dtype=float)
    apart = np.count_nonzero(x != x[0])
    plan = TablePreparation().fit({"x": x}).plans_[0]
    assert plan.scale == pytest.approx(np.sqrt(np.square(x - x.mean()).sum() / apart), rel=1e-15)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_frames_and_mappings_are_tables(prepared, frame):
    table = {"size": [1.0, None], "colour": ["blue", None], "same": [7, 7], "nothing": [None, None]}
    got = prepared.transform(frame(table))
    np.testing.assert_array_equal(got, prepared.transform(block(table)))


def test_kinds_of_frames():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "kind": pd.Categorical(["a", "b", "a"]),
        }
    )
    fitted = TablePreparation().fit(frame)
    assert fitted.kinds_ == {"whole": "number", "flag": "words", "kind": "words"}
    assert "flag is missing" in fitted.get_feature_names_out()


@settings(deadline=None, max_examples=30)
@example(cuts=[1], seed=8269, chunk=4)  # the first block of w has only missing values
@given(
    cuts=st.lists(st.integers(1, 39), max_size=6),
    seed=st.integers(0, 2**20),
    chunk=st.sampled_from([1, 4, 7]),
)
def test_blocks_change_no_bit(cuts, seed, chunk):
    rng = np.random.default_rng(seed)
    numbers = np.where(rng.random(40) < 0.2, np.nan, rng.normal(1e6, 1e-3, 40))
    table = {
        "x": numbers.tolist(),
        "w": [None if u < 0.1 else f"w{int(9 * u)}" for u in rng.random(40)],
    }
    before, numeric.ROWS_PER_SUM = numeric.ROWS_PER_SUM, chunk
    try:
        whole = TablePreparation(max_words=3).fit(block(table))
        pieces = TablePreparation(max_words=3)
        ends = [0, *sorted(set(cuts)), 40]
        for start, stop in itertools.pairwise(ends):
            pieces.partial_fit(block({k: v[start:stop] for k, v in table.items()}))
    finally:
        numeric.ROWS_PER_SUM = before
    assert json.dumps(whole.state() | {"scale": 0}) == json.dumps(pieces.state() | {"scale": 0})


@pytest.mark.parametrize("values", [[1.5, 2.5, 1e6], ["b", "a", "b"]])
@pytest.mark.parametrize("n_missing", [1, 5, 9])
def test_kind_is_open_until_a_value_is_seen(values, n_missing, monkeypatch):
    monkeypatch.setattr(numeric, "ROWS_PER_SUM", 4)
    rng = np.random.default_rng(0)
    n = n_missing + 3
    table = {"late": [None] * n_missing + values, "x": rng.normal(1e6, 1.0, n).tolist(), "never": [None] * n}
    whole, pieces = TablePreparation().fit(block(table)), TablePreparation()
    for row in range(n):
        pieces.partial_fit({name: column[row : row + 1] for name, column in table.items()})
    assert pieces.state() | {"scale": 0} == whole.state() | {"scale": 0}
    assert pieces.dropped_ == {"never": "no value"}


def test_kind_is_fixed_by_the_first_value():
    fitted = TablePreparation().fit({"w": ["a", "b"], "x": [1.0, 2.0]})
    fitted.partial_fit({"w": [None], "x": [None]})
    with pytest.raises(ValueError, match="'w' was categorical in training and is numeric"):
        fitted.partial_fit({"w": [1.0], "x": [1.0]})


@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_blocks_of_a_matrix_change_no_bit(n_columns):
    X = np.random.default_rng(0).normal(1e3, 1.0, (10_000, n_columns))
    whole, pieces = TablePreparation().fit(X), TablePreparation()
    for start in range(0, len(X), 3333):
        pieces.partial_fit(X[start : start + 3333])
    assert pieces.plans_ == whole.plans_


def test_moments_lose_nothing_far_from_zero():
    x = 1e9 + np.random.default_rng(0).normal(size=20_000)
    plan = TablePreparation().fit({"x": x}).plans_[0]
    assert plan.mean == pytest.approx(float(np.mean(x - 1e9)) + 1e9, abs=1e-6)
    assert plan.scale == pytest.approx(float(np.std(x - 1e9, ddof=1)), rel=1e-6)


def test_the_most_frequent_words_stay_and_equals_go_by_name():
    table = {"w": [*"ccc", *"aa", *"bb", *"dd", "e"], "x": list(range(10))}
    fitted = TablePreparation(max_words=2).fit(block(table))
    assert fitted.get_feature_names_out().tolist() == ["w=a", "w=c", "w is another word", "x"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = fitted.transform(block({"w": ["b", "never seen", "c"], "x": [0, 0, 0]}))
    np.testing.assert_array_equal(got[:, :3], [[0, 0, 1], [0, 0, 1], [0, 1, 0]])


def test_words_beyond_the_limit_are_counted_together(monkeypatch):
    monkeypatch.setattr(running, "MAX_COUNTED_CATEGORIES", 2)
    table = {"w": ["a", "b", "c", "a", "c", "c"]}
    whole = TablePreparation().fit(block(table))
    rows = TablePreparation()
    for word in table["w"]:
        rows.partial_fit({"w": words([word])})
    assert whole.get_feature_names_out().tolist() == ["w=a", "w=b", "w is another word"]
    assert whole.plans_ == rows.plans_


def test_identifiers_are_dropped():
    table = {"id": [f"n{i}" for i in range(30)], "x": list(range(30))}
    assert TablePreparation().fit(block(table)).dropped_ == {"id": "every word different"}


def test_columns_are_found_by_name(prepared):
    turned = {name: TABLE[name] for name in ["nothing", "colour", "same", "size"]}
    np.testing.assert_array_equal(prepared.transform(block(turned)), prepared.transform(block(TABLE)))


def test_what_training_had_not_is_told(prepared):
    table = {
        "size": [1.0, 2.0],
        "colour": ["green", "green"],
        "same": [7.0, 8.0],
        "nothing": [1.0, 2.0],
        "extra": [0, 0],
    }
    with pytest.warns(TableWarning, match=r"'extra'.*'colour' has 1 value\(s\).*2 row\(s\).*'green'"):
        got = prepared.transform(block(table))
    assert not got[:, 2:].any()
    notices = prepared.transform_noting(block(table))[1]
    assert (notices + notices).unseen == {"colour": {"green": 4}}
    full = TablePreparation().fit({"x": [1.0, 2.0]})
    with pytest.warns(TableWarning, match=r"'x' \(1 rows\)"):
        got = full.transform({"x": [None, 2.0]})
    np.testing.assert_allclose(got, [[0.0], [np.sqrt(0.5)]], rtol=1e-7)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"colour": ["red"], "same": [7.0], "nothing": [None]},
            "no column 'size', which the model was trained",
        ),
        (TABLE | {"size": ["a", "b", "c", "d", "e"]}, "'size' was numeric in training"),
        (
            TABLE | {"colour": [1.0, 2.0, 3.0, 4.0, 5.0]},
            "'colour' was categorical in training and is numeric",
        ),
        (TABLE | {"size": [1.0, np.inf, 3.0, 4.0, 5.0]}, "'size' has an infinite number.* in row 1"),
    ],
)
def test_wrong_tables_are_refused(prepared, table, message):
    with pytest.raises(ValueError, match=message):
        prepared.transform(block(table))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x": [1.0, np.inf]}, "'x' has an infinite number in row 1"),
        ({"x": [1e300, -1e300]}, "'x' has numbers whose squares overflow"),
        ({"x": [1.0, "a", {}]}, "'x' has strings and, among them"),
        ({"x": np.array([3], dtype="m8[D]")}, "'x' has values of type timedelta64"),
        ({"x": [1.0], "y": [1.0, 2.0]}, "one length"),
        ({}, "0 columns"),
    ],
)
def test_bad_tables_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        TablePreparation().fit(table)


def test_nothing_left_is_refused():
    fitted = TablePreparation().fit({"x": [1.0, 1.0]})
    with pytest.raises(ValueError, match=r"no usable column: 'x' \(constant\)"):
        fitted.transform({"x": [1.0]})


def test_wide_tables_are_csr_with_the_same_numbers(monkeypatch):
    rng = np.random.default_rng(0)
    table = {
        "x": [None if u < 0.3 else u for u in rng.random(200)],
        "w": [None if u < 0.1 else f"{int(60 * u)}" for u in rng.random(200)],
        "v": [f"{int(40 * u)}" for u in rng.random(200)],
    }
    dense = TablePreparation().fit(block(table)).transform(block(table))
    monkeypatch.setattr("maxmargin.table.preparation.MAX_DENSE_COLUMNS", 10)
    monkeypatch.setattr("maxmargin.table.preparation.ROWS_PER_FILL", 64)
    wide = TablePreparation().fit(block(table)).transform(block(table))
    assert sparse.issparse(wide)
    assert wide.has_sorted_indices
    np.testing.assert_array_equal(wide.toarray(), dense)


def test_sparse_matrices_stay_sparse_and_are_not_centred():
    X = sparse.random_array((50, 7), density=0.3, random_state=np.random.default_rng(0), format="csr") * 5.0
    blocks = list(TableSource(X, ["a"] * 50, block_rows=20).blocks())
    fitted = TablePreparation(dtype="float64")
    for some in blocks:
        fitted.partial_fit(some)
    largest = np.abs(X.toarray()).max(axis=0)
    got = fitted.transform(X)
    assert sparse.issparse(got)
    np.testing.assert_allclose(got.toarray(), X.toarray() / largest, rtol=1e-15)
    narrow = Block(X[:3, :5], None, 0, 3)  # a LIBSVM file whose last features do not occur
    np.testing.assert_array_equal(fitted.transform(narrow).toarray()[:, :5], got.toarray()[:3, :5])
    wide = Block(sparse.hstack([X, X[:, :1]], format="csr"), None, 0, 50)
    with pytest.warns(TableWarning, match="'x7'"):
        assert fitted.transform(wide).shape == (50, 7)
    with pytest.raises(ValueError, match="8 features, but TablePreparation is expecting 7"):
        fitted.transform(wide.features)


@pytest.mark.parametrize("X", [block(TABLE), np.eye(3) * 2.0, sparse.csr_array(np.eye(3) * 2.0)])
def test_states_come_back(X):
    fitted = TablePreparation(max_words=5).fit(X)
    state = fitted.state()
    scale = state.pop("scale")
    again = TablePreparation.from_state(json.loads(json.dumps(state)) | {"scale": scale})
    assert again.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
    want, got = fitted.transform(X), again.transform(X)
    assert (want != got).sum() == 0
    assert again.dropped_ == fitted.dropped_
    with pytest.raises(ValueError, match="stores no counts"):
        again.partial_fit(X)


@pytest.mark.parametrize(
    "change",
    [
        {"layout": "other"},
        {"n_features": 3},
        {"dtype": "int8"},
        {"names": ["a", "a", "b", "c"]},
        {"names": None},
        {"scale": np.ones(4)},
        {"plans": [{"kind": "number", "mean": 0.0, "scale": 0.0, "kept": True, "indicator": False}] * 4},
        {"plans": [{"kind": "words", "categories": ["a", "a"], "other": True, "missing": False}] * 4},
    ],
)
def test_inconsistent_states_are_refused(prepared, change):
    with pytest.raises(ValueError):
        TablePreparation.from_state(prepared.state() | change)


def test_estimator_checks():
    results = check_estimator(TablePreparation(), on_skip=None, on_fail=None)
    failed = [f"{r['check_name']}: {r['exception']}" for r in results if r["status"] == "failed"]
    assert not failed
