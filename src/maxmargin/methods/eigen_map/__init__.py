"""``KernelEigenMap``: features from the leading eigenvectors of a kernel."""

from .features import EIGEN_METHODS, EigenFeatures, find_eigen_features
from .transformer import KernelEigenMap

__all__ = ["EIGEN_METHODS", "EigenFeatures", "KernelEigenMap", "find_eigen_features"]
