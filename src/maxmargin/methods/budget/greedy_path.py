"""The models of smaller budgets that a greedy fit leaves behind, kept in its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...solving import Check, State, Status
from .problem import BudgetResult, stated_budgets
from .reduced_newton import Refit, refit

if TYPE_CHECKING:
    from .greedy import GreedyFit

PATH_TOL = 3e-2  # relative gap of the models along the path; the last one is solved to the caller's
PATIENCE = 6  # stated budgets (two doublings) without progress on the held-out part that end the growth


def record(fit: GreedyFit, b: int, fitted: Refit | None = None) -> None:
    """Keep the model for the first b support vectors, as it stands."""
    if b == 0:
        return
    fitted = fit.fitted if fitted is None else fitted
    loss = float(fit.reduced().losses(fit.problem.loss, fitted.F).sum())
    score = np.nan
    if fit.how.score is not None:
        held_out = fit.sample.held_out
        score = fit.how.score(fitted.F[held_out], fit.sample.rows[held_out])
    held_out_loss = fit.sample.judged_loss(fit.problem.loss, fitted.F)
    fit.state[f"path_{b}"] = np.array([loss, fitted.relative_gap, score, held_out_loss])
    fit.state[f"path_coef_{b}"] = fit.panel.coef(fitted.V)


def record_last(fit: GreedyFit, full: Refit) -> None:
    """The path's last model is that of all rows, with its own loss and gap."""
    name = f"path_{fit.panel.size}"
    if name not in fit.state:
        return
    values, V = fit.state[name].copy(), full.V
    values[0] = float(full.primal.sum() - 0.5 * fit.state.alpha * np.square(V).sum())
    values[1] = full.relative_gap
    if fit.how.score is not None:
        held_out = fit.sample.held_out
        values[2] = fit.how.score(fit.panel.dot(V)[held_out], fit.sample.rows[held_out])
    fit.state[name] = values


def rewrite_path(fit: GreedyFit) -> None:
    """After swaps the first b support vectors are others than those that were first.

    Beyond 64, one budget in each doubling is enough.
    """
    if not fit.how.path:
        return
    V, size = fit.state.V, fit.panel.size
    stated = {b for b in stated_budgets(fit.how.budget) if b <= size} | {size}
    for b in sorted(stated.union(recorded(fit.state)) - {0}):
        if b > 64 and b != size and b.bit_count() > 1:
            fit.state.pop(f"path_{b}", None)
            fit.state.pop(f"path_coef_{b}", None)
            continue
        start = V[:b].copy()
        record(fit, b, refit(fit.reduced(), start, fit.panel.dot(start), PATH_TOL))


def recorded(state: State) -> list[int]:
    """The budgets whose models are kept."""
    names = (name.removeprefix("path_coef_") for name in state if name.startswith("path_coef_"))
    return sorted(int(name) for name in names)


def no_progress(fit: GreedyFit) -> bool:
    """Whether the held-out loss has not fallen for two doublings of the budget."""
    if not fit.how.n_held_out or len(budgets := recorded(fit.state)) <= PATIENCE + 16:
        return False
    losses = [float(fit.state[f"path_{b}"][3]) for b in budgets]
    return min(losses[-PATIENCE:]) > (1.0 - 1e-3) * min(losses[:-PATIENCE])


def result(fit: GreedyFit, status: Status, history: tuple[Check, ...]) -> BudgetResult:
    """The model and its path, whose last entry is the model itself where the fit came to its end."""
    state, panel = fit.state, fit.panel
    coef = state.final_coef if len(state.final_coef) else panel.coef(state.V)
    moved = "centres" in state
    budgets = [b for b in recorded(state) if b <= len(coef) and not (moved and b < len(coef))]
    path = {b: state[f"path_coef_{b}"] for b in budgets}
    if len(coef) in path:
        path[len(coef)] = coef
    values = np.array([state[f"path_{b}"][:3] for b in budgets]).reshape(-1, 3)
    return BudgetResult(
        coef,
        0.0,
        status,
        history,
        support=fit.sample.rows[state.support],
        points=panel.points if moved else None,
        calibration=(state.judged, state.judged_outputs) if "judged" in state else None,
        path=path,
        path_values={"loss": values[:, 0], "gap": values[:, 1], "score": values[:, 2]},
        alpha=state.alpha,
    )
