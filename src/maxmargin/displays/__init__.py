"""Plots of fits and searches, in the style of scikit-learn's displays; they need the extra ``plots``."""

from .budget_path import BudgetPathDisplay
from .code_matrix import CodeDisplay
from .cv_path import CVPathDisplay
from .gap import GapDisplay
from .importance import ImportanceDisplay
from .margin import MarginDisplay
from .quantile_fan import QuantileFanDisplay
from .residuals import ResidualDisplay

__all__ = [
    "BudgetPathDisplay",
    "CVPathDisplay",
    "CodeDisplay",
    "GapDisplay",
    "ImportanceDisplay",
    "MarginDisplay",
    "QuantileFanDisplay",
    "ResidualDisplay",
]
