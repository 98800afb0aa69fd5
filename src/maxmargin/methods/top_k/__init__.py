"""``TopKSVC``: the true class among the k best, in one problem for all classes.

Dual variables are shares of a sample's cost: their domain does not depend on the sample, its weight or
alpha, so a fit can start from those of another.
"""

from .estimator import TopKSVC

__all__ = ["TopKSVC"]
