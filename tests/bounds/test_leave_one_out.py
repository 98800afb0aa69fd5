"""Leave-one-out estimates against refits."""

import numpy as np
import pytest
from support.bound_samples import sample_of, two_classes

from maxmargin import (
    KernelSVC,
    LagrangianSVC,
    LinearSVC,
    bounds,
)
from maxmargin.bounds import Estimate, MarginSample
from maxmargin.bounds.column_view import column_view


def left_out(model, X, y, counts=None):
    """The margin of every row when one observation of it is left out, by refits."""
    counts = np.ones(len(y)) if counts is None else np.asarray(counts, dtype=float)
    margins = np.empty(len(y))
    for i in range(len(y)):
        without = counts.copy()
        without[i] -= 1
        margins[i] = model.fit(X, y, without).decision_function(X[i : i + 1])[0] * (2 * y[i] - 1)
    return margins


MODELS = [
    KernelSVC(C=0.7, gamma=0.5, tol=1e-9),
    KernelSVC(C=5.0, gamma=0.3, tol=1e-9),
    KernelSVC(C=1.0, gamma=0.5, loss="squared-hinge", tol=1e-9),
    KernelSVC(C=0.5, kernel="linear", tol=1e-9),
    LinearSVC(C=0.3, fit_intercept=False, tol=1e-9),
    LinearSVC(C=0.3, penalize_intercept=True, loss="squared-hinge", tol=1e-9),
    LagrangianSVC(C=2.0, kernel="rbf", gamma=0.5, tol=1e-9),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("seed", range(2))
def test_leave_one_out_counts_bound_the_errors_of_refits(model, seed):
    X, y = two_classes(seed)
    counts = np.where(np.arange(24) % 5 == 0, 2, 1) if seed else np.ones(24, dtype=int)
    found = bounds.report(model.fit(X, y, counts), X, y, sample_weight=counts)
    wrong = left_out(model, X, y, counts) <= 0
    error = counts @ wrong / counts.sum()
    applied = [name for name in ("support-vectors", "xi-alpha", "jaakkola-haussler") if name in found.entries]
    applied = [found[name] for name in applied if isinstance(found[name], Estimate)]
    assert len(applied) == (2 if getattr(model, "gamma", 0) and isinstance(model, KernelSVC) else 3)
    for estimate in applied:
        assert estimate.value >= error - 1e-12, estimate.name
    assert error > 0


def test_xi_alpha_count_that_may_be_too_low_is_noted():
    """Without a free support vector b is not unique, and leaving one out can turn every prediction."""
    too_low = 0
    for seed in range(6):
        X, y = two_classes(seed, n=11, noise=0.0)
        model = KernelSVC(C=0.1, gamma=3.0, tol=1e-9).fit(X, y)
        estimate = bounds.report(model, X, y)["xi-alpha"]
        if estimate.value < np.mean(left_out(model, X, y) <= 0) - 1e-12:
            too_low += 1
            assert any("may be too low" in note for note in estimate.notes)
    assert too_low


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_jaakkola_haussler_margins_never_exceed_those_of_refits(model):
    X, y = two_classes(3)
    view = column_view(model.fit(X, y), X, y)
    sample, (duals, _) = view.sample(0), view.duals(0)
    if sample.intercept is not None:
        return
    refits = left_out(model, X, y)[view.kernel.index]
    assert (refits >= sample.margins - duals * sample.diagonal - 1e-6).all()


def kinds(view):
    """For each row 0 without a dual variable, 1 if free, 2 at its bound."""
    duals, cost = view.duals(0)[0], view.cost(0)
    if view.loss == "squared-hinge":
        return (duals > 0).astype(int)
    return np.where(duals <= 0, 0, np.where(duals < cost * (1 - 1e-6), 1, 2))


SPANNED = [MODELS[0], MODELS[1], MODELS[2], MODELS[5], MODELS[6]]


@pytest.mark.parametrize("model", SPANNED, ids=repr)
def test_span_is_exact_where_no_other_row_changes_its_kind(model):
    n_checked = 0
    for seed in range(3):
        X, y = two_classes(seed, n=20)
        counts = np.where(np.arange(20) == 7, 3.0, 1.0)
        view = column_view(model.fit(X, y, counts), X, y, counts)
        sample, duals = view.sample(0), view.duals(0)[0]
        problem = bounds.SupportProblem(
            view.kernel.take(view.rows(0)),
            sample.margins,
            duals,
            view.cost(0),
            sample.counts,
            squared=view.loss == "squared-hinge",
            constant=view.constant,
            bordered=sample.intercept is not None,
        )
        told, before = bounds.margins_left_out(problem), kinds(view)
        for place, i in enumerate(view.kernel.index):
            without = counts.copy()
            without[i] -= 1
            after = column_view(model.fit(X, y, without), X, y, without)
            same = dict(zip(after.kernel.index, kinds(after)))
            if any(same[j] != before[p] for p, j in enumerate(view.kernel.index) if j != i):
                continue
            if counts[i] > 1 and same[i] != before[place]:
                continue
            n_checked += 1
            margin = model.decision_function(X[i : i + 1])[0] * (2 * y[i] - 1)
            assert told[place] == pytest.approx(margin, abs=1e-5)
    assert n_checked >= 15


def test_the_estimates_as_functions_of_arrays():
    sample = MarginSample([2.0, 0.5, -1.0, 0.9], [1.0, 1.0, 1.0, 1.0], 1.0, counts=[1, 1, 2, 1])
    duals = [0.0, 0.6, 0.8, 0.05]
    assert bounds.support_vector_estimate(sample, duals).value == 4 / 5
    assert bounds.xi_alpha_estimate(sample, duals, 1.0).value == 3 / 5
    assert bounds.jaakkola_haussler_estimate(sample, duals).value == 3 / 5
    assert bounds.span_estimate(sample, [2.0, 0.1, -2.0, 0.0]).value == 3 / 5
    with pytest.raises(bounds.DoesNotApply, match="b = 0"):
        bounds.jaakkola_haussler_estimate(sample_of(4, intercept=0.0), duals)
    with pytest.raises(ValueError, match="one finite number >= 0 for each row"):
        bounds.support_vector_estimate(sample, [1.0, -1.0, 0.0, 0.0])


def test_leaving_out_the_only_free_support_vector_frees_the_intercept():
    X = np.array([[0.0], [1.0]])
    view = column_view(KernelSVC(kernel="linear", C=100).fit(X, [0, 1]), X, [0, 1])
    sample = view.sample(0)
    problem = bounds.SupportProblem(
        view.kernel, sample.margins, np.array([0.5, 0.0]), view.cost(0), sample.counts, bordered=True
    )
    assert bounds.margins_left_out(problem).min() < -1e6
