"""``OneClassSVM``: novelty detection by the working sets of the kernel SVM.

The dual has no targets, and coefficients that sum to 1 instead of 0: its first point is not 0.
"""

from .estimator import OneClassSVM

__all__ = ["OneClassSVM"]
