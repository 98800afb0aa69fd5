"""The report: what it gathers from a model and a file; its page is whole, safe, small and always the same."""

import numpy as np
import pytest
from sklearn.svm import SVC
from support.memory_source import MemorySource
from support.page_checks import check_page
from support.report_samples import NASTY, fitted, record, source, table, written

from maxmargin import KernelPerceptron, KernelSVC, LinearSVC, bounds
from maxmargin.evaluation.evaluate import evaluate
from maxmargin.report import build, page
from maxmargin.report.html.opening import preparation_parts
from maxmargin.report.html.page import SECTIONS
from maxmargin.training.record import digest_of


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    train = written(folder, "train.csv", table())
    test = written(folder, "test.csv", table(seed=1))
    return train, test


@pytest.fixture(scope="module")
def model(files):
    return fitted(files[0], validation_fraction=0.2)


@pytest.fixture(scope="module")
def report(model, files):
    return build(model, record(), source(files[1]), command="maxmargin report model.mm test.csv")


def sha256(path):
    with digest_of(str(path)) as digest:
        return digest()["sha256"]


def test_numbers_are_those_of_the_evaluation_and_of_the_model(report, model, files):
    plain = evaluate(model, source(files[1]))
    assert report.evaluation.accuracy == plain.accuracy
    assert np.array_equal(report.evaluation.confusion, plain.confusion)
    assert report.data.n_rows == 240
    assert report.data.sha256 == sha256(files[1])
    assert [(c.name, c.kind) for c in report.data.columns] == [
        ("size", "number"),
        ("weight in kg", "number"),
        ("colour", "words"),
    ]
    empty = sum(line.split(",")[2] == "" for line in files[1].read_text().splitlines())
    assert [c.n_missing for c in report.data.columns] == [0, 0, empty]
    assert sum(report.data.class_counts.values()) == 240
    assert report.budget_path.budget == model[-1].budget_path_["budget"].tolist()
    assert report.gaps.worst_by_time.gap[-1] == max(model[-1].dual_gap_, report.gaps.floor)
    (bound,) = report.promises.told
    assert bound.name == "hold-out"
    assert bound.value > 1 - plain.accuracy


def test_support_vectors_are_rows_of_the_training_file(report, model, files):
    lines = files[0].read_text().splitlines()[1:]
    sizes = np.linalg.norm(model[-1].dual_coef_, axis=0)
    shown = report.support.rows
    assert [r.size for r in shown] == sorted(sizes, reverse=True)[:20]
    for r in shown:
        size, weight, colour, _ = lines[r.row].split(",")
        assert r.values["size"] == pytest.approx(float(size), rel=1e-5)
        assert r.values["weight in kg"] == pytest.approx(float(weight), rel=1e-4, abs=1e-4)
        assert r.values["colour"] == (colour or None)
        assert r.towards == ("yes" if r.coefficient > 0 else "no")


def test_mistakes_are_rows_of_the_file_judged_by(report, files):
    lines = files[1].read_text().splitlines()[1:]
    assert report.mistakes
    for each in report.mistakes:
        size, weight, colour, label = lines[each.mistake.row].split(",")
        assert each.values == {"size": float(size), "weight in kg": float(weight), "colour": colour or None}
        assert each.mistake.label == label != each.mistake.predicted


def test_the_page_is_whole_and_says_where_its_numbers_come_from(report):
    text = page(report)
    seen = check_page(text)
    without_training_file = [anchor for anchor, _, _ in SECTIONS if anchor not in ("drift", "learning")]
    assert [a["id"] for a in seen.all("section")] == without_training_file
    assert [a["href"] for a in seen.all("a")] == [f"#{anchor}" for anchor in without_training_file]
    assert {s["aria-labelledby"].split("-title")[0] for s in seen.all("svg")} == {
        *("classes", "recall", "confusion", "calibration", "path-accuracy", "path-loss"),
        *("gap-seconds", "gap-iterations", "roc", "precision-recall", "effect0", "effect2"),
    }
    words = "".join(w for group in seen.words.values() for w in group)
    for said in (
        *("maxmargin train train.csv --target class", "maxmargin report model.mm test.csv"),
        *("f" * 64, report.data.sha256, "numpy 2.0", "weight in kg", "squared-hinge"),
    ):
        assert said in words
    assert len(text) < 150_000


