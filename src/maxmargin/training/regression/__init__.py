"""Targets that are numbers: how they are read, how the parameters of a regressor are chosen, its errors."""

from .scores import NumberScores, number_scores, one_prediction, t_interval
from .search import RegressionSearch, target_unit
from .targets import IgnoredTarget, NumberTarget, number_of, numbers_of

__all__ = [
    "IgnoredTarget",
    "NumberScores",
    "NumberTarget",
    "RegressionSearch",
    "number_of",
    "number_scores",
    "numbers_of",
    "one_prediction",
    "t_interval",
    "target_unit",
]
