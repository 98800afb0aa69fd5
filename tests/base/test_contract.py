"""What every public classifier promises. A new one joins by adding one line to ESTIMATORS."""

import itertools
import os
import pickle
import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.properties import PROFILE

import maxmargin

# Estimators to try, each with the parameters that make its answers sharp enough to compare.
ESTIMATORS = [
    maxmargin.LinearSVC(tol=1e-8),
    maxmargin.LinearSVC(tol=1e-8, loss="squared-hinge", code="one-vs-one"),
    maxmargin.LinearSVC(tol=1e-8, solver="dual-cd", max_iter=20_000),
    maxmargin.LinearSVC(tol=1e-8, loss="squared-hinge", solver="truncated-newton"),
    maxmargin.LinearSVC(tol=1e-8, code="sparse-random", random_state=0),
    maxmargin.LeastSquaresClassifier(tol=1e-8),
    maxmargin.LeastSquaresClassifier(tol=1e-8, penalty=None, code="one-vs-one"),
    maxmargin.LeastSquaresClassifier(tol=1e-8, penalty="lasso"),
    maxmargin.KernelSVC(tol=1e-8),
    maxmargin.KernelSVC(tol=1e-8, decoder="coupling"),
    maxmargin.LeastSquaresClassifier(tol=1e-8, code="sparse-random", decoder="probabilistic", random_state=0),
    maxmargin.LagrangianSVC(tol=1e-8),
    maxmargin.LagrangianSVC(tol=1e-8, kernel="rbf", code="one-vs-one"),
    maxmargin.LagrangianSVC(tol=1e-8, kernel="rbf", n_components=20, solver="lagrangian", random_state=0),
    maxmargin.AllPairsSVC(tol=1e-8),
    maxmargin.TopKSVC(tol=1e-8),
    maxmargin.TopKSVC(tol=1e-8, kernel="rbf"),
    maxmargin.LinearProgramSVC(tol=1e-8),
    maxmargin.LinearProgramSVC(tol=1e-8, penalty=None, code="one-vs-one"),
    maxmargin.LinearProgramSVC(tol=1e-8, multi_class="joint"),
    maxmargin.LinearProgramSVC(tol=1e-8, kernel="rbf"),
    maxmargin.LinearProgramSVC(tol=1e-8, kernel="rbf", features="eigen", n_components=20, random_state=0),
    maxmargin.KernelPerceptron(random_state=0),
    maxmargin.BudgetPerceptron(budget=50, random_state=0),
    maxmargin.KernelPegasos(random_state=0),
    maxmargin.LaSVM(tol=1e-6, max_iter=200),
    maxmargin.KernelMatchingPursuit(budget=10),
    maxmargin.SparseKernelClassifier(budget=20, random_state=0),
    maxmargin.SparseKernelClassifier(budget=30, loss="log", alpha=1e-3, code="one-vs-one", random_state=0),
    # As printed it keeps equal rows apart, and then weights are no repetitions.
    maxmargin.SparseKernelClassifier.as_published(20, alpha=0.1, merge_duplicates=True, random_state=0),
    maxmargin.OutputCodeClassifier(maxmargin.KernelSVC(tol=1e-8)),
]


def at_work(estimator):
    """The estimator that solves: one around another leaves limits and callbacks to that."""
    return estimator.get_params(deep=False).get("estimator", estimator)


def watched(estimator, *callbacks):
    at_work(estimator).set_callbacks(*callbacks)
    return estimator


def is_certified(estimator):
    """Whether it promises a duality gap: then it has a tolerance for it, and a method that bounds it.

    Others promise an end that is none of the failures.
    """
    parameters = at_work(estimator).get_params()
    return "tol" in parameters and parameters.get("refit", "newton") is not None


def has_budget(estimator):
    """Whether its certificates are those of a set of support vectors that grows to a budget."""
    return is_certified(estimator) and "budget" in at_work(estimator).get_params()


def is_joint(estimator):
    """Whether all columns are one problem, with one history: they share support vectors, are one program, are
    no columns of a code, or are certified by nothing."""
    parameters = at_work(estimator).get_params()
    joint = parameters.get("multi_class") == "joint" or "code" not in parameters
    return not is_certified(estimator) or "budget" in parameters or joint


def learns_out_of_fold(model):
    """Whether its decoder has learned from fits without a fold, which have certificates of their own."""
    return hasattr(model, "fold_gap_")


def never_content(estimator):
    if is_certified(estimator):
        at_work(estimator).set_params(tol=1e-300)
    return estimator


