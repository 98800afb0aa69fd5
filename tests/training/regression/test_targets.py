"""Targets as numbers: what is a number, and which row is refused with which advice."""

import numpy as np
import pytest

from maxmargin.io import open_source
from maxmargin.training.regression import number_of, numbers_of

WRITTEN = [
    "1",
    "-2.5",
    "1e3",
    "1.234,5",
    "1234,5",
    "1 234,5",
    "1'234,5",
    "0.123",
    "12.34,5",
    ",5",
    "5,",
    "1,2,3",
]
WRITTEN += [
    "abc",
    "1_000",
    "nan",
    "inf",
    "1.234",
    "1.234.567",
    "-1.234,5e2",
    "+3",
    "1e400",
    "",
    "0,5",
    "01.234",
]


@pytest.mark.parametrize("decimal", [None, ",", "."])
def test_texts_are_numbers_where_the_reader_of_columns_takes_them_for_numbers(tmp_path, decimal):
    for text in filter(None, WRITTEN):
        path = tmp_path / "one.csv"
        path.write_text(f"a;b\n{text};1\n")
        read = None
        try:
            source = open_source(path, delimiter=";", decimal=decimal, missing=[], kinds={"a": "number"})
            read = float(next(iter(source.blocks())).features["a"][0])
        except ValueError:
            pass
        assert number_of(text, decimal) == read, text


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "U9", object])
def test_targets_of_every_kind_become_the_same_numbers(dtype):
    given = np.array([3, -2, 7]).astype(dtype)
    np.testing.assert_array_equal(numbers_of(given, "file"), [3.0, -2.0, 7.0])


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (["1.5", "two"], r"row 11, counted from 0, has the target 'two', .*train a classifier \(task="),
        (["1.5", "2,5"], r"row 11.*'2,5'.*decimal=','"),
        (["1.5", ""], r"row 11.*no target; remove"),
        ([1.5, None], r"row 11.*no target; remove"),
        (np.array([1.5, np.nan]), r"row 11.*no target; remove"),
        (np.array([1.5, np.inf]), r"row 11.*target inf, which is not a finite"),
        (["1.5", "1e400"], r"row 11.*'1e400'"),
    ],
)
def test_what_is_not_a_number_is_refused_with_its_row(target, message):
    given = np.asarray(target, dtype=None if isinstance(target, np.ndarray) else object)
    with pytest.raises(ValueError, match=message):
        numbers_of(given, "file", first_row=10)
