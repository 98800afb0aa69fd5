"""Cross-validation over a grid: honest folds, the table of scikit-learn, shared work."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import get_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    ParameterGrid,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.interrupts import interrupt_inside

from maxmargin import (
    KernelPegasos,
    KernelSVC,
    LagrangianSVC,
    LeastSquaresClassifier,
    LinearSVC,
    PathCV,
    SparseKernelClassifier,
    _native,
)
from maxmargin.kernels import RBF, Laplacian
from maxmargin.selection.grid import LAMBDAS, Grid, chosen_point
from maxmargin.selection.search import FittedFolds
from maxmargin.selection.shared_kernel import HeldKernel, KernelFolds
from maxmargin.selection.splits import splits_of

CS, GAMMAS = [0.1, 1.0, 10.0], [0.05, 0.2]
EXACT = KernelSVC(tol=1e-10)


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


def data(n=150, n_classes=2, seed=0, dtype=np.float64):
    X, y = make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=seed
    )
    return StandardScaler().fit_transform(X).astype(dtype), y


def honest(estimator, points, splits, X, y, weight=None, scoring="accuracy"):
    """Scores (n_points, n_folds) of a cold fit for each fold and point."""
    scorer, weight = get_scorer(scoring), np.ones(len(y)) if weight is None else weight
    return np.array(
        [
            [
                scorer(
                    clone(estimator).set_params(**point).fit(X[train], y[train], weight[train]),
                    X[test],
                    y[test],
                    sample_weight=weight[test],
                )
                for train, test in splits
            ]
            for point in points
        ]
    )


def scores_of(search):
    return np.array([search.cv_results_[f"split{k}_test_score"] for k in range(search.n_splits_)]).T


# ---- honest scores ----


@pytest.mark.parametrize("cache_mb", ["auto", 0.01], ids=["one matrix", "fits of its own"])
@pytest.mark.parametrize(
    ("changes", "n_classes"),
    [
        ({}, 2),
        ({"class_weight": "balanced"}, 2),
        ({"loss": "squared-hinge", "code": "one-vs-rest"}, 3),
        ({"class_weight": {0: 0.0}}, 4),
        ({"kernel": "laplacian"}, 2),
        ({"kernel": "polynomial", "coef0": 1.0}, 3),
    ],
    ids=str,
)
def test_scores_are_those_of_honest_fits(changes, n_classes, cache_mb):
    X, y = data(120, n_classes)
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    estimator = clone(EXACT).set_params(cache_mb=cache_mb, **changes)
    splitter = StratifiedKFold(3)
    search = PathCV(estimator, Cs=CS, gammas=GAMMAS, cv=splitter).fit(X, y, weight)
    points = list(ParameterGrid({"C": CS, "gamma": GAMMAS}))
    assert search.cv_results_["params"] == points
    splits = [(a[weight[a] > 0], b[weight[b] > 0]) for a, b in splitter.split(X, y)]
    assert_allclose(scores_of(search), honest(estimator, points, splits, X, y, weight), atol=1e-12)
    assert not search.cv_results_["eliminated"].any()
    assert (search.cv_results_["max_dual_gap"] <= 1e-10).all()


@pytest.mark.parametrize("scoring", ["roc_auc", "balanced_accuracy", "f1", "neg_brier_score"])
def test_other_scorers(scoring):
    X, y = data(100)
    points = [{"C": C} for C in CS]
    estimator = clone(EXACT).set_params(gamma=0.1)
    if scoring == "neg_brier_score":  # it wants probabilities
        from maxmargin import CalibratedSVC

        pipeline = CalibratedSVC(estimator)
        search = PathCV(pipeline, Cs=CS, cv=StratifiedKFold(3), scoring=scoring).fit(X, y)
        points, estimator = [{"estimator__C": C} for C in CS], pipeline
    else:
        search = PathCV(estimator, Cs=CS, gammas="fixed", cv=StratifiedKFold(3), scoring=scoring).fit(X, y)
    splits = list(StratifiedKFold(3).split(X, y))
    assert_allclose(scores_of(search), honest(estimator, points, splits, X, y, scoring=scoring), atol=1e-7)


@pytest.mark.parametrize("estimator", [LinearSVC(tol=1e-9), LagrangianSVC(tol=1e-9, kernel="rbf")], ids=str)
def test_scores_of_other_estimators_are_honest(estimator):
    X, y = data(100, 3)
    search = PathCV(estimator, Cs=CS, gammas="fixed", cv=StratifiedKFold(3)).fit(X, y)
    splits = list(StratifiedKFold(3).split(X, y))
    assert_allclose(scores_of(search), honest(estimator, [{"C": C} for C in CS], splits, X, y), atol=1e-12)


@pytest.mark.parametrize("fold", range(3))
def test_a_poisoned_fold_is_seen_by_no_fit_without_it(fold, monkeypatch):
    """Other labels for the rows of a fold leave every bit of what is trained on the others."""
    X, y = data(150)
    splits = list(StratifiedKFold(3).split(X, y))
    poisoned = y.copy()
    poisoned[splits[fold][1]] = np.random.default_rng(0).permutation(1 - y[splits[fold][1]])
    seen = []
    from maxmargin.selection import shared_kernel as path_kernel

    def spy(*arguments, **options):
        seen.append(path(*arguments, **options))
        return seen[-1]

    path = path_kernel.svm_path
    monkeypatch.setattr(path_kernel, "svm_path", spy)
    for labels in (y, poisoned):
        PathCV(KernelSVC(), Cs=CS, gammas=GAMMAS, cv=splits, refit=False, n_jobs=1).fit(X, labels)
    first, second = np.split(np.arange(len(seen)), 2)
    for g in range(len(GAMMAS)):
        for before, after in zip(seen[first[3 * g + fold]], seen[second[3 * g + fold]]):
            assert_array_equal(before.coef, after.coef)
            assert before.intercept == after.intercept


def test_a_fold_cannot_be_learnt_by_heart():
    """Random labels, and every row twice: whoever looks at the test rows is right about more than half."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    X, y = np.vstack([X, X]), np.concatenate([y, y])
    search = PathCV(KernelSVC(), Cs=[1e3], gammas=[100.0]).fit(X, y)
    assert search.best_score_ < 0.65
    leaky = PathCV(KernelSVC(), Cs=[1e3], gammas=[100.0], cv=ShuffleSplit(3, random_state=0)).fit(X, y)
    assert leaky.best_score_ > 0.8  # what rows of equal features in both parts would have done


