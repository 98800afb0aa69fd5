"""Choosing parameters: one estimator along a grid, and cross-validation that shares its work."""

from .grid import Grid, chosen_point
from .path_cv import PathCV
from .warm_path import (
    RegularizationPath,
    final_estimator,
    parameter_of,
    path,
)

__all__ = [
    "Grid",
    "PathCV",
    "RegularizationPath",
    "chosen_point",
    "final_estimator",
    "parameter_of",
    "path",
]
