"""PathCV as an estimator: scikit-learn's checks, its table, its rules, pipelines and what it refuses."""

import itertools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.interrupts import interrupt_inside
from support.path_searches import CS, EXACT, GAMMAS, data, scores_of

from maxmargin import (
    KernelPegasos,
    KernelSVC,
    LeastSquaresClassifier,
    LinearSVC,
    PathCV,
    SparseKernelClassifier,
)
from maxmargin.selection.grid import LAMBDAS, Grid, chosen_point
from maxmargin.selection.search import FittedFolds
from maxmargin.selection.shared_kernel import KernelFolds


@pytest.mark.usefixtures("array_api")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks use unscaled data
@parametrize_with_checks(
    [
        PathCV(KernelSVC(tol=1e-8), Cs=[0.1, 10], cv=2),
        PathCV(LeastSquaresClassifier(), Cs=[0.1, 10], cv=2, eliminate=True),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_table_equals_that_of_grid_search():
    X, y = data()
    grid = {"C": CS, "gamma": GAMMAS}
    theirs = GridSearchCV(EXACT, grid, cv=StratifiedKFold(4)).fit(X, y)
    ours = PathCV(EXACT, Cs=CS[::-1], gammas=GAMMAS[::-1], cv=StratifiedKFold(4)).fit(X, y)
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    for name, column in theirs.cv_results_.items():
        if "time" in name:
            assert (ours.cv_results_[name] >= 0.0).all()
        elif name == "params":
            assert ours.cv_results_[name] == column
        else:
            assert_allclose(np.asarray(ours.cv_results_[name], float), np.asarray(column, float), atol=1e-12)
    assert (ours.best_params_, ours.best_index_) == (theirs.best_params_, theirs.best_index_)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    assert ours.score(X, y) == theirs.score(X, y)


@pytest.mark.parametrize("scale", [1.0, 0.05], ids=["noisy", "easy"])
def test_elimination_keeps_the_best_point_and_reports_what_it_skipped(scale):
    X, y = data(200)
    if scale < 1.0:
        y = (X[:, 0] > 0).astype(int)
    given = {"Cs": np.geomspace(1e-4, 100, 6), "gammas": [0.01, 0.1, 5.0], "cv": StratifiedKFold(5)}
    full = PathCV(EXACT, **given).fit(X, y)
    fast = PathCV(EXACT, eliminate=True, **given).fit(X, y)
    assert fast.best_index_ == full.best_index_
    assert fast.best_score_ == full.best_score_
    gone = fast.cv_results_["eliminated"]
    assert gone.any() or scale == 1.0
    assert_array_equal(np.isnan(fast.cv_results_["mean_test_score"]), gone)
    known = ~np.isnan(scores_of(fast))
    assert_array_equal(scores_of(fast)[known], scores_of(full)[known])
    assert (full.cv_results_["mean_test_score"][gone] < full.best_score_).all()
    assert (fast.cv_results_["rank_test_score"][gone] > 1).all()


def test_one_standard_error():
    grid = Grid("C", np.array([0.1, 1.0, 10.0]), "gamma", np.array([1.0, 2.0]))
    scores = np.zeros((6, 3))
    scores[grid.place[0]] = [[0.9, 0.9, 0.9], [0.7, 0.9, 0.8], [0.3, 0.3, 0.3]]
    scores[grid.place[1]] = [[0.5, 0.5, 0.5], [0.88, 0.9, 0.88], [0.98, 0.86, 0.9]]
    assert chosen_point(grid, scores, "best") == grid.place[1, 2]
    assert chosen_point(grid, scores, "one-standard-error") == grid.place[1, 1]
    X, y = data()
    given = {"Cs": np.geomspace(0.01, 100, 6), "gammas": [0.1]}
    best = PathCV(EXACT, **given).fit(X, y)
    simple = PathCV(EXACT, rule="one-standard-error", **given).fit(X, y)
    assert simple.best_params_["C"] <= best.best_params_["C"]
    spread = np.std(scores_of(best)[best.best_index_], ddof=1) / np.sqrt(5)
    assert simple.best_score_ >= best.best_score_ - spread


@pytest.mark.filterwarnings("ignore:.* diverged")  # as the smallest alphas of these methods do
def test_default_grids():
    X, y = data(60)
    search = PathCV(KernelSVC(), refit=False, cv=2).fit(X, y)
    table = search.cv_results_
    assert_allclose(np.unique(table["param_C"].data), np.sort(1.0 / (LAMBDAS * 60)))
    median = KernelSVC(gamma="median").fit(X, y).gamma_
    assert_allclose(np.unique(table["param_gamma"].data) / median, 4.0 ** np.arange(-2, 3))
    with pytest.raises(AttributeError, match="refit=False"):
        search.predict(X)
    alphas = PathCV(KernelPegasos(random_state=0), gammas="fixed", cv=2, refit=False).fit(X, y)
    assert_allclose(np.unique(alphas.cv_results_["param_alpha"].data), LAMBDAS)
    assert list(PathCV(LinearSVC(), Cs=[1.0], cv=2).fit(X, y).best_params_) == ["C"]


def test_pipelines_inside_and_outside():
    X, y = data(100)
    inside = PathCV(make_pipeline(StandardScaler(), KernelSVC()), Cs=CS, gammas=GAMMAS, cv=3).fit(X * 7, y)
    assert set(inside.best_params_) == {"kernelsvc__C", "kernelsvc__gamma"}
    assert inside.start_ == "warm-start"
    outside = make_pipeline(StandardScaler(), PathCV(KernelSVC(), Cs=CS, gammas=GAMMAS, cv=3))
    assert outside.fit(X * 7, y).predict(X).shape == (100,)
    assert cross_val_score(outside, X, y, cv=2).shape == (2,)
    nested = GridSearchCV(
        PathCV(KernelSVC(), Cs=CS, gammas=[0.1], cv=2), {"estimator__tol": [1e-2, 1e-3]}, cv=2
    )
    assert nested.fit(X, y, sample_weight=np.ones(100)).best_params_


def test_budgeted_models():
    X, y = data(150, 3)
    estimator = SparseKernelClassifier(budget=10, random_state=0)
    search = PathCV(estimator, alphas=[1e-4, 1e-2], gammas=GAMMAS, cv=2).fit(X, y)
    assert search.start_ == "cold"
    assert search.best_estimator_.n_support_ <= 10
    assert search.best_estimator_.get_params()["alpha"] == search.best_params_["alpha"]
    assert search.predict_proba(X).shape == (150, 3)


@pytest.mark.filterwarnings("ignore:.* diverged")  # as the smallest alphas of these methods do
@pytest.mark.parametrize("make", [SparseKernelClassifier, SparseKernelClassifier.as_published])
def test_budgeted_models_have_the_scores_of_grid_search(make):
    X, y = data(150, 3)
    small = make(8, gamma=0.1, random_state=0)
    for estimator, prefix in (
        (small, ""),
        (make_pipeline(StandardScaler(), small), "sparsekernelclassifier__"),
    ):
        alphas, folds = [1e-6, 1e-2], StratifiedKFold(3)
        ours = PathCV(estimator, alphas=alphas, cv=folds).fit(X, y)
        theirs = GridSearchCV(estimator, {f"{prefix}alpha": alphas[::-1]}, cv=folds).fit(X, y)
        assert list(ours.best_params_) == [f"{prefix}alpha"]
        assert_array_equal(scores_of(ours), scores_of(theirs))
        assert_array_equal(ours.decision_function(X), theirs.decision_function(X))


def test_a_gamma_that_was_set_is_kept():
    X, y = data(80)
    for gamma in (0.1, "median", "auto"):
        search = PathCV(KernelSVC(gamma=gamma), Cs=[1.0, 10.0], cv=2).fit(X, y)
        assert list(search.best_params_) == ["C"]
        assert search.best_estimator_.gamma == gamma
    small = SparseKernelClassifier(5, gamma=0.1, random_state=0)
    search = PathCV(small, alphas=[1e-3, 1e-2], cv=2).fit(X, y)
    assert search.best_estimator_.gamma_ == 0.1
    given = PathCV(KernelSVC(gamma=0.1), Cs=[1.0], gammas=[0.3], cv=2).fit(X, y)
    assert given.best_estimator_.gamma_ == 0.3


def test_a_pipeline_searches_what_its_last_step_searches():
    X, y = data(80)
    bare = PathCV(KernelSVC(), Cs=[1.0], cv=2).fit(StandardScaler().fit_transform(X), y)
    steps = make_pipeline(StandardScaler(), make_pipeline("passthrough", KernelSVC()))
    inside = PathCV(steps, Cs=[1.0], cv=2).fit(X, y)
    name = "pipeline__kernelsvc__gamma"
    assert_allclose(inside.cv_results_[f"param_{name}"].data, bare.cv_results_["param_gamma"].data)
    fixed = make_pipeline(StandardScaler(), KernelSVC(gamma=0.1))
    assert list(PathCV(fixed, Cs=[1.0], cv=2).fit(X, y).best_params_) == ["kernelsvc__C"]


def test_a_search_ends_in_time(monkeypatch):
    """Every look at the clock takes a second: fits get shares, and points without time have no score."""
    X, y = data(60)
    now = itertools.count()
    monkeypatch.setattr("time.perf_counter", lambda: float(next(now)))
    with pytest.warns(ConvergenceWarning, match=r"LinearSVC stopped \(time_limit\)"):
        search = PathCV(
            LinearSVC(tol=1e-15, solver="dual-cd"), Cs=[0.1, 1.0, 10.0], cv=2, max_seconds=150.0
        ).fit(X, y)
    assert next(now) < 400  # a search without a limit looks thousands of times
    assert search.best_estimator_.status_ in ("converged", "time_limit", "stalled")


class Slow(LinearSVC):
    """Ten seconds a fit, of which there are ``n_fits`` in time."""

    clock, n_fits = 0.0, 0

    def fit(self, X, y, sample_weight=None):
        Slow.clock += 10.0
        Slow.n_fits -= 1
        if Slow.n_fits < 0:
            raise TimeoutError
        return super().fit(X, y, sample_weight)


def test_points_without_time_have_no_score(monkeypatch):
    X, y = data(60)
    monkeypatch.setattr("time.perf_counter", lambda: Slow.clock)
    search = PathCV(Slow(), Cs=[0.1, 1.0, 10.0], cv=2, refit=False, max_seconds=1000.0)
    monkeypatch.setattr(Slow, "n_fits", 5)  # the last point has no score on the second fold
    with pytest.warns(ConvergenceWarning, match=r"time_limit.*2 of 3 points.*raise max_seconds"):
        search.fit(X, y)
    assert_array_equal(np.isfinite(search.cv_results_["mean_test_score"]), [True, True, False])
    assert search.best_index_ in (0, 1)
    monkeypatch.setattr(Slow, "n_fits", 2)
    with pytest.raises(TimeoutError, match="max_seconds=1000 was too short for PathCV to score a point"):
        search.fit(X, y)
    assert not hasattr(search, "best_params_")
    search.set_params(max_seconds=-1.0)
    with pytest.raises(ValueError, match="max_seconds must be a finite number > 0"):
        search.fit(X, y)


def test_pickle_and_refusals():
    X, y = data(80)
    search = PathCV(KernelSVC(), Cs=CS, gammas=[0.1], cv=2).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(search)).predict(X), search.predict(X))
    assert not hasattr(search, "predict_proba")
    with pytest.raises(NotFittedError):
        PathCV().predict(X)
    refused = [
        (PathCV(rule="largest"), "rule must be one of"),
        (PathCV(Cs=[1], alphas=[1]), "either Cs or alphas"),
        (PathCV(Cs=[0.0]), "Cs must be a list"),
        (PathCV(gammas="some"), "gammas must be a list"),
        (PathCV(LinearSVC(), gammas=[1.0]), "no parameter gamma"),
        (PathCV(KernelSVC(), alphas=[1.0]), "no parameter alpha"),
        (PathCV(cv=1), "cv must be an integer >= 2"),
        (PathCV(eliminate=True, scoring="neg_log_loss"), "at most 1"),
        (PathCV(eliminate="all"), "eliminate must be True or False"),
    ]
    for bad, match in refused:
        with pytest.raises(ValueError, match=match):
            bad.fit(X, y)


def test_fits_stopped_early_are_reported():
    X, y = data(1600)  # smaller problems are solved to the end all the same
    with pytest.warns(ConvergenceWarning, match="fold problems stopped early"):
        PathCV(KernelSVC(max_iter=1, tol=1e-12), Cs=[100.0], gammas=[0.1], refit=False).fit(X, y)


@pytest.mark.parametrize("estimator", [KernelSVC(tol=1e-6), LinearSVC(tol=1e-6)])
def test_ctrl_c_ends_a_search(monkeypatch, estimator):
    X, y = data(300, seed=5)
    search = PathCV(estimator, Cs=np.geomspace(1, 1e3, 4))
    runner = KernelFolds if isinstance(estimator, KernelSVC) else FittedFolds
    interrupt_inside(monkeypatch, runner, "run")
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    with pytest.raises(NotFittedError):
        search.predict(X)
