"""The page to explore in a real browser: every control changes what it says, by the library's numbers."""

import numpy as np
import pytest
from support.browser import REASON, browser, opened
from support.memory_source import MemorySource
from support.report_samples import NASTY, fitted, record, source, table, written

from maxmargin import LinearSVC
from maxmargin.metrics import Costs, Decision, best_threshold
from maxmargin.report import build, page

pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON)

COST = {"false-positive": 1.0, "false-negative": 3.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("explore")


@pytest.fixture(scope="module")
def files(folder):
    old = table()
    moved = table(seed=1, words=("red", "green", "violet"))
    return written(folder, "train.csv", old), written(folder, "test.csv", moved)


@pytest.fixture(scope="module")
def model(files):
    return fitted(files[0], validation_fraction=0.2)


@pytest.fixture(scope="module")
def report(model, files):
    costs = Costs.of(COST, model.classes_)
    return build(model, record(), source(files[1]), training=source(files[0]), costs=costs, explore=True)


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def html(folder, report):
    return written(folder, "report.html", page(report))


@pytest.fixture(scope="module")
def shared(chromium, html):
    with opened(chromium, html, viewport={"width": 1100, "height": 900}) as (view, said):
        yield view, said


@pytest.fixture
def view(shared):
    """The page; whatever a test did there, it has neither complained nor asked for anything."""
    view, said = shared
    yield view
    assert said == []


@pytest.fixture(scope="module")
def rows(model, files):
    """Truth, probability and score of the rows of the file."""
    block = next(source(files[1]).blocks())
    X = model[0].transform_noting(block)[0]  # some words are new
    return block.target == "yes", model[-1].predict_proba(X)[:, 1], model[-1].decision_function(X)


def move(view, slider, place):
    view.locator(slider).evaluate(
        "(s, k) => { s.value = k; s.dispatchEvent(new Event('input')); }", int(place)
    )


def fact(view, panel, name):
    return float(view.locator(f"{panel} dd[data-name={name}]").get_attribute("data-value"))


def counts(view, panel):
    cells = view.locator(f"{panel} rect.cell")
    return [int(n) for n in cells.evaluate_all("cells => cells.map(c => c.dataset.count)")]


def numbers(view):
    """The places in the data of the rows that the table shows."""
    return view.locator("#explore-rows tbody tr").evaluate_all("rows => rows.map(r => Number(r.dataset.row))")


def test_the_budget_slider_shows_the_models_of_the_path(view, report):
    path = report.exploration["path"]
    last = len(path["budgets"]) - 1
    for k in (0, 3, last):
        move(view, "#explore-budget", k)
        assert fact(view, "#explore-path", "budget") == path["budgets"][k]
        assert fact(view, "#explore-path", "accuracy") == pytest.approx(path["right"][k] / 240)
        assert fact(view, "#explore-path", "size") == path["bytes"][k]
        assert fact(view, "#explore-path", "work") == path["work"][k]
        assert counts(view, "#explore-path") == path["counts"][k]
        dot = view.locator("#explore-path .chosen-dot")
        assert float(dot.get_attribute("data-x")) == path["budgets"][k]
    view.locator("#explore-budget").press("ArrowLeft")
    assert fact(view, "#explore-path", "budget") == path["budgets"][last - 1]
    assert view.locator("#explore-budget").get_attribute("aria-valuetext").endswith("support vectors")


def test_the_threshold_slider_counts_as_the_library_decides(view, model, report, rows):
    truth, p, _ = rows
    t, costs = report.exploration["threshold"], Costs.of(COST, model.classes_)
    P = np.column_stack([1 - p, p])
    for k in (0, 60, 200):
        threshold = t["thresholds"][k]
        move(view, "#explore-threshold", k)
        called = Decision(costs, "probability", threshold).predicted(P, P)
        matrix = [[int((truth == a)[called == b].sum()) for b in (0, 1)] for a in (0, 1)]
        assert counts(view, "#explore-thresholds") == [*matrix[0], *matrix[1]]
        assert fact(view, "#explore-thresholds", "threshold") == threshold
        assert fact(view, "#explore-thresholds", "recall") == pytest.approx(matrix[1][1] / truth.sum())
        assert fact(view, "#explore-thresholds", "precision") == pytest.approx(
            matrix[1][1] / (matrix[0][1] + matrix[1][1])
        )
        mean = costs.of_rows(truth.astype(int), called).mean()
        assert fact(view, "#explore-thresholds", "cost") == pytest.approx(1000 * mean)
        dots = view.locator("#explore-thresholds .chosen-dot").evaluate_all(
            "dots => dots.map(d => [Number(d.dataset.x), Number(d.dataset.y)])"
        )
        rate, recall = matrix[0][1] / (~truth).sum(), matrix[1][1] / truth.sum()
        assert dots[0] == pytest.approx([rate, recall])
        assert dots[1][0] == pytest.approx(recall)
    move(view, "#explore-threshold", len(t["thresholds"]))  # above all rows
    assert counts(view, "#explore-thresholds") == [int((~truth).sum()), 0, int(truth.sum()), 0]


def test_costs_and_buttons_move_the_threshold(view, report, rows):
    truth, p, _ = rows
    for false_positive, false_negative in ((1, 3), (5, 1)):
        view.fill("#explore-cost-alarm", str(false_positive))
        view.fill("#explore-cost-miss", str(false_negative))
        view.click("#explore-lowest")
        costs = Costs.of({"false-positive": false_positive, "false-negative": false_negative}, ["no", "yes"])
        best = best_threshold(p, truth, costs)
        lowest = costs.of_rows(truth.astype(int), (p >= best).astype(int)).mean()
        assert fact(view, "#explore-thresholds", "cost") == pytest.approx(1000 * lowest)
    view.click("#explore-middle")
    assert fact(view, "#explore-thresholds", "threshold") == p[p >= 0.5].min()
    view.focus("#explore-stored")
    view.keyboard.press("Enter")
    assert fact(view, "#explore-thresholds", "threshold") == p[p >= report.evaluation.costs.threshold].min()


def test_rows_are_filtered(view, rows):
    truth, p, f = rows
    predicted, sure = f > 0, np.where(f > 0, p, 1 - p)
    margin = np.where(truth, f, -f)
    view.click("#explore-reset")

    def left():
        return int(view.locator("#explore-count").get_attribute("data-value"))

    assert left() == 240
    view.select_option("#explore-true", label="yes")
    assert left() == truth.sum()
    view.select_option("#explore-predicted", label="no")
    assert left() == (truth & ~predicted).sum()
    drawn = view.locator("#explore-map .dot[visibility=visible]").count()
    assert drawn == left()
    view.select_option("#explore-outcome", "right")
    assert left() == 0
    assert view.locator("#explore-rows tbody tr").count() == 0
    view.click("#explore-reset")
    view.select_option("#explore-outcome", "wrong")
    assert left() == (truth != predicted).sum()
    view.click("#explore-reset")
    view.fill("#explore-margin-low", "0.2")
    view.fill("#explore-margin-high", "0.9")
    assert left() == ((margin >= 0.2) & (margin <= 0.9)).sum()
    view.fill("#explore-probability-low", "0.7")
    view.fill("#explore-probability-high", "0.95")
    assert left() == ((margin >= 0.2) & (margin <= 0.9) & (sure >= 0.7) & (sure <= 0.95)).sum()
    view.click("#explore-reset")
    assert left() == 240


def test_rows_are_sorted_by_any_column_and_paged(view, report):
    data = report.exploration
    view.click("#explore-reset")
    for place, values in (
        (0, data["rows"]["number"]),
        (3, data["rows"]["margin"]),
        (5, data["values"][0]["values"]),
    ):
        for step in (1, -1):
            view.locator(f"#explore-rows button[data-column='{place}']").click()
            shown = [values[i] for i in numbers(view)]
            assert shown == sorted(values)[::step][: len(shown)]
    assert view.locator("#explore-rows th[aria-sort=descending]").count() == 1
    words, codes = data["values"][2]["words"], data["values"][2]["values"]
    view.locator("#explore-rows button[data-column='7']").click()
    shown = [codes[i] for i in numbers(view)]
    assert shown == [words.index(min(words[c] for c in codes if c is not None))] * len(shown)
    first = numbers(view)
    view.locator("#explore-samples button[data-step=on]").click()
    assert not set(first) & set(numbers(view))
    view.locator("#explore-samples button[data-step=back]").click()
    assert numbers(view) == first


def test_a_row_shows_its_columns_its_neighbours_and_what_pulled_it(view, report):
    data = report.exploration
    why = data["reasons"]
    view.click("#explore-reset")
    view.locator("#explore-rows button[data-column='0']").click()
    view.locator("#explore-rows tbody tr").nth(2).focus()
    view.keyboard.press("ArrowDown")
    view.keyboard.press("Enter")
    i = numbers(view)[3]
    detail = view.locator("#explore-row")
    assert detail.get_attribute("data-row") == str(i)
    assert view.locator("#explore-rows tr[aria-selected=true]").get_attribute("data-row") == str(i)
    near = detail.locator("th[data-near]").evaluate_all("heads => heads.map(h => Number(h.dataset.near))")
    assert near == why["near"][i]
    pulls = detail.locator("tr[data-pull]").evaluate_all("rows => rows.map(r => Number(r.dataset.pull))")
    assert pulls == why["pull"][i]
    total = float(detail.locator("[data-sum]").get_attribute("data-sum"))
    assert total == pytest.approx(abs(data["rows"]["margin"][i]), rel=1e-4)
    text = detail.inner_text()
    assert f"Row {data['rows']['number'][i]}" in text
    for column in data["values"]:
        assert column["name"] in text
    other = next(k for k in range(240) if k != i)
    view.locator("#explore-rows tbody tr").nth(0).click()
    assert detail.get_attribute("data-row") == str(numbers(view)[0]) != str(other + 1_000)


def test_the_map_chooses_rows(view, report):
    view.click("#explore-reset")
    dots = view.locator("#explore-map .dot")
    assert dots.count() == 240
    sizes = report.exploration["reasons"]["support"]["size"]
    assert view.locator("#explore-map .support").count() == len(sizes)
    dots.nth(17).dispatch_event("click")
    assert view.locator("#explore-row").get_attribute("data-row") == "17"
    ring, dot = view.locator("#explore-map .ring"), dots.nth(17)
    assert [ring.get_attribute(a) for a in ("cx", "cy")] == [dot.get_attribute(a) for a in ("cx", "cy")]
    assert ring.get_attribute("visibility") == "visible"


def test_columns_show_importance_effect_and_drift(view, report):
    names = view.locator("#explore-columns tbody th").all_inner_texts()
    assert names == [c.name for c in report.columns.columns]
    drifted = {c.name: c.statistic for c in report.drift.columns}
    assert "colour" in drifted
    effects = {e.name: e for e in report.columns.effects}
    for k, column in enumerate(report.columns.columns):
        view.locator("#explore-columns tbody tr").nth(k).focus()
        view.keyboard.press(" ")
        detail = view.locator("#explore-column")
        assert detail.get_attribute("data-column") == str(k)
        assert float(detail.locator("[data-drop]").get_attribute("data-drop")) == column.drop
        moved = detail.locator("[data-drift]")
        assert moved.count() == (column.name in drifted)
        if column.name in drifted:
            assert float(moved.get_attribute("data-drift")) == drifted[column.name]
        effect = effects[column.name]
        if effect.kind == "number":
            drawn = detail.locator("polyline").first.get_attribute("points").split()
            assert len(drawn) == len(effect.x)
            shares = [text for text in detail.locator("text.tick").all_text_contents() if "%" in text]
            assert len({len(text.partition(".")[2]) for text in shares}) == 1  # as many decimals each
        else:
            assert detail.locator("tbody th").all_inner_texts() == effect.categories


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(chromium, html, scheme):
    size = {"width": 390, "height": 800}
    with opened(chromium, html, viewport=size, color_scheme=scheme) as (view, said):
        view.locator("#explore-rows tbody tr").first.click()
        assert view.evaluate("document.documentElement.scrollWidth") == 390
        view.emulate_media(media="print")
        assert not view.locator("#explore-lowest").is_visible()
        assert view.locator("#explore-thresholds dl").is_visible()
        assert said == []


def test_without_scripts_it_is_the_plain_report(chromium, html, folder, model, files):
    costs = Costs.of(COST, model.classes_)
    plain = build(model, record(), source(files[1]), training=source(files[0]), costs=costs)
    path = written(folder, "plain.html", page(plain))
    shown = []
    for file in (html, path):
        with opened(chromium, file, java_script_enabled=False) as (view, said):
            assert not view.locator("#explore").is_visible()
            shown.append([view.locator(part).inner_text() for part in ("header", "nav", "#data", "#columns")])
            assert said == []
    assert shown[0] == shown[1]


def test_what_a_model_lacks_is_said(chromium, folder):
    X = np.random.default_rng(1).normal(size=(90, 3))
    y = np.argmax(X, axis=1)
    found = build(LinearSVC().fit(X, y), {}, MemorySource(X, y), explore=True)
    with opened(chromium, written(folder, "linear.html", page(found))) as (view, said):
        told = view.locator("[data-left-out]").evaluate_all("parts => parts.map(p => p.dataset.leftOut)")
        assert told == ["path", "threshold", "columns"]
        assert view.locator("#explore-budget, #explore-threshold, #explore-probability-low").count() == 0
        view.locator("#explore-rows tbody tr").first.press("Enter")
        assert view.locator("tr[data-pull]").count() == 3
        assert said == []


def test_images_of_many_rows_are_drawn(chromium, folder):
    """More values than a call in a browser can have arguments: 2,000 rows of 100 pixels."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 17, size=(2_500, 100)).astype(float)
    y = (X[:, 0] > 8).astype(int)
    found = build(LinearSVC(max_iter=20, tol=0.5).fit(X[:200], y[:200]), {}, MemorySource(X, y), explore=True)
    assert found.exploration["rows"]["n_rows"] == 2_500
    with opened(chromium, written(folder, "pixels.html", page(found))) as (view, said):
        view.locator("#explore-rows tbody tr").first.click()
        i = numbers(view)[0]
        values = [column["values"][i] for column in found.exploration["values"]]
        drawn = view.locator("#explore-values svg.pixels rect.pixel")
        assert drawn.count() == np.count_nonzero(values)
        opacity = float(drawn.first.get_attribute("fill-opacity"))
        assert opacity == pytest.approx(next(v for v in values if v) / 16, abs=0.006)
        assert said == []


def test_classes_are_sorted_by_their_order_and_not_as_text(chromium, folder):
    y = np.repeat(np.arange(1, 12), 4)
    X = np.column_stack([np.cos(y), np.sin(y)])
    found = build(LinearSVC().fit(X, y), {}, MemorySource(X, y), explore=True)
    with opened(chromium, written(folder, "classes.html", page(found))) as (view, said):
        for column in (1, 2):
            view.locator(f"#explore-rows button[data-column='{column}']").click()
            cells = view.locator(f"#explore-rows tbody tr > :nth-child({column + 1})").all_inner_texts()
            assert [int(cell) for cell in cells] == sorted(int(cell) for cell in cells)
        view.locator("#explore-rows button[data-column='1']").click()
        cells = view.locator("#explore-rows tbody tr > :nth-child(2)").all_inner_texts()
        assert [int(cell) for cell in cells] == [1] * 4 + [2] * 4 + [3] * 4 + [4] * 3
        assert said == []


def test_hostile_text_neither_runs_nor_breaks_anything(chromium, folder):
    evil = ["</script><script>document.title='run'</script>", "<img src=x onerror=\"document.title='run'\">"]
    classes = [evil[0], "&quot;><svg onload=alert(1)>", *NASTY[9:11], "שלום"]
    words = [*evil, "\u2028", "__proto__", "constructor", "\u202egnp.exe", "w" * 5_000]
    text = table(160, classes=classes, words=words).replace("weight in kg", evil[1].replace('"', '""'))
    text = text.replace("colour", "__proto__")
    path = written(folder, "<img src=x onerror=alert(1)>.csv", text)
    hostile = build(fitted(path, 16), record(command="</script>"), source(path), explore=True)
    with opened(chromium, written(folder, "hostile.html", page(hostile))) as (view, said):
        title = view.title()
        for line in (0, 5, 9):
            view.locator("#explore-rows tbody tr").nth(line).click()
        for line in range(3):
            view.locator("#explore-columns tbody tr").nth(line).click()
        for column in range(8):
            view.locator(f"#explore-rows button[data-column='{column}']").click()
        move(view, "#explore-budget", 2)
        assert view.title() == title != "run"
        assert view.locator("img, iframe, object, a[href^=java]").count() == 0
        assert view.locator("script").count() == 2
        assert evil[0][:20] in view.locator("#explore").inner_text()
        assert view.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert said == []
