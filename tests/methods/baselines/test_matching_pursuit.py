"""Kernel matching pursuit against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from maxmargin import KernelMatchingPursuit
from maxmargin.kernels import RBF
from maxmargin.kernels.data import KernelData
from maxmargin.methods.baselines.matching_pursuit import PursuitProblem, matching_pursuit
from maxmargin.solving.result import Status, Stop


def blobs(n=300, centers=2, spread=3.0, seed=0):
    X, y = make_blobs(n, n_features=4, centers=centers, cluster_std=spread, random_state=seed)
    return X / 4.0, y


def objective(K, support, targets, weight, alpha):
    """The least value over all coefficients of these rows, column by column, and the coefficients."""
    value, coef = 0.0, np.zeros((len(support), targets.shape[1]))
    for t, y in enumerate(targets.T):
        v = np.sqrt(np.where(y != 0, weight, 0.0) / weight[y != 0].sum())
        A = np.vstack([v[:, None] * K[:, support], np.sqrt(alpha) * np.eye(len(support))])
        b = np.concatenate([v * y, np.zeros(len(support))])
        coef[:, t] = np.linalg.lstsq(A, b)[0]
        value += 0.5 * np.sum((A @ coef[:, t] - b) ** 2)
    return value, coef


def plain_objective(K, support, coef, candidate, targets, weight, alpha):
    """The value when the candidate's own coefficients alone are fitted."""
    value = 0.0
    for t, y in enumerate(targets.T):
        v = np.sqrt(np.where(y != 0, weight, 0.0) / weight[y != 0].sum())
        residual = np.append(v * (y - K[:, support] @ coef[:, t]), 0.0)
        column = np.append(v * K[:, candidate], np.sqrt(alpha))
        residual -= column * (column @ residual) / (column @ column)
        value += 0.5 * np.sum(residual**2)
    return value


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("pre_fit", [True, False])
@pytest.mark.parametrize("candidates", ["all, stored", "all", "drawn"])
def test_every_choice_is_the_best_one(alpha, pre_fit, candidates, monkeypatch):
    drawn = candidates == "drawn"
    if candidates == "all":
        monkeypatch.setattr("maxmargin.methods.baselines.matching_pursuit.MAX_STORED_KERNEL_VALUES", 0)
    rng = np.random.default_rng(0)
    n, budget = 25, 6
    X, weight = rng.normal(size=(n, 3)), rng.uniform(0.5, 2.0, size=n)
    targets = rng.choice([-1.0, 1.0], size=(n, 3))
    targets[rng.random(n) < 0.3, 2] = 0.0
    problem = PursuitProblem(KernelData(RBF(0.3), X, np.arange(n)), targets, weight, budget, alpha)
    draw = (lambda step: np.random.default_rng(step).permutation(n)[:8]) if drawn else None
    result = matching_pursuit(problem, draw, pre_fit=pre_fit, stop=Stop(tol=0.0))
    K, support, coef = RBF(0.3)(X), [], np.zeros((0, 3))
    for step in range(budget):
        tried = [j for j in (draw(step) if drawn else range(n)) if j not in support]
        if pre_fit:
            values = [objective(K, [*support, j], targets, weight, alpha)[0] for j in tried]
        else:
            values = [plain_objective(K, support, coef, j, targets, weight, alpha) for j in tried]
        support.append(tried[int(np.argmin(values))])
        value, coef = objective(K, support, targets, weight, alpha)
        assert result.history[step + 1].primal == pytest.approx(value, rel=1e-9)
    assert result.support.tolist() == support
    assert result.status is Status.BUDGET_FULL
    np.testing.assert_allclose(result.coef, coef, rtol=1e-6, atol=1e-8)


def test_pursuit_ends_when_no_candidate_gains():
    X, y = blobs(60)
    flat = KernelMatchingPursuit(20, kernel="linear", alpha=0.0).fit(X, y)
    assert flat.status_ == "no_loss_left"
    assert flat.n_support_ == 4  # the rank of the kernel matrix
    X[:30] = X[30:]
    y[:30] = y[30:]
    whole = KernelMatchingPursuit(1000, gamma=1.0, alpha=0.0).fit(X, y)
    assert whole.n_support_ <= 30
    np.testing.assert_allclose(whole.decision_function(X), np.where(y == 1, 1.0, -1.0), atol=1e-4)


@pytest.mark.parametrize("n_candidates", [None, 10])
def test_resumed_pursuit_is_bit_identical(n_candidates):
    X, y = blobs(80, centers=3)
    targets = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    problem = PursuitProblem(KernelData(RBF(0.5), X, np.arange(80)), targets, np.ones(80), 12)
    draw = (lambda step: np.random.default_rng([0, step]).permutation(80)[:10]) if n_candidates else None
    states, stop = [], Stop(tol=0.0)
    whole = matching_pursuit(problem, draw, stop=stop, callback=lambda _, state: states.append(state.copy()))
    rest = matching_pursuit(problem, draw, stop=stop, state=states[5])
    np.testing.assert_array_equal(whole.coef, rest.coef)


@settings(max_examples=15)
@given(budget=st.integers(1, 90), n_candidates=st.one_of(st.none(), st.integers(1, 100)))
def test_the_budget_is_never_exceeded(budget, n_candidates):
    X, y = blobs(80, centers=3)
    for code in ("one-vs-rest", "one-vs-one"):
        model = KernelMatchingPursuit(budget, n_candidates=n_candidates, code=code, random_state=0).fit(X, y)
        assert max(check.n_support for check in model.history_[0]) <= budget
        assert model.n_support_ == len(set(model.support_)) <= min(budget, 80)
        values = [check.primal for check in model.history_[0]]
        assert all(np.diff(values) <= 1e-12)


def same_letters(left, right):
    return np.array([[len(set(a) & set(b)) / len(set(a) | set(b)) for b in right] for a in left])


def test_objects_and_precomputed_kernels():
    model = KernelMatchingPursuit(5)
    words = np.array(["oak", "oaks", "soak", "fir", "firs", "rifle"])
    y = np.array(["o", "o", "o", "f", "f", "f"])
    model.set_params(kernel=same_letters, random_state=0).fit(words, y)
    assert model.score(words, y) == 1.0
    np.testing.assert_array_equal(model.support_vectors_, words[model.support_])
    X, y = blobs(100)
    named = model.set_params(kernel="rbf", gamma=0.5).fit(X, y).decision_function(X)
    K = RBF(0.5)(X)
    given_K = model.set_params(kernel="precomputed").fit(K, y).decision_function(K)
    np.testing.assert_allclose(given_K, named, atol=1e-3)


def test_bad_parameters_are_refused_clearly():
    X, y = blobs(20)
    for model, match in [
        (KernelMatchingPursuit(0), "budget must be an integer >= 1"),
        (KernelMatchingPursuit(n_candidates=0), "n_candidates must be an integer >= 1"),
        (KernelMatchingPursuit(alpha=-1.0), "alpha must be a finite number >= 0"),
        (KernelMatchingPursuit(kernel="gauss"), "kernel must be"),
    ]:
        with pytest.raises(ValueError, match=match):
            model.fit(X, y)
