"""A general solver of quadratic programs, for the oracles."""

import numpy as np
import piqp


def solve_qp(P, c, A=None, b=None, lower=None, upper=None, G=None, h=None, eps=1e-11):
    """min 1/2 x'Px + c'x subject to Ax = b, Gx <= h, lower <= x <= upper; returns x."""
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = eps
    solver.settings.max_iter = 1000
    n = len(c)
    A = np.zeros((0, n)) if A is None else A
    b = np.zeros(0) if b is None else b
    G = np.zeros((0, n)) if G is None else G
    h = np.zeros(0) if h is None else h
    lower = np.full(n, -np.inf) if lower is None else lower
    upper = np.full(n, np.inf) if upper is None else upper
    solver.setup(P, c, A, b, G, np.full(len(h), -np.inf), h, lower, upper)
    status = solver.solve()
    assert status == piqp.PIQP_SOLVED, status
    return solver.result.x.copy()
