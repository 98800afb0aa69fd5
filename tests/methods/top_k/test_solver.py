"""The solvers of the top-k SVM: checkpoints, threads, time limits, and the options of Frank and Wolfe."""

import numpy as np
import pytest
from scipy import sparse

import maxmargin.methods.top_k.ascent as solver
from maxmargin import TopKSVC
from maxmargin.data.rows import Rows
from maxmargin.kernels import RBF
from maxmargin.kernels.data import KernelData
from maxmargin.methods.top_k.ascent import Ascent, AscentMethod, topk
from maxmargin.methods.top_k.loss import TopKHinge
from maxmargin.methods.top_k.problem import TopKProblem
from maxmargin.solving.deadline import Deadline
from maxmargin.solving.result import State, Status, Stop

METHODS = {
    "dual-ascent": AscentMethod(),
    "uniform": AscentMethod("frank-wolfe"),
    "gaps": AscentMethod("frank-wolfe", "gaps"),
    "averaged": AscentMethod("frank-wolfe", "gaps", averaging=True),
}


def blobs(n=90, d=4, n_classes=5, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(n_classes, d))[labels]
    return X, labels, rng.uniform(0.5, 2.0, n)


def problem_of(kind="dense", k=2, alpha=0.01, n_threads=1, side="include", **shape):
    X, labels, weight = blobs(**shape)
    each = np.arange(len(X))
    if kind == "kernel":
        data = KernelData(RBF(0.3), X, each, n_threads)
    else:
        data = Rows(sparse.csr_array(X) if kind == "sparse" else X, each, n_threads)
    return TopKProblem(data, labels, weight, alpha, TopKHinge(k, side), labels.max() + 1, 1.0)


def assert_same(first, second):
    for name in ("coef", "offset", "dual_coef"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.status is second.status
    assert [(c.n_iter, c.primal, c.dual) for c in first.history[-len(second.history) :]] == [
        (c.n_iter, c.primal, c.dual) for c in second.history
    ]


@pytest.mark.parametrize("method", [*METHODS, "second-order"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "kernel"])
def test_a_copied_state_goes_on_bit_for_bit(kind, method, monkeypatch):
    second_order = method == "second-order"
    monkeypatch.setattr(solver, "MAX_PREDICTED_EPOCHS", 0 if second_order else np.inf)
    problem, states = problem_of(kind), []
    stop = Stop(tol=1e-9 if second_order else 1e-2 if method in ("uniform", "gaps", "averaged") else 1e-4)
    given = {"solver": METHODS.get(method, AscentMethod()), "stop": stop, "seed": 3}
    whole = topk(problem, callback=lambda check, state: states.append(state.copy()), **given)
    assert len(states) >= 3
    assert states[-2].second_order == second_order
    for state in (states[1], states[-2]):
        assert_same(whole, topk(problem, state=state, **given))


@pytest.mark.parametrize("kind", ["dense", "kernel"])
def test_threads_change_no_bit(kind):
    one, three = (topk(problem_of(kind, n=300, n_threads=t), stop=Stop(tol=1e-4)) for t in (1, 3))
    assert one.status is Status.CONVERGED
    assert_same(one, three)


@pytest.mark.parametrize("kind", ["dense", "sparse", "kernel"])
def test_an_epoch_in_pieces_is_the_same_epoch(kind):
    """A time limit may end within an epoch, and the next call goes on from there."""
    problem = problem_of(kind, n=300)
    states = []
    for max_seconds in (100.0, 0.0):
        state = State(A=problem.zeros())
        ascent = Ascent(problem, state, AscentMethod(), 0, Stop(deadline=Deadline(max_seconds)))
        ascent.scores.piece = min(ascent.scores.piece, 128)
        ascent.certify()
        n_steps = 0
        while state.epoch < 1:
            ascent.step()
            n_steps += 1
        assert n_steps == (1 if max_seconds else 3)
        states.append(state)
    np.testing.assert_array_equal(states[0].A, states[1].A)
    np.testing.assert_array_equal(states[0].gaps, states[1].gaps)


@pytest.mark.parametrize("kind", ["dense", "kernel"])
def test_no_time_gives_an_answer_and_says_so(kind):
    result = topk(problem_of(kind, n=300), stop=Stop(tol=1e-12, deadline=Deadline(0.0)))
    assert result.status is Status.TIME_LIMIT
    assert 0.0 <= result.gap <= 1.0


@pytest.mark.parametrize("kind", ["dense", "kernel"])
@pytest.mark.parametrize("side", ["include", "exclude"])
def test_every_frank_wolfe_has_the_optimum_between_its_bounds(kind, side):
    problem = problem_of(kind, side=side, k=3)
    best = topk(problem, stop=Stop(tol=1e-9, max_iter=5000)).objective
    for name in ("uniform", "gaps", "averaged"):
        result = topk(problem, solver=METHODS[name], stop=Stop(tol=3e-3, max_iter=2000))
        assert result.status is Status.CONVERGED
        assert result.history[-1].dual <= best * (1.0 + 1e-8) <= result.objective * (1.0 + 2e-8)
        assert problem.loss.contains(-result.dual_coef, problem.labels).all()
        written_out = problem.certificate(result.dual_coef)
        assert written_out.primal == pytest.approx(result.objective, rel=1e-9)


def test_the_estimator_passes_the_options_on():
    X, labels, _ = blobs()
    models = [
        TopKSVC(2, 0.01, solver="frank-wolfe", tol=1e-2, random_state=0, **options).fit(X, labels)
        for options in ({}, {"sampling": "gaps"}, {"averaging": True})
    ]
    assert all(model.status_ == "converged" for model in models)
    assert len({model.objective_ for model in models}) == 3
    with pytest.raises(ValueError, match=r"sampling must be one of \['gaps', 'uniform'\]; got 'all'"):
        TopKSVC(sampling="all").fit(X, labels)
    with pytest.raises(ValueError, match="averaging must be True or False"):
        TopKSVC(averaging="yes").fit(X, labels)


def test_what_cannot_be_reached_is_given_up():
    """Bounds meet up to rounding only: a smaller tolerance ends the work soon, and is not said to be met."""
    problem = problem_of(alpha=1e-7, n=40, d=3)
    result = topk(problem, stop=Stop(tol=1e-17, max_iter=100_000))
    assert result.status in (Status.STALLED, Status.CONVERGED)
    assert result.gap <= 1e-6
    assert result.n_iter <= 1000
