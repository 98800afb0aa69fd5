"""Where the folds of a search may share a kernel matrix, and where they must not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import KernelSVC, PathCV
from maxmargin.kernels import RBF
from maxmargin.selection.grid import grid_for
from maxmargin.selection.shared_kernel import can_share

CS, CV = [0.1, 1.0, 10.0], StratifiedKFold(4)


def unequal_features():
    """Folds whose training rows differ in scale, and so in what "scale" and "median" are."""
    X, y = make_classification(120, 5, n_informative=4, n_redundant=1, random_state=3)
    X[:30] *= 4.0
    return X, y


def assert_honest(search, estimator, grid, X, y, **limits):
    """The scores are those of scikit-learn's search, which fits every fold by itself."""
    theirs = GridSearchCV(estimator, grid, cv=search.cv, scoring=search.scoring, refit=False).fit(X, y)
    found, expected = (s.cv_results_["mean_test_score"] for s in (search, theirs))
    assert_allclose(found, expected, **limits)


@pytest.mark.parametrize(
    "changes",
    [
        {"gamma": "scale"},
        {"gamma": "median"},
        {"kernel": "poly", "coef0": 1.0},
        {"kernel": 2.0 * RBF("scale")},
    ],
    ids=str,
)
def test_a_gamma_that_is_a_word_is_that_of_the_training_rows(changes):
    X, y = unequal_features()
    model = KernelSVC(tol=1e-8, random_state=0, **changes)
    search = PathCV(model, Cs=CS, gammas="fixed", cv=CV, scoring="roc_auc").fit(X, y)
    assert_honest(search, model, {"C": CS}, X, y, atol=1e-12)


def test_numbers_are_shared_and_words_are_not():
    def shared(gammas, **changes):
        model = KernelSVC(**changes)
        return can_share(model, grid_for(model, CS, None, gammas, 100.0, None))

    assert shared([0.1, 0.2], gamma="scale")
    assert shared("fixed", gamma=0.1)
    assert shared("fixed", gamma="auto")  # one over the number of features, whatever the rows
    assert not shared("fixed", gamma="scale")
    assert not shared([0.1], decoder="weighted")


@pytest.mark.parametrize(
    ("decoder", "scoring"), [("coupling", "neg_log_loss"), ("weighted", "accuracy"), ("votes", "accuracy")]
)
def test_decoders_that_learn(decoder, scoring):
    X, y = load_iris(return_X_y=True)
    # The squared hinge has one intercept; the hinge's may be any point of an interval.
    model = KernelSVC(loss="squared-hinge", decoder=decoder, tol=1e-8, random_state=0)
    search = PathCV(model, Cs=[0.1, 1.0], gammas=[0.1], cv=CV, scoring=scoring).fit(X, y)
    assert_honest(search, model, {"C": [0.1, 1.0], "gamma": [0.1]}, X, y, atol=1e-5)


def test_probabilities_that_a_model_does_not_have_are_told_by_its_name():
    X, y = unequal_features()
    with pytest.raises(AttributeError, match=r"KernelSVC has none of .*predict_proba"):
        PathCV(KernelSVC(), Cs=[1.0], gammas=[0.1], scoring="neg_log_loss").fit(X, y)


@pytest.mark.parametrize(
    "kernel",
    ["linear", "precomputed", RBF(0.1), lambda X, Z: X @ Z.T],
    ids=["linear", "precomputed", "rbf", "function"],
)
def test_gammas_without_effect_are_refused(kernel):
    X, y = unequal_features()
    with pytest.raises(ValueError, match="takes no gamma from the estimator"):
        PathCV(KernelSVC(kernel=kernel), Cs=[1.0], gammas=[0.1, 1.0]).fit(X @ X.T, y)


def test_weights_reach_the_last_step_where_metadata_are_routed():
    X, y = unequal_features()
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)

    def scores():
        return PathCV(pipeline, Cs=CS, cv=CV).fit(X, y, weight).cv_results_["mean_test_score"]

    pipeline = make_pipeline(StandardScaler(), KernelSVC(gamma=0.1))
    expected = scores()
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            KernelSVC(gamma=0.1).set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
        )
        assert_allclose(scores(), expected)


def test_one_score_to_choose_by():
    X, y = unequal_features()
    with pytest.raises(ValueError, match="scoring must be one score"):
        PathCV(KernelSVC(), Cs=[1.0], scoring=["accuracy", "f1"]).fit(X, y)


def test_folds_may_be_masks():
    X, y = unequal_features()
    first = np.arange(len(y)) % 2 == 0
    masks, positions = [(first, ~first)], [(np.flatnonzero(first), np.flatnonzero(~first))]
    one, other = (
        PathCV(KernelSVC(gamma=0.1), Cs=CS, cv=cv).fit(X, y).cv_results_ for cv in (masks, positions)
    )
    assert_allclose(one["mean_test_score"], other["mean_test_score"], rtol=0)