def test_the_same_inputs_give_the_same_bytes(report, model, files):
    again = build(model, record(), source(files[1]), command="maxmargin report model.mm test.csv")
    assert page(again) == page(report) == page(report)


def test_rows_that_were_trained_on_are_said_to_be(model, files):
    own = record(data={"file": "train.csv", "sha256": sha256(files[0])})
    report = build(model, own, source(files[0]))
    assert report.seen
    assert not report.promises.told
    assert "Caution" in page(report)
    assert not build(model, own, source(files[1])).seen


def test_training_rows_give_more_bounds_if_they_are_the_ones(model, files):
    own = record(data={"file": "train.csv", "sha256": sha256(files[0])})
    full = build(model, own, source(files[1]), training=source(files[0]))
    assert {"hold-out", "margin", "pac-bayes"} <= {each.name for each in full.promises.told}
    block = next(source(files[0]).blocks())
    direct = bounds.report(model[-1], model[0].transform(block), block.target)
    for each in full.promises.told[1:]:
        assert (each.value, each.vacuous) == (direct[each.name].value, direct[each.name].vacuous)
    check_page(page(full))
    other = build(model, own, source(files[1]), training=source(files[1]))
    assert [each.name for each in other.promises.told] == ["hold-out"]
    assert "is not the one" in other.promises.not_told[0][1]
    part = record(fitted_on="the rows that were not held out")
    assert "a part" in build(model, part, source(files[1]), training=source(files[0])).promises.not_told[0][1]


def test_text_of_a_table_never_becomes_markup(tmp_path):
    classes = [text.replace("\x00", "\x01") for text in NASTY[:8]]  # a NUL is refused by the reader
    text = table(160, classes=classes, words=[w.replace("\x00", "\x02") for w in NASTY])
    text = text.replace("weight in kg", "<img src=x onerror=alert(1)>")
    path = written(tmp_path, "<b>.csv", text)
    model = fitted(path, 16)
    nasty = record(command="<script>", model="<i>", status="</p>", given_parameters={"<u>": "<s>"})
    seen = check_page(page(build(model, nasty, source(path), command="</pre><script>")))
    words = "".join(w for group in seen.words.values() for w in group)
    for said in ("<script>alert(1)</script>", "]]>", "\\u202egnp.exe", "<img src=x onerror=alert(1)>"):
        assert said in words
    assert "\u202e" not in words


def test_a_page_is_bounded_for_many_classes_and_columns():
    rng = np.random.default_rng(0)
    n_classes = 1_000
    X = np.repeat(rng.normal(size=(n_classes, 40)), 2, axis=0)
    y = np.repeat([f"class {k} {'long ' * 30}" for k in range(n_classes)], 2)
    model = KernelPerceptron(max_iter=1, gamma=0.1, random_state=0).fit(X, y)
    found = build(model, None, MemorySource(X + rng.normal(size=X.shape), y))
    text = page(found)
    check_page(text)
    assert len(text) < 500_000
    assert "The 20 of 1,000 classes with most mistakes are shown." in text
    assert text.count('class="cell ') == 400
    assert len(found.support.rows) == 20 < found.support.n_support
    assert "<summary>34 more</summary>" in text  # six of 40 columns are shown


