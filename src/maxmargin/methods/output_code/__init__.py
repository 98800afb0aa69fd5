"""``OutputCodeClassifier``: any code and decoder around any binary classifier."""

from .estimator import OutputCodeClassifier
from .shared_columns import SharedColumns

__all__ = [
    "OutputCodeClassifier",
    "SharedColumns",
]
