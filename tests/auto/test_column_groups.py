"""Groups of columns with a kernel each: weights, what is refused, tables with names, files."""

import numpy as np
import pandas as pd
import pytest

import maxmargin
from maxmargin import AutoSVC
from maxmargin.auto import refine
from maxmargin.auto.column_groups import grouped_positions

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


def test_large_tables_are_compared_on_fewer_rows(monkeypatch):
    monkeypatch.setattr(refine, "OPERATIONS_SHARE", 1e-4)
    model = fitted(*waves(400), GROUPS)
    table = pd.DataFrame(model.candidates_)
    assert (table["n_rows"][table["candidate"].str.contains("groups")] < 250).all()
    assert model.predict_proba(waves(400)[0]).shape == (400, 2)


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
