"""Parameter selection: fits along a grid, and cross-validation that shares work between them.

There are two kinds of folds: fits of any estimator, and fits on one shared kernel matrix. Both have a method
``run(gamma, folds, values)``, whose results do not depend on threads or workers.
"""

from .grid import Grid, chosen_point
from .path_cv import PathCV, chosen_model
from .regularization_path import (
    RegularizationPath,
    along,
    final_estimator,
    parameter_of,
    path,
    start_in_search,
)
from .shared_kernel import KernelFolds

__all__ = [
    "Grid",
    "KernelFolds",
    "PathCV",
    "RegularizationPath",
    "along",
    "chosen_model",
    "chosen_point",
    "final_estimator",
    "parameter_of",
    "path",
    "start_in_search",
]
