"""PathCV over regressors: the scores of separate fits, unstratified folds, epsilons, weights, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_regressor
from sklearn.datasets import make_friedman1
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import KernelSVR, PathCV, load, path, save
from maxmargin.selection.splits import splits_of

CS, GAMMAS, CV = [0.1, 1.0, 30.0], [0.1, 1.0], KFold(3)


def data(n=150, seed=0):
    return make_friedman1(n, 6, noise=1.0, random_state=seed)


@pytest.mark.usefixtures("array_api")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks use unscaled data
@parametrize_with_checks([PathCV(KernelSVR(), Cs=[0.1, 10], epsilons=[0.01, 0.1], cv=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", "neg_mean_squared_error"])
@pytest.mark.parametrize(
    ("changes", "epsilons"),
    [
        ({}, [0.0, 0.1, 1.0]),
        ({"loss": "squared-epsilon-insensitive"}, [0.0, 0.5]),
        ({"loss": "huber", "delta": 0.7}, None),
        ({"loss": "pinball", "quantile": 0.8123}, None),  # with 0.8 the intercept may be any of an interval
        ({"nu": 0.4}, None),
    ],
    ids=str,
)
def test_the_table_is_that_of_grid_search(changes, epsilons, scoring):
    X, y = data()
    model, grid = KernelSVR(tol=1e-10, **changes), {"C": CS, "gamma": GAMMAS}
    if epsilons is not None:
        grid["epsilon"] = epsilons
    theirs = GridSearchCV(model, grid, cv=CV, scoring=scoring).fit(X, y)
    ours = PathCV(model, Cs=CS[::-1], gammas=GAMMAS, epsilons=epsilons, cv=CV, scoring=scoring).fit(X, y)
    assert ours.start_ == ("cold" if "nu" in changes else "kernel-rows")
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for name in ("mean_test_score", "std_test_score", "split2_test_score"):
        assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-8, atol=1e-9)
    assert ours.best_params_ == theirs.best_params_
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))
    assert is_regressor(ours)
    assert not hasattr(ours, "classes_")


@pytest.mark.parametrize("loss", ["epsilon-insensitive", "squared-epsilon-insensitive", "huber", "pinball"])
def test_a_path_has_the_solutions_of_separate_fits(loss):
    """More rows than are solved at once; every model is certified and has the objective of a cold fit."""
    X, y = data(1300, 1)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    y = 1e6 + 1e3 * y
    model = KernelSVR(loss=loss, epsilon=500.0, delta=800.0, gamma=0.3, tol=1e-6)
    Cs = np.array([0.1, 3.0, 50.0]) * (1.0 if "squared" in loss or loss == "huber" else 1e3)
    found = path(model, X, y, Cs=Cs, sample_weight=weight)
    assert found.start == "kernel-rows"
    assert (found.dual_gaps <= 1e-6).all()
    for C, after in zip(Cs, found.estimators, strict=True):
        alone = KernelSVR(**{**model.get_params(), "C": C}).fit(X, y, weight)
        assert after.objective_ == pytest.approx(alone.objective_, rel=2e-6)
        assert_allclose(after.predict(X), alone.predict(X), atol=20.0)
    assert found.kernel_values[1:].sum() < found.kernel_values[0]


def test_folds_are_not_stratified_and_weights_are_repetitions():
    X, y = data(90)
    y[:45] = 7.0
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    one = PathCV(KernelSVR(tol=1e-10), Cs=CS, gammas=GAMMAS, cv=3).fit(X, y, weight)
    two = PathCV(KernelSVR(tol=1e-10), Cs=CS, gammas=GAMMAS, cv=3).fit(X[rows], y[rows])
    assert_allclose(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"], rtol=1e-8)
    sizes = [len(test) for _, test in splits_of(4, X, y, y, np.ones(90), stratified=False)]
    assert max(sizes) - min(sizes) <= 1


def test_what_was_set_is_kept_unless_a_grid_is_given():
    X, y = data(60)
    kept = PathCV(KernelSVR(gamma=0.2, epsilon=0.3), Cs=[1.0, 10.0], cv=2).fit(X, y)
    assert list(kept.best_params_) == ["C"]
    assert (kept.best_estimator_.gamma, kept.best_estimator_.epsilon) == (0.2, 0.3)
    open_gamma = PathCV(KernelSVR(), Cs=[1.0], cv=2).fit(X, y)
    assert len(open_gamma.cv_results_["params"]) == 5
    steps = make_pipeline(StandardScaler(), KernelSVR(gamma=0.1))
    inside = PathCV(steps, Cs=[1.0], epsilons=[0.1, 1.0], cv=2).fit(X, y)
    assert set(inside.best_params_) == {"kernelsvr__C", "kernelsvr__epsilon"}
    ridge = PathCV(Ridge(), alphas=[0.1, 10.0], cv=CV).fit(X, y)
    theirs = GridSearchCV(Ridge(), {"alpha": [10.0, 0.1]}, cv=CV).fit(X, y)
    assert_allclose(ridge.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_one_standard_error_keeps_gamma_and_epsilon():
    X, y = data(100)
    given = {"Cs": np.geomspace(0.1, 1e3, 7), "gammas": GAMMAS, "epsilons": [0.1, 1.0]}
    best = PathCV(KernelSVR(), **given).fit(X, y)
    simple = PathCV(KernelSVR(), rule="one-standard-error", **given).fit(X, y)
    for name in ("gamma", "epsilon"):
        assert simple.best_params_[name] == best.best_params_[name]
    assert simple.best_params_["C"] <= best.best_params_["C"]
    scores = [best.cv_results_[f"split{k}_test_score"][best.best_index_] for k in range(5)]
    assert simple.best_score_ >= best.best_score_ - np.std(scores, ddof=1) / np.sqrt(5)


def test_a_search_is_stored(tmp_path):
    X, y = data(60)
    search = PathCV(KernelSVR(), Cs=[1.0, 10.0], gammas=[0.1], epsilons=[0.1, 1.0], cv=2).fit(X, y)
    save(search, tmp_path / "search.maxmargin")
    again = load(tmp_path / "search.maxmargin")
    assert_array_equal(again.predict(X), search.predict(X))
    assert again.best_params_ == search.best_params_


@pytest.mark.parametrize(
    ("search", "match"),
    [
        (PathCV(epsilons=[0.1]), "no parameter epsilon"),
        (PathCV(KernelSVR(), epsilons=[-0.1]), "epsilons must be a list of at least one finite number >= 0"),
        (PathCV(KernelSVR(loss="huber"), epsilons=[0.1]), "loss='huber' the estimator does not use epsilon"),
        (PathCV(KernelSVR(nu=0.5), epsilons=[0.1]), "nu=0.5 the estimator does not use epsilon"),
    ],
)
def test_epsilons_without_effect_are_refused(search, match):
    X, y = data(40)
    with pytest.raises(ValueError, match=match):
        search.fit(X, y > y.mean() if search.estimator is None else y)


def test_a_path_of_several_problems_is_refused():
    with pytest.raises(ValueError, match="path needs one problem for each C"):
        KernelSVR(nu=0.5).path(*data(40), Cs=[1.0])


def test_what_cannot_be_scored_is_said():
    X = np.arange(8.0)[:, None]
    with pytest.raises(ValueError, match="y must be numbers; got 'low'"):
        PathCV(KernelSVR(), Cs=[1.0]).fit(X, np.array(["low", "high"] * 4, dtype=object))
    search = PathCV(KernelSVR(gamma=1.0), Cs=[1.0], cv=8)
    with (
        pytest.warns(UndefinedMetricWarning),
        pytest.raises(ValueError, match="R\\^2 needs at least two rows"),
    ):
        search.fit(X, X[:, 0])
