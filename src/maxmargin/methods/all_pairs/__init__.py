"""``AllPairsSVC``: the multi-class SVM of all pairs, in one problem for all classes."""

from .estimator import AllPairsSVC

__all__ = ["AllPairsSVC"]
