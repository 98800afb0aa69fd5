"""``KernelSVC`` and ``CalibratedSVC``: the exact kernel SVM by working sets, and its probabilities.

Coefficients are signed, so targets appear only in their bounds. The gradient of a settled sample belongs to
an earlier copy of the coefficients; one product with the difference updates it. Only a certificate over all
samples, with fresh gradients, ends a fit; where kernel values are rounded to float32, it includes what that
can do. Memory per column depends only on the data and ``cache_mb``.
"""

from .box_problem import BoxProblem
from .calibrated import CalibratedSVC
from .estimator import LOSSES, KernelSVC
from .nu import NuPoint, NuSearch
from .path import svm_path
from .problem import SvmProblem, best_finite_point, refuted_by
from .ramp import outputs_of
from .rounding import RoundedPoint, double_rounding
from .row_cache import cache_megabytes, check_cache_mb
from .solve import Solve, solved, working_sets
from .stored_columns import (
    STORED_TARGET_PER_TOL,
    StoredColumn,
    StoredPaths,
    fit_in_memory,
    is_storable,
    solve_stored,
)
from .working_set import start

__all__ = [
    "LOSSES",
    "STORED_TARGET_PER_TOL",
    "BoxProblem",
    "CalibratedSVC",
    "KernelSVC",
    "NuPoint",
    "NuSearch",
    "RoundedPoint",
    "Solve",
    "StoredColumn",
    "StoredPaths",
    "SvmProblem",
    "best_finite_point",
    "cache_megabytes",
    "check_cache_mb",
    "double_rounding",
    "fit_in_memory",
    "is_storable",
    "outputs_of",
    "refuted_by",
    "solve_stored",
    "solved",
    "start",
    "svm_path",
    "working_sets",
]
