"""Model files: a loaded model equals the saved one bit for bit, damage is refused, nothing is executed."""

import copy
import subprocess
import sys
import textwrap
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from soak import killed_while_saving, mutated_model_files
from support.saved_models import EVERY, WORDS, data, quiet, special, table

import maxmargin as mm
from maxmargin import io, kernels
from maxmargin.archive.archive import read_archive, write_archive
from maxmargin.io import ModelFormatError, fingerprint, load, read_record, save
from maxmargin.io.models.estimators import ESTIMATORS

METHODS = (
    "decision_function",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "transform",
    "column_outputs",
)
STARTS = {"_last"}  # of a warm start, which a file does not hold


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.mm"


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


# ---- round trips ----


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
def test_a_loaded_stream_continues_bit_identically(name, path):
    model = quiet(special()[name])
    again = saved(model, path)
    X, y = data()
    for one in (model, again):
        quiet(lambda one=one: one.partial_fit(X[2::3], y[2::3]))
    assert fingerprint(again) == fingerprint(model)


def test_a_loaded_stream_of_csr_rows_continues(path):
    X, y = data(3, "float32", "csr")
    model = mm.SparseKernelClassifier(6, random_state=0).partial_fit(X[:40], y[:40], classes=[0, 1, 2])
    again = saved(model, path)
    for one in (model, again):
        one.partial_fit(X[40:], y[40:])
    assert fingerprint(again) == fingerprint(model)


def test_a_loaded_model_can_be_truncated_and_bounded(path):
    X, y = data()
    model = mm.SparseKernelClassifier.as_published(8, random_state=0).fit(X, y)
    again = saved(model, path)
    small, large = again.truncate(2), model.truncate(2)
    np.testing.assert_array_equal(small.decision_function(X), large.decision_function(X))
    refitted = mm.SparseKernelClassifier(8, random_state=0).fit(X, y)
    assert fingerprint(saved(refitted, path).truncate(3, X, y)) == fingerprint(refitted.truncate(3, X, y))
    svc = mm.KernelSVC().fit(X, y)
    assert repr(mm.bounds.report(saved(svc, path), X, y)) == repr(mm.bounds.report(svc, X, y))


def test_a_loaded_model_can_be_warm_started(path):
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


# ---- what is not saved ----


