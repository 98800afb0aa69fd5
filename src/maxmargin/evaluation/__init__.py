"""How good a model is: evaluation on a data file, comparison, paths, predictions.

Every part of an evaluation is counts, sums, or a list with a largest length, so memory is bounded. Labels
are matched as they are met, since a file is read once: a common ending is dropped only if no label is a
class as it stands, so no later row can change what an earlier one was.
"""

from .answers import Mistake, ModelAnswers, classifier_of, prepared
from .budget_accuracy import BudgetAccuracy, TestedBudget, budget_accuracy
from .columns import ColumnImportance, ColumnStudy, column_importance
from .compare import ComparedModel, compare, n_bytes_of
from .decisions import stored_decision
from .drift import ColumnDrift, Drift, drift
from .effects import Effect
from .evaluate import Evaluation, evaluate
from .learning_curve import LearningCurve, LearningPoint, learning_curve
from .numbers import (
    Coverage,
    NoveltyEvaluation,
    NoveltyRow,
    NumberEvaluation,
    NumberRow,
    evaluate_novelty,
    evaluate_numbers,
)
from .open_like_training import open_like_training
from .paths import StudiedPath, budget_path, cost_path
from .predict import Predicted, predictions
from .probabilities import Calibration
from .promise import ValidationPromise, promise_of, recorded_training
from .sampled import RowSample
from .thresholds import OperatingPoint, ThresholdCurves

__all__ = [
    "BudgetAccuracy",
    "Calibration",
    "ColumnDrift",
    "ColumnImportance",
    "ColumnStudy",
    "ComparedModel",
    "Coverage",
    "Drift",
    "Effect",
    "Evaluation",
    "LearningCurve",
    "LearningPoint",
    "Mistake",
    "ModelAnswers",
    "NoveltyEvaluation",
    "NoveltyRow",
    "NumberEvaluation",
    "NumberRow",
    "OperatingPoint",
    "Predicted",
    "RowSample",
    "StudiedPath",
    "TestedBudget",
    "ThresholdCurves",
    "ValidationPromise",
    "budget_accuracy",
    "budget_path",
    "classifier_of",
    "column_importance",
    "compare",
    "cost_path",
    "drift",
    "evaluate",
    "evaluate_novelty",
    "evaluate_numbers",
    "learning_curve",
    "n_bytes_of",
    "open_like_training",
    "predictions",
    "prepared",
    "promise_of",
    "recorded_training",
    "stored_decision",
]
