"""One-vs-one of small classes in one native call: the bits of the step-by-step solver, stored by pairs."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from maxmargin import KernelSVC, _native, io
from maxmargin.codes import Code, one_vs_one
from maxmargin.methods.kernel_svm import pairs
from maxmargin.solving import Check, Deadline, Histories, SolverResult, Status


def made(n_classes=6, n=90, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    return (rng.normal(size=(n, 4)) + 0.8 * y[:, None] * rng.normal(size=4)).astype(dtype), y


def step_by_step(model, X, y, weight=None):
    """The same fit with a callback, which only the solver in Python has."""
    model = clone(model)
    seen = []
    model.set_callbacks(lambda check, state: seen.append(check))
    model.fit(X, y, weight)
    model.set_callbacks()
    assert len(seen) >= model.code_.n_columns
    return model


def assert_same(a, b):
    assert np.array_equal(a.support_, b.support_)
    assert np.array_equal(a.pair_coef_, b.pair_coef_)
    assert np.array_equal(a.intercept_, b.intercept_)
    assert io.fingerprint(a) == io.fingerprint(b)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial"])
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_the_native_call_has_the_bits_of_the_solver_in_python(dtype, loss, kernel, C):
    X, y = made(dtype=dtype)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    model = KernelSVC(C, loss=loss, kernel=kernel, coef0=1.0, random_state=0).fit(X, y, weight)
    assert_same(model, step_by_step(model, X, y, weight))


@pytest.mark.parametrize("n", [40, 300, 1200])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_two_classes_are_one_pair(n, kernel, loss):
    X, y = made(n_classes=2, n=n)
    model = KernelSVC(10.0, loss=loss, kernel=kernel, random_state=0).fit(X, y)
    expected = step_by_step(model, X, y)
    assert model.status_ == expected.status_ == "converged"
    assert len(model.history_[0]) == 2  # at zero, and at the end: the native call
    assert np.array_equal(model.support_, expected.support_)
    assert np.array_equal(model.dual_coef_, expected.dual_coef_)
    assert np.array_equal(model.intercept_, expected.intercept_)


def test_a_pair_whose_time_is_up_keeps_what_it_has_reached(monkeypatch):
    """The clock of the native call runs out at once; the rest of the fit sees one that is over soon after."""
    X, y = made(n_classes=2, n=400)
    model = KernelSVC(random_state=0)
    given, calls = pairs._native.svm_pairs, []
    one_block = {"max_iter": 1, "rounds_per_step": 1, "min_block": 16, "max_block": 16, "max_polished": 0}

    def until_late(*arguments, rules, **options):
        calls.append(options["coef"])
        given(*arguments, rules=rules | one_block, **options)

    monkeypatch.setattr(pairs._native, "svm_pairs", until_late)
    monkeypatch.setattr(Deadline, "passed", lambda self: bool(calls))
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, y)
    assert calls[0].any()
    assert np.array_equal(np.flatnonzero(calls[0]), np.flatnonzero(calls[0][:, 0]))
    assert model.n_support_ == np.count_nonzero(calls[0])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_reaches_a_pair_at_work(n_jobs, monkeypatch):
    """The two classes are a group each, of which a helper must not take the pair: it sees no signal."""
    X = np.random.default_rng(0).normal(size=(1000, 6))
    y, model = np.arange(1000) % 2, KernelSVC(1e7, gamma=0.02, tol=1e-9, max_seconds=20, n_jobs=n_jobs)
    given = _native.svm_pairs

    def interrupted(*arguments, **options):
        def send():
            while time.process_time() < begun + 0.1:  # the kernel values are there, and the rounds have begun
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)

        begun, sender = time.process_time(), threading.Thread(target=send)
        sender.start()
        try:
            given(*arguments, **options)
        finally:
            sender.join()
            ends.append(options["end"][0])

    ends = []
    monkeypatch.setattr(_native, "svm_pairs", interrupted)
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert ends == [pairs.CUT] * 4
    assert not hasattr(model, "pair_coef_")


@pytest.mark.parametrize("rows_of_small_class", [0, 12, 10_000])
def test_kernel_values_in_advance_or_on_demand_give_the_same_bits(rows_of_small_class, monkeypatch):
    X, y = made(n=400)
    y[:60] = 5  # one class is larger than the others
    expected = KernelSVC(random_state=0).fit(X, y)
    monkeypatch.setattr(pairs, "MAX_EAGER_CLASS", rows_of_small_class)
    assert_same(KernelSVC(random_state=0, n_jobs=1).fit(X, y).set_params(n_jobs=None), expected)


def test_columns_that_the_native_call_leaves_are_solved_like_others():
    rng = np.random.default_rng(0)
    X, y = (
        rng.integers(0, 2, size=(300, 4)).astype(float),
        rng.integers(0, 4, 300),
    )  # equal rows
    model = KernelSVC(kernel="linear", random_state=0).fit(X, y)
    assert model.status_ == "converged"
    assert_same(model, step_by_step(model, X, y))


def test_sparse_rows_have_the_coefficients_of_dense_ones():
    X, y = made()
    dense, same = KernelSVC().fit(X, y), KernelSVC().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(same.decision_function(X), dense.decision_function(X), atol=1e-9)


def test_certificates_hold_for_kernel_values_computed_here():
    X, y = made()
    model = KernelSVC(C=5.0, gamma=0.3).fit(X, y)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    for t, (i, j) in enumerate(model.code_.pairs.T):
        rows = np.flatnonzero((y == i) | (y == j))
        target, a = np.where(y[rows] == j, 1.0, -1.0), np.zeros(len(y))
        a[model.support_] = model.dual_coef_[t]
        assert np.array_equal(np.flatnonzero(a), np.intersect1d(np.flatnonzero(a), rows))
        f = K[rows] @ a
        primal = 0.5 * a[rows] @ f + 5.0 * np.maximum(0.0, 1.0 - target * (f + model.intercept_[t])).sum()
        dual = a[rows] @ target - 0.5 * a[rows] @ f
        last = model.history_[t][-1]
        assert primal == pytest.approx(last.primal, rel=1e-9)
        assert dual == pytest.approx(last.dual, rel=1e-9)
        assert (primal - dual) / primal < 1e-9
        assert last.n_support == np.count_nonzero(a)
    assert model.dual_gap_ < 1e-9
    assert model.objective_ == pytest.approx(sum(history[-1].primal for history in model.history_))


def test_coefficients_by_pairs_are_those_of_libsvm():
    X, y = made(n=120)
    model = KernelSVC(gamma=0.2).fit(X, y)
    peer = SVC(gamma=0.2, tol=1e-9, decision_function_shape="ovo").fit(X, y)
    mine, its = (np.zeros((len(y), model.code_.n_classes - 1)) for _ in range(2))
    mine[model.support_], its[peer.support_] = model.pair_coef_, -peer.dual_coef_.T
    np.testing.assert_allclose(mine, its, atol=1e-5)
    np.testing.assert_allclose(model.column_outputs(X), -peer.decision_function(X), atol=1e-5)
    assert np.array_equal(model.predict(X), peer.predict(X))


def test_dual_coef_is_made_from_the_pairs():
    X, y = made()
    model = KernelSVC(random_state=0).fit(X, y)
    by_columns = KernelSVC(code=Code(one_vs_one(6).matrix, "pairs"), decoder="votes").fit(X, y)
    assert "pair_coef_" not in vars(by_columns)
    assert np.array_equal(model.support_, by_columns.support_)
    np.testing.assert_allclose(model.dual_coef_, by_columns.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), by_columns.decision_function(X), atol=1e-9)
    model.dual_coef_ = by_columns.dual_coef_
    assert "pair_coef_" not in vars(model)
    assert np.array_equal(model.dual_coef_, by_columns.dual_coef_)


def test_a_pickle_and_a_file_are_not_much_larger_than_those_of_svc(tmp_path):
    X, y = made(n_classes=60, n=600)
    model = KernelSVC(random_state=0).fit(X, y)
    n_bytes = len(pickle.dumps(SVC().fit(X, y)))
    assert len(pickle.dumps(model)) < 1.5 * n_bytes
    io.save(model, tmp_path / "m.mm")
    assert (tmp_path / "m.mm").stat().st_size < 1.5 * n_bytes + 10_000
    for again in (io.load(tmp_path / "m.mm"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
        assert io.fingerprint(again) == io.fingerprint(model)
        assert again.history_ == model.history_


def test_decisions_in_blocks_of_rows_have_the_same_bits(monkeypatch):
    X, y = made()
    model = KernelSVC().fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr("maxmargin.base.classifier.MAX_OUTPUTS_AT_ONCE", 100)
    assert np.array_equal(model.decision_function(X), expected)
    assert model.decision_function(X[:1]).shape == (1, 6)


def test_columns_after_the_time_limit_have_their_first_certificate():
    X, y = made()
    with pytest.warns(Warning, match="time_limit"):
        model = KernelSVC(max_seconds=1e-9).fit(X, y)
    assert model.status_ == "time_limit"
    assert model.n_support_ == 0
    assert all(len(history) == 1 and history[0].dual == 0.0 for history in model.history_)
    assert model.predict(X).shape == y.shape


@pytest.mark.filterwarnings("ignore:KernelSVC stopped")
def test_few_iterations_are_counted_as_in_python():
    X, y = made(n=300)
    model = KernelSVC(C=1e6, gamma=5.0, max_iter=1, random_state=0).fit(X, y)
    assert model.n_iter_ == 1
    assert_same(model, step_by_step(model, X, y))


def test_results_are_a_sequence_in_the_order_of_the_code():
    labels = np.array([2, 0, 1, 0, 2, 1, 1])
    code, rng = one_vs_one(3), np.random.default_rng(0)
    given = []
    for t in range(3):
        coef = rng.normal(size=len(code.column(labels, t)[0]))
        given.append(SolverResult(coef, float(t), Status.CONVERGED, ((check(t)),)))
    found = pairs.PairResults.of(given, code, labels)
    assert len(found) == 3
    for mine, its in zip(found, given, strict=True):
        assert np.array_equal(mine.coef, its.coef)
        assert (mine.intercept, mine.status, mine.history) == (its.intercept, its.status, its.history)
    assert found[-1].intercept == 2.0
    assert [result.intercept for result in found[1:]] == [1.0, 2.0]
    with pytest.raises(IndexError, match="3 columns"):
        found[3]
    assert found.summary().finite
    assert found.summary().objective == 3.0


def check(t):
    return Check(n_iter=t, primal=float(t), dual=float(t), seconds=0.0)


def test_rows_by_class():
    rows = pairs.RowsByClass(np.array([1, 0, 1, 2]), 3)
    assert rows.order.tolist() == [1, 0, 2, 3]
    assert rows.starts.tolist() == [0, 1, 3, 4]
    assert rows.of_pair(0, 2).tolist() == [0, 3]
    assert rows.pair_sizes().tolist() == [3, 2, 3]
    assert rows.largest_pair == 3


def test_histories_are_sequences_of_certificates():
    histories = Histories.of([(check(0), check(1)), (check(2),)])
    assert histories == [(check(0), check(1)), (check(2),)]
    assert histories[-1] == (check(2),)
    assert histories[:1] == [(check(0), check(1))]
    assert histories != [(check(0),)]
    assert histories.last("primal").tolist() == [1.0, 2.0]
    assert histories.gaps().tolist() == [check(1).gap, check(2).gap]
    assert pickle.loads(pickle.dumps(histories)) == histories
    with pytest.raises(IndexError):
        histories[2]
    with pytest.raises(ValueError, match="needs a certificate"):
        Histories(np.array([1, 0]), {})
    with pytest.raises(ValueError, match="declared sizes"):
        Histories(np.array([1, 2]), {"primal": np.zeros(2)})
    with pytest.raises(ValueError, match="counts and floats"):
        Histories(np.array([1]), {"n_iter": np.zeros(1)})
