"""The solver of the budgeted method against direct solutions, brute force, and itself resumed."""

import weakref
from dataclasses import astuple

import numpy as np
import pytest
from support.budget_optimum import best, costs

from maxmargin.kernels import RBF
from maxmargin.kernels.data import KernelData
from maxmargin.losses import LOSSES, SmoothedHinge
from maxmargin.methods.budget.centers import MovingCentres
from maxmargin.methods.budget.final_refit import StreamedPanel
from maxmargin.methods.budget.gain import pick_by_gain
from maxmargin.methods.budget.greedy import GreedyFit, GreedyOptions, greedy
from maxmargin.methods.budget.problem import BudgetProblem
from maxmargin.methods.budget.reduced_newton import refit
from maxmargin.methods.budget.swaps import Removal, swap
from maxmargin.numerics.feature_panel import FeaturePanel
from maxmargin.solving.result import Status, Stop
from maxmargin.solving.row_pool import RowPool

STOP = Stop(1e-3, max_iter=10_000)
SMOOTH = ["squared-hinge", "log", "squared"]
SOLVED = [*SMOOTH, "hinge"]


def rbf(X, Z, gamma=0.3):
    return np.exp(-gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


def noisy(seed=0, n=80, d=3, n_columns=1, *, zeros=False, weighted=False, dtype=np.float64):
    """Rows, targets and weights; with zeros, some rows take part in some of the columns only."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    Y = np.where(X[:, :1] + 0.7 * rng.normal(size=(n, n_columns)) > 0.2, 1.0, -1.0)
    if zeros:
        Y[rng.random(Y.shape) < 0.3] = 0.0
    return X, Y, rng.uniform(0.3, 3.0, n) if weighted else np.ones(n)


def problem_of(X, Y, weight=None, loss="squared-hinge", alpha=1e-2, kernel=None, n_threads=1):
    weight = np.ones(len(Y)) if weight is None else weight
    data = KernelData(RBF(gamma=0.3) if kernel is None else kernel, X, np.arange(X.shape[0]), n_threads)
    return BudgetProblem(data, Y, weight, LOSSES[loss], alpha)


def objective(K, S, a, Y, weight, loss, alpha):
    """As SPEC has it: ``sum_t (1/n_t) sum_i w_i loss(y_it f_t(x_i)) + alpha/2 a_t' K_SS a_t``."""
    losses = (costs(Y, weight) * loss.value(Y * (K[:, S] @ a))).sum()
    return losses + 0.5 * alpha * np.einsum("it,ij,jt->", a, K[np.ix_(S, S)], a)


def dual_value(K, S, a, Y, weight, loss, alpha):
    """The dual of the reduced problem, a bound at any theta of its domain: here at the slopes.

    The hinge's slopes jump: for it, the best of the bounds at the slopes of smoothed hinges.
    """
    c, m = costs(Y, weight), Y * (K[:, S] @ a)
    bounds = []
    for near in [SmoothedHinge(0.5 * 0.3**k) for k in range(15)] if loss.name == "hinge" else [loss]:
        u = near.slope(m)
        r = K[:, S].T @ (c * Y * u)
        norm = np.einsum("it,it->", r, np.linalg.solve(K[np.ix_(S, S)], r))
        bounds.append(-(c * np.where(c > 0, loss.conjugate(u), 0.0)).sum() - norm / (2.0 * alpha))
    return max(bounds)


@pytest.fixture
def pool():
    with RowPool(1) as pool:
        yield pool


# ---- features ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_panel_is_a_function_of_its_blocks_of_points(pool, dtype):
    """Points that were refused leave no trace: computed again without them, every bit is the same."""
    X, _, _ = noisy(n=60, dtype=dtype)
    kernel = KernelData(RBF(gamma=0.3), X, np.arange(60))
    panel, again = FeaturePanel(kernel, 30, pool), FeaturePanel(kernel, 30, pool)
    for picks in ([3, 7, 3, 9, 11, 7, 20], [9, 30, 31, 32, 32, 33, 40], [3, 7], [50, 51, 3]):
        added = panel.append(kernel.points(np.array(picks)))
        assert added.tolist() == [
            p not in picks[:i] and p not in taken(panel, X, added) for i, p in enumerate(picks)
        ]
        if added.any():
            again.append(kernel.points(np.array(picks)[added]))
    np.testing.assert_array_equal(panel.phi, again.phi)
    np.testing.assert_array_equal(panel.factor, again.factor)
    K = rbf(X.astype(float), np.asarray(panel.points, dtype=float))
    np.testing.assert_allclose(panel.phi @ panel.factor.T, K, atol=1e-3 if dtype == np.float32 else 1e-10)


def taken(panel, X, added):
    """Rows of X that were points before the last block."""
    before = panel.points[: panel.size - added.sum()]
    return [int(np.flatnonzero((p == X).all(axis=1))[0]) for p in before]


# ---- certificates ----


@pytest.mark.parametrize("loss", SOLVED)
def test_every_certificate_is_of_the_coefficients_at_hand(loss):
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
def test_with_room_for_all_rows_it_is_the_exact_machine(loss, n_columns):
    """The minimum over all coefficients, by a QP or by L-BFGS on all rows at once."""
    X, Y, weight = noisy(2, n=60, n_columns=n_columns, zeros=n_columns > 1, weighted=True)
    problem = problem_of(X, Y, weight, loss, alpha=0.02)
    K = rbf(X, X) + 1e-12 * np.eye(len(X))
    result, _ = greedy(problem, GreedyOptions(70), stop=Stop(1e-9), seed=0)
    assert result.status is not Status.STALLED
    assert result.objective == pytest.approx(best(K, K, Y, weight, loss, problem.alpha), rel=1e-6)


@pytest.mark.parametrize("loss", SOLVED)
def test_a_set_that_was_found_has_its_optimal_coefficients(loss):
    X, Y, weight = noisy(3, n=120, n_columns=3, zeros=True, weighted=True)
    problem = problem_of(X, Y, weight, loss)
    result, _ = greedy(problem, GreedyOptions(9), stop=Stop(1e-8), seed=0)
    assert result.status is Status.BUDGET_FULL
    S = result.support
    assert len(set(S.tolist())) == 9
    K_nS = rbf(X, X[S])
    assert result.objective == pytest.approx(best(K_nS, K_nS[S], Y, weight, loss, problem.alpha), rel=1e-6)


# ---- choosing ----


def started(problem, support, pool, tol=1e-10, **how):
    """A fit of those support vectors, with coefficients at the optimum."""
    fit = GreedyFit(problem, GreedyOptions(len(support), start=np.array(support), **how), tol, 0, pool, None)
    fit.take(refit(fit.reduced(), fit.state.V, fit.fitted.F, tol))
    return fit


def test_a_promise_is_kept(pool):
    """Squared loss: the promise is the decrease by the new point and a refit of its own direction.

    Brute force over every candidate: the objective after adding it, its coefficient alone moving along what
    the others do not span; and no less than that once all coefficients are refitted.
    """
    X, Y, weight = noisy(4, n=40, n_columns=2, weighted=True)
    problem = problem_of(X, Y, weight, "squared", alpha=0.05)
    support = [0, 5, 9]
    fit = started(problem, support, pool)
    K = rbf(X, X)
    before = best(K[:, support], K[np.ix_(support, support)], Y, weight, "squared", 0.05)
    assert fit.fitted.primal.sum() == pytest.approx(before, rel=1e-9)
    for z in range(10, 40):
        picks, promise = pick_by_gain(fit.reduced(), fit.fitted.F, 40, slice(0, 40), np.array([z]), 1)
        S = [*support, z]
        after = best(K[:, S], K[np.ix_(S, S)], Y, weight, "squared", 0.05)
        assert picks.tolist() == [z]
        assert promise == pytest.approx(
            decrease_along(K, support, z, fit.fitted.F, Y, weight, 0.05), rel=1e-8
        )
        assert promise <= (before - after) * (1 + 1e-6)


def decrease_along(K, support, z, F, Y, weight, alpha):
    """The largest decrease along the part of k(., z) orthogonal to the support vectors, by its parabola."""
    beta = np.linalg.solve(K[np.ix_(support, support)], K[support, z])
    direction = K[:, z] - K[:, support] @ beta
    norm = K[z, z] - K[support, z] @ beta
    total = 0.0
    for y, f, c in zip(Y.T, F.T, costs(Y, weight).T):
        values = [
            c @ (0.5 * (y - f - s * direction) ** 2) + 0.5 * alpha * norm * s * s for s in (-1.0, 0.0, 1.0)
        ]
        slope, curvature = (values[2] - values[0]) / 2, values[2] - 2 * values[1] + values[0]
        total += slope**2 / (2 * curvature)
    return total


def test_the_first_promise_is_the_whole_decrease(pool):
    """With no support vectors yet, one coefficient is all there is to refit."""
    X, Y, weight = noisy(5, n=30)
    fit = GreedyFit(problem_of(X, Y, weight, "squared", alpha=0.05), GreedyOptions(5), 1e-9, 0, pool, None)
    K = rbf(X, X)
    at_zero = 0.5
    decreases = [at_zero - best(K[:, [z]], K[[z]][:, [z]], Y, weight, "squared", 0.05) for z in range(30)]
    picks, promise = pick_by_gain(fit.reduced(), fit.fitted.F, 30, slice(0, 30), np.arange(30), 1)
    assert picks.tolist() == [int(np.argmax(decreases))]
    assert promise == pytest.approx(max(decreases), rel=1e-7)


def test_picks_of_one_round_do_not_repeat_each_other(pool):
    X, Y, _ = noisy(6, n=40)
    X[20:] = X[:20]
    fit = GreedyFit(problem_of(X, Y), GreedyOptions(20), 1e-9, 0, pool, None)
    picks, _ = pick_by_gain(fit.reduced(), fit.fitted.F, 40, slice(0, 40), np.arange(40), 10)
    assert len(picks) == len({p % 20 for p in picks.tolist()}) == 10


def test_draws_follow_the_weights_whatever_their_size(pool):
    X, Y, _ = noisy(7, n=100)
    weight = np.where(np.arange(100) < 70, 1e-280, 1e280)
    sample = GreedyFit(problem_of(X, Y, weight), GreedyOptions(5), 1e-3, 0, pool, None).sample
    drawn = sample.draw(50, np.array([99]), np.random.default_rng(0))
    assert len(set(drawn.tolist())) == 50
    assert set(range(70, 99)) <= set(drawn.tolist())
    weight = np.where(np.arange(100) < 50, 3.0, 1.0)
    sample = GreedyFit(problem_of(X, Y, weight), GreedyOptions(5), 1e-3, 0, pool, None).sample
    rng = np.random.default_rng(1)
    heavy = np.mean([sample.draw(1, np.zeros(0, dtype=int), rng)[0] < 50 for _ in range(2000)])
    assert heavy == pytest.approx(0.75, abs=0.04)  # four standard deviations


# ---- swaps ----


@pytest.mark.parametrize("leaving", [[1], [4], [0, 3, 5]])
def test_removal_costs_what_is_predicted(pool, leaving):
    """Squared loss: the second-order model is the objective itself."""
    X, Y, weight = noisy(8, n=60, n_columns=2, zeros=True, weighted=True)
    problem = problem_of(X, Y, weight, "squared", alpha=0.03)
    support = [3, 11, 20, 33, 41, 57]
    fit = started(problem, support, pool, tol=1e-13)
    model = Removal(fit.reduced(), fit.fitted)
    kept = np.delete(support, leaving)
    K = rbf(X, X)
    after = best(K[:, kept], K[np.ix_(kept, kept)], Y, weight, "squared", 0.03)
    if len(leaving) == 1:
        cost = after - fit.fitted.primal.sum()
        assert model.costs()[leaving[0]] == pytest.approx(cost, rel=1e-5)
    a = model.without(np.array(leaving))
    assert not a[leaving].any()
    value = objective(K, kept, np.delete(a, leaving, axis=0), Y, weight, problem.loss, 0.03)
    assert value == pytest.approx(after, rel=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", SOLVED)
def test_a_swap_lowers_the_objective_or_leaves_no_trace(pool, loss, dtype):
    X, Y, weight = noisy(9, n=150, n_columns=2, weighted=True, dtype=dtype)
    fit = GreedyFit(problem_of(X, Y, weight, loss), GreedyOptions(16), 1e-3, 0, pool, None)
    while fit.state.phase == "grow":
        fit.step()
    outcomes = set()
    for k in range(24):
        fit.state.round += 1
        fit.fitted = fit.present()
        before, state = fit.fitted, fit.state.copy()
        phi, factor, points = fit.panel.phi.copy(), fit.panel.factor.copy(), fit.panel.points.copy()
        better = swap(fit, (5, 2, 1)[k % 3])
        outcomes.add(better)
        assert fit.panel.size == len(fit.state.support) == len(set(fit.state.support.tolist())) == 16
        np.testing.assert_array_equal(fit.panel.points, X[fit.state.support])
        if better:
            assert fit.present().primal.sum() < before.primal.sum()
            continue
        assert fit.state.keys() == state.keys()
        for name in state:
            np.testing.assert_array_equal(fit.state[name], state[name])
        for now, then in ((fit.panel.phi, phi), (fit.panel.factor, factor), (fit.panel.points, points)):
            np.testing.assert_array_equal(now, then)
        np.testing.assert_array_equal(fit.present().F, before.F)
    assert outcomes == {True, False}


# ---- resumed ----


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


# ---- all rows ----


@pytest.mark.parametrize("loss", SOLVED)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_streaming_past_the_rows_ends_at_the_same_objective(loss, tol, monkeypatch):
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


def test_a_cache_without_room_is_refused():
    X, Y, weight = noisy(13, n=300)
    with pytest.raises(
        ValueError, match=r"cache_mb is too small.*features of 12 rows.*20 support.*Raise cache_mb"
    ):
        greedy(problem_of(X, Y, weight), GreedyOptions(20, cache_bytes=4000), stop=STOP, seed=0)


def test_a_budget_beyond_the_rows_costs_nothing():
    X, Y, weight = noisy(13, n=25)
    result, _ = greedy(problem_of(X, Y, weight), GreedyOptions(10**9), stop=STOP, seed=0)
    assert result.status is Status.NO_LOSS_LEFT
    assert len(result.support) <= 25


# ---- centres ----


@pytest.mark.parametrize("loss", SOLVED)
def test_the_gradient_of_moving_centres(pool, loss, monkeypatch):
    monkeypatch.setattr("maxmargin.methods.budget.centers.MOVE_TOL", 1e-13)
    X, Y, weight = noisy(14, n=50, n_columns=2, zeros=True, weighted=True)
    fit = started(problem_of(X, Y, weight, loss, alpha=0.05), [2, 7, 30], pool, move=True)
    moving = MovingCentres(fit)
    Z = X[[2, 7, 30]] + 0.3 * np.random.default_rng(0).normal(size=(3, 3))
    _, gradient = moving(Z.ravel())
    step = 1e-5
    numeric = [
        (moving(Z.ravel() + step * e)[0] - moving(Z.ravel() - step * e)[0]) / (2 * step) for e in np.eye(9)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-6 * np.abs(numeric).max())


@pytest.mark.parametrize("loss", SOLVED)
@pytest.mark.parametrize("seed", range(4))
def test_moving_centres_never_ends_higher(loss, seed):
    X, Y, weight = noisy(seed, n=100, weighted=True)
    problem = problem_of(X, Y, weight, loss)
    there, _ = greedy(problem, GreedyOptions(5), stop=Stop(1e-6), seed=seed)
    moved, _ = greedy(problem, GreedyOptions(5, move=True), stop=Stop(1e-6), seed=seed)
    np.testing.assert_array_equal(moved.support, there.support)
    assert moved.objective <= there.objective * (1 + 1e-6)
    K_nS, K_SS = rbf(X, moved.points), rbf(moved.points, moved.points)
    assert moved.objective == pytest.approx(best(K_nS, K_SS, Y, weight, loss, problem.alpha), rel=1e-5)
