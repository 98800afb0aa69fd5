"""``LinearProgramSVC``: the L1 SVM as a linear program."""

from .estimator import LinearProgramSVC

__all__ = [
    "LinearProgramSVC",
]