@pytest.mark.parametrize("kind", [LinearSVC, KernelSVC])
def test_models_of_other_kinds_have_pages_too(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    y = np.argmax(X, axis=1)
    found = build(kind().fit(X, y), {}, MemorySource(X, y))
    check_page(page(found))
    assert (found.weights is None) == (kind is KernelSVC)
    assert (found.support is None) == (kind is LinearSVC)
    assert found.budget_path is None
    assert found.gaps.n_columns == 3
    if found.weights:
        assert found.weights.rows[0].towards in {"0", "1", "2", "0 or 1", "0 or 2", "1 or 2"}


def test_a_model_that_was_chosen_shows_over_what(report, model, files):
    lines = {name: [None, 3.0] for name in ("C", "gamma", "loss", "difference", "standard_error")}
    lines |= {"candidate": ["linear <b>", "rbf kernel"], "n_rows": [0, 200], "n_support": [0, 20]}
    chosen = {"chosen": "rbf kernel: held-out error 3%.", "candidates": lines}
    chosen["candidates"]["outcome"] = ["not tried", "chosen"]
    text = page(build(model, record() | chosen, source(files[1]), command="maxmargin report"))
    assert "rbf kernel: held-out error 3%." in text
    assert text.index('<bdi class="datum">rbf kernel</bdi>') < text.index("linear &lt;b&gt;")


def test_the_weights_of_groups_of_columns_are_shown(model, files):
    groups = [{"columns": ["a <b>", "c"], "weight": 0.25}, {"columns": ["d"], "weight": 0.75}]
    text = page(build(model, record() | {"groups": groups}, source(files[1])))
    check_page(text)
    assert text.index("a &lt;b&gt;, c") < text.index("0.25") < text.index("0.75")
    hostile = [{"columns": 3, "weight": [1]}, {}]
    check_page(page(build(model, record() | {"groups": hostile}, source(files[1]))))


def test_groups_beyond_those_shown_are_counted(model, files):
    groups = [{"columns": [f"c{k}"], "weight": 0.02} for k in range(50)]
    text = page(build(model, record() | {"groups": groups}, source(files[1])))
    assert "Groups of columns, the first 40 of 50: a kernel each" in text
    text = page(build(model, record() | {"groups": groups[:40]}, source(files[1])))
    assert "Groups of columns: a kernel each" in text


@pytest.mark.parametrize("columns", [[1], [{"kind": [1]}], [], [{"kind": "words"}, None], 3])
def test_columns_of_a_hostile_record_are_left_out(columns):
    data = {"n_features": 3, "n_features_out": 5, "columns": columns}
    text = "".join("".join(part.itertext()) for part in preparation_parts({"data": data}))
    assert "became 5 numbers per row" in text
    assert ("one-hot" in text) == (columns == 3 or {"kind": "words"} in columns)
    assert preparation_parts({"data": [data]}) == []
    assert len(preparation_parts({"data": data | {"dropped": [1]}})) == 1


@pytest.mark.parametrize(
    "value", ["x", [1], 10**400, float("inf"), {"a": None}, None], ids=lambda v: str(v)[:9]
)
def test_numbers_of_a_hostile_record_are_dashes(report, model, files, value):
    names = ("C", "gamma", "loss", "difference", "standard_error", "n_rows", "n_support")
    dashes = []
    for first in (1.0, value):
        lines = {name: [first, 3.0] for name in names}
        lines |= {"candidate": ["a", "b"], "outcome": ["behind", [value]]}
        text = page(build(model, record() | {"candidates": lines}, source(files[1])))
        check_page(text)
        dashes.append(text.count("–"))
    assert dashes[1] == dashes[0] + len(names)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("explore", [False, True])
def test_a_model_of_scikit_learn_has_a_page(n_classes, explore):
    """Its counts are arrays, one number a class, and its numbers those of NumPy."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.digitize(X[:, 0], [0.0] if n_classes == 2 else [-0.4, 0.4])
    model = SVC().fit(X, y)
    text = page(build(model, {}, MemorySource(X, y), explore=explore))
    check_page(text, explored=explore)
    assert f"<dt>support vectors</dt><dd>{len(model.support_)}</dd>" in text
