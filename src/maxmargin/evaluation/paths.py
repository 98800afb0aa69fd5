"""What more support vectors, or another C, would give: paths as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..data import check_number
from ..io.readers import Block, Source
from ..metrics import Interval, share_interval
from ..table import TablePreparation, roles_of, sample, whole
from ..training import plain

__all__ = ["BudgetPoint", "CostPoint", "StudiedPath", "budget_path", "cost_path"]

MAX_ROWS = 20_000


@dataclass(frozen=True)
class BudgetPoint:
    """The model with the first ``budget`` support vectors; ``error`` is that on rows held out."""

    budget: int
    error: float
    error_interval: Interval
    loss: float
    gap: float
    chosen: bool = False


@dataclass(frozen=True)
class CostPoint:
    """One value of C or alpha (and gamma); ``error`` is the mean over folds, ``regularisation`` lambda."""

    parameters: dict[str, float]
    regularisation: float | None
    error: float
    standard_error: float
    fit_seconds: float
    gap: float | None
    chosen: bool = False


@dataclass(frozen=True, eq=False)
class StudiedPath:
    r"""A path, and the fitted estimator that it was read from.

    Attributes
    ----------
    kind : {"budget", "cost"}
    points : list of BudgetPoint or CostPoint
    n_rows : int
        Rows that took part, those held out included.
    notes : list of str
    estimator : SparseKernelClassifier or PathCV
        What ``plot`` draws.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.evaluation import budget_path
    >>> budget_path(source, budget=4).n_rows
    40
    """

    kind: str
    points: list[Any]
    n_rows: int
    notes: list[str]
    estimator: Any = field(repr=False)

    @property
    def chosen(self) -> Any:
        """The point that is recommended."""
        return next(point for point in self.points if point.chosen)

    def as_dict(self) -> dict[str, Any]:
        """Kind, points, the chosen one, and notes, fit for JSON."""
        points = [asdict(point) for point in self.points]
        document = {"path": self.kind, "rows": self.n_rows, "chosen": asdict(self.chosen), "points": points}
        return dict(plain({**document, "notes": self.notes}))

    def plot(self, ax: Any = None) -> Any:
        """Draw it with ``maxmargin.displays``; the display, whose ``figure_`` can be saved."""
        from ..displays import BudgetPathDisplay, CVPathDisplay

        display = BudgetPathDisplay if self.kind == "budget" else CVPathDisplay
        return display.from_estimator(self.estimator, ax=ax)


def budget_path(
    source: Source,
    *,
    budget: int = 200,
    validate: float = 0.2,
    tolerance: float = 0.002,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> StudiedPath:
    r"""Error against the number of support vectors, from one fit of a ``SparseKernelClassifier``.

    Parameters
    ----------
    source : Source
        With a target; all rows are held in memory.
    budget : int, default=200
        Where the path ends. It ends earlier if more support vectors no longer help.
    validate : float, default=0.2
        The share of rows held out, on which the errors are counted.
    tolerance : float, default=0.002
        The chosen budget is the smallest whose error is within this of the least.
    parameters : mapping, optional
        Further parameters of the estimator.
    seed : int, default=0

    Returns
    -------
    StudiedPath

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.evaluation import budget_path
    >>> budget_path(source, budget=4).kind
    'budget'
    """
    from ..methods.budget import SparseKernelClassifier

    block, *_ = whole(source)
    given = {"validation_fraction": validate, "random_state": seed, **(parameters or {}), "budget": budget}
    if given["validation_fraction"] is None:
        raise ValueError("a path of budgets needs rows held out: validate must be a share between 0 and 1.")
    model = SparseKernelClassifier(**given).fit(_prepared(source, block), block.target)
    n_rows = round(model._training.held_out_weight)
    chosen = model.choose_budget(tolerance)
    path = {name: values.tolist() for name, values in model.budget_path_.items()}
    points = [
        BudgetPoint(b, 1.0 - score, _error_interval(score, n_rows), loss, gap, chosen=b == chosen)
        for b, score, loss, gap in zip(path["budget"], path["score"], path["loss"], path["gap"])
    ]
    notes = [
        f"errors are on {n_rows} held-out rows, which also chose alpha, the end of the growth and the "
        "budget: expect slightly larger errors on new rows"
    ]
    return StudiedPath("budget", points, block.n_rows, notes, model)


def _prepared(source: Source, block: Block) -> Any:
    return TablePreparation(roles=roles_of(getattr(source, "declared", ())) or None).fit_transform(block)


def _error_interval(score: float, n_rows: int) -> Interval:
    return share_interval(n_rows - round(score * n_rows), n_rows)


def cost_path(
    source: Source,
    estimator: Any = None,
    *,
    values: Any = None,
    gammas: Any = "fixed",
    folds: int = 5,
    rule: str = "best",
    most_rows: int = MAX_ROWS,
    seed: int = 0,
) -> StudiedPath:
    r"""Cross-validated error over a grid of C or alpha, by ``PathCV``.

    Parameters
    ----------
    source : Source
        With a target; all rows are held in memory.
    estimator : estimator, optional
        With a parameter C or alpha; ``KernelSVC()`` by default.
    values : array-like, optional
        The grid; by default eight values of lambda from 1e-5 to 1e2.
    gammas : array-like, None or "fixed", default="fixed"
        As for ``PathCV``: None is a grid around the median heuristic.
    folds : int, default=5
    rule : {"best", "one-standard-error"}, default="best"
        How the point is chosen.
    most_rows : int, default=20000
        Of a file with more a random sample of at most so many rows, of each class its share, is taken.
    seed : int, default=0

    Returns
    -------
    StudiedPath

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.evaluation import cost_path
    >>> cost_path(source, values=[0.1, 1.0], folds=3).kind
    'cost'
    """
    from ..selection import PathCV, parameter_of

    check_number("most_rows", most_rows, at_least=2, integer=True)
    block, _, labels = whole(source)
    notes = ["columns were prepared with all rows, without their labels; folds share that"]
    if block.n_rows > most_rows:
        notes.append(
            f"a sample of the {block.n_rows} rows was taken; C is for so many rows, and lambda is what "
            "carries over to more: C = 1 / (lambda n)"
        )
        block = sample(block, labels, most_rows, seed)
    search = PathCV(estimator, gammas=gammas, cv=folds, rule=rule, refit=False, random_state=seed)
    kind = "C" if parameter_of(search._new_estimator(), "C") is not None else "alpha"
    if values is not None:
        search.set_params(**{f"{kind}s": values})
    search.fit(_prepared(source, block), block.target)
    return StudiedPath("cost", _cost_points(search, kind, block.n_rows), block.n_rows, notes, search)


def _cost_points(search: Any, kind: str, n_rows: int) -> list[CostPoint]:
    table, n_folds = search.cv_results_, search.n_splits_
    scores = np.column_stack([table[f"split{k}_test_score"] for k in range(n_folds)])
    points = []
    for place, parameters in enumerate(table["params"]):
        value = next(value for name, value in parameters.items() if name.split("__")[-1] == kind)
        gap = float(table["max_dual_gap"][place])
        points.append(
            CostPoint(
                parameters=dict(parameters),
                regularisation=1.0 / (value * n_rows) if kind == "C" else value,
                error=float(1.0 - scores[place].mean()),
                standard_error=float(scores[place].std(ddof=1) / np.sqrt(n_folds)),
                fit_seconds=float(table["mean_fit_time"][place]),
                gap=gap if np.isfinite(gap) else None,
                chosen=place == search.best_index_,
            )
        )
    return points
