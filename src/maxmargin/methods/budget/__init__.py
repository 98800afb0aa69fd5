"""``SparseKernelClassifier``: kernel classifiers under a hard budget of support vectors."""

from .estimator import SparseKernelClassifier
from .truncate import with_alpha

__all__ = [
    "SparseKernelClassifier",
    "with_alpha",
]
