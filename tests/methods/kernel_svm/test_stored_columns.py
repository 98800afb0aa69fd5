"""Columns over a stored kernel matrix: gaps recomputed from the problem's definition, and a second method."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import KernelSVC, _native
from maxmargin.kernels import RBF
from maxmargin.methods.kernel_svm import StoredColumn, pairs, solve_stored, stored_columns
from maxmargin.selection import Grid, KernelFolds, shared_kernel
from maxmargin.solving import Deadline, Stop

TOL = 1e-3


def problem(n, seed, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return RBF(0.5)(X), y, rng.uniform(0.2, 3.0, n)


def stop():
    return Stop(TOL, 1000, deadline=Deadline(60.0))


def relative_gap(K, y, cost, a, b, squared):
    """From the definition of both problems; a has the sign of y."""
    f = K @ a
    missing = np.maximum(0.0, 1.0 - y * (f + b))
    norm = 0.5 * a @ f
    if squared:
        primal = norm + 0.5 * cost @ missing**2
        dual = a @ y - norm - 0.5 * np.sum(a**2 / cost)
    else:
        primal, dual = norm + cost @ missing, a @ y - norm
    return (primal - dual) / max(abs(primal), abs(dual))


@given(st.integers(4, 150), st.integers(0, 50), st.booleans())
def test_every_cost_of_a_path_is_certified(n, seed, squared):
    K, y, cost = problem(n, seed)
    rows = np.random.default_rng(seed).permutation(n)
    factors = np.array([0.1, 1.0, 10.0, 300.0])
    columns = [StoredColumn(rows, y[rows], cost[rows]), StoredColumn(np.arange(n), -y, cost)]
    found = solve_stored(K, columns, factors, squared, stop(), 2)
    assert found.solved.all()
    for t, column in enumerate(columns):
        for v, factor in enumerate(factors):
            a, c = found.coef[t][:, v], factor * column.cost
            assert abs(a.sum()) <= 1e-9 * max(1.0, np.abs(a).sum())
            assert (a * column.y >= 0.0).all()
            assert squared or (np.abs(a) <= c * (1.0 + 1e-12)).all()
            own = K[np.ix_(column.rows, column.rows)]
            gap = relative_gap(own, column.y, c, a, found.intercept[t, v], squared)
            assert gap <= TOL
            assert gap == pytest.approx(found.gap[t, v], abs=1e-7)
            assert found.n_support[t, v] == np.count_nonzero(a)


def test_threads_change_no_bit():
    K, y, cost = problem(120, 1)
    columns = [StoredColumn(np.arange(k, 120), y[k:], cost[k:]) for k in range(6)]
    answers = [solve_stored(K, columns, np.array([1.0, 30.0]), False, stop(), n) for n in (1, 2, 5)]
    for other in answers[1:]:
        np.testing.assert_array_equal(np.concatenate(answers[0].coef), np.concatenate(other.coef))
        np.testing.assert_array_equal(answers[0].intercept, other.intercept)


@pytest.mark.parametrize("code", ["one-vs-one", "one-vs-rest"])
def test_folds_at_once_give_what_exact_folds_give(code):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 3, size=150)
    splits = [
        (np.flatnonzero(np.arange(150) % 3 != k), np.flatnonzero(np.arange(150) % 3 == k)) for k in range(3)
    ]
    grid = Grid("C", np.array([0.1, 1.0, 10.0]), "gamma", np.array([0.2]))
    exact, fast = (
        KernelFolds(KernelSVC(code=code, tol=tol), X, y, None, splits, grid, None, 1) for tol in (1e-9, 1e-6)
    )
    for one, other in zip(
        exact.answers(0, [0, 1, 2], np.arange(3)), fast.answers(0, [0, 1, 2], np.arange(3))
    ):
        np.testing.assert_array_equal(one.test, other.test)
        for mine, its in zip(one.decisions, other.decisions):
            np.testing.assert_allclose(mine, its, atol=0.02)
        assert (one.dual_gaps <= 1e-9).all()
        assert (other.dual_gaps <= 1e-6).all()
        assert (other.seconds > 0.0).all()


@pytest.mark.parametrize("cache_mb", [1000.0, 0.4], ids=["one call", "fold by fold"])
def test_folds_over_a_small_cache_are_solved_all_the_same(cache_mb):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(140, 3)), rng.integers(0, 2, size=140)
    splits = [(np.arange(100), np.arange(100, 140)), (np.arange(40, 140), np.arange(40))]
    grid = Grid("C", np.array([0.1, 10.0]), "gamma", np.array([0.2]))
    folds = KernelFolds(KernelSVC(cache_mb=cache_mb), X, y, None, splits, grid, None, 1)
    assert folds.fits
    for k, found in enumerate(folds.answers(0, [0, 1], np.arange(2))):
        assert (found.dual_gaps <= 1e-3).all()
        for C, mine in zip(grid.values, found.decisions):
            alone = KernelSVC(C=C, gamma=0.2, tol=1e-9).fit(X[splits[k][0]], y[splits[k][0]])
            np.testing.assert_allclose(mine, alone.decision_function(X[splits[k][1]]), atol=0.2)


def folds_of(model, n=140, seed=1, Cs=(0.1, 1.0, 10.0)):
    """Two folds of two classes."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.integers(0, 2, size=n)
    splits = [(np.arange(100), np.arange(100, n)), (np.arange(n - 100, n), np.arange(n - 100))]
    return KernelFolds(model, X, y, None, splits, Grid("C", np.array(Cs), "gamma", np.array([0.2])), None, 1)


