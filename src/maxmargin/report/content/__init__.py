"""The numbers of the report."""

from .build import N_EFFECTS, ModelReport, build
from .curves import BudgetPath, Curve, GapHistory
from .data import DataFacts
from .description import fitted_inside, scalers_inside
from .influence import pull, readable_row, restored
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
    "fitted_inside",
    "pull",
    "readable_row",
    "restored",
    "scalers_inside",
    "shown_classes",
]