# ---- the table ----


def test_the_table_is_that_of_grid_search():
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
def test_elimination_leaves_the_best_point_and_says_what_it_left_out(scale):
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


# ---- one matrix for all ----


@pytest.mark.parametrize("kernel", [RBF, Laplacian])
@pytest.mark.parametrize("room", [10**9, 0], ids=["distances", "squares"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_held_values_are_those_of_the_kernel(kernel, room, dtype):
    X = data(90, dtype=dtype)[0]
    index = np.random.default_rng(0).permutation(90)[:70]
    held = HeldKernel(X, index, 2, room)
    for gamma in (0.01, 0.02, 0.08, 0.1, 0.05):
        values = held.at(kernel(gamma), several=True)
        expected = kernel(gamma)(X[index])
        assert_allclose(values.X, expected, rtol=1e-4 if dtype == np.float32 else 1e-12, atol=1e-7)
        A = np.random.default_rng(1).normal(size=(5, 2))
        rows, others = np.array([3, 1, 60]), np.array([0, 5, 9, 33, 69])
        some = expected[np.ix_(rows, others)].astype(float)
        assert_allclose(values.matmul(rows, others, A), some @ A, atol=1e-5)
        assert_allclose(values.products(rows, others, A), some @ A, atol=1e-5)
        out = np.zeros((4, 7), dtype=dtype)
        values.fill(rows, others, (out, np.array([2, 0, 3]), 1))
        assert_allclose(out[[2, 0, 3], 1:6], some, atol=1e-5)
    computed = 1 if room and kernel is RBF else 3  # 0.1 and 0.05 are no doubles of what was there
    assert held.n_values == computed * 70**2


def test_rows_are_gathered_within_bounds_only():
    K, out, none = np.zeros((4, 4)), np.zeros((2, 3)), np.zeros(1, dtype=np.uint8)
    fine = {"which": [3], "columns": [0, 3], "slots": [1], "first": 1}
    for wrong in (
        {"which": [4]},
        {"which": [-1]},
        {"columns": [4]},
        {"slots": [2]},
        {"first": 2},
        {"slots": [0, 1]},
    ):
        which, columns, slots, first = (fine | wrong).values()
        with pytest.raises(ValueError, match="do not fit each other"):
            _native.gather_rows(K, *map(np.array, (which, columns)), out, np.array(slots), first, 1, none)


def test_threads_order_weights_and_sparse_rows_change_nothing():
    X, y = data(120, 3)
    X[np.abs(X) < 0.3] = 0.0
    weight = np.random.default_rng(3).integers(0, 3, len(y))
    given = {"Cs": CS, "cv": 3, "random_state": 0}
    plain = PathCV(KernelSVC(), n_jobs=1, **given).fit(X, y, weight)
    rows = np.random.default_rng(4).permutation(np.repeat(np.arange(len(y)), weight))
    others = {
        "threads": PathCV(KernelSVC(), n_jobs=3, **given).fit(X, y, weight),
        "repeated": PathCV(KernelSVC(), **given).fit(X[rows], y[rows]),
    }
    for other in others.values():
        assert_array_equal(scores_of(other), scores_of(plain))
        assert_array_equal(other.decision_function(X), plain.decision_function(X))
    thin = PathCV(KernelSVC(), **given).fit(sparse.csr_array(X), y, weight)
    assert_allclose(scores_of(thin), scores_of(plain), atol=0.03)
    workers = PathCV(LeastSquaresClassifier(), Cs=CS, cv=3, n_jobs=2).fit(X, y, weight)
    alone = PathCV(LeastSquaresClassifier(), Cs=CS, cv=3).fit(X, y, weight)
    assert_array_equal(scores_of(workers), scores_of(alone))


def test_kernel_matrices_and_objects():
    X, y = data(90)
    splits = list(StratifiedKFold(3).split(X, y))
    plain = PathCV(clone(EXACT).set_params(gamma=0.1), Cs=CS, gammas="fixed", cv=splits).fit(X, y)
    K = rbf_kernel(X, gamma=0.1)
    matrix = PathCV(clone(EXACT).set_params(kernel="precomputed"), Cs=CS, cv=splits).fit(K, y)
    assert_array_equal(scores_of(matrix), scores_of(plain))
    assert_array_equal(matrix.predict(K), plain.predict(X))

    def by_number(left, right):
        return K[np.ix_([int(name) for name in left], [int(name) for name in right])]

    names = [str(k) for k in range(len(y))]
    objects = PathCV(clone(EXACT).set_params(kernel=by_number), Cs=CS, cv=splits).fit(names, y)
    assert_array_equal(scores_of(objects), scores_of(plain))
    dealt = PathCV(clone(EXACT).set_params(kernel="precomputed"), Cs=CS, cv=3).fit(K, y)
    assert dealt.n_splits_ == 3


# ---- folds ----


def test_folds_are_a_function_of_the_weighted_rows():
    X, y = data(61)
    weight = np.random.default_rng(0).integers(0, 3, 61).astype(float)
    splits = splits_of(4, X, y, y, weight)
    assert sorted(np.concatenate([test for _, test in splits])) == np.flatnonzero(weight).tolist()
    rows = np.repeat(np.arange(61), weight.astype(int))
    again = splits_of(4, X[rows], y[rows], y[rows], np.ones(len(rows)))
    for (train, test), (train_again, test_again) in zip(splits, again):
        assert set(rows[test_again]) == set(test)
        assert set(rows[train_again]) == set(train)
        assert not set(train) & set(test)


def test_groups_and_folds_of_one_class():
    X, y = data(60)
    groups = np.arange(60) // 6
    search = PathCV(EXACT, Cs=CS, gammas=[0.1], cv=GroupKFold(5)).fit(X, y, groups=groups)
    splits = list(GroupKFold(5).split(X, y, groups))
    assert_allclose(
        scores_of(search), honest(EXACT, [{"C": C, "gamma": 0.1} for C in CS], splits, X, y), atol=1e-12
    )
    order = np.argsort(y, kind="stable")
    halves = [(order[:20], order[20:]), (order[20:], order[:20])]
    for estimator in (EXACT, LinearSVC()):  # the first fold knows class 0 alone
        search = PathCV(estimator, Cs=[1.0], cv=halves, gammas="fixed").fit(X, y)
        assert scores_of(search)[0, 0] == np.mean(y[order[20:]] == 0)


# ---- as an estimator ----


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
    assert search.start_ == "support-vectors"
    assert search.best_estimator_.n_support_ <= 10
    assert search.best_estimator_.get_params()["alpha"] == search.best_params_["alpha"]
    assert search.predict_proba(X).shape == (150, 3)


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


def test_fits_that_stop_early_are_told():
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
