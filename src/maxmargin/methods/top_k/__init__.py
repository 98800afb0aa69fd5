"""``TopKSVC``: the right class among the k best, in one problem for all classes."""

from .estimator import TopKSVC

__all__ = [
    "TopKSVC",
]
