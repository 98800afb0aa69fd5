"""Red bands: one for each reason not to trust a model, none for a sound one; and what tables of rows show."""

import re
from dataclasses import replace

import numpy as np
import pytest
from support.memory_source import MemorySource
from support.page_checks import check_page
from support.report_samples import fitted, record, source, table, written

from maxmargin import KernelSVC, bounds
from maxmargin.metrics import natural_order
from maxmargin.report import build, page
from maxmargin.report.html.bands import bands
from maxmargin.report.html.charts import Axis, Line, line_chart
from maxmargin.report.html.pixels import images_of
from maxmargin.report.html.text import percent_ticks, width


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bands")
    train, test = written(folder, "a.csv", table()), written(folder, "b.csv", table(seed=1))
    return build(fitted(train, validation_fraction=0.2), record(), source(test))


def texts(report):
    return ["".join(band.itertext()) for band in bands(report)]


def test_a_sound_model_has_no_band(report):
    assert texts(report) == []
    assert 'class="alarm"' not in page(report)


@pytest.mark.parametrize("status", ["failed", "diverged"])
def test_a_failed_certificate_is_a_band(report, status):
    bad = replace(report, record=report.record | {"status": status})
    (said,) = texts(bad)
    assert said.startswith("The fit is not certified")
    check_page(page(bad))
    assert 'class="alarm"' in page(bad)


def test_a_gap_of_1_is_a_band_and_a_small_one_at_the_limit_is_not(report):
    stopped = report.record | {"status": "max_iter"}
    for gap, n_bands in ((1.0, 1), (float("nan"), 1), (1e-3, 0)):
        model = replace(report.model, facts=report.model.facts | {"dual_gap_": gap})
        assert len(texts(replace(report, record=stopped, model=model))) == n_bands


def test_bad_probabilities_are_a_band(report):
    calibration = replace(report.evaluation.calibration, expected_calibration_error=0.2)
    bad = replace(report, evaluation=replace(report.evaluation, calibration=calibration))
    assert texts(bad)[0].startswith("Badly calibrated")


def test_rows_left_out_are_a_band(report):
    data = report.record["data"] | {"n_rows": 1000, "n_rows_kept": 200, "share_kept": 0.25}
    (said,) = texts(replace(report, record=report.record | {"data": data}))
    assert "200 rows of 1,000" in said
    assert "--memory" in said


def test_the_error_bound_says_what_it_is(report):
    assert "one-sided binomial interval (Clopper-Pearson)" in page(report)


def test_classes_are_in_the_order_of_their_numbers():
    assert natural_order(["1", "10", "11", "2"]) == [0, 3, 1, 2]
    assert natural_order(["-1", "-10", "0.5"]) == [1, 0, 2]
    names = ["b", "class 10", "class 9", "a"]
    assert [names[k] for k in natural_order(names)] == ["a", "b", "class 9", "class 10"]


def test_ticks_have_the_decimals_that_they_need():
    assert [t.rstrip("\u00a0%") for t in percent_ticks([0.9, 0.925, 0.95])] == ["90.0", "92.5", "95.0"]
    assert [t.rstrip("\u00a0%") for t in percent_ticks([0.9, 0.95, 1.0])] == ["90", "95", "100"]


