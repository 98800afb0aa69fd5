"""The kernel SVM of one column for several costs: each solution starts from the last, with its kernel rows.

From costs c to r c the coefficients a of the last solution move along their own ray to t a. Within the new
bounds, where 0 <= t <= r, the dual value is largest at

    t = min(r, a'y / a'(K + R) a),

and all that is known of f, fresh or of an earlier iterate, is multiplied by t with it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...solving import SolverResult, State, Stop
from .problem import SvmProblem
from .working_set import POLISHED, SHARE, sets_for, solved, start


def svm_path(
    problem: SvmProblem,
    factors: Sequence[float],
    *,
    stop: Stop,
    cache_bytes: int,
    shrinking: bool = True,
    memory: np.ndarray | None = None,
) -> list[SolverResult]:
    """Solve the problem with its costs multiplied by each factor in turn; the time is for all of them."""
    deadline, last = time.perf_counter() + stop.max_seconds, 0.0
    results: list[SolverResult] = []
    for k, factor in enumerate(factors):
        left = max(deadline - time.perf_counter(), 0.0) / (len(factors) - k)
        limits = replace(stop, max_seconds=left)
        at = replace(problem, cost=problem.cost * factor)
        if k == 0:
            state = start(at, stop.tol, shrinking)
            sets = sets_for(at, cache_bytes, limits, shrinking, state, memory)
        else:
            state = moved(sets.state, sets.problem, at, factor / last, stop.tol)
            sets.go_on(at, state, limits)
        results.append(solved(sets, limits))
        last = factor
    return results


def moved(state: State, before: SvmProblem, after: SvmProblem, ratio: float, tol: float) -> State:
    """What is known after costs were multiplied by ``ratio``, at the best point of the ray."""
    t, dual = best_step(state, before, after, ratio)
    f = before.y - state.g - before.ridge * state.a
    a = _times(state.a, t, before, after)
    return State(
        a=a,
        g=after.y - t * f - after.ridge * a,
        active=state.active,
        seen=state.seen,
        target=SHARE * tol,
        dual=dual,
        covered=False,
        polished=len(a) > POLISHED,
        path=t * state.path,
        looks=0,
        still=0,
        snapshots=_times(state.snapshots, t, before, after),
        reference=state.reference,
        row_path=t * state.row_path,
    )


def best_step(state: State, before: SvmProblem, after: SvmProblem, ratio: float) -> tuple[float, float]:
    """The t of the ray and the dual value there, as good as the gradients that are at hand."""
    a = state.a
    gain = float(a @ before.y)
    curvature = float(a @ (before.y - state.g)) + float(a @ ((after.ridge - before.ridge) * a))
    t = min(ratio, gain / curvature) if curvature > 0.0 else ratio
    return t, t * gain - 0.5 * t * t * curvature


def _times(a: np.ndarray, t: float, before: SvmProblem, after: SvmProblem) -> np.ndarray:
    """``t a`` within the new bounds; who was at a bound and comes near the new one is at that."""
    scaled = np.clip(t * a, after.lower, after.upper)
    for old, new in ((before.lower, after.lower), (before.upper, after.upper)):
        scaled = np.where((a == old) & (np.abs(scaled - new) <= 1e-12 * np.abs(new)), new, scaled)
    return scaled
