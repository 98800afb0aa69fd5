"""A code drawn as a matrix: classes by columns, with the columns' errors above."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..codes import Code
from ..data import check_sample_weight
from .canvas import label_numbers, legend, model_inside, pyplot

__all__ = ["CodeDisplay", "column_errors"]

FILLS = {-1: "#0072b2", 0: "#f2f2f2", 1: "#e69f00"}
SIGNS = {-1: "−", 0: "0", 1: "+"}
MAX_SIGNS = 150  # cells; in more, signs are too small to read
MAX_NAMED = 30  # classes; more are not labelled


class CodeDisplay:
    """The matrix of a code and, given data, the error rate of each column.

    Parameters
    ----------
    code : Code
    classes : array-like of shape (n_classes,), optional
        Names of the code's rows.
    errors : ndarray of shape (n_columns,), optional
        The share of wrong outputs in each column.

    Attributes
    ----------
    ax_, figure_
    image_ : AxesImage
    error_ax_ : axes or None
        The axes above the image.
    bars_ : BarContainer or None
        Errors in percent.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.displays import CodeDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = CodeDisplay.from_estimator(LinearSVC(code="exhaustive").fit(X, y), X, y)
    >>> display.errors.shape
    (3,)
    """

    def __init__(self, *, code: Code, classes: Any = None, errors: np.ndarray | None = None) -> None:
        self.code = code
        self.classes = np.arange(code.n_classes) if classes is None else np.asarray(classes)
        self.errors = errors

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Draw the code of a fitted model, with errors on given rows.

        Parameters
        ----------
        model : fitted classifier with a code, or a search around one
        X, y, sample_weight : optional
            Rows on which the columns' errors are counted.
        ax : matplotlib axes, optional

        Returns
        -------
        CodeDisplay
        """
        model = model_inside(model, "code_", "CodeDisplay")
        if (X is None) != (y is None):
            raise ValueError("CodeDisplay counts errors on labelled rows: give both X and y, or neither.")
        if X is None:
            return cls(code=model.code_, classes=model.classes_).plot(ax)
        outputs = model.column_outputs(X)
        return cls.from_predictions(
            y, outputs, code=model.code_, classes=model.classes_, sample_weight=sample_weight, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        outputs: ArrayLike,
        *,
        code: Code,
        classes: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw a code with errors of stored outputs.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.
        outputs : array-like of shape (n_samples, n_columns)
            As returned by ``column_outputs``.
        code : Code
        classes : array-like of shape (n_classes,), optional
            The label of each row of the code, in order; 0, 1, ... by default.
        sample_weight : array-like of shape (n_samples,), optional
        ax : matplotlib axes, optional

        Returns
        -------
        CodeDisplay
        """
        display = cls(code=code, classes=classes)
        labels = label_numbers(y, display.classes)
        display.errors = column_errors(code, np.asarray(outputs, dtype=np.float64), labels, sample_weight)
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the matrix and the errors.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        CodeDisplay
        """
        self.error_ax_: Any = None
        if ax is None:
            self.error_ax_, ax = self._new_axes()
        self.ax_, self.figure_ = ax, ax.figure
        from matplotlib.colors import ListedColormap

        colours = ListedColormap([FILLS[entry] for entry in (-1, 0, 1)])
        style = {"vmin": -1.5, "vmax": 1.5, "aspect": "auto", "interpolation": "nearest"}
        self.image_ = ax.imshow(self.code.matrix, cmap=colours, **style)
        if self.code.matrix.size <= MAX_SIGNS:
            self._write_signs()
        self._name_axes()
        self.bars_ = None if self.errors is None else self._draw_errors(self.errors)
        legend(ax, loc="upper left", bbox_to_anchor=(1.01, 1.0))
        return self

    def _new_axes(self) -> tuple[Any, Any]:
        """New axes for the matrix and, if there are errors, for them."""
        n_classes, n_columns = self.code.matrix.shape
        width, height = min(max(4.6, 0.3 * n_columns + 1.6), 14.0), min(max(2.4, 0.27 * n_classes + 1.0), 8.0)
        both = {"height_ratios": (0.9, height), "sharex": True, "layout": "constrained"}
        plt = pyplot("CodeDisplay.plot")
        if self.errors is None:
            return None, plt.subplots(figsize=(width, height), layout="constrained")[1]
        return tuple(plt.subplots(2, 1, figsize=(width, height + 0.9), **both)[1])

    def _write_signs(self) -> None:
        for (k, t), entry in np.ndenumerate(self.code.matrix):
            style = {"color": "white" if entry == -1 else "black", "ha": "center", "va": "center"}
            self.ax_.text(t, k, SIGNS[int(entry)], fontsize="small", **style)

    def _name_axes(self) -> None:
        n_classes, n_columns = self.code.matrix.shape
        steps = range(0, n_classes, -(-n_classes // MAX_NAMED))
        self.ax_.set_yticks(list(steps), [str(self.classes[k]) for k in steps])
        self.ax_.xaxis.get_major_locator().set_params(integer=True, nbins=15 if n_columns > 15 else n_columns)
        self.ax_.set(xlabel=f"column of the code ({self.code.name})", ylabel="class")
        present = np.unique(self.code.matrix)
        for entry in (1, -1, 0):
            if entry in present:
                self.ax_.plot(
                    [], [], "s", color=FILLS[entry], mec="0.5", label=f"{entry:+d}" if entry else "0"
                )

    def _draw_errors(self, errors: np.ndarray) -> Any:
        if self.error_ax_ is None:
            from mpl_toolkits.axes_grid1 import make_axes_locatable

            above = make_axes_locatable(self.ax_)
            self.error_ax_ = above.append_axes("top", size="25%", pad=0.08, sharex=self.ax_)
        ax, mean = self.error_ax_, 100.0 * float(np.nanmean(errors))
        bars = ax.bar(np.arange(len(errors)), 100.0 * errors, width=0.8, color="0.35")
        dashed = {"color": "#d55e00", "lw": 1.2, "ls": "--"}
        ax.axhline(mean, **dashed)
        self.ax_.plot([], [], label=f"mean\n{mean:.2g} %", **dashed)
        ax.set_ylabel("wrong, %")
        ax.tick_params(labelbottom=False)
        return bars


def column_errors(
    code: Code, outputs: np.ndarray, labels: np.ndarray, sample_weight: Any = None
) -> np.ndarray:
    """For each column, the weighted share of wrong signs among the rows of the classes that it separates.

    An output of 0 is wrong. The share is nan where no row has such a class.
    """
    if outputs.shape != (len(labels), code.n_columns):
        raise ValueError(
            f"outputs must have a row for each label and the {code.n_columns} columns of the code; got "
            f"{len(labels)} labels and outputs of shape {outputs.shape}."
        )
    weight = check_sample_weight(sample_weight, len(labels))
    targets = code.targets(labels)
    counted = weight @ (targets != 0)
    wrong = weight @ ((targets != 0) & (np.sign(outputs) != targets))
    return np.divide(wrong, counted, out=np.full(code.n_columns, np.nan), where=counted > 0.0)
