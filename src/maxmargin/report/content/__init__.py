"""The numbers of the report."""

from .build import ModelReport, build
from .curves import BudgetPath, Curve, GapHistory
from .data import DataFacts
from .promises import DELTA

__all__ = ["DELTA", "BudgetPath", "Curve", "DataFacts", "GapHistory", "ModelReport", "build"]
