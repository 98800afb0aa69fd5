"""What pictures show: labels, lines, their data, legends; never pixels."""

import builtins
import subprocess
import sys

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from maxmargin import (
    KernelPegasos,
    KernelSVC,
    LeastSquaresClassifier,
    LinearSVC,
    PathCV,
    SparseKernelClassifier,
)
from maxmargin.codes import Code
from maxmargin.displays import (
    BudgetPathDisplay,
    CodeDisplay,
    CVPathDisplay,
    GapDisplay,
    MarginDisplay,
)
from maxmargin.displays.code_matrix import column_errors
from maxmargin.solving.result import Check

X_MOONS, Y_MOONS = make_moons(60, noise=0.25, random_state=0)
X_IRIS, Y_IRIS = load_iris(return_X_y=True)
SCORES = {  # best at C = 1; C = 0.1 is within a standard error of it, C = 0.01 is not
    0.01: (0.60, 0.50, 0.55),
    0.1: (0.90, 0.80, 0.83),
    1.0: (0.95, 0.80, 0.86),
    10.0: (0.70, 0.70, 0.70),
}


@pytest.fixture(autouse=True)
def no_figure_is_left():
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


def table(scores):
    folds = np.array(list(scores.values())).T
    return {"params": [{"C": C} for C in scores]} | {f"split{k}_test_score": f for k, f in enumerate(folds)}


