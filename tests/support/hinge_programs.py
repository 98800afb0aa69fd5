"""Random problems for the L1 SVM, and its result against the textbook program."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st

from maxmargin.solving.result import Status

from .properties import examples
from .reference_programs import hinge_program, hinge_program_bounds

SETTINGS = examples(60, 200, suppress_health_check=list(HealthCheck))


@st.composite
def problems(draw, joint=False):
    """Features, labels, costs: with ties, duplicates, constant features, mixed scales, separable or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(4, 30)), draw(st.integers(1, 7))
    X = rng.normal(size=(n, d))
    kind = draw(st.sampled_from(["plain", "ties", "constant", "scales", "duplicates"]))
    if kind == "ties":
        X = np.round(X)
    elif kind == "constant":
        X[:, 0] = 1.0
    elif kind == "scales":
        X *= 10.0 ** rng.uniform(-3, 3, size=d)
    elif kind == "duplicates":
        X = X[rng.integers(0, n, size=n)]
    noise = draw(st.sampled_from([0.0, 0.5, 3.0]))
    score = X[:, 0] / max(np.abs(X[:, 0]).max(), 1e-9) + noise * rng.normal(size=n)
    cost = 10.0 ** draw(st.floats(-3, 2)) * rng.uniform(0.1, 3.0, size=n)
    if joint:
        labels = np.digitize(score, np.quantile(score, [0.3, 0.6]))
        labels[:3] = [0, 1, 2]
        return X, labels, cost
    y = np.where(score > np.median(score), 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, y, cost


def check_against_referee(result, Phi, labels, cost, n_classes=None, **form):
    best, _, _ = hinge_program(Phi, labels, cost, n_classes=n_classes, **form)
    assert result.status is Status.CONVERGED
    rounding = 1e-12 * cost.sum()
    assert result.objective == pytest.approx(best, rel=1e-7, abs=rounding)
    primal, dual = hinge_program_bounds(
        result.coef, result.intercepts, result.dual_coef, Phi, labels, cost, n_classes=n_classes, **form
    )
    assert result.objective == pytest.approx(primal, rel=1e-9, abs=rounding)
    assert dual == pytest.approx(best, rel=1e-6, abs=rounding)
    gaps = [check.gap for check in result.history]
    assert min(gaps) >= -1e-12
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(gaps))
    assert all(check.dual <= best * (1 + 1e-7) + rounding for check in result.history)
    assert all(check.primal >= best * (1 - 1e-7) - rounding for check in result.history)
