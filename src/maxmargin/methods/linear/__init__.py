"""``LinearSVC``: the linear SVM by Newton's method or dual coordinate descent."""

from . import newton
from .dual_cd import dual_cd
from .estimator import LARGEST_NEWTON, LinearSVC
from .newton_system import scaled_cholesky
from .problem import MarginProblem

__all__ = [
    "LARGEST_NEWTON",
    "LinearSVC",
    "MarginProblem",
    "dual_cd",
    "newton",
    "scaled_cholesky",
]