def names(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points(line):
    return np.column_stack(line.get_data())


# ---- all of them ----


@pytest.mark.slow
def test_matplotlib_is_imported_only_for_a_picture():
    program = "import sys, maxmargin, maxmargin.displays; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    imported = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"CVPathDisplay.*maxmargin\[plots\]"):
        CVPathDisplay.from_cv_results(table(SCORES))
    with pytest.raises(ImportError, match=r"CodeDisplay.*maxmargin\[plots\]"):
        CodeDisplay(code=Code.exhaustive(3)).plot()


def test_given_axes_are_drawn_on_and_no_figure_is_made():
    figure, axes = plt.subplots(1, 6)
    model = KernelSVC().fit(X_MOONS, Y_MOONS)
    path = {"budget": np.arange(1, 4), "loss": np.ones(3), "score": np.array([0.5, 0.8, 0.9])}
    drawn = [
        CVPathDisplay.from_cv_results(table(SCORES), ax=axes[0]),
        BudgetPathDisplay(budget_path=path).plot(axes[1]),
        GapDisplay.from_estimator(model, ax=axes[2]),
        MarginDisplay.from_estimator(model, X_MOONS, grid_resolution=10, ax=axes[3]),
        CodeDisplay.from_estimator(model, X_MOONS, Y_MOONS, ax=axes[4]),
        GapDisplay.from_estimator(model, against="iterations", ax=axes[5]),
    ]
    assert [display.ax_ for display in drawn] == list(axes)
    assert all(display.figure_ is figure for display in drawn)
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()


# ---- cross-validation ----


def test_a_cv_path_has_error_spread_best_and_the_rule_of_one_standard_error():
    display = CVPathDisplay.from_cv_results(table(SCORES), chosen=2)
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlabel() == "C (less regularisation to the right)"
    assert display.ax_.get_ylabel() == "error rate, mean over 3 folds"
    means = [1.0 - np.mean(folds) for folds in SCORES.values()]
    np.testing.assert_allclose(points(display.lines_[0]), np.column_stack([list(SCORES), means]))
    (band,) = display.bands_
    error = np.std(SCORES[1.0], ddof=1) / np.sqrt(3)
    at_best = [y for x, y in band.get_paths()[0].vertices if x == 1.0]
    np.testing.assert_allclose([min(at_best), max(at_best)], [means[2] - error, means[2] + error])
    assert {kind: line.get_xdata()[0] for kind, line in display.marks_.items()} == {
        "best": 1.0,
        "one-standard-error": 0.1,
    }
    assert names(display.ax_) == [
        "± one standard error",
        "smallest error + one standard error",
        "smallest error (chosen): C = 1",
        "one-standard-error rule: C = 0.1",
    ]


def test_the_rows_of_a_table_may_be_in_any_order():
    shuffled = {C: SCORES[C] for C in (10.0, 0.01, 1.0, 0.1)}
    one, other = (CVPathDisplay.from_cv_results(table(s), chosen=k) for s, k in ((SCORES, 2), (shuffled, 2)))
    np.testing.assert_allclose(points(one.lines_[0]), points(other.lines_[0]))
    assert names(one.ax_) == names(other.ax_)


def test_with_the_weight_of_the_rows_c_is_drawn_as_lambda():
    display = CVPathDisplay.from_cv_results(table(SCORES), total_weight=50.0)
    np.testing.assert_allclose(display.lines_[0].get_xdata(), 1.0 / (50.0 * np.array(list(SCORES))))
    assert display.ax_.get_xlabel() == "lambda (more regularisation to the right)"
    assert "smallest error: lambda = 0.02" in names(display.ax_)


def test_the_marks_are_what_path_cv_chooses_by_either_rule():
    for rule, kind in (("best", "best"), ("one-standard-error", "one-standard-error")):
        search = PathCV(KernelSVC(), Cs=np.geomspace(0.01, 1e4, 5), gammas=[0.1, 1.0], rule=rule)
        display = CVPathDisplay.from_estimator(search.fit(X_MOONS, Y_MOONS))
        mark = display.marks_.get(kind, display.marks_["best"])
        assert mark.get_xdata()[0] == search.best_params_["C"]
        np.testing.assert_allclose(mark.get_ydata()[0], 1.0 - search.best_score_)
        assert len(display.lines_) == len(display.bands_) == 2
        assert {"gamma = 0.1", "gamma = 1"} < set(names(display.ax_))


def test_a_grid_search_over_a_pipeline_and_another_score_are_drawn():
    pipeline = make_pipeline(StandardScaler(), LeastSquaresClassifier())
    grid = {"leastsquaresclassifier__C": [1.0, 0.01]}
    search = GridSearchCV(pipeline, grid, scoring="f1", cv=3).fit(X_MOONS, Y_MOONS)
    display = CVPathDisplay.from_estimator(search)
    assert display.ax_.get_ylabel() == "f1, mean over 3 folds"
    np.testing.assert_allclose(display.lines_[0].get_ydata(), search.cv_results_["mean_test_score"][::-1])
    assert display.marks_["best"].get_ydata()[0] == pytest.approx(search.best_score_)
    assert names(display.ax_)[2].startswith("best score − one standard error")


def test_points_left_out_are_gaps_in_the_line():
    left_out = table(SCORES)
    left_out["split2_test_score"][0] = np.nan
    y = CVPathDisplay.from_cv_results(left_out).lines_[0].get_ydata()
    assert np.isnan(y).tolist() == [True, False, False, False]


def test_many_gammas_have_many_lines_but_few_names():
    gammas = np.geomspace(1e-3, 1e3, 20)
    params = [{"C": C, "gamma": gamma} for C in (0.1, 1.0, 10.0) for gamma in gammas]
    scores = np.random.default_rng(0).random((2, len(params)))
    cv_results = {"params": params, "split0_test_score": scores[0], "split1_test_score": scores[1]}
    display = CVPathDisplay.from_cv_results(cv_results)
    assert (len(display.lines_), len(display.bands_)) == (20, 1)
    assert len([name for name in names(display.ax_) if name.startswith("gamma")]) <= 3


def test_a_search_over_other_things_is_refused():
    with pytest.raises(ValueError, match="split0_test_score"):
        CVPathDisplay.from_cv_results({"params": [{"C": 1.0}], "split0_test_f1": np.ones(1)})
    params = [{"C": C, "kernel": kernel} for C in (1.0, 2.0) for kernel in ("rbf", "linear")]
    with pytest.raises(ValueError, match="one parameter"):
        CVPathDisplay.from_cv_results({"params": params, "split0_test_score": np.ones(4)})


# ---- budgets ----


def test_a_budget_path_has_accuracies_and_the_budget_that_suffices():
    model = SparseKernelClassifier(8, validation_fraction=0.3, random_state=0).fit(X_IRIS, Y_IRIS)
    display = BudgetPathDisplay.from_estimator(model, tolerance=0.05)
    path = model.budget_path_
    np.testing.assert_array_equal(points(display.line_), np.column_stack([path["budget"], path["score"]]))
    chosen = model.choose_budget(0.05)
    assert display.mark_.get_xdata()[0] == chosen
    assert names(display.ax_) == [f"{chosen} support vectors suffice"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "support vectors",
        "accuracy on held-out rows",
    )
    loss = BudgetPathDisplay.from_estimator(model, quantity="loss")
    np.testing.assert_array_equal(loss.line_.get_ydata(), path["loss"])
    assert loss.ax_.get_yscale() == "log"


def test_paths_of_several_models_share_axes_and_differ_in_colour():
    path = {"budget": np.arange(1, 4), "loss": np.array([3.0, 2.0, 1.0]), "score": np.full(3, np.nan)}
    first = BudgetPathDisplay(budget_path=path, name="first").plot()
    second = BudgetPathDisplay(budget_path=path, name="second").plot(first.ax_)
    assert first.line_.get_color() != second.line_.get_color()
    assert names(first.ax_) == ["first", "second"]
    assert first.mark_ is None
    with pytest.raises(ValueError, match="validation_fraction"):
        first.plot(quantity="score")
    with pytest.raises(ValueError, match="quantity must be"):
        first.plot(quantity="gap")


# ---- gaps ----


def test_gaps_are_those_of_the_history_on_both_axes():
    model = LinearSVC(random_state=0).fit(X_IRIS, Y_IRIS)
    display = GapDisplay.from_estimator(make_pipeline("passthrough", model))
    seconds, iterations = display.axes_
    assert seconds.get_ylabel() == "relative duality gap"
    assert seconds.get_xlabel().startswith("seconds")
    assert iterations.get_xlabel().startswith("iterations")
    assert seconds.get_yscale() == "log"
    for t, column in enumerate(model.history_):
        gaps = [max(check.gap, 2.0**-52) for check in column]
        np.testing.assert_allclose(display.lines_[0][t].get_data(), [[c.seconds for c in column], gaps])
        np.testing.assert_allclose(display.lines_[1][t].get_data(), [[c.n_iter for c in column], gaps])
    assert names(iterations) == [*(f"{k} against the rest" for k in range(3)), "tol = 0.0001"]


def test_of_many_columns_the_largest_gap_stands_out():
    def column(k):
        return [Check(i, 1.0, 1.0 - 2.0 ** -(i + k % 3), 0.1 * i) for i in range(1 + k)]

    history = [column(k) for k in range(12)]
    display = GapDisplay(history=history, tol=1e-3).plot(against="iterations")
    assert len(display.lines_[0]) == 12
    x, y = display.worst_[0].get_data()
    expected = [max(c[min(i, len(c) - 1)].gap for c in history) for i in range(12)]
    np.testing.assert_array_equal(x, np.arange(12))
    np.testing.assert_allclose(y, expected)
    assert names(display.ax_) == ["each of 12 columns", "largest gap", "tol = 0.001"]


def test_one_column_has_no_name_and_no_gap_is_an_error():
    display = GapDisplay.from_estimator(PathCV(KernelSVC(), Cs=[1.0], gammas="fixed").fit(X_MOONS, Y_MOONS))
    assert len(names(display.axes_[-1])) == 1
    with pytest.raises(ValueError, match="finite gap"):
        GapDisplay.from_estimator(KernelPegasos(random_state=0).fit(X_MOONS, Y_MOONS))
    with pytest.raises(ValueError, match="history_; StandardScaler has none"):
        GapDisplay.from_estimator(StandardScaler().fit(X_MOONS))
    with pytest.raises(ValueError, match="draws on 1 axes"):
        display.plot([None, None], against="seconds")


# ---- margins ----


def test_two_classes_have_a_boundary_margins_and_support_vectors():
    model = KernelSVC(10.0, gamma=1.0).fit(X_MOONS, Y_MOONS)
    display = MarginDisplay.from_estimator(model, X_MOONS, Y_MOONS, grid_resolution=120)
    (boundary,), (margins,) = display.boundary_, display.margins_
    for lines, levels in ((boundary, [0.0]), (margins, [-1.0, 1.0])):
        for path, level in zip(lines.get_paths(), levels, strict=True):
            assert np.abs(model.decision_function(path.vertices[::5]) - level).max() < 0.03
    np.testing.assert_array_equal(display.support_.get_offsets(), model.support_vectors_)
    assert [len(p.get_offsets()) for p in display.points_] == [30, 30]
    assert names(display.ax_) == [
        "boundary",
        "margins, outputs -1 and +1",
        "0",
        "1",
        f"{model.n_support_} support vectors",
    ]
    assert display.surface_ is not None


def test_behind_a_scaler_support_vectors_are_rows_of_x_and_features_keep_their_names():
    frame = pd.DataFrame(X_IRIS[:, :2], columns=["length", "width"])
    kinds = load_iris().target_names[Y_IRIS]
    model = make_pipeline(StandardScaler(), KernelSVC(code="one-vs-one")).fit(frame, kinds)
    display = MarginDisplay.from_estimator(model, frame, kinds, grid_resolution=40)
    expected = {tuple(row) for row in X_IRIS[model[-1].support_, :2]}
    assert {tuple(row) for row in display.support_.get_offsets()} == expected
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")
    assert (len(display.boundary_), len(display.margins_), len(display.points_)) == (3, 3, 3)
    assert {"setosa", "versicolor", "virginica"} < set(names(display.ax_))


def test_lines_go_over_scikit_learns_own_picture():
    model = LinearSVC(random_state=0).fit(X_MOONS, Y_MOONS)
    theirs = DecisionBoundaryDisplay.from_estimator(
        model, X_MOONS, grid_resolution=20, response_method="predict"
    )
    ours = MarginDisplay.from_estimator(model, X_MOONS, regions=False, grid_resolution=20, ax=theirs.ax_)
    assert ours.ax_ is theirs.ax_
    assert ours.surface_ is None
    assert ours.support_ is None
    assert ours.points_ == []
    assert names(ours.ax_) == ["boundary", "margins, outputs -1 and +1"]
    assert ours.xx0.shape == theirs.xx0.shape


def test_any_classifier_and_any_frame_can_be_drawn():
    frame = pl.DataFrame(X_MOONS, schema=["east", "north"])
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(frame, Y_MOONS)
    display = MarginDisplay.from_estimator(tree, frame, Y_MOONS, grid_resolution=30)
    assert (len(display.boundary_), display.margins_, display.support_) == (1, [], None)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("east", "north")
    with pytest.raises(ValueError, match=r"labels \[5\]"):
        MarginDisplay.from_estimator(tree, frame, np.full(60, 5))


def test_many_classes_keep_the_picture_readable():
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 12
    rows = np.column_stack([np.cos(labels), np.sin(labels)]) + 0.05 * rng.normal(size=(120, 2))
    display = MarginDisplay.from_estimator(LinearSVC(random_state=0).fit(rows, labels), rows, labels)
    assert (len(display.points_), display.margins_) == (12, [])
    assert names(display.ax_) == ["boundary"]


def test_other_numbers_of_features_are_refused():
    with pytest.raises(ValueError, match=r"two features; X has the shape \(150, 4\)"):
        MarginDisplay.from_estimator(LinearSVC().fit(X_IRIS, Y_IRIS), X_IRIS)


# ---- codes ----


def test_a_code_has_its_matrix_and_the_errors_of_its_columns():
    kinds = load_iris().target_names[Y_IRIS]
    model = LinearSVC(code="one-vs-one", random_state=0).fit(X_IRIS[:, :2], kinds)
    display = CodeDisplay.from_estimator(model, X_IRIS[:, :2], kinds)
    np.testing.assert_array_equal(display.image_.get_array(), model.code_.matrix)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == list(model.classes_)
    F = model.column_outputs(X_IRIS[:, :2])
    expected = []
    for t in range(3):
        rows, targets = model.code_.column(Y_IRIS, t)
        expected.append(100.0 * np.mean(np.sign(F[rows, t]) != targets))
    np.testing.assert_allclose([bar.get_height() for bar in display.bars_], expected)
    assert names(display.ax_)[:3] == ["+1", "-1", "0"]
    assert names(display.ax_)[3] == f"mean\n{np.mean(expected):.2g} %"
    assert len(display.ax_.texts) == 9
    assert display.ax_.get_xlabel() == "column of the code (one-vs-one)"


def test_errors_are_weighted_and_unknown_where_no_row_counts():
    code, labels = Code.designed(4), np.array([0, 0, 1])
    outputs = np.where(np.arange(3)[:, None] == 1, -1, 1) * code.targets(labels)
    np.testing.assert_allclose(column_errors(code, outputs, labels, [1.0, 3.0, 0.0]), 0.75)
    pairs = KernelSVC(code="one-vs-one").fit(X_IRIS, Y_IRIS).code_
    assert np.isnan(column_errors(pairs, np.ones((1, 3)), np.array([0]))).sum() == 1
    with pytest.raises(ValueError, match="3 labels and outputs of shape"):
        column_errors(code, outputs[:, :1], labels)
    with pytest.raises(ValueError, match=r"labels \[7\] that are not among the classes \[0, 1, 2, 3\]"):
        CodeDisplay.from_predictions([7], outputs[:1], code=code)
    with pytest.raises(ValueError, match="both X and y"):
        CodeDisplay.from_estimator(LinearSVC().fit(X_IRIS, Y_IRIS), X_IRIS)


def test_a_large_code_has_no_signs_and_few_ticks():
    display = CodeDisplay(code=Code.dense_random(80)).plot()
    assert display.bars_ is None
    assert len(display.ax_.texts) == 0
    assert len(display.ax_.get_yticks()) <= 30
    assert names(display.ax_) == ["+1", "-1"]
    display.figure_.canvas.draw()
