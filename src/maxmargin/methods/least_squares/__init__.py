"""``LeastSquaresClassifier``: least squares, ridge and lasso."""

from .estimator import LeastSquaresClassifier

__all__ = ["LeastSquaresClassifier"]
