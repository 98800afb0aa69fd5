"""Dates: what each form of writing means, what they become, blocks of any size, model files."""

from __future__ import annotations

import datetime
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.table import DatePlan, TablePreparation, WordsPlan, numeric, warn_of_odd_columns
from maxmargin.table.preparation import TableWarning
from maxmargin.table.written_dates import PARTS, date_values

DAYS = [datetime.date(2019, 11, 29) + datetime.timedelta(days=9 * k) for k in range(30)]
FORMS = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%B %d, %Y",
    "%Y年%m月%d日",
    "%Y-%m-%dT00:00",
]


def prepared(values: list, name: str = "day") -> TablePreparation:
    return TablePreparation(dtype="float64").fit({name: np.array(values, dtype=object)})


@pytest.mark.parametrize("form", FORMS)
@given(day=st.dates(datetime.date(1500, 1, 1), datetime.date(2200, 12, 31)))
def test_every_form_is_the_date_that_it_writes(form, day):
    year, month, weekday, hour, days = date_values([day.strftime(form)], day_first=False)[0]
    assert (year, month, weekday, hour) == (day.year, day.month, day.weekday(), 0.0)
    assert days == (day - datetime.date(1970, 1, 1)).days


@given(
    when=st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),
    hours=st.integers(-12, 14),
)
def test_times_with_zones_agree_with_the_standard_library(when, hours):
    when = when.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=hours)))
    found = date_values([when.isoformat()], day_first=True)[0]
    assert found[PARTS.index("days")] == pytest.approx(when.timestamp() / 86400.0, abs=1e-9)
    assert found[PARTS.index("hour")] == pytest.approx(
        when.hour + when.minute / 60 + (when.second + when.microsecond / 1e6) / 3600
    )


@pytest.mark.parametrize(
    "text",
    ["", "red", "2020-13-01", "2020-02-30", "30/02/2020x", "1.2.10", "12:30", "2020", "1583020800", "2020-1",
     "0000-00-00", "5 Marlborough 2015", "Decoder 12 2020", "3-7-4821", "1499-12-31", "9999-12-31",
     "2020-01-01 25:00", "2020-01-01 13:00 PM", "2020-01-01" + " " * 60],
)  # fmt: skip
def test_other_texts_are_not_dates(text):
    assert np.isnan(date_values([text], True)).all()
    assert np.isnan(date_values([text], False)).all()


@pytest.mark.parametrize("weekday", ["Sun, ", "Sunday, ", "sun "])
def test_a_weekday_may_come_first(weekday):
    found = date_values([f"{weekday}05 Jan 2020 10:00:00 GMT"], False)
    assert found[0].tolist()[:4] == [2020, 1, 6, 10]


def test_seasons_and_part_numbers_are_categories():
    seasons = [f"{year}-{(year + 1) % 100:02}" for year in range(2001, 2012)] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_odd_columns(prepared(seasons))
    assert isinstance(prepared(seasons).plans_[0], WordsPlan)
    assert isinstance(prepared([*seasons, "2001-07"]).plans_[0], DatePlan)
    parts = [f"{1 + k % 12}-{1 + k % 9}-{2300 + 37 * k}" for k in range(40)]
    assert not isinstance(prepared(parts * 2).plans_[0], DatePlan)


def test_dates_of_the_end_of_time_are_missing_and_told():
    days = [day.isoformat() for day in DAYS]
    found, same = prepared([*days, "9999-12-31", "9999-12-31"]), prepared([*days, None, None])
    assert found.plans_ == same.plans_
    table = {"day": np.array(["9999-12-31", days[0]], dtype=object)}
    assert found.transform_noting(table)[0][0].tolist() == [0.0] * (found.plans_[0].width - 1) + [1.0]
    with pytest.warns(TableWarning, match="after the year 2200 in 2 row.*'9999-12-31'.*count as missing"):
        warn_of_odd_columns(found)
    assert not isinstance(prepared(["9999-12-31", "9998-12-31"] * 20).plans_[0], DatePlan)


def test_the_century_of_two_digits_is_told():
    with pytest.warns(TableWarning, match="two digits of the year: '14/7/56'.*read as of 2056"):
        warn_of_odd_columns(prepared(["14/7/56", "15/8/69"]))


def test_equal_dates_are_constant():
    found = TablePreparation().fit({"day": np.array(["2020-02-01", "1.2.2020"] * 5), "x": np.arange(10.0)})
    assert found.dropped_ == {"day": "constant"}


def test_a_date_becomes_year_month_weekday_and_days():
    found = prepared([day.isoformat() for day in DAYS])
    plan = found.plans_[0]
    assert isinstance(plan, DatePlan)
    assert found.get_feature_names_out().tolist() == [
        "day: year", "day: month", "day: weekday", "day: days since 2019-11-29",
    ]  # fmt: skip
    X = found.transform({"day": np.array(["2019-12-01"], dtype=object)})
    want = [2019, 12, 6, 2]
    kept = [part for part in plan.parts if part.kept]
    np.testing.assert_allclose(
        X[0], [(w - part.mean) / part.scale for w, part in zip(want, kept)], rtol=1e-12
    )
    whole = found.transform({"day": np.array([day.isoformat() for day in DAYS], dtype=object)})
    np.testing.assert_allclose(whole.mean(axis=0), 0.0, atol=1e-12)


def test_missing_and_mixed_forms():
    found = prepared(["2020-01-31", None, "1.2.2020", "2020-03-01 12:00"])
    assert "day is missing" in found.get_feature_names_out()
    X = found.transform({"day": np.array([None, "2020-02-01"], dtype=object)})
    assert X[0].tolist() == [0.0] * (X.shape[1] - 1) + [1.0]
    assert X[1, -1] == 0.0


