"""``SparseKernelRegressor``: kernel regression under a hard budget of support vectors.

The problem is that of ``methods/budget`` with one column, real targets and losses of the error f(x) - y.
Growth, the choice of alpha, swaps and the last refit are the same code.
"""

from .estimator import SparseKernelRegressor

__all__ = ["SparseKernelRegressor"]
