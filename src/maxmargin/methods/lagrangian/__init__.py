"""``LagrangianSVC``: squared losses, solved by linear systems."""

from .estimator import LagrangianSVC

__all__ = ["LagrangianSVC"]
