"""The intercept and the gap of an exact fit: the core's against the reference, and against a fine grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import _native
from maxmargin.kernels import Linear
from maxmargin.kernels.data import KernelData
from maxmargin.methods.kernel_svm.problem import SvmProblem, balanced


def drawn(seed, n, squared):
    """A problem of n samples, feasible dual coefficients, and the gradients there."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    kernel = KernelData(X, np.arange(n), Linear())
    problem = SvmProblem(kernel, y, rng.uniform(0.1, 3.0, n), squared)
    at_bound = rng.random(n) < 0.5
    a = balanced(problem, np.where(at_bound, problem.upper + problem.lower, problem.cost * y * rng.random(n)))
    return problem, a, y - X @ (X.T @ a) - problem.ridge * a


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.booleans())
def test_core_and_reference_agree(seed, n, squared):
    problem, a, g = drawn(seed, n, squared)
    parts = (a, g, problem.lower, problem.upper, problem.y, problem.cost)
    b, gap, violation = _native.svm_look(*parts, squared)
    everyone = slice(None)
    reference = problem.intercept(everyone, a, g)
    if not squared:  # where the squared hinge is 0 on an interval, any point of it will do
        assert b == pytest.approx(reference, rel=1e-9, abs=1e-9)
    for chosen in (b, reference):
        assert gap == pytest.approx(problem.gap(everyone, a, g, chosen), rel=1e-9, abs=1e-9)
    assert violation == pytest.approx(problem.violation(everyone, a, g), rel=1e-12)
    around = b + np.linspace(-2.0, 2.0, 81)
    assert gap <= min(problem.gap(everyone, a, g, other) for other in around) + 1e-9 * problem.cost.sum()