def test_square_rows_of_pixels_are_images(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.integers(0, 4, (120, 64)).astype(float)
    X[y == 1, :32] += 6
    X[::10] = X[::10, ::-1]  # some mistakes
    model = KernelSVC().fit(X, y)
    text = page(build(model, None, MemorySource(X, y)))
    check_page(text)
    assert text.count('class="pixels"') >= 10
    assert images_of([{f"x{j}": 1.0 for j in range(63)}], 63) is None
    assert images_of([{f"age{j}": 1.0 for j in range(64)}], 64) is None
    assert images_of([{f"x{j}": -1.0 for j in range(64)}], 64) is None
    (one,) = images_of([{f"x{j}": float(j == 9) for j in range(64)}], 64)
    (pixel,) = [part for part in one if part.get("class") == "pixel"]
    assert (pixel.get("x"), pixel.get("y"), pixel.get("width")) == ("4", "4", "4")


def test_many_columns_show_those_that_matter_and_fold_the_others(tmp_path):
    rng = np.random.default_rng(0)
    lines = [",".join([*(f"c{j}" for j in range(12)), "class"])]
    for _ in range(200):
        x = rng.normal(size=12)
        label = "yes" if x[7] + 0.3 * rng.normal() > 0 else "no"
        lines.append(",".join([*(f"{v:.3f}" for v in x), label]))
    path = written(tmp_path, "wide.csv", "\n".join(lines) + "\n")
    report = build(fitted(path), record(), source(path))
    text = page(report)
    check_page(text)
    assert report.columns.columns[0].name == "c7"
    assert "<summary>6 more</summary>" in text


def test_a_linear_kernel_has_weights_and_bounds_have_a_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.arange(90) % 3
    X += np.eye(3)[y]
    model = KernelSVC(kernel="linear").fit(X, y)
    outputs = X @ model.coef_.T + model.intercept_
    assert np.allclose(outputs, model._column_outputs(X), atol=1e-8)
    assert not hasattr(KernelSVC().fit(X, y), "coef_")
    assert not hasattr(KernelSVC(kernel="linear"), "coef_")
    html = bounds.report(model, X, y)._repr_html_()
    assert html.startswith("<table>")
    assert "does not apply" in html


def test_equal_counts_are_in_the_order_of_their_numbers():
    """Classes 1 to 40, all as frequent, recognised and confused alike: 2 comes before 10 in every list."""
    y = np.repeat(np.arange(1, 41), 2)
    X = np.column_stack([np.cos(y), np.sin(y)])
    found = build(KernelSVC().fit(X, y), {}, MemorySource(X, np.roll(y, 2)))
    assert list(found.data.class_counts)[:11] == [str(k) for k in range(1, 12)]
    true = [int(pair[0]) for pair in found.evaluation.most_confused if pair[2] == 2]
    assert len(true) > 5
    assert true == sorted(true)
    shown = page(found)
    table = shown[shown.index(">F1<") :]
    cells = re.findall(r'class="datum">(\d+)<', table[: table.index("</table>")])
    names = [int(name) for name in cells]
    missed = [k for k in names if found.evaluation.per_class[k - 1].recall == 0.0]
    assert len(missed) > 5
    assert missed == sorted(missed)


def test_steps_of_a_training_are_in_the_order_of_the_work(report):
    text = page(
        replace(
            report,
            record=report.record
            | {"seconds": {"preparation": 1.0, "reading": 2.0, "total": 4.0, "validation": 1.0}},
        )
    )
    part = text[text.index("Training time") :]
    places = [part.index(f">{step}<") for step in ("reading", "preparation", "validation", "total")]
    assert places == sorted(places)


def test_wide_labels_of_an_axis_have_room():
    """0.050 % and -1.25 x 10^-5 are not cut off at the left edge."""
    for values, share in (([-0.00025, 0.0005], True), ([-1.25e-5, 2.5e-5], False)):
        drawing = line_chart(
            "c", "t", "d", [Line("a", [0.0, 1.0], values)], Axis("x"), Axis("y", share=share)
        )
        ends = [e for e in drawing.iter("text") if e.get("text-anchor") == "end" and e.get("class") == "tick"]
        assert all(float(e.get("x")) >= 0.9 * width(e.text) for e in ends)


def test_the_name_of_a_limit_stands_where_the_line_does_not():
    for values, anchor in (([1.0, 0.9, 0.2], "start"), ([0.2, 0.9, 1.0], "end")):
        drawing = line_chart(
            "c", "t", "d", [Line("a", [0.0, 0.5, 1.0], values)], Axis("x"), Axis("y"), limit=("all", 0.2)
        )
        (name,) = [e for e in drawing.iter("text") if e.get("class") == "limit-name"]
        assert name.get("text-anchor") == anchor
