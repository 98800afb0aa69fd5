"""Metrics of predictions: top-k accuracy, confusion counts, intervals of shares, costs of errors."""

from .confusion import CONFIDENCE, ClassRow, Confusion, Interval, RunningMean, normal_interval, share_interval
from .cost_study import EXPECTED, STORED, CostStudy, CostTally, study_of
from .costs import SIDES, Costs, Decision, best_threshold, check_cost, decision_values
from .natural import natural_order
from .top_k import top_k_accuracy

__all__ = [
    "CONFIDENCE",
    "EXPECTED",
    "SIDES",
    "STORED",
    "ClassRow",
    "Confusion",
    "CostStudy",
    "CostTally",
    "Costs",
    "Decision",
    "Interval",
    "RunningMean",
    "best_threshold",
    "check_cost",
    "decision_values",
    "natural_order",
    "normal_interval",
    "share_interval",
    "study_of",
    "top_k_accuracy",
]
