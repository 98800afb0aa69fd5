"""``KernelEigenMap``: features from the leading eigenvectors of a kernel."""

from .features import EIGEN_METHODS, MAX_AUTO_EXACT_ROWS, EigenFeatures, find_eigen_features
from .transformer import KernelEigenMap

__all__ = ["EIGEN_METHODS", "MAX_AUTO_EXACT_ROWS", "EigenFeatures", "KernelEigenMap", "find_eigen_features"]
