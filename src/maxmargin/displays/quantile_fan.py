"""Quantiles over one column, as bands around the one in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_array

from ..data import check_number
from .canvas import COLOURS, legend, model_inside, new_axes

__all__ = ["QuantileFanDisplay"]


class QuantileFanDisplay:
    """The quantiles that a model predicts along one column, the others at their medians.

    Bands lie between the first and the last quantile, the second and the last but one, and so on; an odd
    number of quantiles has a line in the middle.

    Parameters
    ----------
    x : ndarray of shape (n_points,)
        Ascending values of the column.
    quantiles : sequence of float
        Ascending.
    fan : ndarray of shape (n_points, n_quantiles)
        Predictions.
    rows : tuple of ndarray, optional
        The column and the target of rows, to be drawn as dots.
    name : str
        Of the column.

    Attributes
    ----------
    ax_, figure_
    bands_ : list of PolyCollection
        From the widest to the narrowest.
    line_ : Line2D or None
        The one in the middle.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import KernelSVR
    >>> from maxmargin.displays import QuantileFanDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = X[:, 0] * rng.normal(size=200)
    >>> model = KernelSVR(loss="pinball", quantiles=(0.1, 0.5, 0.9)).fit(X, y)
    >>> QuantileFanDisplay.from_estimator(model, X, y).fan.shape
    (200, 3)
    """

    def __init__(
        self,
        *,
        x: Any,
        quantiles: Sequence[float],
        fan: Any,
        rows: tuple[Any, Any] | None = None,
        name: str = "x0",
    ) -> None:
        self.x, self.fan = np.asarray(x, dtype=np.float64), np.asarray(fan, dtype=np.float64)
        self.quantiles, self.rows, self.name = [float(q) for q in quantiles], rows, str(name)
        if self.fan.shape != (len(self.x), len(self.quantiles)):
            raise ValueError(
                f"fan must have a row for each of the {len(self.x)} points and a column for each of the "
                f"{len(self.quantiles)} quantiles; got shape {self.fan.shape}."
            )

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any = None, *, column: int = 0, n_points: int = 200, ax: Any = None
    ) -> Self:
        """Draw the quantiles of a fitted model along a column.

        Parameters
        ----------
        model : fitted estimator with ``quantiles``, search or pipeline
        X : array-like of shape (n_rows, n_features)
            Numbers: the range of the column, and the medians of the others.
        y : array-like of shape (n_rows,), optional
            Targets, to be drawn as dots.
        column : int, default=0
        n_points : int, default=200
        ax : matplotlib axes, optional

        Returns
        -------
        QuantileFanDisplay
        """
        inside = model_inside(model, "quantiles", "QuantileFanDisplay.from_estimator")
        if inside.quantiles is None:
            raise ValueError(
                "QuantileFanDisplay needs several quantiles; fit KernelSVR(loss='pinball', quantiles=(0.1, "
                "0.5, 0.9))."
            )
        names = getattr(X, "columns", None)
        given = check_array(X, dtype=np.float64)
        check_number("n_points", n_points, at_least=2, integer=True)
        if not 0 <= column < given.shape[1]:
            raise ValueError(f"column must be within 0..{given.shape[1] - 1}; got {column!r}.")
        grid = np.repeat(np.median(given, axis=0)[None], n_points, axis=0)
        grid[:, column] = np.linspace(given[:, column].min(), given[:, column].max(), n_points)
        return cls(
            x=grid[:, column],
            quantiles=inside.quantiles,
            fan=model.predict(grid if names is None else type(X)(grid, columns=names)),
            rows=None if y is None else (given[:, column], np.asarray(y, dtype=np.float64)),
            name=f"x{column}" if names is None else names[column],
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the fan.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        QuantileFanDisplay
        """
        (self.ax_,) = new_axes("QuantileFanDisplay.plot", ax)
        self.figure_ = self.ax_.figure
        if self.rows is not None:
            self.ax_.plot(*self.rows, ".", color="0.7", markersize=3, zorder=0)
        n = len(self.quantiles)
        self.bands_ = [
            self.ax_.fill_between(
                self.x,
                self.fan[:, k],
                self.fan[:, n - 1 - k],
                color=COLOURS[0],
                alpha=0.2,
                linewidth=0.0,
                label=f"{_share(self.quantiles[k])} to {_share(self.quantiles[n - 1 - k])}",
            )
            for k in range(n // 2)
        ]
        self.line_ = None
        if n % 2:
            name = _share(self.quantiles[n // 2])
            (self.line_,) = self.ax_.plot(
                self.x, self.fan[:, n // 2], color=COLOURS[0], label="median" if name == "50 %" else name
            )
        self.ax_.set_xlabel(self.name)
        self.ax_.set_ylabel("predicted")
        self.ax_.grid(alpha=0.25)
        legend(self.ax_)
        return self


def _share(quantile: float) -> str:
    return f"{100.0 * quantile:g} %"
