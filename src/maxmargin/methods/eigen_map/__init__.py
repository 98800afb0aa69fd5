"""``KernelEigenMap``: features from the leading eigenvectors of a kernel."""

from .features import METHODS, EigenFeatures, eigen_features
from .transformer import KernelEigenMap

__all__ = [
    "METHODS",
    "EigenFeatures",
    "KernelEigenMap",
    "eigen_features",
]
