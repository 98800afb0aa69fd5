"""Perceptrons and Pegasos against loops that do what is printed, and streams cut anywhere."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from maxmargin import BudgetPerceptron, KernelPegasos, KernelPerceptron
from maxmargin.kernels import RBF
from maxmargin.kernels.data import KernelData
from maxmargin.losses import LOSSES
from maxmargin.methods.baselines.online_epochs import OnlineProblem, online, permutations, weighted_draws
from maxmargin.solving.result import Status, Stop

STREAMS = [KernelPerceptron(), BudgetPerceptron(budget=7), KernelPegasos(alpha=0.01)]


def samples(n=600, n_columns=3, seed=0):
    """Rows, ternary targets and weights that no method can get wholly right."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    targets = rng.choice([-1.0, 0.0, 1.0], size=(n, n_columns), p=[0.4, 0.2, 0.4])
    return X, targets, rng.uniform(0.5, 2.0, size=n)


def problem_of(X, targets, weight, loss="perceptron", **rule):
    return OnlineProblem(KernelData(RBF(0.3), X, np.arange(len(X))), targets, weight, LOSSES[loss], **rule)


def blobs(n=400, centers=3, spread=3.0):
    X, y = make_blobs(n, n_features=4, centers=centers, cluster_std=spread, random_state=0)
    return X / 4.0, y


@pytest.fixture(params=STREAMS, ids=str)
def model(request):
    return clone(request.param)


# ---- the printed loops ----


def mix(x):
    """The random numbers of rng.hpp."""
    mask = 2**64 - 1
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def first_below(n, seed, stream):
    golden, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    word = mix((mix((seed + golden * (stream + 1)) & mask) + golden) & mask)
    return ((word >> 32) * n) >> 32


def perceptron(K, targets, weight, visits, budget=None, seed=0):
    """Errors (m <= 0) add w y; with a budget, a random member of a full list leaves first."""
    a, members, n_errors = np.zeros(targets.shape), [], 0
    for i in visits:
        wrong = (targets[i] != 0) & (targets[i] * (K[i] @ a) <= 0)
        if not wrong.any():
            continue
        if i not in members:
            if budget is not None and len(members) == budget:
                slot = first_below(budget, seed, n_errors)
                a[members[slot]], members[slot] = 0.0, i
            else:
                members.append(i)
        a[i] += np.where(wrong, weight[i] * targets[i], 0.0)
        n_errors += 1
    return a, members


def pegasos(K, targets, visits, loss, alpha, first_step=0.0):
    """f = (1 - eta alpha) f + eta u k(x, .), eta = 1 / (alpha t), column by column."""
    a = np.zeros(targets.shape)
    for t in range(targets.shape[1]):
        step = first_step
        for i in visits:
            if (y := targets[i, t]) == 0:
                continue
            step += 1
            eta = 1 / (alpha * step)
            u = -y * float(loss.slope(np.array(y * (K[i] @ a[:, t]))))
            a[:, t] *= 1 - eta * alpha
            a[i, t] += eta * u
    return a


def test_the_perceptron_is_the_printed_loop():
    X, targets, weight = samples()
    order = permutations(len(X), [5, 2])
    result = online(problem_of(X, targets, weight), order, stop=Stop(tol=0.0, max_iter=3))
    visits = np.concatenate([order(epoch) for epoch in range(3)])
    a, members = perceptron(RBF(0.3)(X), targets, weight, visits)
    assert result.status is Status.MAX_ITER
    np.testing.assert_array_equal(result.support, np.sort(members))
    np.testing.assert_allclose(result.coef, a[result.support], rtol=1e-12)


