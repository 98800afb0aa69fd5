"""``LinearSVC``: the linear SVM by Newton's method or dual coordinate descent."""

from . import newton
from .dual_cd import dual_cd
from .estimator import MAX_NEWTON_ORDER, LinearSVC
from .newton_system import scaled_cholesky
from .problem import MarginProblem

__all__ = [
    "MAX_NEWTON_ORDER",
    "LinearSVC",
    "MarginProblem",
    "dual_cd",
    "newton",
    "scaled_cholesky",
]
