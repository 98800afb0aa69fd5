"""The data of the page to explore: numbers of the library, small, inert, and the same again."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from support.memory_source import MemorySource
from support.page_checks import check_page
from support.report_samples import NASTY, fitted, record, source, table, written

from maxmargin import (
    AutoSVC,
    KernelPerceptron,
    KernelSVC,
    LaSVM,
    LinearProgramSVC,
    LinearSVC,
    SparseKernelClassifier,
    TopKSVC,
    io,
)
from maxmargin.evaluation import RowSample, evaluate
from maxmargin.io import open_source
from maxmargin.methods.budget import at_budget, path_predictions
from maxmargin.report import build, page
from maxmargin.table import TablePreparation
from maxmargin.training import train


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explore")
    return written(folder, "train.csv", table()), written(folder, "test.csv", table(seed=1))


@pytest.fixture(scope="module")
def model(files):
    return fitted(files[0], validation_fraction=0.2)


@pytest.fixture(scope="module")
def report(model, files):
    return build(model, record(), source(files[1]), training=source(files[0]), explore=True)


def data_of(text):
    """The document of a page, as a browser reads it."""
    return json.loads(re.search(r'id="explore-data">(.*?)</script>', text).group(1))


def test_a_report_without_it_is_the_same_as_before(model, files, report):
    plain = build(model, record(), source(files[1]), training=source(files[0]))
    assert plain.exploration is None
    assert "script" not in page(plain)
    explored = page(report)
    body = re.sub(r'<section id="explore".*?</section>', "", explored[explored.index("<body>") :])
    for section in ("data", "metrics", "confusion", "columns", "influence", "path"):
        found = [re.search(rf'<section id="{section}".*?</section>', text)[0] for text in (page(plain), body)]
        assert found[0] == found[1]


def test_the_page_is_whole_and_its_data_inert(report):
    seen = check_page(page(report), explored=True)
    assert seen.all("section", id="explore") == [
        {"id": "explore", "aria-label": "Explore", "hidden": "hidden"}
    ]


def test_the_same_inputs_give_the_same_bytes(model, files, report):
    again = build(model, record(), source(files[1]), training=source(files[0]), explore=True)
    assert page(again) == page(report)


def test_models_of_the_path_are_sums_over_the_first_support_vectors(model, files, report):
    block = next(source(files[1]).blocks())
    X, inner, path = model[0].transform(block), model[-1], report.exploration["path"]
    truth = (block.target == "yes").astype(int)
    assert path["budgets"][-1] == inner.n_support_
    for k, budget in enumerate(path["budgets"]):
        f = inner.kernel_(X, inner.support_vectors_[:budget]).astype(float) @ inner._path_coef[budget]
        counts = np.zeros((2, 2), dtype=int)
        np.add.at(counts, (truth, (f[:, 0] > 0).astype(int)), 1)
        assert path["counts"][k] == counts.ravel().tolist()
        assert path["right"][k] == np.trace(counts)
    plain = evaluate(model, source(files[1]))
    assert path["counts"][-1] == plain.confusion.ravel().tolist()
    assert path["bytes"] == sorted(path["bytes"])


def test_a_smaller_model_is_what_the_path_predicts_and_can_be_saved(model, files, tmp_path):
    X, inner = model[0].transform(next(source(files[1]).blocks())), model[-1]
    budget = int(inner.budget_path_["budget"][2])
    small = at_budget(inner, budget)
    assert small.n_support_ == budget < inner.n_support_
    assert np.array_equal(small.predict(X), inner.classes_[path_predictions(inner, X, [budget])[0]])
    io.save(small, tmp_path / "small.mm")
    assert np.array_equal(io.load(tmp_path / "small.mm").predict(X), small.predict(X))


def test_counts_at_each_threshold_are_exact(model, files, report):
    block = next(source(files[1]).blocks())
    p, t = model.predict_proba(block)[:, 1], report.exploration["threshold"]
    positive = block.target == "yes"
    assert (t["n_positive"], t["n_negative"]) == (positive.sum(), (~positive).sum())
    assert t["thresholds"] == sorted(set(p.tolist()))
    for threshold, hits, alarms in zip(t["thresholds"], t["hits"], t["alarms"]):
        assert hits == (positive & (p >= threshold)).sum()
        assert alarms == (~positive & (p >= threshold)).sum()


def test_rows_whose_label_is_no_class_are_mistakes_of_every_model(model, files, tmp_path):
    text = files[1].read_text().replace(",yes", ",maybe", 30)
    path = written(tmp_path, "unknown.csv", text)
    found = build(model, record(), source(path), unknown_labels="wrong", explore=True)
    data = found.exploration
    check_page(page(found), explored=True)
    assert data["rows"]["label"].count(-1) == 30
    assert [m is None for m in data["rows"]["margin"]] == [label < 0 for label in data["rows"]["label"]]
    assert data["path"]["n_rows"] == 240
    assert data["path"]["right"][-1] / 240 == found.evaluation.accuracy
    assert data["path"]["balanced"][-1] == found.evaluation.balanced_accuracy
    t = data["threshold"]
    assert t["n_positive"] + t["n_negative"] == t["n_all"] == 210


def test_counts_of_very_many_rows_are_of_a_sample(model, files, monkeypatch):
    monkeypatch.setattr("maxmargin.evaluation.probabilities.MAX_SCORES", 100)
    t = build(model, record(), source(files[1]), explore=True).exploration["threshold"]
    assert 20 < t["n_positive"] + t["n_negative"] <= 100 < t["n_all"] == 240
    assert t["hits"][0] == t["n_positive"]
    assert t["alarms"][0] == t["n_negative"]


def test_reasons_are_those_of_the_kernel_sum(model, files, report):
    block = next(source(files[1]).blocks())
    X, inner, why = model[0].transform(block), model[-1], report.exploration["reasons"]
    rows = report.exploration["rows"]
    assert rows["number"] == list(range(1, 241))
    f = model.decision_function(block)
    assert np.allclose(rows["margin"], np.where(block.target == "yes", f, -f), rtol=1e-5, atol=1e-6)
    sign = np.where(f > 0, 1.0, -1.0)
    assert np.allclose(np.add(why["total"], why["offset"]), sign * f, rtol=1e-4, atol=1e-5)
    K = inner.kernel_(X, inner.support_vectors_).astype(float)
    for i in (0, 57, 239):
        parts = sign[i] * K[i] * inner.dual_coef_[0]
        strongest = np.sort(np.abs(parts))[::-1][:5]
        assert np.allclose(np.abs(why["by"][i]), strongest, rtol=1e-3)
        assert np.allclose(why["distance"][i], np.sqrt(2 - 2 * np.sort(K[i])[::-1][:4]), atol=1e-2)


@pytest.mark.usefixtures("patient_clock")
def test_support_vectors_of_a_scaled_model_are_the_rows_of_the_training_file(tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(np.exp(rng.normal(size=(150, 2)) * [1.5, 0.2]), 3)  # of heavy tails
    lines = [f"{a},{b},{'far' if a > 1.2 or b > 1.3 else 'near'}" for a, b in X]
    path = written(tmp_path, "scaled.csv", "\n".join(["a,b,class", *lines]))
    trained = train(open_source(path, target="class"), parameters={"max_seconds": 20.0})
    assert isinstance(trained.model[-1], AutoSVC)
    found = build(trained.model, trained.record, source(path), explore=True).exploration
    why = found["reasons"]
    if why["kind"] == "columns":
        pytest.skip("a linear model was chosen")
    for c in range(2):
        values = np.array(found["values"][c]["support"], dtype=float)
        assert np.allclose(values, X[np.array(why["support"]["row"][: why["n_valued"]]) - 1, c], rtol=1e-3)


def test_the_map_has_the_two_leading_directions(report, model, files):
    X = model[0].transform(next(source(files[1]).blocks())).astype(float)
    K = model[-1].kernel_(X, X)
    values, vectors = np.linalg.eigh(K)
    for k, axis in enumerate(report.exploration["reasons"]["map"]["rows"]):
        own = vectors[:, -1 - k] * np.sqrt(values[-1 - k])
        assert min(np.abs(own - axis).max(), np.abs(own + axis).max()) < 2e-2


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(),
        TopKSVC(kernel="rbf"),
        TopKSVC(),
        LinearProgramSVC(kernel="rbf"),
        LaSVM(random_state=0),
        SparseKernelClassifier(10, move_centers=True, random_state=0),
        SparseKernelClassifier.as_published(10, random_state=0),
        KernelSVC(code="one-vs-rest"),
        KernelSVC(code="one-vs-one"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_pulled_a_row_adds_up_to_its_scores(model, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1] ** 2, [0.2] if n_classes == 2 else [-0.3, 0.6])
    data = build(model.fit(X, y), {}, MemorySource(X, y), explore=True).exploration
    why, rows = data["reasons"], data["rows"]
    assert why["kind"] == ("support vectors" if hasattr(model, "support_vectors_") else "columns")
    F, at = model.decision_function(X), np.arange(80)
    predicted, rivals = np.array(rows["predicted"]), np.array(rows["rival"])
    if n_classes == 2:
        F = np.column_stack([np.zeros(80), F])
    if getattr(model, "code", None) == "one-vs-one" and n_classes == 3:  # the one column of the two classes
        sides = model.code_.matrix
        column = np.argmax(sides[predicted] * sides[rivals] < 0, axis=1)
        expected = model.column_outputs(X)[at, column] * sides[predicted, column]
    else:
        expected = F[at, predicted] - F[at, rivals]
    assert np.allclose(np.add(why["total"], why["offset"]), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", [LinearSVC, KernelSVC, TopKSVC])
def test_what_a_model_lacks_is_left_out_with_a_sentence(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    y = np.argmax(X, axis=1)
    found = build(kind().fit(X, y), {}, MemorySource(X, y), explore=True)
    check_page(page(found), explored=True)
    data = found.exploration
    assert {"path", "threshold", "drift", "probability", "columns"} <= set(data["left_out"])
    assert data["path"] is None
    assert data["threshold"] is None
    assert data["reasons"]["kind"] == ("support vectors" if kind is KernelSVC else "columns")
    scores = kind().fit(X, y).decision_function(X)
    rows, ranked = np.arange(90), np.sort(scores, axis=1)
    right = y == np.argmax(scores, axis=1)
    assert np.allclose(
        np.array(data["rows"]["margin"])[right], (ranked[:, -1] - ranked[:, -2])[right], rtol=1e-4
    )
    sums = np.add(data["reasons"]["total"], data["reasons"]["offset"])
    other = np.array(data["rows"]["rival"])
    if kind is not KernelSVC:  # one-vs-rest, so votes are scores
        assert np.allclose(sums, scores.max(axis=1) - scores[rows, other], rtol=1e-4, atol=1e-5)


def test_a_page_is_bounded_for_many_rows_columns_and_classes():
    rng = np.random.default_rng(0)
    y = np.repeat([f"class {k} {'long ' * 60}" for k in range(60)], 50)
    X = rng.normal(size=(3_000, 120))
    model = KernelPerceptron(max_iter=1, gamma=0.1, random_state=0).fit(X[::5], y[::5])
    found = build(model, None, MemorySource(X, y), explore=True)
    data, text = found.exploration, page(found)
    assert len(data["rows"]["number"]) == len(set(data["rows"]["number"])) <= 2_000
    assert data["rows"]["n_random"] == 1_000
    assert len(data["values"]) == 40 < data["n_columns"] == 120
    assert len(text) < 2_500_000
    wrong = np.array(data["rows"]["label"]) != data["rows"]["predicted"]
    assert wrong[1_000:].all()


def test_a_sample_does_not_depend_on_the_blocks():
    X, y = np.arange(900.0).reshape(-1, 1), np.zeros(900)
    found = []
    for size in (900, 64, 7):
        sample = RowSample(50)
        for block in MemorySource(X, y).blocks(size):
            sample.add(block, block.first_row + np.arange(block.n_rows), block.features[:, 0])
        block, (beside,) = sample.result()
        assert np.array_equal(block.features[:, 0], beside)
        found.append(beside.tolist())
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 50


def test_text_of_a_table_is_data_and_nothing_else(tmp_path):
    evil = "</script><script>alert(1)</script>"
    words = [evil, "\u2028", "__proto__", "\u202egnp.exe", "שלום", "x" * 5_000]
    classes = [word.replace("\x00", "\x01") for word in NASTY[:6]]
    text = table(160, classes=classes, words=words)
    text = text.replace("weight in kg", "</script><img src=x onerror=alert(1)>")
    path = written(tmp_path, "<img src=x>.csv", text)
    shown = page(build(fitted(path, 16), record(command="</script>"), source(path), explore=True))
    check_page(shown, explored=True)
    data = data_of(shown)
    assert data["values"][1]["name"] == "</script><img src=x onerror=alert(1)>"
    found = {word for column in data["values"] for word in column.get("words", ())}
    assert {evil, "__proto__", "\\u2028", "\\u202egnp.exe", "שלום"} <= found
    assert max(map(len, found)) == 200


def of_columns(folder, train_columns, test_columns, n_rows=120):
    """The values on the page of a kernel machine with such columns beside one that decides, by name."""
    x = np.round(np.random.default_rng(0).normal(size=n_rows), 3)
    paths = []
    for name, columns in (("train.csv", train_columns), ("test.csv", test_columns)):
        rows = zip(x, *columns.values(), np.where(x > 0, "up", "down"))
        lines = [",".join(map(str, row)) for row in rows]
        paths.append(written(folder, name, "\n".join([",".join(["x", *columns, "class"]), *lines])))
    data = build(fitted(paths[0]), record(), source(paths[1]), explore=True).exploration
    return {column["name"]: column for column in data["values"]}, paths


def words_of(column, part):
    return [None if code is None else column["words"][code] for code in column[part]]


def test_a_constant_column_shows_its_constant_and_one_that_the_model_does_not_know_nothing(tmp_path):
    train_columns = {"xconst": [5] * 120, "xempty": [""] * 120, "xword": ["a"] * 120}
    found, _ = of_columns(tmp_path, train_columns, train_columns | {"xconst": [7] * 120})
    assert set(found["xconst"]["values"]) == {7}
    assert set(found["xconst"]["support"]) == {5}
    assert found["xword"]["support"] is None
    assert found.get("xempty", {"support": None})["support"] is None


def test_sparse_rows_have_zeros_and_no_other_default(tmp_path):
    X = sp.random_array((80, 6), density=0.3, rng=np.random.default_rng(0), format="csr")
    y = np.where(X.toarray()[:, 0] > 0, "a", "b")
    model = Pipeline([("table", TablePreparation()), ("model", KernelSVC())]).fit(X, y)
    data = build(model, {}, MemorySource(X, y), explore=True).exploration
    support = np.array([column["support"] for column in data["values"]], dtype=float).T
    own = model[-1].support_vectors_.toarray() * model[0].scale_
    found = {tuple(np.round(row, 4)) for row in support}
    assert found <= {tuple(np.round(row, 4)) for row in own}


def test_dates_of_rows_and_support_vectors_have_one_form(tmp_path):
    days = [f"{1 + k % 28:02d}/{1 + k % 12:02d}/2011" for k in range(120)]
    times = [f"2011-{1 + k % 12:02d}-{1 + k % 28:02d} {k % 24:02d}:30" for k in range(120)]
    found, _ = of_columns(tmp_path, {"day": days, "time": times}, {"day": days, "time": times})
    forms = {"day": r"2011-\d\d-\d\d", "time": r"2011-\d\d-\d\d \d\d:30"}
    for name in ("day", "time"):
        shown = words_of(found[name], "values")
        assert all(re.fullmatch(forms[name], word) for word in shown)
        assert set(words_of(found[name], "support")) <= set(shown)
    assert words_of(found["day"], "values") == ["-".join(reversed(day.split("/"))) for day in days]
    assert words_of(found["time"], "values") == times


def test_every_word_of_rows_and_support_vectors_is_shown(tmp_path):
    old = [f"old{k % 40}" for k in range(700)]
    new = [f"note {k} of {k * 7919 % 1000} things" for k in range(700)]
    texts = [f"{word} text about {k} and more" for k, word in enumerate(old)]
    train_columns = {"kind": old, "note": texts}
    found, _ = of_columns(tmp_path, train_columns, {"kind": new, "note": new}, 700)
    assert words_of(found["kind"], "values") == words_of(found["note"], "values") == new
    assert all(word.startswith("old") for word in words_of(found["kind"], "support"))
    assert "text" in " ".join(words_of(found["note"], "support"))


@pytest.mark.parametrize(("n_columns", "n_kept"), [(10, 10), (60, None)])
def test_long_texts_keep_the_page_below_its_size(model, files, n_columns, n_kept):
    """400 Japanese characters in each of 2,000 rows are shortened; of too many columns some are left out."""
    report = build(model, record(), source(files[1]), explore=True)
    words = [f"{k:04d}" + "文章は長い" * 80 for k in range(2_000)]
    text = {"kind": "words", "words": words, "values": list(range(240)), "support": []}
    values = [*report.exploration["values"], *({"name": f"note {k}", **text} for k in range(n_columns))]
    document = {**report.exploration, "values": values, "n_columns": len(values)}
    html = page(replace(report, exploration=document))
    check_page(html, explored=True)
    assert len(html.encode()) <= 5_000_000
    shown = data_of(html)["values"]
    names = [column["name"] for column in shown]
    assert {"size", "weight in kg", "colour"} <= set(names)  # they matter more
    assert names == [column["name"] for column in values][: len(names)]
    assert (len(names) == 3 + n_kept) if n_kept else (13 <= len(names) < len(values))
    notes = [column for column in shown if column["name"].startswith("note")]
    assert all(len(set(note["words"])) == 2_000 and note["words"][7].startswith("0007") for note in notes)