@pytest.mark.parametrize("n_left", [1, 2, 3])
def test_only_costs_that_the_call_leaves_are_solved_again(n_left, monkeypatch):
    """The last costs of the first fold are left: what the call has solved of both is kept bit for bit."""
    whole = folds_of(KernelSVC()).answers(0, [0, 1], np.arange(3))
    together, path, solved_again = shared_kernel.solve_stored, shared_kernel.svm_path, []

    def some(*arguments):
        found = together(*arguments)
        found.solved[0, 3 - n_left :] = False
        found.coef[0][:, 3 - n_left :] = found.gap[0, 3 - n_left :] = np.nan
        return found

    def again(problem, factors, *, stop, **options):
        results = path(problem, factors, stop=stop, **options)
        solved_again.append((np.asarray(factors) * problem.cost.max(), stop.tol, results))
        return results

    monkeypatch.setattr(shared_kernel, "solve_stored", some)
    monkeypatch.setattr(shared_kernel, "svm_path", again)
    parts = folds_of(KernelSVC()).answers(0, [0, 1], np.arange(3))
    [(costs, tol, results)] = solved_again
    np.testing.assert_allclose(costs, [0.1, 1.0, 10.0][3 - n_left :])
    assert tol == stored_columns.STORED_TARGET_PER_TOL * KernelSVC().tol
    for fold, (mine, its) in enumerate(zip(parts, whole)):
        n_kept = 3 if fold else 3 - n_left
        np.testing.assert_array_equal(mine.decisions[:n_kept], its.decisions[:n_kept])
        np.testing.assert_array_equal(mine.dual_gaps[:n_kept], its.dual_gaps[:n_kept])
        np.testing.assert_allclose(mine.decisions, its.decisions, atol=0.1)
        assert all(status.value == "converged" for status in mine.statuses)
    assert parts[0].dual_gaps[3 - n_left :].tolist() == [result.gap for result in results]


def test_no_more_columns_at_a_time_than_are_counted(monkeypatch):
    given, seen = _native.svm_paths, []

    def counted(*arguments, n_threads, **options):
        seen.append(n_threads)
        return given(*arguments, n_threads=n_threads, **options)

    monkeypatch.setattr(_native, "svm_paths", counted)
    K, y, cost = problem(20, 0)
    for n_threads in (1, 3, 64):
        solve_stored(K, 6 * [StoredColumn(np.arange(20), y, cost)], np.ones(1), False, stop(), n_threads)
    assert seen == [1, 3, stored_columns.MAX_CONCURRENT_COLUMNS]


@pytest.mark.parametrize(
    ("changes", "dtype"),
    [({"kernel": "sigmoid"}, np.float64), ({"tol": 1e-8}, np.float64), ({}, np.float32)],
    ids=["indefinite", "exact", "float32"],
)
def test_folds_that_one_call_must_not_solve(changes, dtype, monkeypatch):
    """No column is built for it."""

    def never(*arguments):
        raise AssertionError("solved in one call")

    monkeypatch.setattr(shared_kernel, "solve_stored", never)
    monkeypatch.setattr(shared_kernel, "fit_in_memory", never)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)).astype(dtype), rng.integers(0, 2, size=60)
    grid = Grid("C", np.array([0.1, 1.0]), "gamma", np.array([0.2]))
    splits = [(np.arange(40), np.arange(40, 60))]
    folds = KernelFolds(KernelSVC(**changes), X, y, None, splits, grid, None, 1)
    [answer] = folds.answers(0, [0], np.arange(2))
    assert len(answer.decisions) == 2


@pytest.mark.parametrize(("sizes", "n_threads"), [([1500], 1), ([1500, 1500], 2), ([1500, 4], 2)], ids=str)
def test_ctrl_c_reaches_a_column_at_work(sizes, n_threads, monkeypatch):
    """Also one of a helper, while the caller's thread has none: what is at work is cut."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 6)), np.where(np.arange(1500) % 2 == 0, 1.0, -1.0)
    K, cost = RBF(0.02)(X), np.full(1500, 1e7)
    columns = [StoredColumn(np.arange(n), y[:n], cost[:n]) for n in sizes]
    given, ends = _native.svm_paths, []

    def interrupted(*arguments, **options):
        def send():
            while time.process_time() < begun + 0.1:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)

        begun, sender = time.process_time(), threading.Thread(target=send)
        sender.start()
        try:
            given(*arguments, **options)
        finally:
            sender.join()
            ends.append(options["end"][:, 0].tolist())

    monkeypatch.setattr(_native, "svm_paths", interrupted)
    rules = Stop(1e-7, 1000, deadline=Deadline(60.0))
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            solve_stored(K, columns, np.ones(1), False, rules, n_threads)
    for end in ends:
        assert [one for one, n in zip(end, sizes) if n == 1500] == [pairs.CUT] * sizes.count(1500)
