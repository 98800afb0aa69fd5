"""Parts that all displays share: axes, colours, and the model inside a pipeline or a search."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..selection import final_estimator

__all__ = [
    "COLOURS",
    "MARKERS",
    "class_colours",
    "label_numbers",
    "legend",
    "model_inside",
    "new_axes",
    "ordered_colours",
    "pyplot",
]

# Okabe and Ito's palette without yellow: distinguishable on white with any kind of colour vision.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = "os^DvP*"


def pyplot(caller: str) -> Any:
    """matplotlib's ``pyplot``, imported only when something is drawn."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{caller} needs matplotlib, which is not installed; install it with the extra 'plots': "
            "pip install 'maxmargin[plots]'."
        ) from error
    return plt


def new_axes(caller: str, ax: Any, n: int = 1, **layout: Any) -> list[Any]:
    """``n`` axes: the given ones, or new ones side by side."""
    plt = pyplot(caller)
    if ax is None:
        _, ax = plt.subplots(1, n, layout="constrained", squeeze=False, **layout)
    axes = list(np.ravel(ax))
    if len(axes) != n:
        raise ValueError(f"{caller} draws on {n} axes here; got {len(axes)}.")
    return axes


def class_colours(n: int) -> list[Any]:
    """A colour for each of ``n`` unordered items; more than seven are shades of one scale."""
    return list(COLOURS[:n]) if n <= len(COLOURS) else ordered_colours(n)


def ordered_colours(n: int) -> list[Any]:
    """Colours from dark to light that stay visible on white."""
    from matplotlib import colormaps

    return [colormaps["viridis"](share) for share in np.linspace(0.0, 0.8, n)]


def legend(ax: Any, **where: Any) -> Any:
    """A legend that covers as little as possible, or None if nothing has a label."""
    handles, _ = ax.get_legend_handles_labels()
    return ax.legend(fontsize="small", framealpha=0.85, **where) if handles else None


def label_numbers(y: Any, classes: np.ndarray) -> np.ndarray:
    """The position of each label among the classes, which may be in any order."""
    y, order = np.asarray(y), np.argsort(classes)
    places = np.searchsorted(classes, y, sorter=order)
    numbers = order[np.minimum(places, len(order) - 1)]
    strange = np.unique(y[classes[numbers] != y])
    if len(strange):
        raise ValueError(
            f"y has labels {strange.tolist()!r} that are not among the classes {classes.tolist()!r}."
        )
    return np.asarray(numbers)


def model_inside(estimator: Any, attribute: str, caller: str) -> Any:
    """The fitted model that has ``attribute``: the one given, a search's best, a pipeline's last step."""
    check_is_fitted(estimator)
    model = final_estimator(getattr(estimator, "best_estimator_", estimator))
    if not hasattr(model, attribute):
        raise ValueError(
            f"{caller} needs a fitted estimator with {attribute}; {type(model).__name__} has none."
        )
    return model
