"""Rows of the prepared matrix, read back in the table's own terms."""

import numpy as np
import pytest
import scipy.sparse as sp
from support.report_samples import source, written

from maxmargin import AutoSVC
from maxmargin.io.readers.table import Block, Words
from maxmargin.report import build, page
from maxmargin.report.content.influence import feature_names, readable_row
from maxmargin.table.preparation import TablePreparation
from maxmargin.training import train

NUMBERS = np.array([3.0, np.nan, 1e6, -2.5, 0.0, 7.25, 0.0, 12.0])
CODES = np.array([0, 1, 0, 2, -1, 1, 3, 0], dtype=np.int32)
WORDS = ("red", "green", "blue", "grey")


def block():
    features = {
        "amount": NUMBERS,
        "same": np.full(8, 5.0),
        "colour": Words(CODES, WORDS),
        "tiny": NUMBERS[::-1] * 1e-9,
    }
    return Block(features, None, 0, 8)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_gaps_and_words_read_as_they_were(dtype):
    preparation = TablePreparation(dtype=dtype, max_words=2).fit(block())
    X = preparation.transform(block())
    for row, vector in enumerate(X):
        values = readable_row(preparation, vector)
        assert list(values) == ["amount", "same", "colour", "tiny"]
        assert values["same"] == 5.0  # a constant column is not in the matrix
        for name, given in (("amount", NUMBERS[row]), ("tiny", NUMBERS[::-1][row] * 1e-9)):
            if np.isnan(given):
                assert values[name] is None
            else:
                largest = np.nanmax(np.abs(NUMBERS)) * (1.0 if name == "amount" else 1e-9)
                assert values[name] == pytest.approx(given, abs=5e-6 * largest)
        code = CODES[row]
        word = None if code < 0 else WORDS[code]
        assert values["colour"] == (word if word in (None, "red", "green") else "(another)")


def test_zero_reads_zero_whatever_the_precision():
    rng = np.random.default_rng(0)
    gains = np.where(rng.random(500) < 0.9, 0.0, rng.integers(1, 99_999, 500)).astype(float)
    table = Block({"gain": gains}, None, 0, 500)
    preparation = TablePreparation().fit(table)
    read = [readable_row(preparation, vector)["gain"] for vector in preparation.transform(table)]
    assert [v for v, given in zip(read, gains) if given == 0.0] == [0.0] * int((gains == 0.0).sum())
    assert read == pytest.approx(gains.tolist(), abs=0.5)


def test_sparse_rows_tell_what_is_not_zero_in_its_own_units():
    X = sp.csr_array(np.array([[0.0, 4.0, 0.0], [2.0, 8.0, 0.0]]))
    preparation = TablePreparation().fit(X)
    vectors = preparation.transform(X).toarray()
    assert [readable_row(preparation, v) for v in vectors] == [{"x1": 4.0}, {"x0": 2.0, "x1": 8.0}]


def test_rows_without_a_preparation_are_numbered():
    assert readable_row(None, np.array([1.5, 0.0])) == {"x0": 1.5, "x1": 0.0}
    assert feature_names(None, 2) == ["x0", "x1"]


@pytest.mark.parametrize("hours", [[0, 6, 12, 18, 23], [18], [0]])
def test_a_support_row_has_the_day_and_time_of_its_date_at_any_hour(hours):
    days = [f"2024-01-{1 + k % 28:02} {hours[k % len(hours)]:02}:30" for k in range(60)]
    table = {"at": np.array(days, dtype=object)}
    preparation = TablePreparation().fit(table)
    read = [readable_row(preparation, vector)["at"] for vector in preparation.transform(table)]
    assert read == days


@pytest.mark.usefixtures("patient_clock")
def test_support_vectors_of_a_search_are_rows_of_the_table_and_digits_are_drawn(tmp_path):
    """AutoSVC scales and bends columns, and constant pixels are not in its matrix."""
    rng = np.random.default_rng(0)
    X = np.zeros((120, 49), dtype=int)
    X[:, 1:] = np.minimum(15, np.exp(rng.normal(size=(120, 48)) * 1.2)).astype(int)
    y = np.where(X[:, 8] + X[:, 24] * X[:, 9] > 4, "a", "b")
    lines = [",".join([*map(str, row), label]) for row, label in zip(X.tolist(), y)]
    path = written(
        tmp_path, "pixels.csv", "\n".join([",".join([*(f"p{j}" for j in range(49)), "class"]), *lines])
    )
    trained = train(source(path), parameters={"max_seconds": 20.0})
    assert isinstance(trained.model[-1], AutoSVC)
    found = build(trained.model, trained.record, source(path))
    if found.support is None or found.model.facts.get("n_support_") is None:
        pytest.skip("a linear model was chosen")
    for row in found.support.rows:
        assert list(row.values) == [f"p{j}" for j in range(49)]
        assert list(row.values.values()) == pytest.approx(X[row.row].tolist(), abs=1e-4)
    drawn = page(found)
    influence = drawn[drawn.index('id="influence"') :]
    assert influence[: influence.index("</section>")].count('class="pixels"') == len(found.support.rows)
