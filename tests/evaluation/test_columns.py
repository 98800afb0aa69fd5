"""Importance and effects of columns, on tables built to have a known answer."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from support.command_line import running
from support.page_checks import check_page
from support.report_samples import NASTY

from maxmargin import LinearSVC, io
from maxmargin.evaluation import column_importance
from maxmargin.evaluation.columns import with_shuffled
from maxmargin.evaluation.effects import effect_of
from maxmargin.table import TablePreparation
from maxmargin.training import train


def table(path, n, seed, names=("decides", "noise", "twin", "other", "word", "class")):
    """ "decides" makes the class but for 5 % of the rows, "noise" nothing; "other" is nearly its "twin"."""
    rng = np.random.default_rng(seed)
    decides, noise, twin = rng.normal(size=(3, n))
    other = twin + 0.05 * rng.normal(size=n)
    word = rng.choice(["a", "b", "c"], n)
    yes = (decides + 0.4 * twin > 0) ^ (rng.random(n) < 0.05)
    rows = zip(decides, noise, twin, other, word, np.where(yes, "yes", "no"))
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    lines = [f"{a:.4f},{b:.4f},{c:.4f},{d:.4f},{w},{k}" for a, b, c, d, w, k in rows]
    path.write_text("\n".join([quoted, *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    model = train(
        io.open_source(table(folder / "a.csv", 600, 0), target="class"),
        model="sparse-kernel",
        parameters={"budget": 20},
    )
    return column_importance(model.model, io.open_source(table(folder / "b.csv", 800, 1), target="class"))


def test_the_column_that_decides_is_first_and_noise_is_nothing(found):
    by_name = {c.name: c for c in found.columns}
    assert found.columns[0].name == "decides"
    assert by_name["decides"].drop_interval[0] > 0.2
    assert by_name["decides"].own == max(c.own for c in found.columns)
    assert sum(c.own for c in found.columns) == pytest.approx(1.0)
    for name in ("noise", "word"):  # a categorical column is one column
        assert abs(by_name[name].drop) < 0.02
        assert by_name[name].drop_interval[0] < 0.005
    assert set(by_name) == {"decides", "noise", "twin", "other", "word"}


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, np.asarray])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_shuffled_columns_are_those_of_the_dense_matrix(kind, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 8)) < 0.3, rng.normal(size=(30, 8)), 0.0).astype(dtype)
    which, order = np.array([1, 4, 5]), rng.permutation(30)
    expected = X.copy()
    expected[:, which] = X[order][:, which]
    found = with_shuffled(kind(X), which, order)
    assert found.dtype == X.dtype
    if kind is not np.asarray:
        assert found.format == "csr"
        assert found.has_sorted_indices
        assert found.nnz == np.count_nonzero(expected)
        found = found.toarray()
    assert np.array_equal(found, expected)


def test_columns_of_text_are_shuffled_without_another_format(tmp_path, monkeypatch):
    """Through LIL that took most of the time of a report."""
    rng = np.random.default_rng(0)
    late = rng.random(300) < 0.5
    lines = [
        f"came {'late' if k else 'soon'} again w{i % 150} v{i % 149} u{i % 148} t{i % 147},"
        + ("bad" if k else "good")
        for i, k in enumerate(late)
    ]
    (tmp_path / "a.csv").write_text("\n".join(["note,class", *lines]))
    source = io.open_source(tmp_path / "a.csv", target="class")
    model = train(source, model="linear", validate=0.0).model
    assert sp.issparse(model[0].transform(next(source.blocks())))
    monkeypatch.setattr(sp.csr_array, "tolil", None)
    monkeypatch.setattr(sp.csc_array, "tolil", None)
    assert column_importance(model, source).columns[0].drop > 0.2


def test_columns_that_stand_in_for_one_another_are_named(found):
    by_name = {c.name: c for c in found.columns}
    assert by_name["twin"].correlated == ["other"]
    assert by_name["other"].correlated == ["twin"]
    assert by_name["decides"].correlated == []
    together = by_name["twin"].drop_together
    assert together > 0.04
    assert together > 1.5 * max(by_name["twin"].drop, by_name["other"].drop)


def test_the_effect_of_the_deciding_column_rises_through_zero(found):
    effect = next(e for e in found.effects if e.name == "decides")
    (line,) = effect.lines.values()
    assert line[-1] - line[0] > 0.7
    at_zero = np.interp(0.0, effect.x, line)
    assert abs(at_zero) < 0.15
    noise = next((e for e in found.effects if e.name == "noise"), None)
    assert noise is None or np.ptp(next(iter(noise.lines.values()))) < 0.15


def test_accumulated_effects_of_a_linear_model_are_its_line():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) @ np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 5.0]]) + 7.0
    y = X @ [1.0, -1.0, 0.1] > 0.7
    preparation = TablePreparation(dtype="float64").fit(X)
    Z = preparation.transform(X)
    model = LinearSVC().fit(Z, y)
    for j in range(3):
        effect = effect_of(model, Z, np.array([j]), preparation.plans_[j], f"x{j}")
        slope = model.coef_[0, j] / preparation.plans_[j].scale
        (line,) = effect.lines.values()
        differences = np.diff(line) / np.diff(effect.x)
        assert np.allclose(differences, slope, rtol=1e-6)


def test_categories_have_the_mean_answer_of_rows_set_to_them():
    rng = np.random.default_rng(0)
    words = rng.choice(["red", "blue"], 300, p=[0.7, 0.3])
    size = rng.normal(size=300)
    y = size + 2.0 * (words == "red") > 1.0
    preparation = TablePreparation(dtype="float64").fit({"size": size, "colour": words})
    X = preparation.transform({"size": size, "colour": words})
    model = LinearSVC().fit(X, y)
    which = np.flatnonzero(preparation.sources_ == 1)
    effect = effect_of(model, X, which, preparation.plans_[1], "colour")
    assert effect.categories == ["red", "blue"]
    (line,) = effect.lines.values()
    coef = dict(zip(preparation.plans_[1].categories, model.coef_[0, which]))
    assert line[0] - line[1] == pytest.approx(coef["red"] - coef["blue"])


def test_a_pipeline_without_a_table_has_no_columns():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = Pipeline([("model", LinearSVC().fit(X, X[:, 0] > 0))])
    assert column_importance(model, None) is None


def test_the_command_and_the_page_show_them_with_hostile_names(tmp_path, capsys):
    run = running(capsys)
    names = (NASTY[0], NASTY[5], NASTY[6], NASTY[4], NASTY[8], "class")
    names = tuple(name.replace("\0", "") for name in names)
    data = table(tmp_path / "a.csv", 400, 0, names)
    made = run(
        "train",
        data,
        "--target",
        "class",
        "--model",
        "sparse-kernel",
        "--budget",
        10,
        "--out",
        tmp_path / "a.mm",
    )
    assert made.code == 0, made.err
    new = table(tmp_path / "b.csv", 300, 1, names)
    document = run("evaluate", tmp_path / "a.mm", new, "--columns", "--json").json
    assert document["columns"]["columns"][0]["name"] == names[0]
    assert "accuracy lost" in run("evaluate", tmp_path / "a.mm", new, "--columns").out
    assert run("report", tmp_path / "a.mm", new, "--out", tmp_path / "a.html").code == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    check_page(page)
    assert 'id="columns"' in page
