"""A loaded model equals the saved one bit for bit, and can be used as it can."""

import copy

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.model_equality import assert_same_answers, assert_same_state, saved
from support.saved_models import EVERY, data, quiet, special, table

import maxmargin as mm
from maxmargin import io
from maxmargin.io import ModelFormatError, fingerprint, read_record, save
from maxmargin.io.models.estimators import ESTIMATORS


def test_every_public_estimator_can_be_saved():
    public = {name for name in mm.__all__ if isinstance(getattr(mm, name), type)}
    assert public == set(EVERY) == set(ESTIMATORS)


@pytest.mark.parametrize("form", [(2, "float64", "dense"), (3, "float32", "csr")], ids=str)
@pytest.mark.parametrize("name", EVERY)
def test_every_estimator_survives_a_round_trip(name, form, path):
    X, y = data(*form)
    model = quiet(lambda: EVERY[name]().fit(X, y))
    again = saved(model, path)
    assert_same_state(model, again)
    assert fingerprint(again) == fingerprint(model)
    for layout in ("dense", "csr"):
        assert_same_answers(model, again, data(form[0], form[1], layout)[0])
    first = path.read_bytes()
    save(again, path)
    assert path.read_bytes() == first


@pytest.mark.parametrize("name", special())
def test_every_part_of_a_model_survives_a_round_trip(name, path):
    model = quiet(special()[name])
    again = saved(model, path)
    assert_same_state(model, again)
    assert fingerprint(again) == fingerprint(model)
    X, _ = data()
    rows = table() if name == "table" else X @ X.T if "precomputed" in name else X
    assert_same_answers(model, again, rows)


@pytest.mark.parametrize("name", ["budget stream", "published stream", "perceptron stream", "pegasos stream"])
def test_loaded_stream_continues_bit_identically(name, path):
    model = quiet(special()[name])
    again = saved(model, path)
    X, y = data()
    for one in (model, again):
        quiet(lambda one=one: one.partial_fit(X[2::3], y[2::3]))
    assert fingerprint(again) == fingerprint(model)


def test_loaded_stream_of_csr_rows_continues(path):
    X, y = data(3, "float32", "csr")
    model = mm.SparseKernelClassifier(6, random_state=0).partial_fit(X[:40], y[:40], classes=[0, 1, 2])
    again = saved(model, path)
    for one in (model, again):
        one.partial_fit(X[40:], y[40:])
    assert fingerprint(again) == fingerprint(model)


def test_loaded_model_can_be_truncated_and_bounded(path):
    X, y = data()
    model = mm.SparseKernelClassifier.as_published(8, random_state=0).fit(X, y)
    again = saved(model, path)
    small, large = again.truncate(2), model.truncate(2)
    np.testing.assert_array_equal(small.decision_function(X), large.decision_function(X))
    refitted = mm.SparseKernelClassifier(8, random_state=0).fit(X, y)
    assert fingerprint(saved(refitted, path).truncate(3, X, y)) == fingerprint(refitted.truncate(3, X, y))
    svc = mm.KernelSVC().fit(X, y)
    assert repr(mm.bounds.report(saved(svc, path), X, y)) == repr(mm.bounds.report(svc, X, y))


def test_loaded_model_can_be_warm_started(path):
    X, y = data()
    for model in (
        mm.KernelSVC(warm_start=True, random_state=0),
        mm.SparseKernelClassifier(6, warm_start=True, random_state=0),
    ):
        again = saved(model.fit(X, y), path)
        assert fingerprint(again.fit(X, y)) == fingerprint(model.fit(X, y))


def test_feature_names_are_saved_and_checked(path):
    pandas = pytest.importorskip("pandas")
    X, y = data()
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(StandardScaler(), mm.LinearSVC()).set_output(transform="pandas").fit(frame, y)
    again = saved(model, path)
    assert_same_state(model, again)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[list("dcba")])


def test_records_survive_a_round_trip(path):
    record = {
        "rows": 3,
        "share": np.float64(0.5),
        "gap": float("inf"),
        "names": ("a", "é"),
        "inner": {"x": None},
    }
    save(mm.LinearSVC().fit(*data()), path, record)
    assert read_record(path) == {**record, "names": ["a", "é"]}
    save(mm.LinearSVC().fit(*data()), path)
    assert read_record(path) == {}
    with pytest.raises(ValueError, match=r"record\.model is a LinearSVC"):
        save(mm.LinearSVC().fit(*data()), path, {"model": mm.LinearSVC()})
    assert read_record(path) == {}


def test_fingerprints_depend_on_everything_but_time():
    X, y = data()
    first, second = (mm.KernelSVC().fit(X, y) for _ in range(2))
    second._seed = first._seed
    assert first.history_ != second.history_
    assert fingerprint(first) == fingerprint(second)
    for name, value in {
        "C": 2.0,
        "_seed": 1,
        "status_": "stalled",
        "intercept_": first.intercept_ + 1e-15,
    }.items():
        other = copy.deepcopy(first)
        setattr(other, name, value)
        assert fingerprint(other) != fingerprint(first), name
    searches = [mm.PathCV(mm.LinearSVC(random_state=0), Cs=[1.0, 2.0], cv=2).fit(X, y) for _ in range(2)]
    searches[1].best_estimator_._seed = searches[0].best_estimator_._seed
    assert fingerprint(searches[0]) == fingerprint(searches[1])


def test_exported_names():
    assert {"save", "load", "read_record", "fingerprint", "ModelFormatError"} <= set(io.__all__)
    assert all(hasattr(io, name) for name in io.__all__)
    assert issubclass(ModelFormatError, ValueError)
    with pytest.raises(AttributeError, match="nothing"):
        _ = io.nothing
