"""Choosing parameters: one estimator along a grid, and cross-validation that shares its work.

Both kinds of folds, by fits of any estimator and by one shared kernel matrix, have one method ``run(gamma,
folds, values)``, whose results do not depend on threads or workers.
"""

from .grid import Grid, chosen_point
from .path_cv import PathCV
from .regularization_path import RegularizationPath, final_estimator, parameter_of, path

__all__ = ["Grid", "PathCV", "RegularizationPath", "chosen_point", "final_estimator", "parameter_of", "path"]
