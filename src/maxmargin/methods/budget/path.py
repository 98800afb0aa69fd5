"""The path of a budgeted fit: the models with its first 1, 2, ... support vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...solving import State
from .reduced_newton import Refit, refit

if TYPE_CHECKING:
    from .greedy import GreedyFit

EVERY_BUDGET_UP_TO = 16  # beyond, the path has three budgets in each doubling
BUDGET_RATIO = 2.0 ** (1.0 / 3.0)
PATH_TOL = 3e-2  # relative gap of the models along the path; the last one is solved to the caller's
REFITTED_BUDGETS_UP_TO = 64  # beyond, a path that swaps have changed has one budget in each doubling


def stated_budgets(budget: int) -> list[int]:
    """The budgets of a path: every small one, then three in each doubling, then the last.

    There are O(log B) of them, so their coefficients take O(B log B) numbers a column.
    """
    budgets = set(range(1, min(budget, EVERY_BUDGET_UP_TO) + 1)) | {budget}
    b = float(EVERY_BUDGET_UP_TO)
    while b < budget:
        budgets.add(round(b))
        b *= BUDGET_RATIO
    return sorted(budgets)


@dataclass(frozen=True)
class PathPoint:
    """The model with the first ``budget`` support vectors."""

    budget: int
    coef: np.ndarray  # (budget, n_columns)
    loss: float = np.nan  # mean training loss, summed over the columns
    gap: float = np.inf  # relative duality gap
    score: float = np.nan  # accuracy on the held-out rows
    held_out_loss: float = np.nan  # mean loss on the rows kept apart, summed over the columns


def path_table(path: dict[int, PathPoint]) -> dict[str, np.ndarray]:
    """A path as the arrays of ``budget_path_``."""
    points = path.values()
    values = {name: [getattr(point, name) for point in points] for name in ("loss", "gap", "score")}
    table = {name: np.array(column, dtype=np.float64) for name, column in values.items()}
    return {"budget": np.array([point.budget for point in points], dtype=np.int64), **table}


def smallest_good_budget(table: dict[str, np.ndarray], tolerance: float) -> int:
    """The smallest budget of a ``budget_path_`` whose score is within the tolerance of the best."""
    scores = table["score"]
    if not np.isfinite(scores).any():
        raise ValueError("choose_budget needs held-out scores; fit with validation_fraction, e.g. 0.1.")
    return int(table["budget"][scores >= np.nanmax(scores) - tolerance].min())


class StoredPath:
    """The points of a path in a solver's state, which holds named arrays and numbers only.

    Only this class knows the names: two entries for each point, its coefficients and the rest.
    """

    def __init__(self, state: State) -> None:
        self.state = state

    @property
    def budgets(self) -> list[int]:
        """The budgets of the points, ascending."""
        names = (name.removeprefix("path_coef_") for name in self.state if name.startswith("path_coef_"))
        return sorted(int(name) for name in names)

    def points(self) -> list[PathPoint]:
        """All points, ascending."""
        return [self[budget] for budget in self.budgets]

    def __contains__(self, budget: int) -> bool:
        return f"path_coef_{budget}" in self.state

    def __getitem__(self, budget: int) -> PathPoint:
        coef, values = self.state[f"path_coef_{budget}"], self.state[f"path_values_{budget}"]
        loss, gap, score, held_out_loss = values.tolist()
        return PathPoint(budget, coef, loss, gap, score, held_out_loss)

    def add(self, point: PathPoint) -> None:
        """Store a point, in place of the one of the same budget."""
        values = np.array([point.loss, point.gap, point.score, point.held_out_loss])
        self.state[f"path_coef_{point.budget}"] = point.coef
        self.state[f"path_values_{point.budget}"] = values

    def drop(self, budget: int) -> None:
        """Remove the point of that budget, if it is stored."""
        self.state.pop(f"path_coef_{budget}", None)
        self.state.pop(f"path_values_{budget}", None)


# ---- the path of a greedy fit ----


def add_present(fit: GreedyFit) -> None:
    """Add the model as it stands."""
    if fit.panel.size:
        fit.path.add(_point(fit, fit.panel.size, fit.fitted))


def replace_last(fit: GreedyFit, full: Refit) -> None:
    """The path's last point is the model refitted on all rows, with its own loss and gap."""
    if fit.panel.size not in fit.path:
        return
    last, V = fit.path[fit.panel.size], full.V
    loss = float(full.primal.sum() - 0.5 * fit.state.alpha * np.square(V).sum())
    score = last.score if fit.options.score is None else _score(fit, fit.panel.dot(V))
    fit.path.add(replace(last, loss=loss, gap=full.relative_gap, score=score))


def refit_path(fit: GreedyFit, *, anew: bool) -> None:
    """Solve for the points that growth has skipped; ``anew`` for every point.

    After swaps, or from given support vectors, the first b are not those chosen first.
    """
    if not fit.options.path:
        return
    size, V = fit.panel.size, fit.state.V[:0]
    wanted = {b for b in stated_budgets(fit.options.budget) if b <= size} | {size}
    for b in sorted(wanted.union(fit.path.budgets) - {0}):
        if anew and b > REFITTED_BUDGETS_UP_TO and b != size and b.bit_count() > 1:
            fit.path.drop(b)
        elif b == size:
            fit.path.add(_point(fit, b, refit(fit.reduced(), fit.state.V, fit.fitted.F, PATH_TOL)))
        elif anew or b not in fit.path:
            start = np.zeros((b, fit.problem.n_columns))
            start[: len(V)] = V
            there = refit(fit.reduced(), start, fit.panel.dot(start), PATH_TOL)
            fit.path.add(_point(fit, b, there))
            V = there.V
        else:
            V = fit.panel.factor[:b, :b].T @ fit.path[b].coef


def final_points(state: State, coef: np.ndarray) -> dict[int, PathPoint]:
    """The path of a fit that ends with these coefficients, which are its last point where it has one.

    Moved centres belong to the last point alone.
    """
    size, moved, path = len(coef), "centres" in state, StoredPath(state)
    points = {b: path[b] for b in path.budgets if b == size or (b < size and not moved)}
    if size in points:
        points[size] = replace(points[size], coef=coef)
    return points


def _point(fit: GreedyFit, budget: int, fitted: Refit) -> PathPoint:
    loss = fit.problem.loss
    return PathPoint(
        budget,
        fit.panel.coef(fitted.V),
        loss=float(fit.reduced().losses(loss, fitted.F).sum()),
        gap=fitted.relative_gap,
        score=np.nan if fit.options.score is None else _score(fit, fitted.F),
        held_out_loss=fit.sample.validation_loss(loss, fitted.F),
    )


def _score(fit: GreedyFit, F: np.ndarray) -> float:
    held_out = fit.sample.held_out
    assert fit.options.score is not None
    return fit.options.score(F[held_out], fit.sample.rows[held_out])
