"""``KernelSVC`` and ``CalibratedSVC``: the exact kernel SVM by working sets, and its probabilities.

Coefficients are signed, so targets appear only in their bounds. The gradient of a settled sample belongs to
an earlier copy of the coefficients; one product with the difference updates it. Only a certificate over all
samples, with fresh gradients, ends a fit; where kernel values are rounded to float32, it includes what that
can do. Memory per column depends only on the data and ``cache_mb``.
"""

from .calibrated import CalibratedSVC
from .estimator import LOSSES, KernelSVC
from .path import svm_path
from .problem import SvmProblem, refuted_by
from .rounding import RoundedPoint, double_rounding
from .stored_columns import StoredColumn, StoredPaths, can_be_stored, solve_stored

__all__ = [
    "LOSSES",
    "CalibratedSVC",
    "KernelSVC",
    "RoundedPoint",
    "StoredColumn",
    "StoredPaths",
    "SvmProblem",
    "can_be_stored",
    "double_rounding",
    "refuted_by",
    "solve_stored",
    "svm_path",
]
