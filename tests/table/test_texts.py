"""Free text: which columns are, TF-IDF as scikit-learn computes it, blocks of any size, model files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from maxmargin.table import TablePreparation, TextPlan, texts
from maxmargin.table.texts import words_of_text

WORDS = ["late", "parcel", "Refund", "the", "box", "was", "broken", "thanks", "été", "good"]
RNG = np.random.default_rng(0)
NOTES = [" ".join(RNG.choice(WORDS, size=RNG.integers(3, 12))) + f" {k}." for k in range(80)]


def prepared(values: list, **parameters) -> TablePreparation:
    return TablePreparation(dtype="float64", **parameters).fit({"note": np.array(values, dtype=object)})


def test_weights_are_those_of_scikit_learn():
    found = prepared(NOTES)
    peer = TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=True, min_df=2)
    want = peer.fit_transform(NOTES).toarray()
    assert found.plans_[0].words == tuple(peer.get_feature_names_out())
    np.testing.assert_allclose(found.transform({"note": np.array(NOTES)}), want, rtol=1e-12, atol=1e-15)
    new = ["a late, LATE parcel", "nothing known"]
    np.testing.assert_allclose(
        found.transform({"note": np.array(new)}), peer.transform(new).toarray(), atol=1e-15
    )


def test_words_of_short_values_count_too():
    notes = [f"the parcel came late on day {k}" for k in range(60)]
    notes += [f"refund {k}" for k in range(20)] + [f"broken {k}" for k in range(20)]
    found = prepared(notes)
    peer = TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=True, min_df=2)
    want = peer.fit_transform(notes).toarray()
    assert found.plans_[0].words == tuple(peer.get_feature_names_out())
    np.testing.assert_allclose(found.transform({"note": np.array(notes)}), want, rtol=1e-12, atol=1e-15)


def test_the_limit_keeps_the_words_of_most_rows():
    found, whole = prepared(NOTES, max_text_words=4), prepared(NOTES)
    n_rows = {word: sum(word in set(words_of_text(note)) for note in NOTES) for word in whole.plans_[0].words}
    assert set(found.plans_[0].words) == set(sorted(n_rows, key=lambda word: (-n_rows[word], word))[:4])


@pytest.mark.parametrize(
    "values",
    [
        [f"a1b2-{k}-c3d4" for k in range(50)],  # ids
        [f"John Smith{k}" for k in range(50)],  # names
        [f"{k} {k + 1} {k + 2}" for k in range(50)],  # lists of numbers
        [f"word{k} other{k} third{k}" for k in range(50)],  # no word twice
        [f"{k} of 52" for k in range(50)],
        [f"{k}.5 deg C" for k in range(50)],
        [f"{k} h {k + 3} min" for k in range(50)],
        [f"0.{k} N, 0.{k + 1} E" for k in range(50)],
    ],
)
def test_codes_and_names_are_not_text(values):
    assert prepared(values).dropped_ == {"note": "every word different"}


@pytest.mark.parametrize(
    "note", ["мир и хлеб рядом", "यह मेरी किताब है", "l'été est là", "(not) all-good, really"]
)
def test_words_of_any_letters_are_text(note):
    assert isinstance(prepared([f"{note} {k}" for k in range(50)]).plans_[0], TextPlan)


def test_few_distinct_texts_stay_categories():
    found = prepared(["not at all good", "as good as it gets", "so so, not sure"] * 20)
    assert found.get_feature_names_out().tolist()[0] == "note=as good as it gets"


def test_repeated_values_beyond_the_counted_ones_are_not_different(monkeypatch):
    monkeypatch.setattr("maxmargin.table.statistics.MAX_COUNTED_CATEGORIES", 10)
    values = [f"as good as number {k}" for k in range(20)] * 10
    assert not isinstance(prepared(values).plans_[0], TextPlan)


def test_roles_decide_otherwise():
    few = ["good", "bad luck", "good luck"] * 8
    assert prepared(few, roles={"note": "text"}).plans_[0].words == ("bad", "good", "luck")
    assert prepared(NOTES, roles={"note": "category"}).dropped_ == {"note": "every word different"}
    with pytest.raises(ValueError, match="roles must be one of"):
        prepared(few, roles={"note": "poem"})


def test_japanese_gives_pairs_of_characters():
    assert list(words_of_text("荷物がＡＢＣで遅れ")) == ["荷物", "物が", "abc", "で遅", "遅れ"]
    notes = [f"荷物が{'とても遅れて' if k % 2 else '早く'}届きました。番号{k}" for k in range(40)]
    found = prepared(notes)
    assert isinstance(found.plans_[0], TextPlan)
    assert {"荷物", "遅れ", "早く"} <= set(found.plans_[0].words)


def test_missing_texts_have_a_column():
    found = prepared([*NOTES, None])
    X = found.transform({"note": np.array([None, NOTES[0]], dtype=object)})
    assert found.get_feature_names_out()[-1] == "note is missing"
    assert X[0].tolist() == [0.0] * (X.shape[1] - 1) + [1.0]
    notices = prepared(NOTES).transform_noting({"note": np.array([None], dtype=object)})[1]
    assert notices.gaps == {"note": 1}


def test_sparse_and_dense_rows_are_the_same(monkeypatch):
    table = {
        "note": np.array(NOTES),
        "x": np.arange(80.0),
        "day": np.array([f"2020-01-{1 + k % 28:02}" for k in range(80)]),
    }
    dense = TablePreparation().fit_transform(table)
    monkeypatch.setattr("maxmargin.table.preparation.MAX_DENSE_COLUMNS", 1)
    monkeypatch.setattr("maxmargin.table.preparation.MIN_DENSE_SHARE", 2.0)
    monkeypatch.setattr("maxmargin.table.preparation.ROWS_PER_FILL", 30)
    wide = TablePreparation().fit_transform(table)
    assert sparse.issparse(wide)
    assert wide.has_sorted_indices
    np.testing.assert_array_equal(wide.toarray(), dense)
    alone = TablePreparation().fit_transform({"note": np.array(NOTES)})
    assert sparse.issparse(alone)


@given(cuts=st.sets(st.integers(1, 79)), limit=st.sampled_from([3, 100]))
def test_blocks_change_no_bit(cuts, limit):
    values = [None if k % 9 == 0 else note for k, note in enumerate(NOTES)]
    before, texts.MAX_COUNTED_WORDS = texts.MAX_COUNTED_WORDS, limit
    try:
        whole, pieces = prepared(values), TablePreparation(dtype="float64")
        for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 80]):
            pieces.partial_fit({"note": np.array(values[start:stop], dtype=object)})
    finally:
        texts.MAX_COUNTED_WORDS = before
    assert json.dumps(whole.state() | {"scale": 0}) == json.dumps(pieces.state() | {"scale": 0})


def test_states_come_back_and_bad_ones_are_refused():
    found = prepared([*NOTES, None], max_text_words=5, roles={"note": "text"})
    state = found.state()
    again = TablePreparation.from_state(json.loads(json.dumps(state | {"scale": []})))
    assert again.plans_ == found.plans_
    assert again.get_params() == found.get_params()
    plan = state["plans"][0]
    for change in (
        {"words": ["a"] * 5},
        {"idf": plan["idf"][:-1]},
        {"idf": [-1.0] * 5},
        {"n_words": 99.0},
        {"missing": 1},
    ):
        with pytest.raises(ValueError, match="bad"):
            TablePreparation.from_state(state | {"plans": [plan | change]})
