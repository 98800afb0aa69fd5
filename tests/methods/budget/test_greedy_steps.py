"""The steps of the budgeted solver against brute force: features, picks, swaps and moved centres."""

import numpy as np
import pytest
from support.budget_optimum import best, costs
from support.budget_problems import SOLVED, noisy, objective, problem_of, rbf

from maxmargin.kernels import RBF
from maxmargin.kernels.data import KernelData
from maxmargin.methods.budget.centers import MovingCentres
from maxmargin.methods.budget.gain import pick_by_gain
from maxmargin.methods.budget.greedy import GreedyFit, GreedyOptions, greedy
from maxmargin.methods.budget.reduced_newton import ReducedProblem, refit
from maxmargin.methods.budget.swaps import Removal, half_inverses, swap
from maxmargin.numerics.feature_panel import FeaturePanel
from maxmargin.solving.result import Stop
from maxmargin.solving.row_pool import RowPool


@pytest.fixture
def pool():
    with RowPool(1) as pool:
        yield pool


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_panel_depends_only_on_its_accepted_points(pool, dtype):
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


def started(problem, support, pool, tol=1e-10, **how):
    """A fit of those support vectors, with coefficients at the optimum."""
    fit = GreedyFit(problem, GreedyOptions(len(support), start=np.array(support), **how), tol, 0, pool, None)
    fit.take(refit(fit.reduced(), fit.state.V, fit.fitted.F, tol))
    return fit


def test_predicted_gain_is_the_decrease_along_the_new_direction(pool):
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


def test_first_predicted_gain_is_the_whole_decrease(pool):
    """With no support vectors yet, one coefficient is all there is to refit."""
    X, Y, weight = noisy(5, n=30)
    fit = GreedyFit(problem_of(X, Y, weight, "squared", alpha=0.05), GreedyOptions(5), 1e-9, 0, pool, None)
    K = rbf(X, X)
    at_zero = 0.5
    decreases = [at_zero - best(K[:, [z]], K[[z]][:, [z]], Y, weight, "squared", 0.05) for z in range(30)]
    picks, promise = pick_by_gain(fit.reduced(), fit.fitted.F, 30, slice(0, 30), np.arange(30), 1)
    assert picks.tolist() == [int(np.argmax(decreases))]
    assert promise == pytest.approx(max(decreases), rel=1e-7)


def test_picks_of_one_round_are_distinct_rows(pool):
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


@pytest.mark.parametrize("leaving", [[1], [4], [0, 3, 5]])
def test_removal_cost_equals_its_prediction(pool, leaving):
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
@pytest.mark.parametrize("loss", ["squared-hinge", "log", "squared"])
@pytest.mark.parametrize("n_columns", [1, 5])
def test_compiled_newton_steps_are_those_of_the_reference(loss, dtype, n_columns, monkeypatch):
    """Same coefficients, bounds and inverse Hessians, from zero and from a start, on any threads."""
    X, Y, weight = noisy(11, n=2500, n_columns=n_columns, zeros=True, weighted=True, dtype=dtype)
    problem = problem_of(X, Y, weight, loss, alpha=1e-3)
    found = []
    for compiled, n_threads in ((True, 1), (True, 3), (False, 1)):
        monkeypatch.setattr(ReducedProblem, "is_compiled", lambda self, b, compiled=compiled: compiled)
        with RowPool(n_threads) as pool:
            fit = GreedyFit(problem, GreedyOptions(12), 1e-3, 0, pool, None)
            fit.append(np.arange(0, 240, 20))
            reduced, V = fit.reduced(), fit.grown()
            first = refit(reduced, V, fit.panel.dot(V), 0.1)
            last = refit(reduced, first.V, first.F, 1e-6)
            found.append((first, last, half_inverses(reduced, last.F, 12)))
    one, three, reference = found
    for a, b, c in zip(one[:2], three[:2], reference[:2]):
        assert a.n_steps == b.n_steps
        assert c.relative_gap <= 0.1
        for name in ("V", "F", "primal", "gap"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(one[2], three[2])
    close = {"rtol": 1e-3, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-7, "atol": 1e-9}
    for name in ("V", "F", "primal"):
        np.testing.assert_allclose(getattr(one[1], name), getattr(reference[1], name), **close)
    assert one[1].relative_gap <= 1e-6
    np.testing.assert_allclose(one[2], reference[2], **(close | {"atol": 1e-3 * np.abs(one[2]).max()}))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", SOLVED)
def test_swap_lowers_the_objective_or_changes_nothing(pool, loss, dtype):
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
        saved = swap(fit, (5, 2, 1)[k % 3])
        outcomes.add(saved > 0.0)
        assert fit.panel.size == len(fit.state.support) == len(set(fit.state.support.tolist())) == 16
        np.testing.assert_array_equal(fit.panel.points, X[fit.state.support])
        if saved:
            after = fit.present().primal.sum()
            assert after < before.primal.sum()
            assert saved == pytest.approx(1.0 - after / before.primal.sum(), rel=1e-3)
            continue
        assert fit.state.keys() == state.keys()
        for name in state:
            np.testing.assert_array_equal(fit.state[name], state[name])
        for now, then in ((fit.panel.phi, phi), (fit.panel.factor, factor), (fit.panel.points, points)):
            np.testing.assert_array_equal(now, then)
        np.testing.assert_array_equal(fit.present().F, before.F)
    assert outcomes == {True, False}


@pytest.mark.parametrize("loss", SOLVED)
def test_gradient_of_moving_centres(pool, loss, monkeypatch):
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
def test_moving_centres_never_raises_the_objective(loss, seed):
    X, Y, weight = noisy(seed, n=100, weighted=True)
    problem = problem_of(X, Y, weight, loss)
    there, _ = greedy(problem, GreedyOptions(5), stop=Stop(1e-6), seed=seed)
    moved, _ = greedy(problem, GreedyOptions(5, move=True), stop=Stop(1e-6), seed=seed)
    np.testing.assert_array_equal(moved.support, there.support)
    assert moved.objective <= there.objective * (1 + 1e-6)
    K_nS, K_SS = rbf(X, moved.points), rbf(moved.points, moved.points)
    assert moved.objective == pytest.approx(best(K_nS, K_SS, Y, weight, loss, problem.alpha), rel=1e-5)
