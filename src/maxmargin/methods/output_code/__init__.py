"""``OutputCodeClassifier``: any code and decoder around any binary classifier."""

from .columns import SharedColumns
from .estimator import OutputCodeClassifier

__all__ = ["OutputCodeClassifier", "SharedColumns"]
