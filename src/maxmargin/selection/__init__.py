"""Choosing parameters: one estimator along a grid, and cross-validation that shares its work."""

from .path_cv import PathCV
from .warm_path import RegularizationPath, path

__all__ = ["PathCV", "RegularizationPath", "path"]