def checked_by_scikit_learn():
    """One estimator of each class inside `make test`, all of them in `make soak`."""
    first = {type(estimator): estimator for estimator in reversed(ESTIMATORS)}
    return ESTIMATORS if PROFILE == "fuzz" else list(first.values())


@pytest.mark.usefixtures("array_api")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks use unscaled data
@parametrize_with_checks([clone(estimator) for estimator in checked_by_scikit_learn()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_public_classifier_is_here():
    classes = {name for name in maxmargin.__all__ if isinstance(getattr(maxmargin, name), type)}
    public = {name for name in classes if hasattr(getattr(maxmargin, name), "predict")}
    public -= {"CalibratedSVC", "PathCV"}  # around another estimator: they have test files of their own
    assert {type(estimator).__name__ for estimator in ESTIMATORS} == public


def three_classes(n=150, dtype=np.float64):
    X, y = make_blobs(n, n_features=5, centers=3, cluster_std=4.0, random_state=0)
    return (X / 5.0).astype(dtype), y


def two_classes(n=120):
    X, y = three_classes(n * 2)
    return X[y < 2], y[y < 2]


@pytest.fixture(params=ESTIMATORS, ids=str)
def estimator(request):
    return clone(request.param)


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_predict_is_the_argmax_of_decision_function(estimator, data):
    X, y = data()
    model = estimator.fit(X, y)
    scores = model.decision_function(X)
    if data is two_classes:
        assert scores.shape == (len(y),)
        np.testing.assert_array_equal(model.predict(X), model.classes_[(scores > 0).astype(int)])
    else:
        assert scores.shape == (len(y), 3)
        np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_the_certificate_is_on_the_estimator(estimator, data):
    model = estimator.fit(*data())
    if is_certified(model):
        assert model.status_ in (("budget_full", "no_loss_left") if has_budget(model) else ("converged",))
        assert -1e-12 <= model.dual_gap_ <= at_work(model).tol
        free = at_work(model).get_params().get("penalty", "some") is None  # then separable data cost nothing
        assert model.objective_ > 0.0 or (free and model.objective_ == 0.0)
    else:
        assert model.status_ in ("converged", "max_iter", "budget_full", "no_loss_left")
        assert model.dual_gap_ == (0.0 if model.status_ == "converged" else np.inf)
        assert model.objective_ >= 0.0
    assert len(model.history_) == (1 if is_joint(model) else model.code_.n_columns)
    assert model.n_iter_ == max(history[-1].n_iter for history in model.history_) >= 1
    assert model.dual_gap_ == max(history[-1].gap for history in model.history_)
    assert model.objective_ == pytest.approx(sum(history[-1].primal for history in model.history_))
    for history in model.history_:
        assert all(check.gap >= -1e-12 for check in history)
        for earlier, later in itertools.pairwise(history):  # a set that has grown is another problem
            assert later.dual >= earlier.dual or has_budget(model)


@pytest.mark.parametrize(
    "container", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.coo_array]
)
def test_dense_equals_sparse(estimator, container):
    X, y = three_classes()
    X[np.abs(X) < 0.5] = 0.0
    dense = clone(estimator).fit(X, y).decision_function(X)
    S = container(X)
    np.testing.assert_allclose(clone(estimator).fit(S, y).decision_function(S), dense, atol=1e-3)
    if S.format == "csr":
        S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
        np.testing.assert_allclose(clone(estimator).fit(S, y).decision_function(S), dense, atol=1e-3)


def test_float32_is_close_to_float64(estimator):
    X, y = three_classes(dtype=np.float32)
    single = clone(estimator).fit(X, y).decision_function(X)
    double = clone(estimator).fit(X.astype(np.float64), y).decision_function(X.astype(np.float64))
    np.testing.assert_allclose(single, double, atol=1e-3)


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_threads_change_no_bit(estimator, data):
    X, y = data()
    estimator.set_params(random_state=0)
    first = clone(estimator).set_params(n_jobs=1).fit(X, y).decision_function(X)
    for n_jobs in (2, 4):
        np.testing.assert_array_equal(
            clone(estimator).set_params(n_jobs=n_jobs).fit(X, y).decision_function(X), first
        )


def test_the_order_of_the_rows_changes_no_bit(estimator):
    X, y = three_classes()
    order = np.random.default_rng(0).permutation(len(y))
    first = clone(estimator).set_params(random_state=0).fit(X, y).decision_function(X)
    second = clone(estimator).set_params(random_state=0).fit(X[order], y[order]).decision_function(X)
    np.testing.assert_array_equal(first, second)


def test_weights_equal_repetitions(estimator):
    X, y = three_classes()
    weight = np.random.default_rng(1).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    estimator.set_params(random_state=0)
    weighted = clone(estimator).fit(X, y, sample_weight=weight)
    repeated = clone(estimator).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


def test_class_weights_are_sample_weights(estimator):
    X, y = three_classes()
    by_class = clone(estimator).set_params(class_weight={0: 2.0, 1: 0.5}, random_state=0).fit(X, y)
    by_sample = clone(estimator).set_params(random_state=0).fit(X, y, np.array([2.0, 0.5, 1.0])[y])
    np.testing.assert_array_equal(by_class.decision_function(X), by_sample.decision_function(X))
    uneven = np.flatnonzero((y > 0) | (np.arange(len(y)) % 3 == 0))
    X, y = X[uneven], y[uneven]
    balanced = clone(estimator).set_params(class_weight="balanced", random_state=0).fit(X, y)
    factor = len(y) / (3 * np.bincount(y))
    same = clone(estimator).set_params(random_state=0).fit(X, y, factor[y])
    np.testing.assert_allclose(balanced.decision_function(X), same.decision_function(X), atol=1e-6)


def test_pickle_keeps_every_bit_and_only_data(estimator):
    X, y = three_classes()
    model = watched(estimator, lambda check, state: False).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    assert copy.history_ == model.history_


def test_frames_and_string_labels(estimator):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = three_classes()
    names = np.array(["oak", "fir", "elm"])[y]
    columns = [f"x{k}" for k in range(X.shape[1])]
    plain = clone(estimator).fit(X, y).predict(X)
    for frame in (pandas.DataFrame(X, columns=columns), polars.DataFrame(X, schema=columns)):
        model = clone(estimator).fit(frame, names)
        assert list(model.feature_names_in_) == columns
        assert set(model.classes_) == {"oak", "fir", "elm"}
        agree = model.predict(frame) == np.array(["oak", "fir", "elm"])[plain]
        assert agree.mean() > 0.98  # equal but where a score is within the tolerance of a tie


def test_read_only_memory_maps(estimator, tmp_path):
    X, y = three_classes()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    estimator.set_params(random_state=0)
    np.testing.assert_array_equal(
        clone(estimator).fit(mapped, y).decision_function(mapped),
        clone(estimator).fit(X, y).decision_function(X),
    )


def test_nothing_is_printed(estimator, capfd):
    estimator.fit(*three_classes())
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_callbacks_see_every_certificate_and_can_stop(estimator):
    X, y = two_classes()
    seen = []
    model = watched(clone(estimator), lambda check, state: seen.append(check)).fit(X, y)
    assert tuple(seen[: len(model.history_[0])]) == model.history_[0]
    assert (len(seen) > len(model.history_[0])) == learns_out_of_fold(model)
    stopped = watched(clone(estimator), lambda check, state: True).fit(X, y)
    assert stopped.status_ == "stopped"
    assert len(stopped.history_[0]) == 1


def test_scikit_learn_callbacks(estimator):
    pytest.importorskip("sklearn.callback")

    class Counter:
        def __init__(self):
            self.tasks = []

        def setup(self, estimator, context):
            self.tasks.append("setup")

        def on_fit_task_begin(self, estimator, context):
            self.tasks.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context):
            self.tasks.append(f"end {context.task_name}")

        def teardown(self, estimator, context):
            self.tasks.append("teardown")

    counter = Counter()
    model = watched(estimator, counter).fit(*two_classes())
    n_checks = len(model.history_[0])
    assert counter.tasks[:2] == ["setup", "begin fit"]
    assert counter.tasks[-2:] == ["end fit", "teardown"]
    n_seen = counter.tasks.count("end certificate")
    assert n_seen == counter.tasks.count("begin certificate")
    assert n_seen > n_checks if learns_out_of_fold(model) else n_seen == n_checks


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_ctrl_c_raises(estimator, data):
    """SIGINT ends a fit, in whichever thread a column is solved; the estimator can be fitted again."""
    X, y = data()

    def interrupt(check, state):
        if not sent:
            sent.append(check)
            os.kill(os.getpid(), signal.SIGINT)

    for n_jobs in (1, 2):
        sent = []
        model = watched(never_content(clone(estimator)).set_params(n_jobs=n_jobs), interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert not hasattr(model, "coef_")
        with pytest.raises(NotFittedError):
            model.predict(X)
        if is_certified(model):
            at_work(model).set_params(tol=1e-3)
        watched(model).fit(X, y)


def test_a_time_limit_is_kept_and_told(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 30)), rng.integers(0, 3, size=3000)
    gap = "relative duality gap .*" if is_certified(estimator) else ""
    model = never_content(clone(estimator))
    at_work(model).set_params(max_seconds=1e-6)
    with pytest.warns(ConvergenceWarning, match=rf"time_limit.*{gap}raise max_iter or max_seconds"):
        model.fit(X, y)
    assert model.status_ == "time_limit"
    assert np.isfinite(model.dual_gap_) == is_certified(estimator)


