"""Model files made to hang a reader, to exhaust its memory or to surprise it; and unusual paths."""

import os
import stat
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from support.saved_models import data, quiet

import maxmargin as mm
from maxmargin.archive import archive
from maxmargin.archive.whole_file import whole_file
from maxmargin.io import ModelFormatError, load, read_record, save


def forged(path, model, edit):
    """Save a model, change the header's content, and correct every checksum."""
    save(model, path)
    content, arrays = archive.read_archive(path)
    edit(content, arrays)
    archive.write_archive(path, content, arrays)


# ---- files that are read ----


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_without_a_writer_does_not_block(path):
    os.mkfifo(path)
    said = []

    def read():
        try:
            load(path)
        except ModelFormatError as error:
            said.append(str(error))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(20.0)
    assert ["a device or a pipe" in text for text in said] == [True]


@pytest.mark.parametrize("depth", [5, 60])
def test_nested_pipelines_do_not_take_exponential_time(depth, path):
    def nest(content, arrays):
        for _ in range(depth):
            packed = {"names": ["step"], "steps": [content["model"]]}
            content["model"] = {"kind": "Pipeline", "parameters": {}, "fitted": packed}

    forged(path, mm.LinearSVC().fit(*data()), nest)
    with pytest.raises(ModelFormatError, match="more than 4 pipelines"):
        load(path)


def test_a_few_nested_pipelines_are_loaded(path):
    X, y = data()
    model = make_pipeline(make_pipeline(Normalizer()), make_pipeline(make_pipeline(mm.LinearSVC()))).fit(X, y)
    save(model, path)
    assert np.array_equal(load(path).decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("width", [2**31, 2**45, 2**61])
@pytest.mark.parametrize("kind", ["csr", "precomputed", "normalizer"])
def test_a_claimed_width_takes_no_memory(kind, width, path):
    X, y = data()
    model = {
        "csr": lambda: mm.KernelSVC().fit(sparse.csr_array(X), y),
        "precomputed": lambda: mm.KernelSVC(kernel="precomputed").fit(X @ X.T, y),
        "normalizer": lambda: Normalizer().fit(X),
    }[kind]()

    def widen(content, arrays):
        fitted = content["model"]["fitted"]
        fitted["n_features_in_"] = width
        if kind == "csr":
            fitted["support_vectors_"]["csr"]["shape"][1] = width

    forged(path, model, widen)
    again = load(path)  # a row of so many zeros would be a MemoryError
    with pytest.raises(ValueError, match="features"):
        (again.predict if kind != "normalizer" else again.transform)(X)


@pytest.mark.parametrize("depth", [101, 600, 100_000])
def test_deeply_nested_records_are_refused(depth, path, monkeypatch):
    save(mm.LinearSVC().fit(*data()), path)
    content, arrays = archive.read_archive(path)
    text = archive._header_bytes({**content, "record": {"a": "here"}}, arrays).replace(
        b'"here"', b"[" * depth + b"]" * depth
    )
    monkeypatch.setattr(archive, "_header_bytes", lambda header, arrays: text)
    archive.write_archive(path, {}, arrays)
    with pytest.raises(
        ModelFormatError, match=r"^[^:]*model\.mm: (a record must not have|the header is not valid JSON)"
    ):
        read_record(path)


def test_recursive_records_are_not_written(path):
    endless = {}
    endless["again"] = endless
    with pytest.raises(ValueError, match="more than 100 deep"):
        save(mm.LinearSVC().fit(*data()), path, endless)
    assert not path.exists()


@pytest.mark.parametrize(
    ("key", "value"), [("record", [1]), ("record", None), ("maxmargin", 3), ("maxmargin", {})]
)
def test_headers_of_wrong_types_are_refused(key, value, path):
    forged(path, mm.LinearSVC().fit(*data()), lambda content, arrays: content.update({key: value}))
    for read in (load, read_record):
        with pytest.raises(ModelFormatError, match="must have a record and the version"):
            read(path)


@pytest.mark.parametrize("where", ["dict", "objects"])
def test_integers_that_share_a_hash_are_refused_before_they_are_hashed(where, path):
    same = [k * (2**61 - 1) for k in range(5_000)]
    assert len(set(map(hash, same))) == 1

    def edit(content, arrays):
        if where == "dict":
            content["model"]["parameters"]["class_weight"] = {"dict": [[k, 1.0] for k in same]}
        else:
            content["model"]["fitted"]["classes_"] = {"objects": same}
            del arrays["model/classes_"]

    forged(path, mm.LinearSVC().fit(*data()), edit)
    with pytest.raises(ModelFormatError, match="numbers of 64 bits"):
        load(path)


def test_histories_must_be_certificates(path):
    def edit(content, arrays):
        content["model"]["fitted"]["history_"] = [1]
        for name in [name for name in arrays if "history_" in name]:
            del arrays[name]

    forged(path, mm.LinearSVC().fit(*data()), edit)
    with pytest.raises(ModelFormatError, match="history_ of LinearSVC must be a list of certificates"):
        load(path)


# ---- models that are saved ----


@pytest.mark.parametrize(
    "imputer",
    [
        {},
        {"strategy": "median", "keep_empty_features": True},
        {"strategy": "constant", "fill_value": 0},
        {"strategy": "constant", "fill_value": 0.5, "keep_empty_features": True},
    ],
)
def test_imputers_that_drop_or_fill_columns_are_loaded(imputer, path):
    X, y = data()
    X = X.copy()
    X[:, 1], X[::3, 2] = np.nan, np.nan
    model = quiet(lambda: make_pipeline(SimpleImputer(**imputer), mm.LinearSVC()).fit(X, y))
    assert model[-1].n_features_in_ == (4 if imputer.get("keep_empty_features") else 3)
    save(model, path)
    found, expected = (quiet(lambda m=m: m.decision_function(X)) for m in (load(path), model))
    assert np.array_equal(found, expected)


# ---- paths ----


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_devices_and_pipes_are_never_replaced(path):
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"model\.mm is a device or a pipe"):
        save(mm.LinearSVC().fit(*data()), path)
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_new_file_has_the_permissions_of_the_old_one(path, mode):
    path.write_bytes(b"old")
    path.chmod(mode)
    with whole_file(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_long_names_and_missing_folders(tmp_path):
    long = tmp_path / ("\N{GRINNING FACE}" * 62)  # 248 bytes of at most 255
    with whole_file(long) as file:
        file.write(b"new")
    assert long.read_bytes() == b"new"
    with pytest.raises(FileNotFoundError, match=r"model\.mm: there is no folder .*nowhere; create it"):
        save(mm.LinearSVC().fit(*data()), tmp_path / "nowhere" / "model.mm")
