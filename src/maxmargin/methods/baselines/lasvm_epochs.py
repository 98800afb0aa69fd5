"""The epochs of LaSVM on one column: PROCESS and REPROCESS over stored kernel values, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import _native
from ...data import (
    check_kernel_sums,
)
from ...solving import (
    Callback,
    Certificate,
    SolverResult,
    State,
    Status,
    Stop,
    bounds_cross,
    drive,
    kernel_errors,
    rounding_decides,
    with_rounding,
    without_bound,
)
from ..kernel_svm import RoundedPoint, SvmProblem, best_finite_point, double_rounding, refuted_by

SAMPLES_PER_BLOCK = 256  # whose kernel values are computed together
FIRST_TAU, LAST_TAU = 1e-3, 1e-12  # violations of optimality that finishing leaves in early and late epochs
KERNEL_VALUES_PER_CALL = 4_000_000  # read by the REPROCESS steps of one native call
MIN_STEPS_PER_CALL = 16
MAX_FINISHING_STEPS_PER_SAMPLE = 10_000  # in one epoch; the next one resumes


@dataclass(frozen=True)
class LasvmOptions:
    """How samples are chosen, and what ends an epoch."""

    selection: str = "random"  # or "active", "gradient"
    n_candidates: int = 1  # of which one is chosen
    finishing: bool = True
    max_support: int = 0  # 0: no limit


def lasvm(
    problem: SvmProblem,
    options: LasvmOptions,
    *,
    stop: Stop,
    seed: list[int],
    state: State | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Epochs until the gap over all samples is at most ``stop.tol``; ``coef`` is y times the multipliers."""
    kernel = problem.kernel
    check_kernel_sums(kernel.dtype, kernel.lengths(np.arange(len(kernel))))
    epochs = LasvmEpochs(problem, options, stop.resumed(state) or _start(problem), seed, stop)
    status, history = drive(epochs.state, epochs.step, epochs.certify, stop, callback)
    if status is Status.DIVERGED:
        check_kernel_sums(kernel.dtype, epochs.gradient, np.array([history[-1].primal]))
    b = epochs.intercept() if status is Status.TIME_LIMIT else epochs.b  # a step may have been cut
    result = best_finite_point(kernel, SolverResult(epochs.coefficients(), b, status, history))
    crossed = not kernel.kernel.positive and bounds_cross(result)
    return without_bound(result) if crossed or epochs.refuted() else result


def _start(problem: SvmProblem) -> State:
    room = min(2 * SAMPLES_PER_BLOCK, len(problem.y) + SAMPLES_PER_BLOCK)
    return State(
        K=np.zeros((room, room), dtype=problem.kernel.dtype),
        numbers=np.zeros((4, room)),  # a, gradient, y, cost of the samples in memory
        sample=np.zeros(room, dtype=np.int64),
        counts=np.zeros(2, dtype=np.int64),  # samples in memory; those with a coefficient
        tau=FIRST_TAU,
        epoch=0,
        position=0,
    )


