"""``SparseKernelClassifier``: kernel classifiers under a hard budget of support vectors."""

from .estimator import SparseKernelClassifier
from .stream import Reservoir
from .truncate import with_alpha

__all__ = [
    "Reservoir",
    "SparseKernelClassifier",
    "with_alpha",
]
