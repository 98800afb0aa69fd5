"""``KernelSVR``: kernel regression with robust losses and quantiles, by the working sets of the kernel SVM.

A loss is nothing but bounds, a kink and a ridge of the dual. Targets are scaled to the size 1 for the solver;
coefficients, intercepts and certificates are those of the problem as given.
"""

from .estimator import REGRESSION_LOSSES, KernelSVR
from .problem import RegressionLoss, RegressionProblem, Targets

__all__ = ["REGRESSION_LOSSES", "KernelSVR", "RegressionLoss", "RegressionProblem", "Targets"]
