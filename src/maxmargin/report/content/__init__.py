"""The numbers of the report."""

from .build import N_EFFECTS, ModelReport, build
from .curves import BudgetPath, Curve, GapHistory
from .data import DataFacts
from .influence import pull, readable_row
from .numbers import NumberReport, build_numbers
from .promises import DELTA
from .shown import shown_classes

__all__ = [
    "DELTA",
    "N_EFFECTS",
    "BudgetPath",
    "Curve",
    "DataFacts",
    "GapHistory",
    "ModelReport",
    "NumberReport",
    "build",
    "build_numbers",
    "pull",
    "readable_row",
    "shown_classes",
]
