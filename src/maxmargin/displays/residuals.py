"""Residuals of predicted numbers, against the predictions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .canvas import COLOURS, legend, model_inside, new_axes

__all__ = ["ResidualDisplay"]


class ResidualDisplay:
    """True minus predicted numbers against the predictions; the line where they agree is dashed.

    A bend shows what the model misses, and a funnel that the noise grows with the prediction.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        True numbers.
    predicted : ndarray of shape (n_rows,)
    tube : float, optional
        Residuals up to this size cost the model nothing.

    Attributes
    ----------
    ax_, figure_
    points_ : PathCollection

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import KernelSVR
    >>> from maxmargin.displays import ResidualDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelSVR(C=1000).fit(X[:300], y[:300])
    >>> len(ResidualDisplay.from_estimator(model, X[300:], y[300:]).residuals)
    142
    """

    def __init__(self, *, y: Any, predicted: Any, tube: float | None = None) -> None:
        self.y = np.asarray(column_or_1d(y), dtype=np.float64)
        self.predicted = np.asarray(column_or_1d(predicted), dtype=np.float64)
        check_consistent_length(self.y, self.predicted)
        self.tube = tube

    @property
    def residuals(self) -> np.ndarray:
        """True minus predicted numbers."""
        return self.y - self.predicted

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw the residuals of a fitted regressor.

        Parameters
        ----------
        model : fitted regressor, search or pipeline
            One that predicts a single number for each row.
        X : rows as ``predict`` takes them
            Preferably rows that the fit has not used.
        y : array-like of shape (n_rows,)
        ax : matplotlib axes, optional

        Returns
        -------
        ResidualDisplay
        """
        inside = model_inside(model, "predict", "ResidualDisplay.from_estimator")
        predicted = np.asarray(model.predict(X))
        if predicted.ndim != 1:
            raise ValueError(
                f"ResidualDisplay needs one prediction for each row; got shape {predicted.shape}. Give one "
                "column to ResidualDisplay(y=..., predicted=...), or draw a QuantileFanDisplay."
            )
        loss = str(getattr(inside, "loss", ""))
        tube = getattr(inside, "epsilon_", getattr(inside, "epsilon", None))
        return cls(y=y, predicted=predicted, tube=tube if "insensitive" in loss else None).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the residuals.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        ResidualDisplay
        """
        (self.ax_,) = new_axes("ResidualDisplay.plot", ax)
        self.figure_ = self.ax_.figure
        self.points_ = self.ax_.scatter(
            self.predicted, self.residuals, s=12, alpha=0.5, color=COLOURS[0], edgecolors="none"
        )
        self.ax_.axhline(0.0, color="0.3", linestyle="--", linewidth=1.0)
        if self.tube:
            self.ax_.axhspan(-self.tube, self.tube, color=COLOURS[2], alpha=0.15, label="costs nothing")
        self.ax_.set_xlabel("predicted")
        self.ax_.set_ylabel("true - predicted")
        self.ax_.grid(alpha=0.25)
        legend(self.ax_)
        return self
