"""What every machine without classes promises. A new one joins by a line in support/contract.py."""

import itertools
import os
import pickle
import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.contract import MACHINES, has_budget, never_content, real_targets, watched


@pytest.fixture(params=MACHINES, ids=str)
def machine(request):
    return clone(request.param)


def outputs(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.usefixtures("array_api")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([clone(one) for one in (MACHINES[0], *MACHINES[-5:])])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_certificate_is_stored_on_the_estimator(machine):
    model = machine.fit(*real_targets())
    assert model.status_ in (("budget_full", "no_loss_left") if has_budget(model) else ("converged",))
    assert 0.0 <= model.dual_gap_ <= model.tol
    (history,) = model.history_
    assert model.n_iter_ == history[-1].n_iter >= 1
    assert model.dual_gap_ == history[-1].gap
    assert model.objective_ == history[-1].primal
    assert all(check.gap >= 0.0 for check in history)
    for earlier, later in itertools.pairwise(history):  # a set that has grown is another problem
        assert later.dual >= earlier.dual or has_budget(model)


def test_dense_equals_sparse(machine):
    X, y = real_targets()
    X[np.abs(X) < 0.5] = 0.0
    dense = outputs(clone(machine).fit(X, y), X)
    for container in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.coo_array):
        S = container(X)
        np.testing.assert_allclose(outputs(clone(machine).fit(S, y), S), dense, atol=1e-6)


def test_float32_is_close_to_float64(machine):
    X, y = real_targets(dtype=np.float32)
    single = outputs(clone(machine).fit(X, y), X)
    X = X.astype(np.float64)
    np.testing.assert_allclose(single, outputs(clone(machine).fit(X, y), X), atol=1e-3)


def test_row_order_and_threads_change_no_bit(machine):
    X, y = real_targets(600)
    first = outputs(clone(machine).set_params(n_jobs=1).fit(X, y), X)
    order = np.random.default_rng(0).permutation(len(y))
    for n_jobs, rows in ((2, slice(None)), (4, slice(None)), (1, order)):
        model = clone(machine).set_params(n_jobs=n_jobs).fit(X[rows], y[rows])
        np.testing.assert_array_equal(outputs(model, X), first)


def test_threads_change_no_bit_of_a_large_problem(machine):
    X, y = real_targets(3000)
    machine.set_params(tol=1e-3)
    if "cache_mb" in machine.get_params():
        machine.set_params(cache_mb=20.0)
    first, second = (outputs(clone(machine).set_params(n_jobs=n).fit(X, y), X) for n in (1, 3))
    np.testing.assert_array_equal(first, second)


def test_weights_equal_repetitions(machine):
    X, y = real_targets()
    weight = np.random.default_rng(1).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = clone(machine).fit(X, y, sample_weight=weight)
    repeated = clone(machine).fit(X[rows], y[rows])
    np.testing.assert_array_equal(outputs(weighted, X), outputs(repeated, X))
    assert weighted.objective_ == repeated.objective_


def test_pickle_keeps_every_bit_and_only_data(machine):
    X, y = real_targets()
    model = watched(machine, lambda check, state: False).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(outputs(copy, X), outputs(model, X))
    assert copy.history_ == model.history_


def test_frames_and_read_only_memory_maps(machine, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = real_targets()
    plain = outputs(clone(machine).fit(X, y), X)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(outputs(clone(machine).fit(mapped, y), mapped), plain)
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    model = clone(machine).fit(frame, pandas.Series(y))
    assert list(model.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(outputs(model, frame), plain)


def test_nothing_is_printed(machine, capfd):
    machine.fit(*real_targets())
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_callbacks_see_every_certificate_and_can_stop(machine):
    X, y = real_targets()
    seen = []
    model = watched(clone(machine), lambda check, state: seen.append(check)).fit(X, y)
    assert tuple(seen) == model.history_[0]
    stopped = watched(never_content(clone(machine)), lambda check, state: True).fit(X, y)
    assert stopped.status_ == "stopped"
    assert len(stopped.history_[0]) == 1


def test_ctrl_c_raises(machine):
    X, y = real_targets()

    def interrupt(check, state):
        if not sent:
            sent.append(check)
            os.kill(os.getpid(), signal.SIGINT)

    sent = []
    model = watched(never_content(machine), interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    watched(model.set_params(tol=1e-3)).fit(X, y)


def test_time_limit_is_kept_and_reported(machine):
    X, y = np.random.default_rng(0).normal(size=(3000, 30)), np.arange(3000.0)
    with pytest.warns(ConvergenceWarning, match="time_limit.*relative duality gap .*raise max_iter"):
        model = never_content(machine).set_params(max_seconds=1e-6).fit(X, y)
    assert model.status_ == "time_limit"
    assert np.isfinite(model.dual_gap_)


@pytest.mark.parametrize("machine", [m for m in MACHINES if "kernel" in m.get_params()], ids=str)
def test_indefinite_kernels_have_no_bound(machine):
    X, y = real_targets()
    machine = clone(machine).set_params(kernel=lambda A, B: -(((A[:, None] - B[None]) ** 2).sum(axis=2) ** 2))
    if has_budget(machine):  # k(z, z) is 0: no row can be a support vector
        assert machine.fit(X, y).n_support_ == 0
        assert (machine.predict(X) == machine.intercept_[0]).all()
        return
    with pytest.warns(ConvergenceWarning, match=r"stopped .*not positive semi-definite"):
        model = machine.fit(X, y)
    assert model.dual_gap_ == np.inf
    assert np.isfinite(outputs(model, X)).all()


ODD_TARGETS = {
    "records": (
        np.array([(1, 2)] * 150, dtype="i4,i4"),
        r"y must be numbers; got \(1, 2\)\. For classes, use a",
    ),
    "huge numbers": (
        np.full(150, 1e300),
        "targets must be at most 1e.140 in magnitude; got one of 1e.300. Divide",
    ),
}


@pytest.mark.parametrize("name", ODD_TARGETS)
def test_odd_targets_are_refused_with_what_to_do(machine, name):
    y, sentence = ODD_TARGETS[name]
    if hasattr(machine, "score_samples"):  # novelty detection has no targets
        machine.fit(real_targets()[0], y)
        return
    with pytest.raises(ValueError, match=sentence):
        machine.fit(real_targets()[0], y)
