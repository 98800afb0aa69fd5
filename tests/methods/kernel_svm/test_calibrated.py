"""Probabilities of the exact SVM: from rows out of fold, calibrated, and never against the prediction."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import CalibratedSVC, KernelSVC, LinearSVC
from maxmargin.calibration.curves import SigmoidCalibrator
from maxmargin.calibration.scores import CALIBRATIONS
from maxmargin.codes import Code
from maxmargin.data.folds import stratified_folds
from maxmargin.kernels import RBF
from maxmargin.kernels.data import KernelData
from maxmargin.methods.kernel_svm.out_of_fold import memory, out_of_fold
from maxmargin.methods.kernel_svm.problem import SvmProblem
from maxmargin.methods.kernel_svm.solve import working_sets
from maxmargin.solving.result import Status, Stop

every_method = pytest.mark.parametrize("method", CALIBRATIONS)
every_loss = pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
every_code = pytest.mark.parametrize(
    "code", ["one-vs-one", "one-vs-rest", Code([[1, 1, 0, 1], [-1, 0, 1, 1], [0, -1, -1, 1], [-1, 1, 1, -1]])]
)
DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "two noisy classes": lambda: make_classification(800, 10, n_informative=5, flip_y=0.2, random_state=0),
    "four noisy classes": lambda: noisy(900),
}


def noisy(n, n_classes=4):
    return make_classification(n, 10, n_informative=8, n_classes=n_classes, flip_y=0.1, random_state=1)


def halves(name):
    X, X_test, y, y_test = train_test_split(*DATA[name](), test_size=0.5, random_state=0)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test), y, y_test


@pytest.mark.usefixtures("array_api")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks use unscaled data
@parametrize_with_checks(
    [CalibratedSVC(), CalibratedSVC(KernelSVC(code="one-vs-rest"), method="isotonic", cv=3)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---- out of fold ----


def problem_of(n=300, squared=False, seed=0, dtype=np.float64):
    X, y = make_classification(n, 8, n_informative=4, flip_y=0.1, random_state=seed)
    X = StandardScaler().fit_transform(X).astype(dtype)
    cost = np.random.default_rng(seed).uniform(0.5, 2.0, n)
    kernel = KernelData(RBF(0.1), X, np.arange(n))
    return X, SvmProblem(kernel, np.where(y == 1, 1.0, -1.0), cost, squared)


@pytest.mark.parametrize("n_bytes", [1, 10**9], ids=["rows", "matrix"])
@pytest.mark.parametrize("squared", [False, True])
def test_fits_without_a_fold_are_those_of_the_other_rows_alone(squared, n_bytes):
    X, problem = problem_of(squared=squared)
    fold, stop = stratified_folds((problem.y > 0).astype(int), 4), Stop(tol=1e-9, max_iter=100_000)
    whole = working_sets(problem, stop=stop, cache_bytes=10**8)
    fits = out_of_fold(problem, whole.coef, fold, 4, stop=stop, cache_bytes=n_bytes)
    assert set(fits.status) == {Status.CONVERGED}
    assert fits.gap <= 1e-9
    K = rbf_kernel(X, gamma=0.1)
    for k in range(4):
        held, rows = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        assert (fits.coef[held, k] == 0.0).all()  # a fold knows nothing of its own rows
        alone = SvmProblem(KernelData(RBF(0.1), X[rows], np.arange(len(rows))), *of(problem, rows))
        oracle = working_sets(alone, stop=stop, cache_bytes=10**8)
        expected = K[np.ix_(held, rows)] @ oracle.coef + oracle.intercept
        assert_allclose(fits.outputs[held], expected, atol=1e-3)
        assert_allclose(fits.outputs[held], K[held] @ fits.coef[:, k] + fits.intercept[k], atol=1e-9)
        a = fits.coef[rows, k]
        g = alone.y - K[np.ix_(rows, rows)] @ a - alone.ridge * a
        gap = alone.gap(slice(None), a, g, fits.intercept[k])
        assert 0.0 <= gap <= 1e-8 * alone.dual(slice(None), a, g)
        assert abs(a.sum()) <= 1e-9


def of(problem, rows):
    return problem.y[rows], problem.cost[rows], problem.squared


def test_outputs_are_those_of_scikit_learn_out_of_fold():
    X, problem = problem_of()
    fold, stop = stratified_folds((problem.y > 0).astype(int), 3), Stop(tol=1e-10, max_iter=100_000)
    whole = working_sets(problem, stop=stop, cache_bytes=10**8)
    fits = out_of_fold(problem, whole.coef, fold, 3, stop=stop, cache_bytes=10**8)
    for k in range(3):
        rows, held = fold != k, fold == k
        model = SVC(C=1.0, gamma=0.1, tol=1e-8).fit(X[rows], problem.y[rows], problem.cost[rows])
        assert_allclose(fits.outputs[held], model.decision_function(X[held]), atol=1e-3)


def test_folds_share_kernel_values():
    """All folds together compute the matrix once, or little more than one product and what they work on."""
    _, problem = problem_of(n=900)
    fold, stop = stratified_folds((problem.y > 0).astype(int), 5), Stop(tol=1e-3, max_iter=100_000)
    whole = working_sets(problem, stop=stop, cache_bytes=10**8)
    problem.kernel.n_values = 0
    fits = out_of_fold(problem, whole.coef, fold, 5, stop=stop, cache_bytes=memory(900, np.float64))
    assert fits.kernel_values == 900**2


def test_a_fold_that_leaves_one_class_is_constant():
    _, problem = problem_of(n=40)
    fold = (problem.y > 0).astype(int)
    fits = out_of_fold(problem, np.zeros(40), fold, 2, stop=Stop(), cache_bytes=10**6)
    assert_array_equal(fits.outputs, -problem.y)


def test_folds_have_their_share_of_each_class():
    labels = np.random.default_rng(0).integers(0, 5, 203)
    fold = stratified_folds(labels, 4)
    counts = np.array([np.bincount(fold[labels == g], minlength=4) for g in range(5)])
    assert np.ptp(counts, axis=1).max() <= 1
    assert np.ptp(counts.sum(axis=0)) <= 1


# ---- probabilities ----


@every_method
@pytest.mark.parametrize("name", DATA)
def test_probabilities_are_proper_and_their_argmax_is_predict(name, method):
    X, X_test, y, _ = halves(name)
    model = CalibratedSVC(KernelSVC(C=10), method=method).fit(X, y)
    P = model.predict_proba(X_test)
    assert P.shape == (len(X_test), len(model.classes_))
    assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    assert ((P >= 0) & (P <= 1)).all()
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X_test))
    assert_array_equal(model.predict(X_test), model.estimator_.predict(X_test))
    assert_array_equal(model.decision_function(X_test), model.estimator_.decision_function(X_test))
    with np.errstate(divide="ignore"):
        assert_array_equal(model.predict_log_proba(X_test), np.log(P))
    assert model.fold_gap_ <= 1e-3


@every_method
@every_code
def test_every_code_has_probabilities_that_agree(code, method):
    X, y = noisy(300)
    model = CalibratedSVC(KernelSVC(code=code), method=method).fit(X[:200], y[:200])
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("name", ["breast cancer", "digits", "two noisy classes", "four noisy classes"])
def test_log_loss_is_that_of_scikit_learn_or_better(name):
    X, X_test, y, y_test = halves(name)
    ours = CalibratedSVC(KernelSVC(C=10)).fit(X, y)
    theirs = CalibratedClassifierCV(SVC(C=10), ensemble=False).fit(X, y)
    loss = log_loss(y_test, ours.predict_proba(X_test))
    assert loss <= log_loss(y_test, theirs.predict_proba(X_test)) + 0.01


def test_log_loss_is_far_below_that_of_scores_and_of_a_curve_for_rows_trained_on():
    X, X_test, y, y_test = halves("two noisy classes")
    model = CalibratedSVC(KernelSVC(C=100)).fit(X, y)
    f, loss = model.decision_function(X_test), log_loss(y_test, model.predict_proba(X_test))
    assert loss < log_loss(y_test, 1 / (1 + np.exp(-f))) - 0.03
    in_sample = SigmoidCalibrator().fit(model.decision_function(X), y)
    assert loss < log_loss(y_test, in_sample.predict(f)) - 0.1


@every_loss
def test_two_classes_are_the_curve_of_outputs_out_of_fold(loss):
    X, _, y, _ = halves("two noisy classes")
    given = list(KFold(4).split(X))
    model = CalibratedSVC(KernelSVC(C=2, gamma=0.1, loss=loss, tol=1e-8), cv=given).fit(X, y)
    outputs = np.empty(len(y))
    for train, test in given:
        fold = KernelSVC(C=2, gamma=0.1, loss=loss, tol=1e-8).fit(X[train], y[train])
        outputs[test] = fold.decision_function(X[test])
    curve = SigmoidCalibrator().fit(outputs, y)
    f = model.decision_function(X)
    assert_allclose(model.calibrator_.calibrator_.predict(f), curve.predict(f), atol=1e-4)


# ---- promises ----


@pytest.mark.parametrize("n_classes", [2, 4])
def test_threads_change_no_bit(n_classes):
    X, y = noisy(400, n_classes)
    first = CalibratedSVC(KernelSVC(C=10), n_jobs=1).fit(X, y).predict_proba(X)
    for n_jobs in (2, 4):
        assert_array_equal(CalibratedSVC(KernelSVC(C=10), n_jobs=n_jobs).fit(X, y).predict_proba(X), first)


@every_method
def test_weights_equal_repetitions_and_order_does_not_matter(method):
    X, y = noisy(250)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 3, size=len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    weighted = CalibratedSVC(method=method).fit(X, y, sample_weight=weight)
    repeated = CalibratedSVC(method=method).fit(X[rows], y[rows])
    assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_class_weights_are_sample_weights():
    X, y = noisy(250, 2)
    by_class = CalibratedSVC(KernelSVC(class_weight={0: 2.0})).fit(X, y)
    by_sample = CalibratedSVC().fit(X, y, np.where(y == 0, 2.0, 1.0))
    assert_array_equal(by_class.predict_proba(X), by_sample.predict_proba(X))


def test_dense_is_sparse_and_float32_is_nearly_float64():
    X, y = noisy(250)
    X = X.astype(np.float32).astype(np.float64)  # or rows would be others, and so their folds
    X[np.abs(X) < 0.5] = 0.0
    model = CalibratedSVC(KernelSVC(tol=1e-8))
    P = clone(model).fit(X, y).predict_proba(X)
    assert_allclose(clone(model).fit(sparse.csr_array(X), y).predict_proba(sparse.csr_array(X)), P, atol=1e-3)
    single = X.astype(np.float32)
    assert_allclose(clone(model).fit(single, y).predict_proba(single), P, atol=5e-3)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_precomputed_and_callable_kernels_are_kernels_like_others(n_classes):
    X, y = noisy(300, n_classes)
    X, X_test, y = X[:200], X[200:], y[:200]
    splits = list(KFold(3).split(X))  # canonical rows have another order, and so other folds
    P = CalibratedSVC(KernelSVC(gamma=0.05, tol=1e-8), cv=splits).fit(X, y).predict_proba(X_test)
    matrix = CalibratedSVC(KernelSVC(kernel="precomputed", tol=1e-8), cv=splits)
    K, K_test = rbf_kernel(X, gamma=0.05), rbf_kernel(X_test, X, gamma=0.05)
    assert_allclose(matrix.fit(K, y).predict_proba(K_test), P, atol=1e-3)
    function = CalibratedSVC(KernelSVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.05), tol=1e-8), cv=splits)
    assert_allclose(function.fit(X, y).predict_proba(X_test), P, atol=1e-3)
    again = CalibratedSVC(KernelSVC(kernel="precomputed", tol=1e-8)).fit(K, y).predict_proba(K_test)
    assert_allclose(clone(matrix).set_params(cv=5).fit(K, y).predict_proba(K_test), again, atol=1e-3)


def test_strings_have_probabilities_too():
    words = ["oak", "elm", "fir", "ash", "yew", "bay"] * 5
    labels = np.array([0, 1, 1, 0, 1, 0] * 5)

    def shared(A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)

    model = CalibratedSVC(KernelSVC(kernel=shared), cv=3).fit(words, labels)
    assert_array_equal(model.predict_proba(words).argmax(axis=1), model.predict(words))


def test_little_memory_gives_the_same_probabilities():
    X, y = noisy(400)
    rich = CalibratedSVC(KernelSVC(tol=1e-8)).fit(X, y).predict_proba(X)
    poor = CalibratedSVC(KernelSVC(tol=1e-8, cache_mb=0.05)).fit(X, y).predict_proba(X)
    assert_allclose(poor, rich, atol=1e-3)


def test_classes_with_fewer_rows_than_folds():
    X, y = noisy(120, 3)
    rare = np.flatnonzero(y == 2)
    for n_rare in (1, 2):
        kept = np.concatenate([np.flatnonzero(y != 2), rare[:n_rare]])
        P = CalibratedSVC().fit(X[kept], y[kept]).predict_proba(X)
        assert P.shape == (120, 3)
        assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)


def test_splits_are_those_that_were_given():
    X, y = noisy(200)
    groups = np.repeat(np.arange(20), 10)
    given = list(GroupKFold(4).split(X, y, groups))
    in_turn = CalibratedSVC(cv=given).fit(X, y).predict_proba(X)
    assert_array_equal(CalibratedSVC(cv=given[::-1]).fit(X, y).predict_proba(X), in_turn)
    assert_array_equal(
        CalibratedSVC(cv=KFold(4)).fit(X, y).predict_proba(X),
        CalibratedSVC(cv=list(KFold(4).split(X))).fit(X, y).predict_proba(X),
    )


def test_it_is_a_scikit_learn_classifier():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    pipeline = make_pipeline(StandardScaler(), CalibratedSVC(KernelSVC(), cv=3))
    search = GridSearchCV(
        pipeline, {"calibratedsvc__estimator__C": [0.1, 10]}, cv=3, scoring="neg_log_loss"
    ).fit(X, names)
    assert search.best_params_ == {"calibratedsvc__estimator__C": 10}
    model = search.best_estimator_[-1]
    assert model.n_features_in_ == 4
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(copy.predict_proba(X), search.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"method": "platt"}, r"method must be one of \['isotonic', 'sigmoid'\]; got 'platt'"),
        ({"method": None}, "method must be one of"),
        ({"cv": 1}, "cv must be"),
        ({"cv": 2.5}, "cv must be"),
        ({"cv": "five"}, "cv must be"),
        ({"cv": [(np.arange(100), np.arange(100, 200))]}, "row 0 is in no test set"),
        ({"cv": [(np.arange(99), np.arange(100, 200))]}, "does not train on all the others"),
        ({"cv": 2 * [(np.arange(100), np.arange(100, 200))]}, "holds out a row again"),
        ({"estimator": LinearSVC()}, r"estimator must be a KernelSVC; got LinearSVC\(\)"),
        ({"estimator": make_pipeline(StandardScaler(), KernelSVC())}, "Put a scaler before CalibratedSVC"),
        ({"estimator": KernelSVC(C=-1)}, "C must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_parameters_are_refused_clearly(parameters, match):
    X, y = noisy(200)
    model = CalibratedSVC(**parameters)
    with pytest.raises(ValueError, match=match):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict_proba(X)


def test_a_fit_that_failed_leaves_nothing_to_predict_with():
    X, y = noisy(200)
    model = CalibratedSVC().fit(X, y)
    with pytest.raises(ValueError, match="too large"):
        model.fit(X * 1e300, y)
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(NotFittedError):
            method(X)


@pytest.mark.slow
def test_folds_that_do_not_converge_are_told():
    X, y = noisy(2000, 2)
    with pytest.warns(ConvergenceWarning) as told:
        model = CalibratedSVC(KernelSVC(C=1e6, max_iter=1, tol=1e-8)).fit(X, y)
    messages = [str(warning.message) for warning in told]
    assert any("CalibratedSVC: cross-validation fits stopped (max_iter)" in message for message in messages)
    assert model.fold_gap_ > 1e-8
    assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))
