"""Factorisations, quadratic and linear programs that several methods share.

``FeaturePanel`` holds Phi = K L^{-T}. Columns are only ever appended, so a prefix of the support vectors
corresponds to a prefix of Phi and of L. Phi has the precision of X; L is in double.
"""

from . import tall
from .bounded_newton import bounded_newton
from .feature_panel import ROWS_PER_KERNEL_CALL, FeaturePanel, times_triangle
from .highs import (
    BASIC,
    LOWER,
    SERIAL_SIMPLEX,
    Options,
    Outcome,
    basis_of,
    new_highs,
    outcome_of,
    run_highs,
    set_basis,
)
from .multiplier import LowerLine, MultiplierSearch
from .tall import eigh_descending, interruptible

__all__ = [
    "BASIC",
    "LOWER",
    "ROWS_PER_KERNEL_CALL",
    "SERIAL_SIMPLEX",
    "FeaturePanel",
    "LowerLine",
    "MultiplierSearch",
    "Options",
    "Outcome",
    "basis_of",
    "bounded_newton",
    "eigh_descending",
    "interruptible",
    "new_highs",
    "outcome_of",
    "run_highs",
    "set_basis",
    "tall",
    "times_triangle",
]
