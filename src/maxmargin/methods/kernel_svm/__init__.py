"""``KernelSVC`` and ``CalibratedSVC``: the exact kernel SVM by working sets, and its probabilities.

Coefficients are signed: targets appear in their bounds only. The gradient of a settled sample belongs to an
earlier copy of the coefficients, and one product with the difference brings it up to date; only a
certificate over all samples, with fresh gradients, ends a fit. Memory per column depends on the data and
``cache_mb`` alone.
"""

from .calibrated import CalibratedSVC
from .estimator import LOSSES, KernelSVC
from .path import svm_path

__all__ = ["LOSSES", "CalibratedSVC", "KernelSVC", "svm_path"]
