"""The duality gap of a fit over time and iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..data import check_choice
from ..solving import Check, gap_series, largest_gap
from .canvas import COLOURS, class_colours, legend, model_inside, new_axes

__all__ = ["GapDisplay"]

AXES = {"seconds": "seconds (each column's own clock)", "iterations": "iterations (epochs, rounds or steps)"}
MAX_NAMED_COLUMNS = 7


class GapDisplay:
    """Relative duality gap against seconds and against iterations, for each column of a fit.

    Up to seven columns have a labelled line each. More columns have thin lines, and a thick line shows the
    largest gap at each moment. Gaps below 2.2e-16 are drawn at 2.2e-16; infinite gaps are not drawn.

    Parameters
    ----------
    history : list of sequences of Check
        One for each column, as in ``history_`` of every estimator.
    names : list of str, optional
        Names of the columns.
    tol : float, optional
        The requested gap.

    Attributes
    ----------
    axes_ : list of axes
        Against seconds and against iterations, or only one of them.
    ax_ : axes
        The first of them.
    figure_
    lines_ : list of lists of Line2D
        For each of the axes, a line for each column.
    worst_ : list of Line2D
        For each of the axes, the largest gap; empty where columns are labelled.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.displays import GapDisplay
    >>> model = LinearSVC().fit(*load_iris(return_X_y=True))
    >>> len(GapDisplay.from_estimator(model).history)
    3
    """

    def __init__(
        self, *, history: list[Sequence[Check]], names: list[str] | None = None, tol: float | None = None
    ) -> None:
        self.history = history
        self.names = names
        self.tol = tol

    @classmethod
    def from_estimator(cls, model: Any, *, against: str | None = None, ax: Any = None) -> Self:
        """Draw the history of a fit.

        Parameters
        ----------
        model : fitted estimator with ``history_``, or a pipeline or search that ends in one
        against, ax
            As for :meth:`plot`.

        Returns
        -------
        GapDisplay
        """
        model = model_inside(model, "history_", "GapDisplay")
        names = _column_names(model, len(model.history_))
        display = cls(history=model.history_, names=names, tol=getattr(model, "tol", None))
        return display.plot(ax, against=against)

    def plot(self, ax: Any = None, *, against: str | None = None) -> Self:
        """Draw the gaps.

        Parameters
        ----------
        ax : matplotlib axes, or two of them, optional
        against : {"seconds", "iterations"}, optional
            By default both, on two axes; "seconds" if only one axes object is given.

        Returns
        -------
        GapDisplay
        """
        if not np.isfinite([check.gap for column in self.history for check in column]).any():
            raise ValueError("no certificate of this fit has a finite gap, so there is nothing to draw.")
        if against is None:
            kinds = list(AXES) if ax is None or np.size(ax) == 2 else ["seconds"]
        else:
            check_choice("against", against, AXES)
            kinds = [against]
        size = (4.8 * len(kinds) + 0.6, 3.8)
        self.axes_ = new_axes("GapDisplay.plot", ax, len(kinds), figsize=size, sharey=True)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        self.lines_: list[list[Any]] = []
        self.worst_: list[Any] = []
        for kind, each in zip(kinds, self.axes_):
            self._draw(each, kind)
        for each in self.axes_ if ax is not None else self.axes_[:1]:
            each.set_ylabel("relative duality gap")
        legend(self.axes_[-1])
        return self

    def _draw(self, ax: Any, kind: str) -> None:
        curves = [gap_series(column, kind) for column in self.history]
        many = len(curves) > MAX_NAMED_COLUMNS
        if many:
            style = {"color": "0.6", "lw": 0.7, "alpha": max(0.15, 4.0 / len(curves))}
            self.lines_.append([ax.plot(*curve, "-", **style)[0] for curve in curves])
            self.lines_[-1][0].set_label(f"each of {len(curves)} columns")
            worst = ax.plot(*largest_gap(curves), "-", color=COLOURS[0], lw=2.0, label="largest gap")
            self.worst_ += worst
        else:
            names = self.names or [f"column {t}" for t in range(len(curves))]
            named = names if len(curves) > 1 else [None]
            self.lines_.append(
                [
                    ax.plot(*curve, "o-", ms=3.5, color=colour, label=name)[0]
                    for curve, colour, name in zip(curves, class_colours(len(curves)), named)
                ]
            )
        if self.tol is not None and np.isfinite(self.tol) and self.tol > 0.0:
            ax.axhline(self.tol, color="black", lw=1.0, ls="--", label=f"tol = {self.tol:g}")
        ax.set(yscale="log", xlabel=AXES[kind])
        ax.grid(alpha=0.25)


def _column_names(model: Any, n_histories: int) -> list[str] | None:
    """The classes that each column separates, where every column has its own history."""
    code = getattr(model, "code_", None)
    if code is None or code.n_columns != n_histories:
        return None
    return [_column_name(code.matrix[:, t], model.classes_) for t in range(n_histories)]


def _column_name(entries: np.ndarray, classes: np.ndarray) -> str:
    plus, minus = ([str(c) for c in classes[entries == sign]] for sign in (1, -1))
    if len(plus) == 1 and len(minus) == len(classes) - 1 > 1:
        return f"{plus[0]} against the rest"
    return f"{', '.join(plus)} against {', '.join(minus)}"
