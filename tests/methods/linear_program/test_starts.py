"""LinearProgramSVC and its solver go on from another fit's end, and from any state of their own."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from support.linear_programs import made, raw, standardised

from maxmargin import LinearProgramSVC
from maxmargin.codes import Code
from maxmargin.kernels import RBF
from maxmargin.kernels.data import KernelData
from maxmargin.methods.linear_program import generation
from maxmargin.methods.linear_program.features import KernelColumns
from maxmargin.methods.linear_program.generation import generate
from maxmargin.methods.linear_program.program import HingeProgram, TwoClasses, WrongClasses
from maxmargin.solving.deadline import Deadline
from maxmargin.solving.result import Status, Stop


@pytest.mark.parametrize("form", [{}, {"kernel": "rbf"}, {"multi_class": "joint"}], ids=str)
def test_warm_starts_change_nothing_but_time(form):
    X, y = standardised(load_wine)
    warm = LinearProgramSVC(warm_start=True, tol=1e-9, **form)
    for C in (0.1, 1.0, 0.5):
        warm.set_params(C=C).fit(X, y)
        cold = LinearProgramSVC(C=C, tol=1e-9, **form).fit(X, y)
        assert warm.status_ == cold.status_ == "converged"
        assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-8)
    weight = (np.arange(len(y)) % 5 > 0).astype(float)  # some rows are gone
    warm.fit(X, y, sample_weight=weight)
    cold.fit(X, y, sample_weight=weight)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-8)
    warm.fit(X[:, :5], y)  # another shape starts cold
    assert warm.status_ == "converged"


def assert_warm_is_right(warm, X, y, **changes):
    warm.set_params(**changes).fit(X, y)
    cold = clone(warm).set_params(warm_start=False).fit(X, y)
    assert warm.status_ == cold.status_ == "converged"
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-6)
    assert warm.dual_gap_ <= warm.tol


@pytest.mark.parametrize("form", [{}, {"kernel": "rbf"}], ids=str)
@pytest.mark.parametrize("multi_class", ["code", "joint"])
def test_warm_starts_are_right_where_labels_and_order_change(form, multi_class):
    """A pair (i, g) of the last fit is none where g is now the label of i."""
    X, y = load_iris(return_X_y=True)
    warm = LinearProgramSVC(multi_class=multi_class, warm_start=True, **form).fit(X, y)
    assert_warm_is_right(warm, X[::-1], y[::-1])
    rng = np.random.default_rng(0)
    for _ in range(20 if multi_class == "joint" else 3):
        assert_warm_is_right(warm, X, rng.permutation(y))


CHANGES = {
    "code": [{"code": "one-vs-one"}, {"code": Code(1 - 2 * np.eye(3, dtype=int), "one-vs-rest")}],
    "components": [{"n_components": 7}, {"n_components": 20}, {"n_components": 200}],
    "penalty": [{"penalty": None, "tol": 1e-5}, {"penalty": "l1", "tol": 1e-6}],
    "kernel": [{"gamma": 3.0}, {"kernel": "polynomial"}, {"kernel": None}, {"kernel": "rbf"}],
    "features": [{"features": "columns"}, {"features": "eigen"}],
    "classes": [{"multi_class": "joint"}, {"multi_class": "code"}],
    "intercept": [{"fit_intercept": False}, {"fit_intercept": True}],
}


@pytest.mark.parametrize("changed", CHANGES)
@pytest.mark.parametrize("features", ["columns", "eigen"])
def test_warm_starts_are_right_where_parameters_change(changed, features):
    X, y = load_iris(return_X_y=True)
    form = {"kernel": "rbf", "features": features, "n_components": 20}
    warm = LinearProgramSVC(warm_start=True, **form).fit(X, y)
    for change in CHANGES[changed]:
        assert_warm_is_right(warm, X, y, **change)


def test_a_warm_start_needs_fewer_rounds():
    X, y = made(6000, 60)
    model = LinearProgramSVC(C=0.003, warm_start=True).fit(X, y)
    rounds = model.n_iter_
    assert model.fit(X, y).n_iter_ == 1 < rounds


def one_program(name, monkeypatch):
    """Programs whose runs start from a sample, hold pairs, widen, refine and take another unit."""
    if name == "a start from a sample":
        X, y = made(6000, 60)
        return HingeProgram(raw(X), TwoClasses(2.0 * y - 1.0), np.full(6000, 0.003))
    if name == "many features":
        X, y = made(200, 1200)
        return HingeProgram(raw(X), TwoClasses(2.0 * y - 1.0), np.full(200, 0.1))
    X, y = standardised(load_wine)
    for constant, value in {
        "MAX_WHOLE_PROGRAM_ENTRIES": 0,
        "FIRST_COEFFICIENTS": 5,
        "MIN_NEW_COEFFICIENTS": 3,
        "MIN_START_SAMPLE": 10,
    }.items():
        monkeypatch.setattr(generation, constant, value)
    kernel = KernelColumns(KernelData(RBF(gamma=0.05), X, np.arange(len(X))))
    features, cost = (raw(X), 0.5) if name == "joint" else (kernel, 1e4)
    return HingeProgram(features, WrongClasses(y, 3), np.full(len(y), cost))


def traces(result):
    bounds = [(check.n_iter, check.primal, check.dual) for check in result.history]
    return bounds, [a.tobytes() for a in (result.coef, result.intercepts, result.dual_coef)]


@pytest.mark.parametrize("tol", [1e-9, 1e-18], ids=["converges", "stalls"])
@pytest.mark.parametrize("name", ["a start from a sample", "many features", "joint", "joint, kernel"])
def test_a_run_goes_on_from_a_state_bit_for_bit(monkeypatch, name, tol):
    program = one_program(name, monkeypatch)
    states = []
    whole = generate(program, stop=Stop(tol=tol), callback=lambda check, state: states.append(state.copy()))
    bounds, arrays = traces(whole)
    assert len(states) == len(bounds) > 2
    for k, state in enumerate(states):
        resumed = generate(program, stop=Stop(tol=tol), state=state)
        assert resumed.status is whole.status
        assert traces(resumed) == (bounds[k:], arrays)


def test_a_start_that_is_cut_short_is_no_obstacle():
    X, y = made(9000, 60)
    program = HingeProgram(raw(X), TwoClasses(2.0 * y - 1.0), np.full(9000, 0.003))
    late = generate(program, stop=Stop(tol=1e-9, deadline=Deadline(1e-9)))
    assert late.status is Status.TIME_LIMIT
    assert 0.0 < late.gap <= 1.0
    assert generate(program, stop=Stop(tol=1e-9), state=late.state).status is Status.CONVERGED