@pytest.mark.parametrize(
    ("last", "day_first"), [("13/02/2020", True), ("02/13/2020", False), ("3/4/2020", False)]
)
def test_order_of_day_and_month_is_that_of_all_values(last, day_first):
    assert prepared(["01/02/2020", "05/06/2020", last]).plans_[0].day_first is day_first


def test_an_order_that_is_a_guess_is_told():
    with pytest.warns(
        TableWarning, match="whether the day or the month comes first: '01/02/2020'.*month first"
    ):
        warn_of_odd_columns(prepared(["01/02/2020", "05/06/2020", "07/07/2020"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_odd_columns(prepared(["01/02/2020", "25/06/2020"]))


def test_dates_with_exceptions_are_told_and_stay_words():
    days = [day.isoformat() for day in DAYS]
    found = prepared([*days, "unknown", "unknown"])
    assert not found.dropped_
    assert not isinstance(found.plans_[0], DatePlan)
    with pytest.warns(TableWarning, match="30 of 32 rows have dates; the others have 'unknown'"):
        warn_of_odd_columns(found)
    with pytest.warns(TableWarning, match="day first and dates with the month first"):
        warn_of_odd_columns(prepared(["13/02/2020", "02/13/2020"]))


def test_declared_categories_stay_categories():
    found = TablePreparation(roles={"day": "category"}).fit(
        {"day": np.array(["2020-01-01", "2020-01-02"] * 2)}
    )
    assert found.get_feature_names_out().tolist() == ["day=2020-01-01", "day=2020-01-02"]


def test_what_is_not_a_date_at_prediction_is_missing_and_told():
    found = prepared([day.isoformat() for day in DAYS])
    table = {"day": np.array(["soon", DAYS[3].isoformat(), None], dtype=object)}
    with pytest.warns(
        TableWarning, match=r"1 value\(s\) that are not dates, in 1 row\(s\).*'soon'.*'day' \(1 rows\)"
    ):
        X = found.transform(table)
    assert not X[0].any()
    assert not X[2].any()
    notices = found.transform_noting(table)[1]
    assert (notices + notices).no_dates == {"day": {"soon": 2}}


@given(cuts=st.sets(st.integers(1, 59)), seed=st.integers(0, 99))
def test_blocks_change_no_bit(cuts, seed):
    rng = np.random.default_rng(seed)
    days = [
        f"{rng.integers(1, 29):02}/{rng.integers(1, 13):02}/20{rng.integers(10, 25)} 1{k % 10}:30"
        for k in range(60)
    ]
    values = [None if rng.random() < 0.2 else day for day in days]
    before, numeric.ROWS_PER_SUM = numeric.ROWS_PER_SUM, 8
    try:
        whole, pieces = prepared(values), TablePreparation(dtype="float64")
        for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 60]):
            pieces.partial_fit({"day": np.array(values[start:stop], dtype=object)})
    finally:
        numeric.ROWS_PER_SUM = before
    assert json.dumps(whole.state() | {"scale": 0}) == json.dumps(pieces.state() | {"scale": 0})


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_have_the_dates_of_files(frame):
    text = TablePreparation().fit({"day": np.array([day.isoformat() for day in DAYS])})
    whole = TablePreparation().fit(frame({"day": DAYS}))
    assert whole.plans_ == text.plans_
    times = [datetime.datetime(2020, 1, 1, 6) + datetime.timedelta(hours=7 * k) for k in range(20)]
    found = TablePreparation().fit(frame({"at": [*times, None]}))
    assert (
        found.plans_
        == TablePreparation()
        .fit({"at": np.array([*(t.isoformat() for t in times), None], dtype=object)})
        .plans_
    )


def test_zones_of_pandas_and_polars_are_alike():
    times = pd.date_range("2020-01-01", periods=9, freq="7h", tz="Asia/Tokyo")
    tables = [pd.DataFrame({"at": times}), pl.DataFrame({"at": times})]
    first, second = (TablePreparation().fit(table).plans_ for table in tables)
    assert first == second
    assert first[0].parts[3].kept


def test_states_come_back_and_bad_ones_are_refused():
    found = prepared([day.isoformat() for day in DAYS] + [None])
    state = found.state()
    again = TablePreparation.from_state(json.loads(json.dumps(state | {"scale": []})))
    assert again.plans_ == found.plans_
    plan = state["plans"][0]
    for change in (
        {"origin": 0.5},
        {"origin": 10**9},
        {"day_first": 1},
        {"parts": plan["parts"][:4]},
        {"missing": None},
    ):
        with pytest.raises(ValueError, match="bad"):
            TablePreparation.from_state(state | {"plans": [plan | change]})


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["07/12/2011", "25/01/2012", "1/1/99"], ["2011-12-07", "2012-01-25", "1999-01-01"]),
        (["2011-12-07 18:30", "2011-12-08 23:59:58"], ["2011-12-07 18:30", "2011-12-08 23:59:58"]),
        (["2011-12-07T23:30-05:00", "2011-12-08T01:00+13:00"], ["2011-12-07 23:30", "2011-12-08 01:00"]),
        (["2011-12-07 18:30", "2011-12-07 06:00"], ["2011-12-07 18:30", "2011-12-07 06:00"]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_of_the_matrix_reads_as_its_date_in_the_common_form(texts, shown, dtype):
    preparation = TablePreparation(dtype=dtype).fit({"day": texts * 3})
    plan = preparation.plans_[0]
    assert plan.shown([*texts, "soon"]) == [*shown, "soon"]
    rows = preparation.transform({"day": texts})
    assert [plan.read(row.tolist()) for row in rows] == shown
