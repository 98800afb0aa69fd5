"""``LinearSVR``: linear regression with robust losses, by the solvers of ``LinearSVC``.

A row becomes two, one for each side of its residual, whose losses are hinges with offsets; its features are
stored once. Targets are scaled to the size 1 for the solver, as in ``kernel_svr``.
"""

from .estimator import LinearSVR
from .problem import SidesProblem, sides_of

__all__ = ["LinearSVR", "SidesProblem", "sides_of"]