@pytest.mark.parametrize("budget", [1, 10, 300])
def test_the_budget_perceptron_is_the_printed_loop(budget):
    X, targets, weight = samples()
    order = permutations(len(X), [6, 2])
    problem = problem_of(X, targets, weight, budget=budget)
    result = online(problem, order, stop=Stop(tol=0.0, max_iter=2), seed=11)
    visits = np.concatenate([order(epoch) for epoch in range(2)])
    a, members = perceptron(RBF(0.3)(X), targets, weight, visits, budget, seed=11)
    assert result.support.tolist() == members
    assert len(members) == budget
    np.testing.assert_allclose(result.coef, a[members], rtol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_pegasos_is_the_printed_loop(name):
    X, targets, _ = samples(400)
    alpha, order = 0.02, permutations(len(X), [7, 2])
    problem = problem_of(X, targets, np.ones(len(X)), name, alpha=alpha)
    result = online(problem, order, stop=Stop(tol=0.0, max_iter=2))
    visits = np.concatenate([order(epoch) for epoch in range(2)])
    K = RBF(0.3)(X)
    first_step = K.max() / alpha if "squared" in name else 0.0
    a = pegasos(K, targets, visits, LOSSES[name], alpha, first_step)
    np.testing.assert_allclose(result.coef, a[result.support], rtol=1e-7, atol=1e-9)
    assert np.abs(np.delete(a, result.support, axis=0)).max(initial=0.0) == 0.0


def test_the_objective_is_the_loss_met_plus_the_penalty():
    X, targets, _ = samples(300, n_columns=1)
    alpha, loss, order = 0.05, LOSSES["hinge"], permutations(300, [0, 2])
    result = online(problem_of(X, targets, np.ones(300), "hinge", alpha=alpha), order, stop=Stop(max_iter=1))
    K, met, n = RBF(0.3)(X), 0.0, 0
    visits = order(0)
    for position, i in enumerate(visits):
        before = pegasos(K, targets, visits[:position], loss, alpha)[:, 0]
        met += loss.value(targets[i, 0] * (K[i] @ before)) if targets[i, 0] else 0.0
        n += targets[i, 0] != 0
    a = np.zeros(300)
    a[result.support] = result.coef[:, 0]
    assert result.objective == pytest.approx(met / n + 0.5 * alpha * a @ K @ a, rel=1e-9)


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=50), st.integers(0, 100))
def test_draws_are_shares_of_the_weight(weight, seed):
    weight = np.array(weight)
    n, drawn = len(weight), weighted_draws(weight, [seed])(3)
    shares = n * weight / weight.sum()
    counts = np.bincount(drawn, minlength=n)
    assert abs(counts.sum() - n) <= 1
    assert (counts >= np.floor(shares - 1e-9)).all()
    assert (counts <= np.ceil(shares + 1e-9)).all()
    assert sorted(weighted_draws(np.full(n, 0.1), [seed])(0)) == list(range(n))


@pytest.mark.parametrize("budget", [0, 9])
def test_a_resumed_state_is_bit_identical(budget):
    X, targets, weight = samples(500)
    problem, order, states = problem_of(X, targets, weight, budget=budget), permutations(500, [0]), []
    stop = Stop(tol=0.0, max_iter=4)
    whole = online(problem, order, stop=stop, callback=lambda _, state: states.append(state.copy()))
    rest = online(problem, order, stop=stop, state=states[2])
    np.testing.assert_array_equal(whole.coef, rest.coef)
    np.testing.assert_array_equal(whole.support, rest.support)


# ---- estimators ----


def test_a_perceptron_converges_where_classes_are_apart():
    X, y = blobs(spread=0.5)
    model = KernelPerceptron(max_iter=100, random_state=0).fit(X, y)
    assert model.status_ == "converged"
    assert model.dual_gap_ == model.objective_ == 0.0
    assert model.score(X, y) == 1.0
    margins = model.code_.targets(y) * model._column_outputs(X)
    assert margins.min() > 0.0


