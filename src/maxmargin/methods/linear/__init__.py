"""``LinearSVC``: the linear SVM by Newton's method or dual coordinate descent."""

from . import newton
from .choice import MAX_NEWTON_ORDER, MAX_WIDE_NEWTON_ROWS, SECOND_ORDER_TOL, fastest_solver
from .dual_cd import dual_cd
from .estimator import SOLVERS, LinearSVC
from .newton_system import scaled_cholesky
from .outputs import count_support, linear_outputs
from .problem import Intercept, MarginProblem
from .truncated_newton import truncated_newton

__all__ = [
    "MAX_NEWTON_ORDER",
    "MAX_WIDE_NEWTON_ROWS",
    "SECOND_ORDER_TOL",
    "SOLVERS",
    "Intercept",
    "LinearSVC",
    "MarginProblem",
    "count_support",
    "dual_cd",
    "fastest_solver",
    "linear_outputs",
    "newton",
    "scaled_cholesky",
    "truncated_newton",
]
