"""The start of the passes: the optimum on the sample, found in memory, and the precision that it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...solving import Status, Stop, drive, row_blocks, until_cut
from .newton import BlockNewton, Point, Start, needs_products
from .passes import ThreadPasses
from .rows import RowBlock
from .sums import BlockProblem, NewtonTask, newton_sums

__all__ = ["start_on_sample"]

ROWS_AT_ONCE = 8192
MAX_STEPS = 50
TOL_SHARE = 0.1  # of the tolerance over all rows
NOISE_SHARE = 0.3  # of the tolerated gap, that rounding of features to float32 may leave


@dataclass(frozen=True)
class SampleBlocks:
    """The sample as a source, which is in memory."""

    sample: RowBlock
    name: str = "sample"

    def blocks(self) -> Iterator[RowBlock]:
        """Its rows, some thousands at a time."""
        X, y, weight = self.sample.X, self.sample.y, self.sample.weight
        for rows in row_blocks(len(self.sample), ROWS_AT_ONCE):
            yield RowBlock(X[rows], y[rows], weight[rows])


def start_on_sample(
    problem: BlockProblem, V: np.ndarray, sample: RowBlock, n_threads: int, stop: Stop
) -> Start:
    """The optimum of the problem if the sample were all rows; it takes no pass over the source.

    Where Hessians are too large, V is the start.
    """
    if needs_products(problem, V):
        return Start(V, False, Status.CONVERGED)
    passes = ThreadPasses(SampleBlocks(sample), n_threads, stop.deadline)
    here = Stop(tol=TOL_SHARE * stop.tol, max_iter=MAX_STEPS, deadline=stop.deadline)
    solve = BlockNewton(passes, problem, V, sample, here, double=True)
    status = Status.TIME_LIMIT
    with until_cut(stop.deadline):
        status, _ = drive(solve.state, solve.step, solve.certify, here)
        point = solve.at_point()
        double = sample.X.dtype == np.float32 and _is_rounded_away(solve, stop.tol)
        return Start(solve.state.V, double, status, float(point.primal.sum()))
    return Start(solve.state.V, False, status)


def _is_rounded_away(solve: BlockNewton, tol: float) -> bool:
    """Whether features in float32 would leave a gap near the tolerance: that of the gradient's rounding."""
    problem, exact = solve.problem, solve.at_point()
    sums = solve.passes.run(newton_sums, NewtonTask(problem, exact.V))
    rounded = Point(problem, exact.V, sums, double=False)
    error = problem.penalised(rounded.gradient - exact.gradient)
    gaps = np.square(error).sum(axis=0) / (2.0 * problem.alpha)
    return bool((gaps > NOISE_SHARE * tol * solve.part_of_each(exact)).any())
