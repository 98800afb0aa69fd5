"""The importance of columns as bars."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data import check_number
from ..inspection import importance
from .canvas import COLOURS, new_axes

__all__ = ["ImportanceDisplay"]


class ImportanceDisplay:
    """Shares of the columns in what a model's outputs depend on, the largest at the top.

    Columns beyond the first ``max_columns`` are summed in one last bar.

    Parameters
    ----------
    shares : ndarray of shape (n_features,)
        As :func:`maxmargin.importance` or ``feature_importances_`` gives them.
    names : list of str
        Of the columns.

    Attributes
    ----------
    ax_, figure_
    bars_ : BarContainer
        From the top down.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import KernelSVC
    >>> from maxmargin.displays import ImportanceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> round(float(ImportanceDisplay.from_estimator(KernelSVC().fit(X, y), X).shares.sum()), 6)
    1.0
    """

    def __init__(self, *, shares: np.ndarray, names: list[str]) -> None:
        self.shares = np.asarray(shares, dtype=np.float64)
        self.names = [str(name) for name in names]
        if len(self.names) != len(self.shares):
            raise ValueError(f"there are {len(self.shares)} shares and {len(self.names)} names.")

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, names: Any = None, max_columns: int = 20, ax: Any = None
    ) -> Self:
        """Draw the importance of a model's columns.

        Parameters
        ----------
        model : fitted classifier, search or pipeline
        X : rows, optional
            Where the gradients are taken; by default the support vectors of the model.
        names : list of str, optional
            By default ``feature_names_in_``, or x0, x1, ...
        max_columns, ax
            As for :meth:`plot`.

        Returns
        -------
        ImportanceDisplay
        """
        check_is_fitted(model)
        shares = model.feature_importances_ if X is None else importance(model, X)
        if names is None:
            names = getattr(model, "feature_names_in_", [f"x{k}" for k in range(len(shares))])
        return cls(shares=shares, names=list(names)).plot(ax, max_columns=max_columns)

    def plot(self, ax: Any = None, *, max_columns: int = 20) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes, optional
        max_columns : int, default=20
            Columns with a bar of their own.

        Returns
        -------
        ImportanceDisplay
        """
        check_number("max_columns", max_columns, at_least=1, integer=True)
        order = np.argsort(-self.shares, kind="stable")
        first, rest = order[:max_columns], order[max_columns:]
        names, values = [self.names[k] for k in first], self.shares[first]
        if len(rest):
            names, values = [*names, f"{len(rest)} others"], np.append(values, self.shares[rest].sum())
        size = (6.0, 1.2 + 0.26 * len(names))
        (self.ax_,) = new_axes("ImportanceDisplay.plot", ax, figsize=size)
        self.figure_ = self.ax_.figure
        places = np.arange(len(names))
        self.bars_ = self.ax_.barh(places, 100.0 * values, color=COLOURS[0])
        if len(rest):
            self.bars_[-1].set_color("0.7")
        self.ax_.set_yticks(places, names)
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel("importance (% of the squared gradient)")
        self.ax_.grid(axis="x", alpha=0.25)
        return self
