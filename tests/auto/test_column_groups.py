"""Groups of columns with a kernel each: weights, what is refused, tables with names, files."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import maxmargin
from maxmargin import AutoSVC
from maxmargin.auto import groups, refine
from maxmargin.auto.candidates import Candidate, Trial
from maxmargin.auto.choice import Choice, Judge
from maxmargin.auto.column_groups import ColumnGroups, grouped_positions
from maxmargin.auto.cost import PROBLEM_OPERATIONS, SUMMED_VALUE_OPERATIONS, Shape
from maxmargin.auto.folds import StageFits
from maxmargin.auto.search import Found

GROUPS = [[0], [1], [2], [3]]


def waves(n=160, d=4):
    """A class that is the sign of a sum of waves, each along one column."""
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, (np.sin(3.0 * X).sum(axis=1) > 0.0).astype(int)


def fitted(X, y, groups, **more):
    return AutoSVC(column_groups=groups, random_state=0, cv=3, **more).fit(X, y)


@pytest.fixture(scope="module")
def model():
    return fitted(*waves(), GROUPS)


def test_the_sum_of_kernels_is_accepted_where_the_class_is_a_sum(model):
    X, y = waves(2000)
    plain = AutoSVC(random_state=0, cv=3).fit(*waves())
    assert model.score(X, y) > plain.score(X, y) + 0.01
    np.testing.assert_allclose(model.group_weights_, 0.25)
    assert plain.group_weights_ is None
    assert "weights 0.25, 0.25, 0.25, 0.25), is accepted" in model.choice_
    chosen = model.candidates_["outcome"].index("chosen")
    assert model.candidates_["candidate"][chosen].endswith("weights 0.25, 0.25, 0.25, 0.25")
    assert model.candidates_["outcome"].count("chosen") == 1


def test_the_file_has_the_weights(model, tmp_path):
    X, _ = waves()
    maxmargin.save(model, tmp_path / "model.npz")
    again = maxmargin.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.group_weights_, model.group_weights_)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_importances_are_those_of_all_columns(model):
    assert model.feature_importances_.shape == (4,)
    assert model.feature_importances_.min() > 0.1


def test_groups_that_are_noise_get_no_weight_or_the_one_kernel_stays():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(160, 6))
    y = (np.hypot(X[:, 0], X[:, 1]) > 1.2).astype(int)
    model = fitted(X, y, [[0, 1], [2, 3, 4, 5]], learn_metric=None)
    assert model.group_weights_ is None or model.group_weights_[0] > 0.5
    assert "one a group of columns" in model.choice_


def test_names_and_categories_of_a_table():
    X, y = waves()
    table = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > 0, "up", "down"), same=1.0)
    model = fitted(table, y, [["a", "b"], ["c", "d"], ["same"]])
    assert model.n_features_in_ == 6
    if model.group_weights_ is not None:
        assert model.group_weights_[2] == 0.0
        assert len(model.group_weights_) == 4
        assert model.group_weights_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_a_group_of_constant_columns_has_weight_0(form):
    X, y = waves()
    X = np.column_stack([np.zeros(len(X)), X])
    model = fitted(form(X), y, [[0], [1], [2], [3], [4]])
    np.testing.assert_allclose(model.group_weights_, [0.0, 0.25, 0.25, 0.25, 0.25])
    assert "(weights 0.00, 0.25, 0.25, 0.25, 0.25)" in model.choice_


def test_one_group_that_varies_is_no_sum():
    X, y = waves()
    X[:, 2:] = 1.0
    model = fitted(X, y, [[0, 1], [2, 3]], learn_metric=None)
    assert model.group_weights_ is None
    assert model.status_ == "converged"
    assert "fewer than two groups have different rows" in model.choice_


def test_large_tables_are_compared_on_fewer_rows(monkeypatch):
    monkeypatch.setattr(refine, "OPERATIONS_SHARE", 0.012)
    model = fitted(*waves(400), GROUPS)
    table = pd.DataFrame(model.candidates_)
    lines = table[table["candidate"].str.contains("groups")]
    assert len(lines) >= 1
    assert ((lines["n_rows"] >= 200) & (lines["n_rows"] < 250)).all()
    errors = lines["loss"] * lines["n_rows"]  # of a 0-1 loss on these rows
    np.testing.assert_allclose(errors, errors.round(), atol=1e-9)
    assert lines["budget"].isna().all()
    assert f"evaluated on {lines['n_rows'].iloc[0]} rows, is " in model.choice_
    assert model.predict_proba(waves(400)[0]).shape == (400, 2)


def test_the_cost_of_a_sum_is_that_of_its_kernels():
    shape = Shape(4.0, np.array([500.0, 500.0]))
    one = Candidate("rbf", "one-vs-rest", "standardised")
    both = [ColumnGroups(((0,), (1, 2, 3)), (1.0, 1.0), weights) for weights in ((0.5, 0.5), (0.0, 1.0))]
    two, rest = (shape.fit(replace(one, groups=each)) for each in both)
    assert two - rest == 1000.0**2 * SUMMED_VALUE_OPERATIONS["rbf"] + PROBLEM_OPERATIONS
    assert rest > shape.fit(one)


def test_sums_without_room_are_said_not_to_be_tried(monkeypatch):
    monkeypatch.setattr(refine, "OPERATIONS_SHARE", 1e-5)
    model = fitted(*waves(), GROUPS, learn_metric=None)
    assert model.group_weights_ is None
    assert model.status_ == "converged"
    assert "Not tried: a sum of kernels, which max_seconds has no room for." in model.choice_


@pytest.mark.parametrize("n_groups_of_fits", [0, 40])
def test_sums_cut_by_the_clock_are_said_to_be(monkeypatch, n_groups_of_fits):
    """The plain average stays if it was finished; weights are tried after it."""
    left, run = [n_groups_of_fits], StageFits.run

    def cut(self, trials, folds):
        if trials[0].candidate.groups is not None:
            weights = trials[0].candidate.groups.weights
            if not left[0] or min(weights) < max(weights):
                return False
            left[0] -= 1
        return run(self, trials, folds)

    monkeypatch.setattr(StageFits, "run", cut)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = fitted(*waves(), GROUPS, learn_metric=None)
    assert model.status_ == "time_limit"
    assert "as the time was up." in model.choice_
    assert model.candidates_["outcome"][-1] == "not tried"
    if n_groups_of_fits:
        np.testing.assert_allclose(model.group_weights_, 0.25)
    else:
        assert model.group_weights_ is None


def test_the_fallback_is_an_affordable_candidate():
    linear, trials = Trial(Candidate("linear", "one-vs-rest", "bent", None, 2), None, 1.0), []
    line = {"kernel": "rbf", "code": "one-vs-rest", "columns": "bent", "budget": 200, "gamma": 0.5, "C": None}
    for table in ([], [line | {"loss": np.nan, "gamma": None}, line | {"loss": 0.5}]):
        choice = Choice(0, 0, np.zeros(1), np.zeros(1), np.zeros(1))
        found = Found([linear], Judge(None, np.arange(2)), choice, table, True, 100)
        trials.append(groups._kernel_trials(linear, found))
    assert trials[0] == []
    (found,) = trials[1]
    assert found.candidate == Candidate("rbf", "one-vs-rest", "bent", 200, 2)
    assert (found.gamma, found.value) == (0.5, None)


def test_nothing_is_tried_without_an_affordable_kernel(monkeypatch):
    monkeypatch.setattr(groups, "_kernel_trials", lambda *_: [])
    model = fitted(*waves(), GROUPS, learn_metric=None)
    assert model.group_weights_ is None
    assert "no kernel is affordable" in model.choice_


def test_with_many_groups_the_order_decides_nothing(monkeypatch):
    """The class depends on one of eight groups, the last or the first one; only two are tried alone."""
    monkeypatch.setattr(groups, "FEW_GROUPS", 2)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    y = (abs(X[:, 7]) > 0.7).astype(int)
    there, back = (
        fitted(rows, y, [[k] for k in range(8)], learn_metric=None) for rows in (X, X[:, ::-1].copy())
    )
    assert there.group_weights_[7] == 1.0
    np.testing.assert_allclose(there.group_weights_, back.group_weights_[::-1])


def test_threads_change_no_bit_with_several_classes():
    X, y = waves(90)
    y = y + (X[:, 0] > 1.0)
    models = [fitted(X, y, [[0, 1]], n_jobs=n_jobs) for n_jobs in (1, 2)]
    assert models[0].choice_ == models[1].choice_
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))


def test_columns_of_no_group_are_the_last_group():
    assert grouped_positions([["b"], [3]], 4, "abcd") == [[1], [3], [0, 2]]
    assert grouped_positions([[0, 1], [3, 2]], 4, None) == [[0, 1], [3, 2]]


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        ("ab", "lists of columns"),
        ([], "lists of columns"),
        ([[0], []], "none of them empty"),
        ([[0.5]], "names or positions"),
        ([[0, 1], [1]], "twice"),
        ([[0], [9]], "position 9, but X has 4 columns"),
        ([["a"]], "no column names"),
    ],
)
def test_wrong_groups_are_refused(groups, text):
    with pytest.raises(ValueError, match=text):
        AutoSVC(column_groups=groups).fit(*waves())


def test_a_name_that_is_not_there_is_refused():
    X, y = waves()
    with pytest.raises(ValueError, match="'z', which X does not have"):
        AutoSVC(column_groups=[["a", "z"]]).fit(pd.DataFrame(X, columns=list("abcd")), y)