def test_support_vectors_are_rows_of_x(model):
    X, y = blobs()
    model.set_params(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert len(set(model.support_)) == model.n_support_ == model.dual_coef_.shape[1]
    S = sparse.csr_array(X)
    model.fit(S, y)
    np.testing.assert_array_equal(model.support_vectors_.toarray(), X[model.support_])
    K = RBF(model.gamma_)(X, X[model.support_])
    np.testing.assert_allclose(model.decision_function(S), K @ model.dual_coef_.T, atol=1e-9)


@settings(max_examples=25)
@given(budget=st.integers(1, 60), seed=st.integers(0, 1000), cuts=st.lists(st.integers(1, 119), max_size=4))
def test_the_budget_is_never_exceeded(budget, seed, cuts):
    X, y = blobs(120)
    model = BudgetPerceptron(budget, max_iter=2, random_state=seed)
    seen = []
    model.set_callbacks(lambda check, state: seen.append(check.n_support)).fit(X, y)
    assert model.n_support_ <= min(budget, 120)
    for rows in np.split(np.arange(120), sorted(cuts)):
        if len(rows):
            model.partial_fit(X[rows], y[rows])
            assert model.n_support_ == len(model.support_vectors_) <= budget
    assert max(seen) <= budget


def test_a_budget_beyond_the_rows_is_no_budget():
    X, y = blobs(100)
    free = KernelPerceptron(random_state=3).fit(X, y)
    wide = BudgetPerceptron(10**12, random_state=3).fit(X, y)
    np.testing.assert_allclose(wide.decision_function(X), free.decision_function(X), atol=1e-9)


@settings(max_examples=15)
@given(which=st.sampled_from(range(3)), cuts=st.lists(st.integers(1, 399), min_size=1, max_size=5))
def test_a_stream_may_be_cut_anywhere(which, cuts):
    X, y = blobs()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    models = [clone(STREAMS[which]).set_params(random_state=0, gamma=0.5) for _ in "ab"]
    models[0].partial_fit(X, y, [0, 1, 2], weight)
    for rows in np.split(np.arange(len(y)), sorted(set(cuts))):
        models[1].partial_fit(X[rows], y[rows], [0, 1, 2], weight[rows])
    np.testing.assert_allclose(models[1].support_vectors_, models[0].support_vectors_)
    np.testing.assert_allclose(models[1].dual_coef_, models[0].dual_coef_, rtol=1e-9)
    assert models[1].support_ is None


def test_a_stream_continues_a_fit_in_any_layout(model):
    X, y = blobs()
    model.set_params(random_state=0, gamma=0.5).fit(X[:200].astype(np.float32), y[:200])
    before = model.n_support_
    for part in (X[200:250], sparse.csr_array(X[250:300]), X[300:].astype(np.float32)):
        model.partial_fit(part, y[200 : 200 + part.shape[0]])
        assert model.support_vectors_.dtype == np.float32
    assert model.n_support_ >= min(before, 7)
    model.fit(sparse.csr_array(X[:200]), y[:200]).partial_fit(X[200:], y[200:])
    assert sparse.issparse(model.support_vectors_)
    assert model.predict(X).shape == y.shape


def test_weights_in_a_stream_are_longer_steps():
    """Rows of weight 2 with steps of their own: f = sum u / (alpha W), W the weight so far."""
    X, y = blobs(50, centers=2)
    weight = np.where(np.arange(50) % 3 == 0, 2.0, 1.0)
    model = KernelPegasos(alpha=0.1, gamma=0.5).partial_fit(X, y, [0, 1], weight)
    K, g, total = RBF(0.5)(X), np.zeros(50), 0.0
    for i, sign in enumerate(np.where(y == 1, 1.0, -1.0)):
        f = K[i] @ g / (0.1 * total) if total else 0.0
        g[i], total = (weight[i] * sign if sign * f < 1 else 0.0), total + weight[i]
    np.testing.assert_allclose(model.decision_function(X), K @ g / (0.1 * total), atol=1e-9)


def test_streams_are_refused_clearly():
    X, y = blobs()
    model = KernelPerceptron()
    with pytest.raises(ValueError, match="first call of partial_fit needs classes="):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"at least two classes.*\[1\]"):
        model.partial_fit(X, y, classes=[1])
    with pytest.raises(ValueError, match=r"labels \[2\] that are not among the classes.*\[0, 1\]"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"balanced.*partial_fit"):
        KernelPerceptron(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="precomputed"):
        KernelPerceptron(kernel="precomputed").partial_fit(X @ X.T, y, classes=[0, 1, 2])
    model.partial_fit(X[:9], y[:9], classes=[0, 1, 2])
    kept = model.decision_function(X)
    with pytest.raises(ValueError, match=r"differ from those of the first call, \[0, 1, 2\]"):
        model.partial_fit(X, y, classes=[0, 1, 2, 3])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match=r"labels \[9\]"):
        model.partial_fit(X[:1], [9])
    np.testing.assert_array_equal(model.decision_function(X), kept)  # nothing was learnt from these
    shrinking = BudgetPerceptron(5).fit(X, y).set_params(budget=3)
    with pytest.raises(ValueError, match="budget=3 is less than the 5 support vectors"):
        shrinking.partial_fit(X, y)


