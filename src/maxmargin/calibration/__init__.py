"""Scores to probabilities that agree with ``predict``."""

from .curves import IsotonicCalibrator, SigmoidCalibrator
from .scores import CalibratedScores, check_method, log_odds_to_probabilities, nearest_agreeing, pair_agreeing
from .softmax import SoftmaxCalibrator

__all__ = [
    "CalibratedScores",
    "IsotonicCalibrator",
    "SigmoidCalibrator",
    "SoftmaxCalibrator",
    "check_method",
    "log_odds_to_probabilities",
    "nearest_agreeing",
    "pair_agreeing",
]
