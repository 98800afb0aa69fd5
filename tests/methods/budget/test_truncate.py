"""Smaller models from a fitted one: the path over budgets, truncate and choose_budget."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from support.budget_models import OWN_LOSSES, fitted, noisy, objective_of
from support.budget_optimum import best

from maxmargin import SparseKernelClassifier
from maxmargin.kernels import RBF
from maxmargin.methods.budget.path import PATH_TOL, stated_budgets


@pytest.mark.parametrize("loss", OWN_LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_truncate_refits_the_first_support_vectors(loss, n_classes):
    X, y = noisy(130, n_classes)
    model = fitted(X, y, 20, loss=loss, tol=1e-7)
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match=r"does not remember.*give X and y\. Budgets of its path: \[1, 2"):
        again.truncate(5)
    kernel = RBF(gamma=0.5)
    for b in (1, 2, 5, 13, 20):
        small = model.truncate(b)
        assert small.n_support_ == b
        np.testing.assert_array_equal(small.support_, model.support_[:b])
        K_nS = kernel(X, X[small.support_])
        exact = sum(
            reference_optimum(K_nS, small.support_, column, loss)
            for column in model.code_.targets(y).T.astype(float)
        )
        assert small.objective_ == pytest.approx(exact, rel=1e-6)
        assert objective_of(small, X, y) == pytest.approx(exact, rel=1e-6)
        np.testing.assert_array_equal(model.truncate(20).truncate(b).dual_coef_, small.dual_coef_)
        given = again.truncate(b, X, y)
        np.testing.assert_array_equal(given.dual_coef_, small.dual_coef_)
        assert small.budget_path_["budget"].max() <= b
        assert (small.predict_proba(X).argmax(axis=1) == small.predict(X)).all()
    assert model.n_support_ == 20  # as it was
    with pytest.raises(ValueError, match="budget=21, but this model has only 20"):
        model.truncate(21)
    with pytest.raises(ValueError, match="budget must be an integer >= 1; got 0"):
        model.truncate(0)
    with pytest.raises(ValueError, match=r"y has the classes .* but the model was fitted on"):
        again.truncate(5, X, y + 1)


def reference_optimum(K_nS, support, y, loss, alpha=1e-2):
    return best(K_nS, K_nS[support], y[:, None], np.ones(len(y)), loss, alpha)


def test_truncate_with_data_holds_out_the_same_rows():
    X, y = noisy(200)
    model = fitted(X, y, 10, validation_fraction=0.25)
    given = pickle.loads(pickle.dumps(model)).truncate(4, X, y)
    np.testing.assert_array_equal(given.dual_coef_, model.truncate(4).dual_coef_)


def test_published_truncate_restores_the_path():
    X, y = noisy(200)
    model = SparseKernelClassifier.as_published(
        24, alpha=0.1, gamma=0.5, random_state=0, validation_fraction=0.3
    ).fit(X, y)
    assert model.budget_path_["budget"].tolist() == [b for b in stated_budgets(24) if b <= model.n_support_]
    seen = {check.n_support: check.primal for check in model.history_[0]}
    for b in (1, 7, 20, 24):
        small = model.truncate(b)
        shorter = SparseKernelClassifier.as_published(
            24, alpha=0.1, gamma=0.5, random_state=0, validation_fraction=0.3, max_iter=int(small.n_iter_)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            shorter.fit(X, y)
        np.testing.assert_array_equal(small.support_, shorter.support_)
        np.testing.assert_allclose(small.dual_coef_, shorter.dual_coef_, rtol=1e-12)
        assert small.objective_ == seen[b]
        P = small.predict_proba(X)
        np.testing.assert_array_equal(small.classes_[P.argmax(axis=1)], small.predict(X))
    with pytest.raises(ValueError, match=r"stored for the budgets \[1, 2.* only; got budget=17"):
        model.truncate(17)
    assert not hasattr(pickle.loads(pickle.dumps(model)).truncate(7), "predict_proba")


@pytest.mark.parametrize("loss", OWN_LOSSES)
def test_path_decreases_and_ends_at_the_model(loss):
    X, y = noisy(150, 3)
    model = fitted(X, y, 30, loss=loss, validation_fraction=0.2)
    path = model.budget_path_
    assert path["budget"].tolist() == stated_budgets(30)
    objective = [model.truncate(int(b)).objective_ if b < 30 else model.objective_ for b in path["budget"]]
    assert (np.diff(objective) <= 1e-3 * np.array(objective[1:])).all()
    assert (np.diff(path["loss"]) <= 0.03 * path["loss"][:-1]).all()  # the norm is a part of the objective
    assert (path["gap"] <= PATH_TOL + 1e-9).all() or loss == "hinge"
    assert path["gap"][-1] == pytest.approx(model.dual_gap_)
    assert ((path["score"] >= 0) & (path["score"] <= 1)).all()
    b = model.choose_budget(0.0)
    assert path["score"][path["budget"] == b] == path["score"].max()
    assert model.choose_budget(1.0) == 1
    with pytest.raises(ValueError, match="fit with validation_fraction"):
        fitted(X, y).choose_budget()
    with pytest.raises(ValueError, match="tolerance must be a finite number >= 0"):
        model.choose_budget(-1.0)


def test_held_out_rows_are_never_trained_on():
    """Labels of the rows that were held out may be anything: neither set nor coefficients change."""
    X, y = noisy(200)
    model = fitted(X, y, 10, validation_fraction=0.2)
    rows = model._training.rows
    assert rows.n_held_out == 40
    held_out = rows.data.rows.index[-40:]
    other = y.copy()
    other[held_out] = 1 - other[held_out]
    X_other = X.copy()
    same = fitted(X_other, other, 10, validation_fraction=0.2)
    assert set(held_out.tolist()).isdisjoint(model.support_.tolist())
    assert set(same._training.rows.data.rows.index[-40:].tolist()) == set(held_out.tolist())
    np.testing.assert_array_equal(same.dual_coef_, model.dual_coef_)
