"""``KernelSVC`` and ``CalibratedSVC``: the exact kernel SVM by working sets, and its probabilities."""

from .calibrated import CalibratedSVC
from .estimator import LOSSES, KernelSVC
from .path import svm_path

__all__ = [
    "LOSSES",
    "CalibratedSVC",
    "KernelSVC",
    "svm_path",
]
