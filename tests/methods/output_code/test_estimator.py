"""Many classes by any binary classifier: scikit-learn's checks and reductions, one fit for all columns."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multiclass import OutputCodeClassifier as PeerClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.noisy_classes import LOGISTIC, Dictated, noisy

from maxmargin import KernelSVC, LinearProgramSVC, LinearSVC, OutputCodeClassifier
from maxmargin.codes import Code
from maxmargin.decoders import Hamming


@pytest.mark.usefixtures("array_api")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks use unscaled data
@parametrize_with_checks(
    [
        OutputCodeClassifier(GaussianNB(), code="one-vs-one", decoder="hamming"),
        OutputCodeClassifier(LinearSVC(tol=1e-8, class_weight={}), code="one-vs-rest"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---- against scikit-learn's reductions ----


@pytest.mark.parametrize("inner", [LOGISTIC, SVC(C=2.0), LinearSVC(tol=1e-8, class_weight={})], ids=str)
def test_one_vs_rest_is_that_of_scikit_learn(inner):
    X, y = noisy()
    model = OutputCodeClassifier(inner, code="one-vs-rest").fit(X, y)
    peer = OneVsRestClassifier(inner).fit(X, y)
    assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-12)
    assert_array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("inner", [LOGISTIC, SVC(C=2.0), RidgeClassifier()], ids=str)
def test_one_vs_one_votes_are_those_of_scikit_learn(inner):
    """Both break ties by the sum of margins; the peer adds at most a third of it, we at most a fifth."""
    X, y = noisy()
    model = OutputCodeClassifier(inner, code="one-vs-one").fit(X, y)
    peer = OneVsOneClassifier(inner).fit(X, y)
    assert_array_equal(model.predict(X), peer.predict(X))
    votes, theirs = model.decision_function(X), peer.decision_function(X)
    assert_array_equal(np.rint(votes), np.rint(theirs))


def test_on_the_matrix_of_scikit_learn_s_output_code():
    X, y = noisy(n_classes=5)
    code = Code.dense_random(5, 9, random_state=1)
    peer = PeerClassifier(LOGISTIC, code_size=9.5 / 5, random_state=Dictated(code.matrix)).fit(X, y)
    assert_array_equal(peer.code_book_, code.matrix)
    model = OutputCodeClassifier(LOGISTIC, code=code, decoder="squared").fit(X, y)
    theirs = np.column_stack([estimator.decision_function(X) for estimator in peer.estimators_])
    assert_allclose(model.column_outputs(X), theirs, atol=1e-12)
    assert_array_equal(model.predict(X), peer.predict(X))  # (1 - c f)^2 = (c - f)^2: the nearest row


def test_probabilities_become_outputs_between_minus_one_and_one():
    X, y = noisy()
    inner = KNeighborsClassifier(7)
    model = OutputCodeClassifier(inner, code="sparse-random", random_state=0).fit(X, y)
    F = model.column_outputs(X)
    for t, fitted in enumerate(model.estimators_):
        rows, targets = model.code_.column(y, t)
        own = clone(inner).fit(X[rows], targets)
        assert_allclose(F[:, t], own.predict_proba(X)[:, 1] - own.predict_proba(X)[:, 0])
        assert_array_equal(fitted.classes_, [0, 1])


# ---- one fit for all columns ----

CODED = [
    KernelSVC(C=2.0, gamma=0.1, tol=1e-8),
    LinearSVC(tol=1e-10),
    LinearProgramSVC(tol=1e-9),
]


@pytest.mark.parametrize("inner", CODED, ids=str)
@pytest.mark.parametrize("code", ["designed", "sparse-random", "one-vs-one"])
def test_one_fit_answers_as_clones_do(inner, code):
    X, y = noisy()
    together = OutputCodeClassifier(inner, code=code, random_state=0).fit(X, y)
    apart = OutputCodeClassifier(clone(inner).set_params(class_weight={}), code=code, random_state=0).fit(
        X, y
    )
    assert together.code_ == apart.code_
    assert len(together.estimators_) == 1
    assert len(apart.estimators_) == apart.code_.n_columns
    assert_allclose(together.column_outputs(X), apart.column_outputs(X), atol=1e-5)
    assert_allclose(together.objective_, apart.objective_, rtol=1e-6)
    assert together.status_ == apart.status_ == "converged"
    assert max(together.dual_gap_, apart.dual_gap_) <= inner.tol
    assert len(together.history_) == len(apart.history_) == apart.code_.n_columns


def test_columns_of_ours_count_kernel_values_once():
    """With a code, the estimator of ours is the one that it is with code=: nothing is computed twice."""
    X, y = noisy()
    code = Code.designed(4, random_state=0)
    model = OutputCodeClassifier(KernelSVC(), code=code).fit(X, y)
    own = KernelSVC(code=code).fit(X, y)
    assert_array_equal(model.decision_function(X), own.decision_function(X))
    work = [check.kernel_values for history in model.history_ for check in history]
    assert work == [check.kernel_values for history in own.history_ for check in history]


def test_joint_problems_and_class_weights_of_the_estimator_belong_to_columns():
    X, y = noisy()
    for inner in (LinearProgramSVC(multi_class="joint"), LinearSVC(class_weight="balanced")):
        model = OutputCodeClassifier(inner, code="one-vs-rest").fit(X, y)
        assert len(model.estimators_) == 4
        for t, fitted in enumerate(model.estimators_):
            own = clone(inner).fit(X, (y == t).astype(int))
            assert_array_equal(fitted.decision_function(X), own.decision_function(X))


# ---- as an estimator ----


def test_clone_pickle_and_nested_parameters():
    X, y = noisy()
    model = OutputCodeClassifier(make_pipeline(StandardScaler(), LinearSVC()), code="one-vs-one")
    model.set_params(estimator__linearsvc__C=0.25, decoder="hinge")
    copy = pickle.loads(pickle.dumps(model.fit(X, y)))
    assert_array_equal(copy.decision_function(X), model.decision_function(X))
    assert {fitted[-1].C for fitted in copy.estimators_} == {0.25}
    assert copy.dual_gap_ == max(fitted[-1].dual_gap_ for fitted in model.estimators_)
    fresh = clone(model)
    assert fresh.get_params()["estimator__linearsvc__C"] == 0.25
    with pytest.raises(NotFittedError):
        fresh.predict(X)


@pytest.mark.parametrize("inner", [KernelSVC(), SVC()], ids=str)
def test_grid_search_over_the_estimator_s_parameters(inner):
    X, y = noisy()
    search = GridSearchCV(OutputCodeClassifier(inner, random_state=0), {"estimator__C": [1e-3, 10.0]}, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"estimator__C": 10.0}
    assert search.best_score_ > 0.6


def test_outputs_and_stored_outputs_decode_alike():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, np.array(list("abcdefghij"))[y[:300]]
    model = OutputCodeClassifier(LinearSVC(), code="sparse-random", decoder=Hamming(), random_state=0).fit(
        X, y
    )
    assert_array_equal(model.decode(model.column_outputs(X)), model.predict(X))
    assert not hasattr(model, "predict_proba")


BAD = {
    "a regressor": (LinearRegression(), "estimator must be a classifier; got the regressor LinearRegression"),
    "a class": (SVC, "must be an instance of a classifier"),
    "no outputs": (PeerClassifier(SVC()), "must have decision_function or predict_proba"),
    "a number": (3, "with scikit-learn's interface; got 3"),
}


@pytest.mark.parametrize("case", BAD)
def test_estimators_that_cannot_be_columns_are_refused(case):
    inner, match = BAD[case]
    with pytest.raises(ValueError, match=match):
        OutputCodeClassifier(inner).fit(*noisy())


def test_bad_data_and_parameters_are_refused():
    X, y = noisy()
    model = OutputCodeClassifier(LOGISTIC)
    with pytest.raises(ValueError, match=r"at least two classes.*\[1\]"):
        model.fit(X, np.ones(len(y), dtype=int))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="continuous"):
        model.fit(X, X[:, 0])
    with pytest.raises(ValueError, match="code must be a Code or one of"):
        clone(model).set_params(code="ovo").fit(X, y)
    with pytest.raises(ValueError, match="cv must be an integer >= 2"):
        clone(model).set_params(cv=1).fit(X, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(NotFittedError):  # a fit that failed leaves nothing to predict with
        model.predict(X)
