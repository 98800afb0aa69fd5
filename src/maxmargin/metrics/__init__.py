"""Metrics of predictions: top-k accuracy, confusion counts, confidence intervals of shares."""

from .confusion import CONFIDENCE, ClassRow, Confusion, Interval, RunningMean, normal_interval, share_interval
from .top_k import top_k_accuracy

__all__ = [
    "CONFIDENCE",
    "ClassRow",
    "Confusion",
    "Interval",
    "RunningMean",
    "normal_interval",
    "share_interval",
    "top_k_accuracy",
]
