"""``LinearProgramSVC``: the L1 SVM as a linear program.

A program is features times pairs: one text for two classes and many, raw features and kernels. Each round
makes a new HiGHS from the program and the last basis, which is in the state, so a resumed run is bit-
identical.
"""

from .estimator import LinearProgramSVC

__all__ = ["LinearProgramSVC"]
