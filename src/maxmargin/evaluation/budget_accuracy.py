"""What more support vectors would bring: the smaller models inside a model, on rows of another file."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from ..io.readers import Source
from ..metrics import Interval, share_interval
from .refits import Refits, growing_sizes

__all__ = ["BudgetAccuracy", "TestedBudget", "budget_accuracy"]

MAX_SIZES = 8


@dataclass(frozen=True)
class TestedBudget:
    """One of the smaller models inside a model.

    Attributes
    ----------
    budget : int
        Its support vectors: the first ones of the model.
    accuracy : float
        On the test rows.
    accuracy_interval : tuple of float
        95 %.

    Examples
    --------
    >>> from maxmargin.evaluation import TestedBudget
    >>> TestedBudget(8, 0.9, (0.85, 0.94)).budget
    8
    """

    budget: int
    accuracy: float
    accuracy_interval: Interval


@dataclass(frozen=True)
class BudgetAccuracy:
    r"""Test accuracy along the budget path, by :func:`budget_accuracy`.

    Attributes
    ----------
    n_test : int
        Test rows, the same for every point.
    points : list of TestedBudget
        With more and more support vectors, up to all of the model.
    notes : list of str

    Examples
    --------
    >>> from pathlib import Path
    >>> for name, n in (("old.csv", 200), ("new.csv", 90)):
    ...     rows = [f"{k % 10},{k % 7},{'high' if k % 10 > 4 or k % 13 == 0 else 'low'}" for k in range(n)]
    ...     size = Path(name).write_text("\n".join(["width,noise,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> old, new = (open_source(name, target="kind") for name in ("old.csv", "new.csv"))
    >>> model = train(old, model="sparse-kernel", parameters={"budget": 8}).model
    >>> from maxmargin.evaluation import budget_accuracy
    >>> [point.budget for point in budget_accuracy(model, old, new).points][-1]
    8
    """

    n_test: int
    points: list[TestedBudget]
    notes: list[str] = field(default_factory=list)


def budget_accuracy(
    model: Any, training: Source, test: Source, *, labels: Any = None, seed: int = 0
) -> BudgetAccuracy | None:
    r"""The accuracy of the models with the first 1, 2, 4, ... support vectors, on rows of another file.

    Parameters
    ----------
    model : Pipeline
        A trained model.
    training, test : Source
        Its training file, to which coefficients are refitted (to 20,000 of its rows at most), and other rows.
    labels : mapping of str to str, optional
        Labels of the test file, and the class that each stands for.
    seed : int, default=0

    Returns
    -------
    BudgetAccuracy or None
        None for a model without a budget of support vectors.

    Examples
    --------
    >>> from pathlib import Path
    >>> for name, n in (("old.csv", 200), ("new.csv", 90)):
    ...     rows = [f"{k % 10},{k % 7},{'high' if k % 10 > 4 or k % 13 == 0 else 'low'}" for k in range(n)]
    ...     size = Path(name).write_text("\n".join(["width,noise,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> from maxmargin.training import train
    >>> old, new = (open_source(name, target="kind") for name in ("old.csv", "new.csv"))
    >>> from maxmargin.evaluation import budget_accuracy
    >>> budget_accuracy(train(old, model="linear").model, old, new) is None
    True
    """
    rows = Refits.of(model, training, test, labels, seed)
    path = getattr(rows.estimator, "budget_path_", None)
    if not path or not hasattr(rows.estimator, "truncate"):
        return None
    full = int(rows.estimator.n_support_)
    stored = [int(budget) for budget in path["budget"] if budget < full]
    wanted = growing_sizes(1, full, MAX_SIZES)[:-1]
    budgets = sorted({min(stored, key=lambda b: (abs(b - size), b)) for size in wanted}) if stored else []
    points = []
    for budget in [*budgets, full]:
        smaller = rows.estimator
        if budget < full:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                smaller = rows.estimator.truncate(budget, rows.X, rows.y)
        n_right = int(rows.right(smaller).sum())
        interval = share_interval(n_right, len(rows.truth))
        points.append(TestedBudget(budget, n_right / len(rows.truth), interval))
    notes = ["coefficients of the smaller models are those of a sample of the training file"]
    return BudgetAccuracy(len(rows.truth), points, notes if rows.sampled else [])
