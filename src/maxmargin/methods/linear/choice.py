"""The fastest solver of a linear max-margin problem; docs/theory/linear-svm.md has the measurements."""

from __future__ import annotations

from ..._native import is_sparse
from ...data import WeightedRows

__all__ = ["MAX_NEWTON_ORDER", "fastest_solver"]

MAX_NEWTON_ORDER = 2000  # order of the largest Newton system that solver="auto" accepts
MAX_WIDE_NEWTON_ROWS = 500  # the same limit for wide data with the squared hinge
MIN_COUPLED_CURVATURE = 10.0  # mean of cost times squared norm above which coordinate descent is slow
SECOND_ORDER_TOL = 1e-5  # tol below which coordinate descent takes too many epochs


def fastest_solver(data: WeightedRows, C: float, loss: str, tol: float) -> str:
    """The solver for the loss "hinge", "squared-hinge" or, without coordinate descent, "log" and its like."""
    n, d = len(data.rows), data.rows.n_features
    if loss == "hinge":
        return "newton" if min(n, d) <= MAX_NEWTON_ORDER else "dual-cd"
    if loss != "squared-hinge":
        return "newton" if min(n, d) <= MAX_NEWTON_ORDER else "truncated-newton"
    if d <= min(n, MAX_NEWTON_ORDER) or n <= MAX_WIDE_NEWTON_ROWS:
        return "newton"
    hard = (
        tol <= SECOND_ORDER_TOL or C * float(data.weight @ data.rows.sqnorms()) >= MIN_COUPLED_CURVATURE * n
    )
    return "truncated-newton" if hard and n >= d and is_sparse(data.rows.X) else "dual-cd"
