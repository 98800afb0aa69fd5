"""Solves from a sample to all rows, with more and more penalty where less of it cannot be certified."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...solving import Callback, Check, SolverResult, Status, Stop, until_cut
from .near_margin import NearMarginTask, draw_near_margin, sketched
from .newton import Point, Start, solve_blocks
from .passes import Passes
from .rows import RowBlock
from .sample import Look, LookTask
from .start import start_on_sample
from .sums import BlockProblem

__all__ = ["Attempts"]


@dataclass
class Attempts:
    """Each attempt begins where the last one ended; ``result`` and ``point`` are those of the last one.

    ``rows`` are the sample that starts are found on, the last one drawn.
    """

    passes: Passes
    sample: RowBlock
    found: Look
    seed: int
    n_threads: int
    stop: Stop
    callback: Callback | None
    rows: RowBlock = field(init=False)
    V: np.ndarray | None = None
    result: SolverResult = field(init=False)
    point: Point | None = None

    def __post_init__(self) -> None:
        self.rows = self.sample

    def solved(self, problem: BlockProblem, V: np.ndarray, is_last: bool) -> bool:
        """Whether the solve of a problem did not stall; V is where the first attempt begins."""
        kept = self.stop.resumed(None)
        if kept is not None and kept.alpha != problem.alpha:  # an attempt that was given up before
            return False
        start = self._start(problem, V if self.V is None else self.V)
        self.V, self.result, self.point = start.V, _without_certificate(start.V), None
        if start.is_stuck and not is_last:
            return False
        with until_cut(self.stop.deadline):
            self.result, self.point = solve_blocks(
                self.passes,
                problem,
                start,
                sample=self.sample,
                stop=self.stop,
                redrawn=lambda number, V: self._redrawn(problem, number, V),
                callback=self.callback,
            )
        self.V = self.result.coef
        return self.result.status is not Status.STALLED

    def _start(self, problem: BlockProblem, V: np.ndarray) -> Start:
        return start_on_sample(problem, V, self.rows, self.n_threads, self.stop)

    def _redrawn(self, problem: BlockProblem, number: int, V: np.ndarray) -> Start:
        draw = LookTask(len(self.found.y), self.seed + 1 + number)
        self.rows = sketched(self.passes.run(draw_near_margin, NearMarginTask(problem, V, draw)))
        return self._start(problem, V)


def _without_certificate(V: np.ndarray) -> SolverResult:
    """What there is if the time is up before the first pass: nothing is known of it over all rows."""
    return SolverResult(V, 0.0, Status.TIME_LIMIT, (Check(0, np.inf, -np.inf, 0.0),))
