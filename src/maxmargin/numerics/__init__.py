"""Factorisations, quadratic and linear programs that several methods share.

``FeaturePanel`` holds Phi = K L^{-T} and is only ever appended to, so a prefix of the support vectors is a
prefix of Phi and of L. It has the precision of X; L is in double.
"""

from . import tall
from .bounded_newton import bounded_newton
from .box_qp import BoxQP, Solution, interior_point
from .cholesky import Factor
from .feature_panel import AT_ONCE, FeaturePanel, times_triangle
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
from .tall import eigh_descending, interruptible

__all__ = [
    "AT_ONCE",
    "BASIC",
    "LOWER",
    "SERIAL_SIMPLEX",
    "BoxQP",
    "Factor",
    "FeaturePanel",
    "Options",
    "Outcome",
    "Solution",
    "basis_of",
    "bounded_newton",
    "eigh_descending",
    "interior_point",
    "interruptible",
    "new_highs",
    "outcome_of",
    "run_highs",
    "set_basis",
    "tall",
    "times_triangle",
]