def test_class_weights_and_single_classes_in_a_stream():
    X, y = blobs()
    weighted = KernelPerceptron(class_weight={0: 3.0}, gamma=0.5)
    plain = KernelPerceptron(gamma=0.5)
    for label in (0, 1, 2):
        rows = y == label
        weighted.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        plain.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=3.0 if label == 0 else 1.0)
    np.testing.assert_array_equal(weighted.decision_function(X), plain.decision_function(X))
    with pytest.raises(ValueError, match="without a weight"):
        KernelPerceptron(class_weight={0: 0.0}).partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])


def same_letters(left, right):
    """Of two lists of words, the shares of letters that they have in common."""
    return np.array([[len(set(a) & set(b)) / len(set(a) | set(b)) for b in right] for a in left])


def test_strings_and_precomputed_kernels(model):
    words = np.array(["oak", "oaks", "soak", "fir", "firs", "rifle"] * 5)
    y = np.array(["o", "o", "o", "f", "f", "f"] * 5)
    model.set_params(kernel=same_letters, gamma="scale", random_state=0).fit(words, y)
    assert model.score(words, y) == 1.0
    assert set(model.support_vectors_) <= set(words)
    model.partial_fit(["cloak", "fire"], ["o", "f"])
    assert list(model.predict(["oak", "fir"])) == ["o", "f"]
    K = same_letters(words, words)
    model.set_params(kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(model.support_vectors_, model.support_)
    assert model.score(K, y) == 1.0
    X, y = blobs(150)
    named = model.set_params(kernel="rbf", gamma=0.5).fit(X, y).decision_function(X)
    called = model.set_params(kernel=lambda A, B: RBF(0.5)(A, B)).fit(X, y).decision_function(X)
    np.testing.assert_allclose(called, named, atol=1e-9)


def test_contradicting_and_repeated_rows():
    X, y = np.zeros((40, 3)), np.repeat([0, 1], 20)
    X[:, 0] = np.arange(40) % 2
    for model in (*map(clone, STREAMS), KernelPegasos(loss="squared", alpha=1e-6)):
        model.set_params(kernel="rbf", gamma=1.0, random_state=0, max_iter=30)
        rough = model.get_params().get("alpha") == 1e-6  # too little: no better than zeros after 30 epochs
        with pytest.warns(ConvergenceWarning, match="diverged") if rough else nullcontext():
            model.fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert model.n_support_ <= 4  # there are four different pairs


def test_values_out_of_range_are_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match=r"budget must be an integer >= 1; got 0"):
        BudgetPerceptron(0).fit(X, y)
    with pytest.raises(ValueError, match=r"alpha must be a finite number > 0"):
        KernelPegasos(alpha=0.0).fit(X, y)
    with pytest.raises(ValueError, match=r"float32 the weights .* must lie between 1e-30"):
        KernelPerceptron().fit(X.astype(np.float32), y, np.full(len(y), 1e-40))
    with pytest.raises(ValueError, match=r"loss must be one of"):
        KernelPegasos(loss="ramp").fit(X, y)