class LasvmEpochs:
    """Epochs of PROCESS and REPROCESS on an ``SvmProblem`` with the hinge.

    The stored kernel values, ``state.K``, are in the precision of the rows until rounding would decide the
    end of the fit, then in double.
    """

    def __init__(
        self, problem: SvmProblem, options: LasvmOptions, state: State, seed: list[int], stop: Stop
    ) -> None:
        double = state.K.dtype != problem.kernel.dtype
        self.problem, self.options, self.state = problem.in_double() if double else problem, options, state
        self.seed, self.tol, self.b = seed, stop.tol, 0.0
        self.hopeless = False  # whether only rounding, in double, is left of the gap
        self.cancel, self.late = stop.cancel, stop.deadline.passed

    @property
    def held(self) -> np.ndarray:
        """The samples in memory."""
        return self.state.sample[: self.state.counts[0]]

    @property
    def a(self) -> np.ndarray:
        """Their coefficients."""
        return self.state.numbers[0, : self.state.counts[0]]

    @property
    def gradient(self) -> np.ndarray:
        """``y - f`` of the samples in memory, without the intercept."""
        return self.state.numbers[1, : self.state.counts[0]]

    def step(self) -> Status | bool:
        """One epoch and its finishing steps; True if rounding alone exceeds the tolerance."""
        state, full = self.state, False
        if self.hopeless:
            return True
        n, group = len(self.problem.y), self.options.n_candidates
        order = np.random.default_rng([*self.seed, state.epoch]).permutation(n)
        block = group * max(1, SAMPLES_PER_BLOCK // group)
        while state.position < n and not full and not self.late():
            full = self._block(order[state.position : state.position + block]) and not self._found_room()
            state.position += block
        if self.options.finishing:
            self._finish()
        if state.position >= n:
            state.position, state.epoch, state.tau = 0, state.epoch + 1, max(0.1 * state.tau, LAST_TAU)
        return Status.BUDGET_FULL if full else False

    def certify(self) -> Certificate:
        """Both bounds, over all samples; what rounding can do is included."""
        certificate, g = self._bounds()
        if not self.a.any() or not np.isfinite(certificate.primal):
            return certificate
        if self.problem.kernel.dtype == np.float64:
            return self._in_double(certificate, g)
        point = RoundedPoint(self.problem, self.coefficients(), g, self.b, np.arange(len(g)))
        judged = point.judge(certificate, self.tol, self.late)
        self.state.best_dual = -np.inf  # earlier dual values are as rounded as this one
        if not judged.decided and not self.late():
            self._go_double()
            return self._in_double(*self._bounds())
        self.b = judged.b
        return self._in_double(judged.certificate, g)

    def _in_double(self, certificate: Certificate, g: np.ndarray) -> Certificate:
        """The certificate with what rounding in double can do."""
        rounding = double_rounding(self.problem, self.coefficients(), g, self.b, np.arange(len(g)))
        self.hopeless = rounding_decides(certificate, rounding, self.tol)
        return with_rounding(certificate, rounding)

    def refuted(self) -> bool:
        """Whether the solution proves the kernel indefinite."""
        problem, a, g = self.problem, self.coefficients(), np.zeros(len(self.problem.y))
        g[self.held] = self.gradient
        return refuted_by(problem, a, g, lambda rows: problem.kernel.between(rows, rows))

    def _bounds(self) -> tuple[Certificate, np.ndarray]:
        """Both bounds from the stored kernel values, and ``y - f`` of all samples.

        The outputs of the samples in memory come from the gradient, which is consistent with the kernel
        values in the dual, so the gap is a sum of non-negative terms.
        """
        problem, held, a = self.problem, self.held, self.a
        if problem.kernel.dtype == np.float64:
            self._refresh()
        f = np.zeros(len(problem.y))
        others = np.setdiff1d(np.arange(len(f)), held, assume_unique=True)
        support = a != 0.0
        for i in range(0, len(others) if support.any() else 0, SAMPLES_PER_BLOCK):
            if self.cancel[0]:  # a cancellation takes effect between blocks
                raise _native.Cancelled("cancelled")
            some = others[i : i + SAMPLES_PER_BLOCK]
            f[some] = problem.kernel.matmul(some, held[support], a[support, None])[:, 0]
        f[held] = problem.y[held] - self.gradient
        self.b = self.intercept()
        half_norm = 0.5 * float(a @ f[held])
        losses = np.maximum(0.0, 1.0 - problem.y * (f + self.b))
        primal = half_norm + float(problem.cost @ losses)
        dual = float(a @ problem.y[held]) - half_norm
        n_values = problem.kernel.n_values
        bounds = Certificate(primal, dual, int(self.state.counts[1]), n_values, problem.tiny)
        return bounds, problem.y - f

    def coefficients(self) -> np.ndarray:
        """The coefficients of all samples."""
        coef = np.zeros(len(self.problem.y))
        coef[self.held] = self.a
        return coef

    def _go_double(self) -> None:
        """Replace stored kernel values by those in double, and the gradients with them."""
        state, held = self.state, self.held
        problem, size = self.problem.in_double(), len(held)
        K = np.zeros(state.K.shape)
        for i in range(0, size, SAMPLES_PER_BLOCK):
            if self.cancel[0]:
                raise _native.Cancelled("cancelled")
            some = slice(i, min(i + SAMPLES_PER_BLOCK, size))
            K[some, :size] = problem.kernel.between(held[some], held)
        self.problem, state.K = problem, K
        self._refresh()

    def _refresh(self) -> None:
        """Gradients from stored kernel values, without the errors that many steps add up to."""
        size = len(self.held)
        with _native.one_blas_thread():
            self.gradient[:] = self.problem.y[self.held] - self.state.K[:size, :size] @ self.a

    def intercept(self) -> float:
        """The middle of the interval that the samples in memory allow."""
        y, cost = self.problem.y[self.held], self.problem.cost[self.held]
        up = self.gradient[self.a < np.maximum(0.0, cost * y)]
        down = self.gradient[self.a > np.minimum(0.0, cost * y)]
        if len(up) and len(down):
            return 0.5 * float(up.max() + down.min())
        return float(up.max()) if len(up) else float(down.min()) if len(down) else 0.0

    def _block(self, which: np.ndarray) -> bool:
        problem, options, state = self.problem, self.options, self.state
        self._make_room(len(which) // options.n_candidates + 1)
        return bool(
            _native.lasvm_block(
                options.selection,
                options.n_candidates,
                state.tau,
                options.max_support,
                problem.kernel.between(which, np.concatenate([self.held, which])),
                which,
                problem.y[which],
                problem.cost[which],
                *self._memory(),
            )
        )

    def _memory(self) -> tuple[np.ndarray, ...]:
        state = self.state
        return state.K, state.numbers, state.sample, state.counts, self.cancel

    def _make_room(self, more: int) -> None:
        """Make room for more samples, doubling it if it must grow."""
        state = self.state
        size, room = int(state.counts[0]), len(state.sample)
        if size + more <= room:
            return
        larger = max(2 * room, size + more)
        K = np.zeros((larger, larger), dtype=state.K.dtype)
        K[:size, :size] = state.K[:size, :size]
        state.K, state.numbers = K, np.pad(state.numbers, ((0, 0), (0, larger - room)))
        state.sample = np.pad(state.sample, (0, larger - room))

    def _found_room(self) -> bool:
        """Whether finishing with the current support vectors frees room for two more."""
        self._drop_idle()
        if self.options.finishing:
            self._finish()
        return bool(self.state.counts[1] + 2 <= self.options.max_support)

    def _drop_idle(self) -> None:
        """Drop samples without a coefficient, so that finishing cannot give them one."""
        state, kept = self.state, np.flatnonzero(self.a)
        state.K[: len(kept), : len(kept)] = state.K[np.ix_(kept, kept)]
        state.numbers[:, : len(kept)] = state.numbers[:, kept]
        state.sample[: len(kept)] = state.sample[kept]
        state.counts[0] = len(kept)

    def _finish(self) -> None:
        """REPROCESS until no pair of the samples in memory violates optimality by more than tau.

        Nor by more than rounding, which no step can remove.
        """
        going, left = True, MAX_FINISHING_STEPS_PER_SAMPLE * int(self.state.counts[0])
        while going and left > 0 and not self.late():
            n_steps = max(MIN_STEPS_PER_CALL, KERNEL_VALUES_PER_CALL // max(1, int(self.state.counts[0])))
            tau = max(self.state.tau, self._gradient_error())
            n_steps = min(n_steps, left)
            left -= n_steps
            going = _native.lasvm_reprocess(tau, self.options.max_support, n_steps, *self._memory())

    def _gradient_error(self) -> float:
        """How far the gradients in memory can be off in double; before, they only prepare for it."""
        size = len(self.held)
        if not size or self.state.K.dtype != np.float64:
            return 0.0
        lengths = np.sqrt(np.abs(self.state.K.diagonal()[:size]))
        return float(kernel_errors(self.a, lengths, lengths).max())
