"""``LinearSVC``: the linear SVM by Newton's method or dual coordinate descent."""

from . import newton
from .dual_cd import dual_cd
from .estimator import MAX_NEWTON_ORDER, LinearSVC
from .newton_system import scaled_cholesky
from .outputs import count_support, linear_outputs
from .problem import MarginProblem

__all__ = [
    "MAX_NEWTON_ORDER",
    "LinearSVC",
    "MarginProblem",
    "count_support",
    "dual_cd",
    "linear_outputs",
    "newton",
    "scaled_cholesky",
]
