"""The solver of the budgeted method: its optimum against direct solutions, itself resumed, and its memory."""

import weakref
from dataclasses import astuple

import numpy as np
import pytest
from support.budget_optimum import best
from support.budget_problems import SOLVED, STOP, dual_value, noisy, objective, problem_of, rbf

from maxmargin.methods.budget.final_refit import StreamedPanel
from maxmargin.methods.budget.greedy import GreedyOptions, greedy
from maxmargin.numerics.feature_panel import FeaturePanel
from maxmargin.solving.result import Status, Stop


@pytest.mark.parametrize("loss", SOLVED)
def test_every_certificate_matches_the_current_coefficients(loss):
    """Primal and dual computed again, from the State that a callback sees and from nothing else."""
    X, Y, weight = noisy(1, n_columns=2, zeros=True, weighted=True)
    problem = problem_of(X, Y, weight, loss)
    K = rbf(X, X)
    n_seen = 0

    def compare(check, state):
        nonlocal n_seen
        if state.ended:
            return
        S = state.support
        L = np.linalg.cholesky(K[np.ix_(S, S)]) if len(S) else np.zeros((0, 0))
        a = np.linalg.solve(L.T, state.V)
        assert check.primal == pytest.approx(
            objective(K, S, a, Y, weight, problem.loss, problem.alpha), rel=1e-8
        )
        assert check.n_support == len(S)
        assert check.gap >= -1e-12
        n_seen += 1

    result, _ = greedy(problem, GreedyOptions(12), stop=Stop(1e-4), seed=0, callback=compare)
    assert n_seen >= 12
    assert result.gap <= 1e-4
    S, a = result.support, result.coef
    primal = objective(K, S, a, Y, weight, problem.loss, problem.alpha)
    assert result.objective == pytest.approx(primal, rel=1e-8)
    dual = result.history[-1].dual
    assert dual_value(K, S, a, Y, weight, problem.loss, problem.alpha) == pytest.approx(dual, rel=1e-7)
    assert dual <= best(K[:, S], K[np.ix_(S, S)], Y, weight, loss, problem.alpha) * (1 + 1e-9)


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("loss", SOLVED)
def test_budget_for_all_rows_gives_the_exact_svm(loss, n_columns):
    """The minimum over all coefficients, by a QP or by L-BFGS on all rows at once."""
    X, Y, weight = noisy(2, n=60, n_columns=n_columns, zeros=n_columns > 1, weighted=True)
    problem = problem_of(X, Y, weight, loss, alpha=0.02)
    K = rbf(X, X) + 1e-12 * np.eye(len(X))
    result, _ = greedy(problem, GreedyOptions(70), stop=Stop(1e-9), seed=0)
    assert result.status is not Status.STALLED
    assert result.objective == pytest.approx(best(K, K, Y, weight, loss, problem.alpha), rel=1e-6)


@pytest.mark.parametrize("loss", SOLVED)
def test_chosen_support_vectors_have_optimal_coefficients(loss):
    X, Y, weight = noisy(3, n=120, n_columns=3, zeros=True, weighted=True)
    problem = problem_of(X, Y, weight, loss)
    result, _ = greedy(problem, GreedyOptions(9), stop=Stop(1e-8), seed=0)
    assert result.status is Status.BUDGET_FULL
    S = result.support
    assert len(set(S.tolist())) == 9
    K_nS = rbf(X, X[S])
    assert result.objective == pytest.approx(best(K_nS, K_nS[S], Y, weight, loss, problem.alpha), rel=1e-6)


def same_result(one, two):
    np.testing.assert_array_equal(one.support, two.support)
    np.testing.assert_array_equal(one.coef, two.coef)
    assert (one.status, one.alpha, one.objective, one.history[-1].dual) == (
        two.status,
        two.alpha,
        two.objective,
        two.history[-1].dual,
    )
    assert one.path.keys() == two.path.keys()
    for b in one.path:
        for first, second in zip(astuple(one.path[b]), astuple(two.path[b]), strict=True):
            np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(one.calibration.rows, two.calibration.rows)
    np.testing.assert_array_equal(one.calibration.outputs, two.calibration.outputs)
    if one.points is not None:
        np.testing.assert_array_equal(one.points, two.points)


