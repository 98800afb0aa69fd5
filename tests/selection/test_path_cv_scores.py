"""The scores of PathCV are those of separate fits, and no fold sees another's labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    ParameterGrid,
    ShuffleSplit,
    StratifiedKFold,
)
from support.path_searches import CS, EXACT, GAMMAS, data, honest, scores_of

from maxmargin import (
    KernelSVC,
    LagrangianSVC,
    LinearSVC,
    PathCV,
)
from maxmargin.selection import Grid, KernelFolds, shared_kernel
from maxmargin.selection.splits import splits_of

CASES = [
    ({}, 2),
    ({"class_weight": "balanced"}, 2),
    ({"loss": "squared-hinge", "code": "one-vs-rest"}, 3),
    ({"class_weight": {0: 0.0}}, 4),
    ({"kernel": "laplacian"}, 2),
    ({"kernel": "exponential"}, 3),
    ({"kernel": "polynomial", "coef0": 1.0}, 3),
]
# At one C of the second case no coefficient is inside its bounds: an interval of intercepts is optimal.
CASES_OF_ONE_INTERCEPT = [
    ({"loss": "squared-hinge", **changes} if n == 2 else changes, n) for changes, n in CASES
]


def weighted(n_classes):
    """Rows, a third of them of weight 0, and the folds of the others."""
    X, y = data(120, n_classes)
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    splitter = StratifiedKFold(3)
    splits = [(a[weight[a] > 0], b[weight[b] > 0]) for a, b in splitter.split(X, y)]
    return X, y, weight, splitter, splits


@pytest.mark.parametrize(
    ("cache_mb", "tol", "changes", "n_classes"),
    [
        *(("auto", EXACT.tol, *case) for case in CASES),
        *((0.01, EXACT.tol, *case) for case in CASES),  # fits of their own
        *(("auto", 1e-6, *case) for case in CASES_OF_ONE_INTERCEPT),  # one call
    ],
    ids=str,
)
def test_scores_equal_separate_fits(cache_mb, tol, changes, n_classes):
    X, y, weight, splitter, splits = weighted(n_classes)
    exact = clone(EXACT).set_params(cache_mb=cache_mb, **changes)
    search = PathCV(clone(exact).set_params(tol=tol), Cs=CS, gammas=GAMMAS, cv=splitter).fit(X, y, weight)
    points = list(ParameterGrid({"C": CS, "gamma": GAMMAS}))
    assert search.cv_results_["params"] == points
    assert_allclose(scores_of(search), honest(exact, points, splits, X, y, weight), atol=1e-12)
    assert not search.cv_results_["eliminated"].any()
    assert (search.cv_results_["max_dual_gap"] <= tol).all()


@pytest.mark.parametrize(("changes", "n_classes"), CASES, ids=str)
def test_decision_values_of_one_call_are_those_of_separate_fits(changes, n_classes, monkeypatch):
    """To a few times the root of the tolerance, as the gap allows; of two classes, up to the intercept."""
    X, y, weight, _, splits = weighted(n_classes)
    model = clone(EXACT).set_params(tol=1e-6, **changes)
    folds = KernelFolds(
        model, X, y, weight, splits, Grid("C", np.array(CS), "gamma", np.array(GAMMAS[:1])), None, 1
    )

    def never(*arguments, **options):
        raise AssertionError("not solved in one call")

    monkeypatch.setattr(shared_kernel, "svm_path", never)
    for fold, (train, test) in zip(folds.answers(0, [0, 1, 2], np.arange(len(CS))), splits, strict=True):
        for C, found in zip(CS, fold.decisions, strict=True):
            alone = clone(EXACT).set_params(C=C, gamma=GAMMAS[0], **changes)
            alone.fit(X[train], y[train], weight[train])
            assert_array_equal(fold.classes, alone.classes_)
            difference = found - alone.decision_function(X[test])
            if n_classes == 2:
                difference = difference - difference.mean()
            assert_allclose(difference, 0.0, atol=5e-3)


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
def test_scores_of_other_estimators_equal_separate_fits(estimator):
    X, y = data(100, 3)
    search = PathCV(estimator, Cs=CS, gammas="fixed", cv=StratifiedKFold(3)).fit(X, y)
    splits = list(StratifiedKFold(3).split(X, y))
    assert_allclose(scores_of(search), honest(estimator, [{"C": C} for C in CS], splits, X, y), atol=1e-12)


@pytest.mark.parametrize("fold", range(3))
@pytest.mark.parametrize("tol", [1e-3, 1e-9], ids=["one call", "exact"])
def test_labels_of_a_fold_do_not_reach_fits_without_it(fold, tol, monkeypatch):
    """Other labels for the rows of a fold leave every bit of what is trained on the others."""
    X, y = data(150)
    splits = list(StratifiedKFold(3).split(X, y))
    poisoned = y.copy()
    poisoned[splits[fold][1]] = np.random.default_rng(0).permutation(1 - y[splits[fold][1]])
    seen = []
    from maxmargin.selection import shared_kernel

    together, path = shared_kernel.solve_stored, shared_kernel.svm_path

    def columns(*arguments):
        found = together(*arguments)
        seen.extend(zip(found.coef, found.intercept, strict=True))
        return found

    def column(*arguments, **options):
        found = path(*arguments, **options)
        seen.append(([result.coef for result in found], [result.intercept for result in found]))
        return found

    monkeypatch.setattr(shared_kernel, "solve_stored", columns)
    monkeypatch.setattr(shared_kernel, "svm_path", column)
    for labels in (y, poisoned):
        PathCV(KernelSVC(tol=tol), Cs=CS, gammas=GAMMAS, cv=splits, refit=False, n_jobs=1).fit(X, labels)
    assert len(seen) == 2 * 3 * len(GAMMAS)  # a column for each fold
    first, second = np.split(np.arange(len(seen)), 2)
    for g in range(len(GAMMAS)):
        for before, after in zip(seen[first[3 * g + fold]], seen[second[3 * g + fold]], strict=True):
            assert_array_equal(before, after)


def test_repeated_rows_do_not_leak_between_folds():
    """Random labels, and every row twice: whoever looks at the test rows is right about more than half."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    X, y = np.vstack([X, X]), np.concatenate([y, y])
    search = PathCV(KernelSVC(), Cs=[1e3], gammas=[100.0]).fit(X, y)
    assert search.best_score_ < 0.65
    leaky = PathCV(KernelSVC(), Cs=[1e3], gammas=[100.0], cv=ShuffleSplit(3, random_state=0)).fit(X, y)
    assert leaky.best_score_ > 0.8  # what rows of equal features in both parts would have done


def test_folds_depend_only_on_the_weighted_rows():
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
