"""SparseKernelClassifier: its budget, its optimum, and what it refuses."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from support.budget_models import OWN_LOSSES, fitted, noisy, objective_of
from support.properties import examples
from support.reference import svm_primal

from maxmargin import SparseKernelClassifier
from maxmargin.kernels import RBF
from maxmargin.methods.budget.selectors import SELECTORS


@pytest.mark.slow
@examples(10, 25, suppress_health_check=[HealthCheck.too_slow])
@given(
    n=st.integers(8, 30),
    excess=st.integers(-30, 5),
    n_classes=st.integers(2, 4),
    seed=st.integers(0, 10**6),
    loss=st.sampled_from([*OWN_LOSSES, "perceptron"]),
    selection=st.sampled_from(["gain", *SELECTORS]),
    code=st.sampled_from(["one-vs-rest", "one-vs-one"]),
    own=st.booleans(),
    move=st.sampled_from([False, False, True]),
    alpha=st.sampled_from(["auto", 1e-4, 0.1]),
    duplicates=st.booleans(),
)
def test_budget_is_never_exceeded(
    n, excess, n_classes, seed, loss, selection, code, own, move, alpha, duplicates
):
    X, y = noisy(n, n_classes, seed, noise=1.0)
    y[:n_classes] = np.arange(n_classes)
    if duplicates:
        X[n // 2 :] = X[: n - n // 2]
    budget = max(1, n + excess)
    own = own and loss != "perceptron"
    model = SparseKernelClassifier(
        budget,
        loss=loss,
        refit="newton" if own else None,
        selection=selection if own or selection != "gain" else "loss",
        back_fit=None if own else "n/B",
        code=code,
        alpha=alpha,
        move_centers=move and own,
        gamma=0.5,
        random_state=seed,
    )
    half = n // 2

    def check(model, budget):
        assert model.n_support_ == len(model.dual_coef_.T) == model.support_vectors_.shape[0] <= budget
        assert model.dual_coef_.shape[0] == model.code_.n_columns
        assert np.isfinite(model.decision_function(X)).all()
        if model.support_ is not None:
            assert len(set(model.support_.tolist())) == model.n_support_
            np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
        assert (np.diff(model.budget_path_["budget"]) > 0).all()
        assert {len(v) for v in model.budget_path_.values()} == {len(model.budget_path_["budget"])}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a wild published step may overflow
        try:
            check(clone(model).fit(X, y), budget)
            stream = clone(model).partial_fit(X[:half], y[:half], classes=range(n_classes))
            check(stream.partial_fit(X[half:], y[half:]), budget)
            warm = clone(model).set_params(warm_start=True).fit(X, y)
            check(warm.set_params(budget=budget + 3).fit(X, y), budget + 3)
            check(clone(model).set_params(merge_duplicates=False).fit(X, y), budget)
        except ValueError as error:
            if own or "coefficients are not finite" not in str(error):
                raise


@pytest.mark.parametrize("loss", ["squared-hinge", "hinge"])
@pytest.mark.parametrize("seed", range(2))
def test_budget_for_all_rows_gives_the_svm_without_intercept(loss, seed):
    X, y = noisy(70, seed=seed)
    model = fitted(X, y, 75, loss=loss, tol=1e-9, alpha=0.01)
    K = RBF(gamma=0.5)(X, X)
    Phi = np.linalg.cholesky(K + 1e-13 * np.eye(70))
    Y = 2.0 * y - 1.0
    exact = 0.01 * svm_primal(Phi, Y, np.full(70, 1 / (70 * 0.01)), loss.replace("-", "_"), "none")[2]
    assert model.objective_ == pytest.approx(exact, rel=1e-6)
    assert model.dual_gap_ <= 1e-9
    assert model.status_ == "no_loss_left"


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("code", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize("loss", OWN_LOSSES)
def test_objective_follows_from_the_stored_model(loss, code, n_classes):
    X, y = noisy(120, n_classes)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 120)
    model = fitted(X, y, 10, weight, loss=loss, code=code, tol=1e-5)
    assert model.objective_ == pytest.approx(objective_of(model, X, y, weight), rel=1e-9)
    assert model.status_ == "budget_full"
    assert 0 <= model.dual_gap_ <= 1e-5
    with pytest.warns(ConvergenceWarning, match=r"max_iter.*relative duality gap"):
        early = fitted(X, y, 10, weight, loss=loss, code=code, max_iter=6)
    assert early.n_support_ == 6
    assert early.objective_ == pytest.approx(objective_of(early, X, y, weight), rel=1e-9)


def test_scaling_all_weights_changes_nothing():
    X, y = noisy(100)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 100)
    one, two = fitted(X, y, 10, weight), fitted(X, y, 10, 64.0 * weight)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_moved_centres_are_not_rows():
    X, y = noisy(150)
    there, moved = fitted(X, y, 5, tol=1e-6), fitted(X, y, 5, tol=1e-6, move_centers=True)
    assert moved.support_ is None
    assert moved.objective_ < 0.999 * there.objective_
    assert moved.objective_ == pytest.approx(objective_of(moved, X, y), rel=1e-8)
    assert not np.isin(moved.support_vectors_, X).all()
    small = moved.truncate(3)
    np.testing.assert_array_equal(small.support_vectors_, moved.support_vectors_[:3])
    assert small.support_ is None
    assert moved.budget_path_["budget"].tolist() == [5]


OWN, PUBLISHED = {}, {"refit": None, "selection": "loss"}
REFUSED = [
    ({"budget": 0}, r"budget must be an integer >= 1; got 0\."),
    ({"budget": 2.5}, r"budget must be an integer >= 1; got 2\.5\."),
    ({"loss": "l2"}, r"loss must be one of \['hinge', .*\]; got 'l2'\."),
    ({"selection": "best"}, r"selection must be one of \['active', 'gain', .*\]; got 'best'\."),
    ({"refit": "sgd"}, r"refit must be .*'newton'.*; got 'sgd'\."),
    ({"refit": None}, r"selection='gain' .*choose one of \['active'.*or refit='newton'\."),
    ({"back_fit": 3}, r"back_fit=3 is part of the published method.*Set refit=None, or back_fit=None\."),
    (PUBLISHED | {"back_fit": "n"}, r"back_fit must be None, an integer >= 0 or 'n/B'; got 'n'\."),
    (PUBLISHED | {"back_fit": -1}, r"back_fit must be an integer >= 0; got -1\."),
    (PUBLISHED | {"move_centers": True}, r"move_centers=True needs refit='newton'; got refit=None\."),
    ({"loss": "perceptron"}, r"loss='perceptron' is 0 for f = 0.*use another loss, or refit=None\."),
    ({"move_centers": True, "kernel": "poly"}, r"move_centers=True needs kernel='rbf'; got 'poly'\."),
    ({"move_centers": 1}, r"move_centers must be True or False; got 1\."),
    ({"warm_start": "yes"}, r"warm_start must be True or False; got 'yes'\."),
    ({"merge_duplicates": None}, r"merge_duplicates must be True or False; got None\."),
    ({"n_candidates": 0}, r"n_candidates must be an integer >= 1; got 0\."),
    ({"alpha": 0.0}, r"alpha must be a finite number > 0.*; got 0\.0\."),
    ({"alpha": "best"}, r"alpha must be .*'auto'.*; got 'best'\."),
    ({"alpha": None}, r"alpha must be .*; got None\."),
    ({"cache_mb": 0}, r"cache_mb must be a finite number > 0; got 0\."),
    ({"validation_fraction": 1.0}, r"validation_fraction must be below 1; got 1\.0\."),
    ({"validation_fraction": 0}, r"validation_fraction must be a finite number > 0; got 0\."),
    ({"kernel": "gauss"}, r"kernel must be .*; got 'gauss'\."),
    ({"gamma": -1.0}, r"gamma must be .*; got -1\.0\."),
    ({"code": "ovo"}, r"code must be a Code or one of .*; got 'ovo'\."),
    ({"decoder": "best"}, r"decoder must be .*; got 'best'\."),
    ({"tol": 0.0}, r"tol must be a finite number > 0; got 0\.0\."),
    ({"max_iter": 0}, r"max_iter must be an integer >= 1; got 0\."),
    ({"max_seconds": 0}, r"max_seconds must be a finite number > 0; got 0\."),
    ({"cache_mb": 1e-5}, r"cache_mb is too small.*Raise cache_mb, or lower the budget\."),
]


@pytest.mark.parametrize(("parameters", "match"), REFUSED, ids=lambda value: str(value)[:50])
def test_bad_parameters_are_refused(parameters, match):
    X, y = noisy(60)
    with pytest.raises(ValueError, match=match):
        SparseKernelClassifier(**parameters).fit(X, y)


def test_streams_refuse_unsupported_requests():
    X, y = noisy(60)
    with pytest.raises(ValueError, match="the first call of partial_fit needs classes"):
        SparseKernelClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="cannot work with kernel='precomputed'"):
        SparseKernelClassifier(kernel="precomputed").partial_fit(X @ X.T, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes of the first call"):
        SparseKernelClassifier().partial_fit(X, y + 1, classes=[0, 1])


def test_the_published_grid_shares_the_time_limit(monkeypatch):
    X, y = noisy(3000)
    ticks = (0.001 * k for k in itertools.count())  # a clock that no other process can slow down
    monkeypatch.setattr("time.perf_counter", lambda: next(ticks))
    model = SparseKernelClassifier.as_published(400, max_seconds=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, y)
    assert model.history_[0][-1].seconds < 0.3
    assert model.n_support_ > 0  # the grid leaves time for the model itself
