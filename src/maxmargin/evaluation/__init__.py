"""How good a model is: evaluation on a data file, comparison, paths, predictions."""

from .answers import Mistake, classifier_of, prepared
from .compare import ComparedModel, compare
from .evaluate import Evaluation, evaluate
from .open_like_training import open_like_training
from .paths import StudiedPath, budget_path, cost_path
from .predict import Predicted, predictions
from .probabilities import Calibration

__all__ = [
    "Calibration",
    "ComparedModel",
    "Evaluation",
    "Mistake",
    "Predicted",
    "StudiedPath",
    "budget_path",
    "classifier_of",
    "compare",
    "cost_path",
    "evaluate",
    "open_like_training",
    "predictions",
    "prepared",
]