def user_kernel(X, Z):
    return X @ Z.T


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: mm.KernelSVC(kernel=user_kernel), "function: a model file holds data, never code"),
        (lambda: mm.KernelSVC(kernel=kernels.FromFunction(user_kernel)), "FromFunction"),
        (lambda: mm.LinearSVC(random_state=np.random.RandomState(0)), "random_state is a RandomState"),
        (
            lambda: mm.OutputCodeClassifier(LogisticRegression()),
            "LogisticRegression, which a model file cannot",
        ),
        (lambda: make_pipeline(PolynomialFeatures(), mm.LinearSVC()), "PolynomialFeatures"),
        (lambda: make_pipeline(StandardScaler(), mm.LinearSVC(), memory="cache"), r"cache folder \(memory\)"),
    ],
)
def test_functions_and_foreign_objects_are_refused(make, match, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = make().fit(*data())
    with pytest.raises(ValueError, match=match):
        save(model, path)
    assert not path.exists()


def test_only_fitted_models_are_saved(path):
    for wrong in (mm.LinearSVC, LogisticRegression().fit(*data()), np.zeros(3), kernels.RBF(1.0), None):
        with pytest.raises(ValueError, match="model must be a fitted estimator of maxmargin"):
            save(wrong, path)
    with pytest.raises(NotFittedError):
        save(mm.LinearSVC(), path)
    impostor = type("LinearSVC", (LogisticRegression,), {})().fit(*data())
    with pytest.raises(ValueError, match="model must be"):
        save(impostor, path)
    strange = mm.LinearSVC().fit(*data())
    strange.note = "mine"
    with pytest.raises(ValueError, match=r"does not know: \['note'\]"):
        save(strange, path)
    broken = mm.LinearSVC().fit(*data())
    broken.coef_ = broken.coef_[:, :2]
    with pytest.raises(ValueError, match=r"not saved, because .*(intercept_|coef_)"):
        save(broken, path)
    assert not path.exists()


# ---- files that were changed on purpose ----


def changed(path, edit):
    content, arrays = read_archive(path)
    edit(content["model"], arrays)
    write_archive(path, content, arrays)


def replace_array(name, function):
    def edit(tree, arrays):
        arrays[name] = function(arrays[name])

    return edit


def put(value, *keys):
    def edit(tree, arrays):
        for key in keys[:-1]:
            tree = tree[key]
        tree[keys[-1]] = value

    return edit


EDITS = {
    "too few coefficients": replace_array("model/dual_coef_", lambda a: a[:, 1:]),
    "too many columns": replace_array("model/dual_coef_", lambda a: np.vstack([a, a])),
    "coefficients not finite": replace_array("model/dual_coef_", lambda a: a * np.nan),
    "coefficients of integers": replace_array("model/dual_coef_", lambda a: a.astype(int)),
    "points of another width": replace_array("model/support_vectors_", lambda a: a[:, :2].copy()),
    "points in one line": replace_array("model/support_vectors_", lambda a: a.ravel()),
    "one class twice": replace_array("model/classes_", lambda a: a * 0),
    "a code of twos": replace_array("model/code_/matrix", lambda a: a * 2),
    "a code of one class": replace_array("model/code_/matrix", lambda a: a[:1]),
    "groups beyond the end": replace_array("model/_groups", lambda a: a + 1),
    "groups that fall": replace_array("model/_groups", lambda a: a[::-1].copy()),
    "another class": put("LogisticRegression", "kind"),
    "a class with a path": put("os.system", "kind"),
    "a helper as a model": put("RBF", "kind"),
    "a kernel without a number": put("scale", "fitted", "kernel_", "parameters", "gamma"),
    "a kernel that is a word": put("rbf", "fitted", "kernel_"),
    "an unknown parameter": put(1, "parameters", "__class__"),
    "an unknown attribute": put(1, "fitted", "__dict__"),
    "a method": put(1, "fitted", "predict"),
    "a parameter out of range": put(-1.0, "parameters", "C"),
    "an attribute missing": lambda tree, arrays: tree["fitted"].pop("status_"),
    "an unknown end": put("fine", "fitted", "status_"),
    "an array of no one": lambda tree, arrays: arrays.update(more=np.zeros(3)),
    "an array that is not there": lambda tree, arrays: arrays.pop("model/intercept_"),
    "an array for two": put({"array": "model/intercept_"}, "fitted", "dual_coef_"),
    "a decoder of another size": put(
        {"kind": "WeightedDecoder", "parameters": {"weights": {"array": "more"}}, "fitted": {}},
        "fitted",
        "decoder_",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_inconsistent_models_are_refused(name, path):
    X, y = load_digits_of_five()
    save(mm.KernelSVC().fit(X, y), path)
    assert "model/_groups" in read_archive(path)[1]
    changed(path, EDITS[name])
    with pytest.raises(ModelFormatError, match=r"model\.mm: the model does not fit together: "):
        load(path)


def load_digits_of_five():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 5
    return rng.standard_normal((60, 4)) + y[:, None], y


@pytest.mark.parametrize("part", ["indptr", "indices", "data"])
def test_csr_parts_are_checked_before_use(part, path):
    X, y = data(3, "float64", "csr")
    save(mm.KernelSVC().fit(X, y), path)
    name = f"model/support_vectors_/{part}"
    good = read_archive(path)[1][name]
    wrong = {
        "indptr": [good[::-1], good + 1, good[:-1], good * 0, np.r_[good[:-1], 10**6]],
        "indices": [good + 4, good - 1, good[::-1], good[:-1], good.astype("f8"), good * 0],
        "data": [np.where(good > 1.0, np.inf, good), good[:-1], good.astype(int), good[:, None]],
    }
    for array in wrong[part]:
        save(mm.KernelSVC().fit(X, y), path)
        changed(path, replace_array(name, lambda _, array=array: np.ascontiguousarray(array)))
        with pytest.raises(ModelFormatError, match="does not fit together"):
            load(path)


def test_checkpoints_are_not_models(path):
    write_archive(path, {"kind": "checkpoint"}, {})
    for read in (load, read_record):
        with pytest.raises(ModelFormatError, match="holds a 'checkpoint', not a model"):
            read(path)


# ---- damaged files, killed processes, and code that is never executed ----


def in_process(script, *arguments):
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_mutated_files_are_refused_or_predict():
    counts = mutated_model_files.run(200, few=True)
    assert "damaged: refused" in counts
    assert "forged: refused" in counts
    assert "forged: predicts" in counts


@pytest.mark.slow
def test_files_of_killed_processes_are_whole():
    assert "file" in killed_while_saving.run(10)


AUDIT = """
    import sys
    import maxmargin.io

    seen = []
    sys.addaudithook(lambda event, args: seen.append((event, args[0] if args else "")))
    maxmargin.io.load(sys.argv[1])  # the first load imports the library's modules
    first, seen[:] = list(seen), []
    model = maxmargin.io.load(sys.argv[1])
    model.predict_proba([[0.0, 0.0, 0.0, 0.0]])
    second = list(seen)
    for when, events in (("first", first), ("second", second)):
        for event, about in events:
            print(when, event, about if isinstance(about, str) else "")
"""
HARMLESS = ("builtins.id", "object.__getattr__", "object.__setattr__", "sys._getframe")
NEVER = ("pickle.", "os.system", "os.exec", "os.posix_spawn", "subprocess.", "socket.connect")


@pytest.mark.slow
def test_loading_executes_no_code_from_a_file(path, tmp_path):
    X, y = data()
    save(mm.CalibratedSVC(mm.KernelSVC(), cv=3).fit(X, WORDS[y]), path)
    script = tmp_path / "audit.py"
    script.write_text(textwrap.dedent(AUDIT))
    lines = [line.split(" ", 2) for line in in_process(script, str(path)).splitlines()]
    first = [(event, about) for when, event, about in lines if when == "first"]
    second = [(event, about) for when, event, about in lines if when == "second"]
    # Once the library is imported, a load opens the file: nothing is imported, compiled or run.
    assert {pair for pair in second if pair[0] not in HARMLESS} == {("open", str(path))}
    assert ("open", str(path)) in first
    assert [event for event, _ in first if event.startswith(NEVER)] == []
    beside = {about for event, about in first if event == "open" and about.startswith(str(tmp_path))}
    assert beside == {str(path)}


def test_exported_names():
    assert {"save", "load", "read_record", "fingerprint", "ModelFormatError"} <= set(io.__all__)
    assert all(hasattr(io, name) for name in io.__all__)
    assert issubclass(ModelFormatError, ValueError)
    with pytest.raises(AttributeError, match="nothing"):
        _ = io.nothing
