"""Decision boundary, margins and support vectors of a model with two features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..data import check_number
from ..selection import final_estimator
from .canvas import MARKERS, class_colours, label_numbers, legend, new_axes

__all__ = ["MarginDisplay"]

MAX_COLUMNS = 3  # more margins would be indistinguishable
MAX_NAMED = 10


class MarginDisplay:
    """Regions of the classes, the boundary between them, and the margins at outputs -1 and +1.

    ``xx0``, ``xx1``, ``xlabel``, ``ylabel``, ``surface_``, ``ax_`` and ``figure_`` have the same meaning as
    in scikit-learn's ``DecisionBoundaryDisplay``. To draw the lines over such a display, pass its ``ax_`` and
    ``regions=False``.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (n, n)
        Grid points at which the model was evaluated, from ``meshgrid``.
    response : ndarray of shape (n, n)
        Index of the predicted class.
    outputs : ndarray of shape (n, n, n_columns)
        Outputs of the code's columns; two classes need only one.
    classes : ndarray of shape (n_classes,)
    points : ndarray of shape (n_points, 2), optional
    labels : ndarray of shape (n_points,), optional
        Class index of each point.
    support : ndarray of shape (n_support, 2), optional
    xlabel, ylabel : str
        Names of the features.

    Attributes
    ----------
    ax_, figure_
    surface_ : QuadContourSet or None
        Regions of the classes.
    boundary_ : list of QuadContourSet
        Between one class and all others; a single one for two classes.
    margins_ : list of QuadContourSet
        Lines of output -1 and +1, for each of at most three columns.
    points_ : list of PathCollection
        One for each class.
    support_ : PathCollection or None

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import KernelSVC
    >>> from maxmargin.displays import MarginDisplay
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> display = MarginDisplay.from_estimator(KernelSVC().fit(X, y), X, y)
    >>> display.response.shape == display.xx0.shape
    True
    """

    def __init__(
        self,
        *,
        xx0: np.ndarray,
        xx1: np.ndarray,
        response: np.ndarray,
        outputs: np.ndarray,
        classes: np.ndarray,
        points: np.ndarray | None = None,
        labels: np.ndarray | None = None,
        support: np.ndarray | None = None,
        xlabel: str = "feature 0",
        ylabel: str = "feature 1",
    ) -> None:
        self.xx0 = xx0
        self.xx1 = xx1
        self.response = response
        self.outputs = outputs
        self.classes = classes
        self.points = points
        self.labels = labels
        self.support = support
        self.xlabel = xlabel
        self.ylabel = ylabel

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid_resolution: int = 200,
        eps: float = 0.1,
        regions: bool = True,
        ax: Any = None,
    ) -> Self:
        """Draw a fitted classifier with two features.

        Parameters
        ----------
        estimator : fitted classifier, or a pipeline or search that ends in one
        X : array-like of shape (n_samples, 2)
            The plot extends a little beyond these rows.
        y : array-like of shape (n_samples,), optional
            Labels; if given, the samples are drawn.
        grid_resolution : int, default=200
            Number of grid points along each side.
        eps : float, default=0.1
            Border around X, as a share of its extent.
        regions, ax
            As for :meth:`plot`.

        Returns
        -------
        MarginDisplay
        """
        check_is_fitted(estimator)
        check_number("grid_resolution", grid_resolution, at_least=2, integer=True)
        names = [str(name) for name in getattr(X, "columns", ("feature 0", "feature 1"))]
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"MarginDisplay needs exactly two features; X has the shape {points.shape}.")
        low, high = points.min(axis=0), points.max(axis=0)
        border = eps * np.where(high > low, high - low, 1.0)
        axes = np.linspace(low - border, high + border, grid_resolution)
        xx0, xx1 = np.meshgrid(axes[:, 0], axes[:, 1])
        asked = _like(X, np.column_stack([xx0.ravel(), xx1.ravel()]))
        classes, outputs = estimator.classes_, _outputs(estimator, asked)
        display = cls(
            xx0=xx0,
            xx1=xx1,
            response=np.searchsorted(classes, estimator.predict(asked)).reshape(xx0.shape),
            outputs=outputs.reshape(*xx0.shape, outputs.shape[1]),
            classes=classes,
            points=None if y is None else points,
            labels=None if y is None else label_numbers(y, classes),
            support=_support(estimator, X, points),
            xlabel=names[0],
            ylabel=names[1],
        )
        return display.plot(ax, regions=regions)

    def plot(self, ax: Any = None, *, regions: bool = True) -> Self:
        """Draw the regions, lines and points.

        Parameters
        ----------
        ax : matplotlib axes, optional
        regions : bool, default=True
            Whether to colour the regions of the classes.

        Returns
        -------
        MarginDisplay
        """
        (ax,) = new_axes("MarginDisplay.plot", ax, figsize=(7.0, 4.4))
        self.ax_, self.figure_ = ax, ax.figure
        self.surface_ = self._regions() if regions else None
        self._lines()
        self._points()
        ax.set(xlabel=ax.get_xlabel() or self.xlabel, ylabel=ax.get_ylabel() or self.ylabel)
        legend(ax, loc="upper left", bbox_to_anchor=(1.01, 1.0))
        return self

    def _regions(self) -> Any:
        n = len(self.classes)
        return self.ax_.contourf(
            self.xx0,
            self.xx1,
            self.response,
            levels=np.arange(n + 1) - 0.5,
            colors=class_colours(n),
            alpha=0.22,
            zorder=-1,
        )

    def _lines(self) -> None:
        """Boundaries: where the only output is 0, or where the predicted class changes."""
        columns = np.moveaxis(self.outputs, -1, 0)
        two = len(self.classes) == 2
        begins = np.arange(1, 2) if two else np.arange(len(self.classes))  # two classes: one boundary
        regions = np.where(self.response == begins[:, None, None], 1.0, -1.0)
        sides = columns if two and len(columns) == 1 else regions
        solid = {"levels": [0.0], "colors": "black", "linewidths": 1.4}
        self.boundary_ = [
            self.ax_.contour(self.xx0, self.xx1, side, **solid)
            for side in sides
            if side.min() < 0 < side.max()
        ]
        dashed = {"levels": [-1.0, 1.0], "colors": "0.25", "linewidths": 0.9, "linestyles": "--"}
        shown = columns if len(columns) <= MAX_COLUMNS else columns[:0]
        self.margins_ = [
            self.ax_.contour(self.xx0, self.xx1, column, **dashed)
            for column in shown
            if column.min() < 1.0 and column.max() > -1.0 and (column.min() < -1.0 or column.max() > 1.0)
        ]
        if self.boundary_:
            self.ax_.plot([], [], "-", color="black", lw=1.4, label="boundary")
        if self.margins_:
            self.ax_.plot([], [], "--", color="0.25", lw=0.9, label="margins, outputs -1 and +1")

    def _points(self) -> None:
        self.points_: list[Any] = []
        n = len(self.classes)
        if self.points is not None and self.labels is not None:
            for k, colour in enumerate(class_colours(n)):
                self.points_.append(
                    self.ax_.scatter(
                        *self.points[self.labels == k].T,
                        s=18,
                        color=colour,
                        marker=MARKERS[k % len(MARKERS)],
                        edgecolors="white",
                        linewidths=0.4,
                        label=str(self.classes[k]) if n <= MAX_NAMED else None,
                        zorder=2,
                    )
                )
        self.support_ = None
        if self.support is not None and len(self.support):
            name = f"{len(self.support)} support vectors"
            ring = {"s": 62, "facecolors": "none", "edgecolors": "black", "linewidths": 0.9, "zorder": 3}
            self.support_ = self.ax_.scatter(*self.support.T, label=name, **ring)


def _like(X: Any, points: np.ndarray) -> Any:
    """The points as a data frame of the same library (pandas or polars) if X is a data frame."""
    if not hasattr(X, "columns"):
        return points
    return type(X)(points, **{"columns" if hasattr(X, "iloc") else "schema": list(X.columns)})


def _outputs(estimator: Any, asked: Any) -> np.ndarray:
    """Outputs of the columns, or ``decision_function`` for estimators without a code, if they have it."""
    inner, asked = _last_step(estimator, asked)
    for name in ("column_outputs", "decision_function"):
        if hasattr(inner, name):
            outputs = np.asarray(getattr(inner, name)(asked))
            return outputs[:, None] if outputs.ndim == 1 else outputs
    return np.empty((len(asked), 0))


def _last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The model at the end of a search or a pipeline, and X as transformed for it."""
    model = getattr(estimator, "best_estimator_", estimator)
    before = model[:-1] if isinstance(model, Pipeline) else None
    seen = before.transform(X) if before is not None and len(before) else X
    return final_estimator(model), seen


def _support(estimator: Any, X: Any, points: np.ndarray) -> np.ndarray | None:
    """Support vectors in the space of X; behind other steps, the rows of X that are mapped to them."""
    model, seen = _last_step(estimator, X)
    support = getattr(model, "support_vectors_", None)
    if support is None or np.ndim(support) != 2:
        return None
    if seen is X:
        return np.asarray(support) if np.shape(support)[1] == 2 else None
    known = {row.tobytes() for row in np.ascontiguousarray(support)}
    rows = np.ascontiguousarray(np.asarray(seen).astype(support.dtype))
    return points[[row.tobytes() in known for row in rows]]