@pytest.mark.parametrize(
    ("loss", "dtype", "options"),
    [
        ("squared-hinge", np.float64, {}),
        ("hinge", np.float32, {"choose_alpha": True}),
        ("log", np.float64, {"move": True}),
        ("squared-hinge", np.float32, {"move": True, "choose_alpha": True}),
        ("squared", np.float64, {"start": np.array([3, 8, 9]), "coef": np.ones((3, 2)), "n_held_out": 30}),
    ],
)
def test_resumed_fits_are_bit_identical_from_every_phase(loss, dtype, options):
    X, Y, weight = noisy(10, n=220, n_columns=2, weighted=True, dtype=dtype)
    X[110:150] = X[:40]  # rows in the span of others
    states = []

    def run(state=None, callback=None):
        problem = problem_of(X, Y, weight, loss)
        return greedy(
            problem, GreedyOptions(14, **options), stop=STOP, seed=3, state=state, callback=callback
        )

    whole, end = run(callback=lambda check, state: states.append(state.copy()))
    phases = [state.phase for state in states]
    assert set(phases) == {"grow", "swap", "finish"} | ({"move"} if "move" in options else set())
    assert states[-1].ended == end.ended == whole.status.value
    some = {phases.index(p) for p in phases} | {len(phases) - 1 - phases[::-1].index(p) for p in phases} | {7}
    for k in sorted(some):
        again, end_again = run(states[k].copy())
        same_result(again, whole)
        assert end_again.keys() == end.keys()
        assert len(again.history) == len(states) - k


@pytest.mark.parametrize("loss", SOLVED)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_streamed_rows_reach_the_same_objective(loss, tol, monkeypatch):
    X, Y, weight = noisy(11, n=700, n_columns=2, zeros=True, weighted=True)
    problem = problem_of(X, Y, weight, loss)
    streamed = []
    init = StreamedPanel.__init__
    monkeypatch.setattr(StreamedPanel, "__init__", lambda *a: streamed.append(1) or init(*a))
    small = GreedyOptions(10, cache_bytes=2 * 10 * 8 * 150)
    result, _ = greedy(problem, small, stop=Stop(tol), seed=0)
    assert streamed
    assert result.status is Status.BUDGET_FULL
    assert result.gap <= tol
    S = result.support
    assert S.max() < 150
    K_nS = rbf(X, X[S])
    optimum = best(K_nS, K_nS[S], Y, weight, loss, problem.alpha)
    assert optimum * (1 - 1e-9) <= result.objective <= optimum * (1 + 1.1 * tol + 1e-8)
    assert result.objective == pytest.approx(
        objective(rbf(X, X), S, result.coef, Y, weight, problem.loss, problem.alpha), rel=1e-9
    )


@pytest.mark.parametrize("options", [{}, {"n_held_out": 200}, {"choose_alpha": True}, {"move": True}])
@pytest.mark.parametrize("rows_in_cache", [60, 200, 1000])
def test_features_never_exceed_the_cache(options, rows_in_cache, monkeypatch):
    X, Y, weight = noisy(12, n=900)
    cache, alive, most = rows_in_cache * 10 * 8, weakref.WeakSet(), 0
    init, snapshot = FeaturePanel.__init__, FeaturePanel.snapshot

    def count(extra=0):
        nonlocal most
        most = max(most, extra + sum(panel._phi.nbytes for panel in alive))

    def made(panel, *arguments):
        init(panel, *arguments)
        alive.add(panel)
        count()

    def saved(panel, size):
        taken = snapshot(panel, size)
        count(taken.phi.nbytes)
        return taken

    monkeypatch.setattr(FeaturePanel, "__init__", made)
    monkeypatch.setattr(FeaturePanel, "snapshot", saved)
    result, _ = greedy(
        problem_of(X, Y, weight), GreedyOptions(10, cache_bytes=cache, **options), stop=STOP, seed=0
    )
    assert result.status is Status.BUDGET_FULL
    assert 0.3 * cache <= most <= cache


def test_too_small_cache_is_refused():
    X, Y, weight = noisy(13, n=300)
    with pytest.raises(
        ValueError, match=r"cache_mb is too small.*features of 12 rows.*20 support.*Raise cache_mb"
    ):
        greedy(problem_of(X, Y, weight), GreedyOptions(20, cache_bytes=4000), stop=STOP, seed=0)


def test_budget_above_the_number_of_rows_costs_nothing():
    X, Y, weight = noisy(13, n=25)
    result, _ = greedy(problem_of(X, Y, weight), GreedyOptions(10**9), stop=STOP, seed=0)
    assert result.status is Status.NO_LOSS_LEFT
    assert len(result.support) <= 25