BAD_DATA = {
    "nan": (lambda X, y: (np.where(np.arange(5) == 2, np.nan, X), y), "NaN"),
    "infinity": (lambda X, y: (np.where(np.arange(5) == 2, np.inf, X), y), "infinity"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "0 sample"),
    "no features": (lambda X, y: (X[:, :0], y), "0 feature"),
    "one class": (lambda X, y: (X, np.zeros(len(y), dtype=int)), r"at least two classes.*\[0\]"),
    "wrong length": (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    "one dimension": (lambda X, y: (X[:, 0], y), "Reshape your data"),
    "regression": (lambda X, y: (X, X[:, 0]), "continuous"),
    "overflow": (lambda X, y: (X * 1e300, y), "too large.*StandardScaler"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_is_refused_clearly(estimator, case):
    spoil, match = BAD_DATA[case]
    with pytest.raises(ValueError, match=match):
        estimator.fit(*spoil(*three_classes()))


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (np.zeros(150), "zero for every row.*give some row a weight"),
        (-np.ones(150), "sample_weight must be >= 0; got -1"),
        (np.full(150, np.nan), "must be finite"),
        (np.ones(3), "one entry for each of the 150 rows"),
        (np.ones((150, 2)), "1D"),
    ],
)
def test_bad_weights_are_refused_clearly(estimator, weight, match):
    with pytest.raises(ValueError, match=match):
        estimator.fit(*three_classes(), sample_weight=weight)


def test_a_fit_that_failed_leaves_nothing_to_predict_with(estimator):
    X, y = three_classes()
    model = estimator.fit(X, y)
    with pytest.raises(ValueError, match="too large"):
        model.fit(X * 1e300, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_float32_overflow_is_refused(estimator):
    X, y = three_classes(dtype=np.float32)
    with pytest.raises(ValueError, match=r"too large.*float32"):
        estimator.fit(X * np.float32(1e25), y)


@pytest.mark.parametrize("weight", [1e-320, 1e300])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_beyond_double_precision_are_refused_by_name(estimator, weight, class_weight):
    X, y = three_classes()
    with pytest.raises(ValueError, match=r"the weights \(.*class weights\) must each be at least"):
        estimator.set_params(class_weight=class_weight).fit(X, y, np.full(len(y), weight))


def test_class_weights_may_name_absent_classes_and_leave_classes_out(estimator):
    X, y = three_classes()
    two = y < 2
    model = clone(estimator).set_params(class_weight={0: 1.0, 1: 2.0, 2: 3.0}).fit(X[two], y[two])
    assert model.classes_.tolist() == [0, 1]
    assert clone(estimator).set_params(class_weight={2: 0.0}).fit(X, y).classes_.tolist() == [0, 1]


def test_callbacks_go_with_clones_and_stop_every_column(estimator):
    X, y = three_classes()
    seen = []
    costs = [name for name in ("C", "estimator__C") if name in estimator.get_params()]
    grid = {costs[0]: [0.1, 1.0]} if costs else {"class_weight": [None, "balanced"]}
    search = GridSearchCV(watched(estimator, lambda check, state: seen.append(check)), grid, cv=2)
    search.fit(X, y)
    n_histories = 1 if is_joint(estimator) else 3
    assert len(seen) > 5 * n_histories  # five fits of three columns
    once = iter([True])
    model = watched(clone(estimator).set_params(n_jobs=2), lambda check, state: next(once, False)).fit(X, y)
    assert model.status_ == "stopped"
    assert all(len(history) <= 2 for history in model.history_)


def test_classes_without_weight_were_not_given(estimator):
    X, y = three_classes()
    model = estimator.fit(X, y, sample_weight=(y != 2).astype(float))
    assert model.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="only one class with a positive weight"):
        estimator.fit(X, y, sample_weight=(y == 1).astype(float))
