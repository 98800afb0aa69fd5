"""Any code and decoder around any binary classifier."""

from .classifier import OutputCodeClassifier

__all__ = ["OutputCodeClassifier"]
