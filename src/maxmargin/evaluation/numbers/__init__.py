"""How good models without classes are: the errors of predicted numbers, and the shares of rows outside."""

from .evaluate import Coverage, NumberEvaluation, NumberRow, evaluate_numbers
from .novelty import NoveltyEvaluation, NoveltyRow, evaluate_novelty
from .rows import classifier_of, prepared

__all__ = [
    "Coverage",
    "NoveltyEvaluation",
    "NoveltyRow",
    "NumberEvaluation",
    "NumberRow",
    "classifier_of",
    "evaluate_novelty",
    "evaluate_numbers",
    "prepared",
]
