"""Gradients of large problems that errors of many steps have moved are computed anew before a fit ends."""

import numpy as np
import pytest

from maxmargin.kernels import RBF, KernelData
from maxmargin.methods.kernel_svm.problem import SvmProblem
from maxmargin.methods.kernel_svm.solve import Solve
from maxmargin.methods.kernel_svm.working_set import MAX_SMALL_SAMPLES, WorkingSets, start
from maxmargin.solving import Stop, drive

N_ROWS = MAX_SMALL_SAMPLES + 52


@pytest.mark.parametrize("squared", [False, True])
def test_drifted_gradients_are_found_and_computed_anew(squared):
    """A bias along the coefficients lowers the dual value without a trace in the gradients themselves."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=N_ROWS) > 0.0, 1.0, -1.0)
    kernel = KernelData(RBF(gamma=0.3), X, np.arange(N_ROWS))
    problem, stop = SvmProblem(kernel, y, np.full(N_ROWS, 1.0), squared), Stop(tol=1e-2, max_iter=500)
    solve = Solve(problem, 1 << 28, stop, True, start(problem, stop.tol, True))
    drive(solve.state, solve.step, solve.certify, stop, None, solve.due)
    assert isinstance(solve.sets, WorkingSets)
    solve.sets.put_back()
    state = solve.state
    true = solve.certify()
    state.g += 1e-4 * np.sign(state.a)  # as the steps leave them, with an error
    resumed = Solve(problem, 1 << 28, stop, True, state)
    found = resumed.certify()
    assert found.dual == pytest.approx(true.dual, rel=1e-9)
    assert found.primal == pytest.approx(true.primal, rel=1e-9)
    np.testing.assert_allclose(
        state.g,
        y - kernel.between(np.arange(N_ROWS), np.arange(N_ROWS)) @ state.a - problem.ridge * state.a,
        atol=1e-9,
    )
