"""How the accuracy or the loss of a budgeted classifier changes with the number of support vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..data import check_choice
from .canvas import COLOURS, legend, model_inside, new_axes

__all__ = ["BudgetPathDisplay"]

QUANTITIES = {"score": "accuracy on held-out rows", "loss": "mean training loss, summed over columns"}


class BudgetPathDisplay:
    """Accuracy on held-out rows, or training loss, against the number of support vectors.

    Parameters
    ----------
    budget_path : dict of arrays
        "budget", "loss" and "score", as in ``SparseKernelClassifier.budget_path_``.
    chosen : int or None
        A budget to mark.
    name : str or None
        Label of the line.

    Attributes
    ----------
    ax_, figure_, line_
    mark_ : Line2D or None
        Mark of the chosen budget.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SparseKernelClassifier
    >>> from maxmargin.displays import BudgetPathDisplay
    >>> model = SparseKernelClassifier(8, validation_fraction=0.3, random_state=0)
    >>> model = model.fit(*load_iris(return_X_y=True))
    >>> BudgetPathDisplay.from_estimator(model).ax_.get_xlabel()
    'support vectors'
    """

    def __init__(
        self, *, budget_path: dict[str, np.ndarray], chosen: int | None = None, name: str | None = None
    ) -> None:
        self.budget_path = budget_path
        self.chosen = chosen
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        tolerance: float = 0.002,
        name: str | None = None,
        quantity: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the path of a fitted model.

        Parameters
        ----------
        model : SparseKernelClassifier, or a pipeline or search that ends in one
            The path has accuracies if the model was fitted with ``validation_fraction``.
        tolerance : float, default=0.002
            Where there are accuracies, the budget of ``choose_budget(tolerance)`` is marked.
        name : str, optional
            Label of the line.
        quantity, ax
            As for :meth:`plot`.

        Returns
        -------
        BudgetPathDisplay
        """
        model = model_inside(model, "budget_path_", "BudgetPathDisplay")
        known = np.isfinite(model.budget_path_["score"]).any()
        chosen = model.choose_budget(tolerance) if known else None
        return cls(budget_path=model.budget_path_, chosen=chosen, name=name).plot(ax, quantity=quantity)

    def plot(self, ax: Any = None, *, quantity: str | None = None) -> Self:
        """Draw the path; several paths can share the same axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        quantity : {"score", "loss"}, optional
            "score" by default if the path has scores, else "loss".

        Returns
        -------
        BudgetPathDisplay
        """
        known = np.isfinite(self.budget_path["score"]).any()
        quantity = ("score" if known else "loss") if quantity is None else quantity
        check_choice("quantity", quantity, QUANTITIES)
        if quantity == "score" and not known:
            raise ValueError("this path has no held-out scores; fit with validation_fraction, e.g. 0.1.")
        (ax,) = new_axes("BudgetPathDisplay.plot", ax)
        self.ax_, self.figure_ = ax, ax.figure
        colour = COLOURS[sum(line.get_gid() == "budget-path" for line in ax.lines) % len(COLOURS)]
        budgets, values = self.budget_path["budget"], self.budget_path[quantity]
        style = {"color": colour, "ms": 4.0, "gid": "budget-path"}
        (self.line_,) = ax.plot(budgets, values, "o-", label=self.name, **style)
        self.mark_ = None
        if self.chosen is not None:
            self._mark(float(values[budgets == self.chosen][0]), colour)
        ax.set(xlabel="support vectors", ylabel=QUANTITIES[quantity])
        if quantity == "loss" and (values > 0.0).all():
            ax.set_yscale("log")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(alpha=0.25)
        legend(ax)
        return self

    def _mark(self, value: float, colour: str) -> None:
        label = f"{self.chosen} support vectors suffice" + ("" if self.name is None else f" ({self.name})")
        (self.mark_,) = self.ax_.plot(
            [self.chosen], [value], "*", ms=15.0, color=colour, mec="white", zorder=3, label=label
        )
