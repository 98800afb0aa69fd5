"""The kernel SVM of one column for several costs: each solve is warm-started, with the cached kernel rows.

When the costs change from c to r c, the coefficients a of the last solution are scaled to t a. Within the new
bounds, that is for 0 <= t <= r, the dual value is largest at

    t = min(r, (a'y - kink |a|_1) / a'(K + R) a),

and all known values of f, current or from an earlier iterate, are multiplied by t as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...solving import SolverResult, State, Stop, until_cut
from .box_problem import BoxProblem
from .solve import Solve, solved
from .working_set import MAX_POLISHED_SAMPLES, TARGET_PER_TOL, start


def svm_path(
    problem: BoxProblem,
    factors: Sequence[float],
    *,
    stop: Stop,
    cache_bytes: int,
    shrinking: bool = True,
    memory: np.ndarray | None = None,
) -> list[SolverResult]:
    """Solve the problem with its costs multiplied by each factor in turn, until one deadline."""
    last = 0.0
    results: list[SolverResult] = []
    for k, factor in enumerate(factors):
        limits = replace(stop, deadline=stop.deadline.part(1.0 / (len(factors) - k)))
        at = replace(problem, cost=problem.cost * factor)
        if k == 0:
            state = start(at, stop.tol, shrinking)
            solve = Solve(at, cache_bytes, limits, shrinking, state, memory)
        else:
            state = moved(solve.state, solve.problem, at, factor / last, stop.tol)
            with until_cut(stop.deadline):
                solve.go_on(at, state, limits)
        results.append(solved(solve, limits))
        last = factor
    return results


def moved(state: State, before: BoxProblem, after: BoxProblem, ratio: float, tol: float) -> State:
    """The state after the costs were multiplied by ``ratio``, with optimally scaled coefficients."""
    t, dual = best_step(state, before, after, ratio)
    f = before.y - state.g - before.ridge * state.a
    a = _times(state.a, t, before, after)
    return State(
        a=a,
        g=after.y - t * f - after.ridge * a,
        active=state.active,
        seen=state.seen,
        target=TARGET_PER_TOL * tol,
        dual=dual,
        covered=False,
        polished=len(a) > MAX_POLISHED_SAMPLES,
        path=t * state.path,
        looks=0,
        still=0,
        double=state.double,
        snapshots=_times(state.snapshots, t, before, after),
        reference=state.reference,
        row_path=t * state.row_path,
    )


def best_step(state: State, before: BoxProblem, after: BoxProblem, ratio: float) -> tuple[float, float]:
    """The best t and the dual value there, as accurate as the available gradients."""
    a = state.a
    gain = float(a @ before.y)
    if before.kink > 0.0:
        gain -= before.kink * float(np.abs(a).sum())
    curvature = float(a @ (before.y - state.g)) + float(a @ ((after.ridge - before.ridge) * a))
    t = min(ratio, gain / curvature) if curvature > 0.0 else ratio
    return t, t * gain - 0.5 * t * t * curvature


def _times(a: np.ndarray, t: float, before: BoxProblem, after: BoxProblem) -> np.ndarray:
    """``t a`` within the new bounds; coefficients at an old bound and near the new one are moved to it."""
    scaled = np.clip(t * a, after.lower, after.upper)
    for old, new in ((before.lower, after.lower), (before.upper, after.upper)):
        scaled = np.where((a == old) & (np.abs(scaled - new) <= 1e-12 * np.abs(new)), new, scaled)
    return scaled
