"""``OutputCodeClassifier``: any code and decoder around any binary classifier."""

from .columns import ClonedColumns, SharedColumns
from .estimator import OutputCodeClassifier, fitted_columns

__all__ = ["ClonedColumns", "OutputCodeClassifier", "SharedColumns", "fitted_columns"]
