"""What every public classifier promises of its answers. A new one joins by a line in support/contract.py."""

import itertools
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.contract import (
    ESTIMATORS,
    MACHINES,
    at_work,
    has_budget,
    is_certified,
    is_joint,
    three_classes,
    two_classes,
    watched,
)
from support.properties import PROFILE

import maxmargin


def checked_by_scikit_learn():
    """One estimator of each class inside `make test`, all in `make soak`; not nu: see its own tests."""
    some = [estimator for estimator in ESTIMATORS if estimator.get_params().get("nu") is None]
    first = {type(estimator): estimator for estimator in reversed(some)}
    return some if PROFILE == "fuzz" else list(first.values())


@pytest.mark.usefixtures("array_api")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks use unscaled data
@parametrize_with_checks([clone(estimator) for estimator in checked_by_scikit_learn()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_public_classifier_is_tested():
    classes = {name for name in maxmargin.__all__ if isinstance(getattr(maxmargin, name), type)}
    public = {name for name in classes if hasattr(getattr(maxmargin, name), "predict")}
    public -= {
        "AutoSVC",
        "CalibratedSVC",
        "PathCV",
    }  # around another estimator: they have test files of their own
    public -= {type(estimator).__name__ for estimator in MACHINES}  # see test_machines.py
    assert {type(estimator).__name__ for estimator in ESTIMATORS} == public


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
def test_certificate_is_stored_on_the_estimator(estimator, data):
    model = estimator.fit(*data())
    if is_certified(model):
        assert model.status_ in (("budget_full", "no_loss_left") if has_budget(model) else ("converged",))
        assert -1e-12 <= model.dual_gap_ <= at_work(model).tol
        free = at_work(model).get_params().get("penalty", "some") is None  # then separable data cost nothing
        sign = (
            1.0 if at_work(model).get_params().get("nu") is None else -1.0
        )  # the margin earns more than losses
        assert sign * model.objective_ > 0.0 or (free and model.objective_ == 0.0)
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


def test_row_order_changes_no_bit(estimator):
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


def test_class_weights_equal_sample_weights(estimator):
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
