"""The solve of one column: in the precision of its rows, and in double where rounding would decide its end.

Rows in float32 have kernel values in float32, which makes a fit faster. Each certificate then measures what
the rounding of kernel values can do (``rounding.py``) and adds it to the gap. If a fit could end but rounding
might add more than a tenth of ``tol``, the terms that it can change are computed in double. If the gap proves
too large, the fit goes on in double, from its coefficients and in the same memory. Gradients in double that
the errors of many steps have moved too far are computed anew in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ... import _native
from ...data import check_kernel_sums
from ...solving import (
    Callback,
    Certificate,
    DoneShare,
    SolverResult,
    State,
    Status,
    Stop,
    bounds_cross,
    counted_rounding,
    drive,
    is_asked_for_shares,
    rounding_decides,
    tell_share,
    with_rounding,
    without_bound,
)
from .box_problem import BoxProblem
from .problem import best_finite_point, refuted_by
from .rounding import RoundedPoint, double_rounding, in_parts
from .small_sets import MAX_FRUITLESS_STEPS, SmallSets, is_fruitless
from .working_set import TARGET_PER_TOL, WorkingSets, sets_for, start

__all__ = ["Solve", "solved", "working_sets"]

STEPS_PER_DRIFT_CHECK = 256  # that have not reduced the gap
MAX_DRIFT_PER_GAP = 0.1  # what errors of gradients may add before they are computed anew


def working_sets(
    problem: BoxProblem,
    *,
    stop: Stop,
    cache_bytes: int,
    shrinking: bool = True,
    state: State | None = None,
    callback: Callback | None = None,
    memory: np.ndarray | None = None,
) -> SolverResult:
    """Minimise to ``stop.tol``; ``coef`` is y times the multipliers.

    ``memory`` is a scratch array of the kernel's dtype, ``cache_bytes`` long; reusing its pages saves
    allocating new ones. ``state`` is a state that a callback received, or ``start(...)`` with coefficients of
    a similar problem.
    """
    state = stop.resumed(state) or start(problem, stop.tol, shrinking)
    return solved(Solve(problem, cache_bytes, stop, shrinking, state, memory), stop, callback)


def _due(solve: Solve, stop: Stop) -> Callable[[], bool]:
    """Whether a certificate is due; asked after every step, when the share that is done can be told, too."""
    if not is_asked_for_shares():
        return solve.due
    done = DoneShare(TARGET_PER_TOL * stop.tol)

    def due() -> bool:
        sets = solve.sets
        if isinstance(sets, WorkingSets):
            open_ = sets.open / max(abs(sets.state.dual), sets.problem.tiny)
            tell_share(done.of(int(sets.state.seen), len(sets.problem.y), open_), "fit")
        return solve.due()

    return due


def solved(solve: Solve, stop: Stop, callback: Callback | None = None) -> SolverResult:
    """Run rounds until ``stop``; raise if kernel values are not finite.

    If the kernel proves indefinite, the solution is returned without bounds.
    """
    with _native.one_blas_thread():  # Newton steps have the same bits for any number of threads
        status, history = drive(solve.state, solve.step, solve.certify, stop, callback, _due(solve, stop))
    sets, state = solve.sets, solve.state
    if status is Status.TIME_LIMIT:  # a step may have been cut
        sets.put_back()
    kernel = sets.problem.kernel
    if status is Status.DIVERGED:
        check_kernel_sums(kernel.dtype, state.g)
    if status is Status.STALLED:  # no step has a finite value if k(x, x) is infinite
        check_kernel_sums(kernel.dtype, kernel.lengths(np.arange(len(kernel))))
    result = best_finite_point(solve.kernel, SolverResult(state.a.copy(), sets.b, status, history))
    crossed = not kernel.kernel.positive and bounds_cross(result)
    refuted = crossed or refuted_by(sets.problem, state.a, state.g, sets.kernel_among)
    return without_bound(result) if refuted else result


class Solve:
    """Rounds on a ``BoxProblem`` in the precision of its rows, then, if rounding requires it, in double.

    ``state.double`` means that the second part has begun.
    """

    def __init__(
        self,
        problem: BoxProblem,
        cache_bytes: int,
        stop: Stop,
        shrinking: bool,
        state: State,
        memory: np.ndarray | None = None,
    ) -> None:
        self.state, self.cache_bytes, self.shrinking, self.memory = state, cache_bytes, shrinking, memory
        self.kernel = problem.kernel  # in the precision of the rows
        self.stop, self.hopeless = stop, False  # whether only rounding, in double, is left of the gap
        self.sets = self._sets(problem.in_double() if state.setdefault("double", False) else problem)

    def _sets(self, problem: BoxProblem) -> SmallSets | WorkingSets:
        memory = self.memory
        if memory is not None and memory.dtype != problem.kernel.dtype:
            memory = memory[: len(memory) // 2 * 2].view(problem.kernel.dtype)
        return sets_for(problem, self.cache_bytes, self.stop, self.shrinking, self.state, memory)

    @property
    def problem(self) -> BoxProblem:
        """The problem, with kernel values in the precision of the current rounds."""
        return self.sets.problem

    def go_on(self, problem: BoxProblem, state: State, stop: Stop) -> None:
        """Switch to another problem with the same kernel and targets; cached rows and precision remain."""
        self.state, self.stop, self.hopeless = state, stop, False
        self.sets.go_on(replace(problem, kernel=self.problem.kernel), state, stop)

    def step(self) -> bool:
        """A step of the rounds; True if no further progress is possible in either precision."""
        if self.hopeless:
            return True
        stalled = self.sets.step()
        if not self.problem.kernel.kernel.positive:
            return stalled
        if (stalled and self._is_single()) or (not stalled and self._has_drifted()):
            self.sets.put_back()
            return not self._go_double()
        return stalled

    def _has_drifted(self) -> bool:
        """Whether many steps on all samples of a large problem led nowhere because of errors of gradients."""
        sets, state = self.sets, self.state
        if isinstance(sets, SmallSets) or state.seen < len(sets.problem.y):
            return False
        if not is_fruitless(state, sets.open, STEPS_PER_DRIFT_CHECK):
            return False
        state.least_gap, state.fruitless = math.inf, 0
        sets.put_back()
        point = self._point()
        return point.gap_error + point.dual_error > MAX_DRIFT_PER_GAP * sets.open

    def due(self) -> bool:
        """Whether a certificate is cheap now."""
        return self.sets.due()

    def _is_single(self) -> bool:
        return bool(self.problem.kernel.dtype == np.float32)

    # ---- certificates ----

    def certify(self) -> Certificate:
        """Bounds over all samples, in the units of the problem as given."""
        found, unit = self._bounds(), self.problem.unit
        return replace(
            found,
            primal=found.primal * unit,
            dual=found.dual * unit,
            tiny=found.tiny * unit,
            rounding=found.rounding * unit,
            violation=found.violation * math.sqrt(unit),
        )

    def _bounds(self) -> Certificate:
        """Bounds over all samples; what rounding can do to kernel values in single precision is included."""
        certificate, state = self.sets.certify(), self.state
        if not np.isfinite(certificate.primal):
            return certificate
        if not state.a.any():
            return self._at_zero(certificate)
        if not self._is_single():
            return self._in_double(certificate)
        point = self._point()
        if not point.leaves_settled:  # so their gradients are needed after all
            self.sets.evaluate_all()
            certificate, point = self.sets.certify(), self._point()
        judged = point.judge(certificate, self.stop.tol, self.stop.deadline.passed)
        if not judged.decided and self._go_double():
            return self._in_double(self.sets.certify())
        self.sets.b, state.best_dual = judged.b, -np.inf  # earlier dual values are as rounded as this one
        return self._in_double(judged.certificate)

    def _at_zero(self, certificate: Certificate) -> Certificate:
        """Bounds where all coefficients are 0: gradients are the targets, unless steps left errors."""
        if np.array_equal(self.state.g, self.problem.y):
            return certificate
        return self.sets.certify() if self._go_double() else replace(certificate, dual=-np.inf)

    def _in_double(self, certificate: Certificate) -> Certificate:
        """The certificate with rounding in double included, where that is not negligible.

        There the errors of many steps may add up as well, so gradients that have drifted are computed anew.
        """
        rounding = self._rounding()
        if not self._is_single() and self._refreshed(certificate, rounding):
            certificate, rounding = self.sets.certify(), self._rounding()
        self.hopeless = rounding_decides(certificate, rounding, self.stop.tol)
        return with_rounding(certificate, rounding)

    def _refreshed(self, certificate: Certificate, rounding: float) -> bool:
        """Compute gradients anew where the errors of many steps matter; False if they do not.

        Those of a small problem cost little. Those of others are compared with the outputs of a sample of
        rows, once the fit would end.
        """
        if isinstance(self.sets, SmallSets):
            counts = with_rounding(certificate, rounding) != certificate
            if counts:
                self.sets.refresh()
            return counts
        scale = max(abs(certificate.primal), abs(certificate.dual), certificate.tiny)
        if certificate.primal - certificate.dual > max(self.stop.tol * scale, rounding):
            return False
        point = self._point()
        drift = point.gap_error + point.dual_error
        return drift > rounding and counted_rounding(drift, scale) > 0.0 and self._go_double()

    def _rounding(self) -> float:
        state, rows = self.state, np.arange(len(self.state.a))[self.sets.fresh()]
        return double_rounding(self.problem, state.a, state.g, self.sets.b, rows)

    def _point(self) -> RoundedPoint:
        state, rows = self.state, np.arange(len(self.state.a))[self.sets.fresh()]
        return RoundedPoint(self.problem, state.a, state.g, self.sets.b, rows)

    def _go_double(self) -> bool:
        """Continue in double, from the current coefficients, with gradients computed anew.

        False if time runs out before it begins.
        """
        problem, state = self.problem.in_double(), self.state
        support = np.flatnonzero(state.a)

        def outputs(rows: np.ndarray) -> np.ndarray:
            return problem.kernel.matmul(rows, support, state.a[support, None])[:, 0]

        f = in_parts(outputs, np.arange(len(state.a)), self.stop.deadline.passed)
        if f is None:
            return False
        new = start(problem, self.stop.tol, self.shrinking, state.a, f)
        lost = state.get("fruitless", 0) >= MAX_FRUITLESS_STEPS
        if lost and problem.sum_a == 0.0 and not problem.dual(slice(None), new.a, new.g) > 0.0:
            new = start(problem, self.stop.tol, False)  # zero coefficients are better
        state.update(new)
        state.update(least_gap=math.inf, fruitless=0)
        state.double, state.best_dual = True, -np.inf
        self.sets = self._sets(problem)
        return True
