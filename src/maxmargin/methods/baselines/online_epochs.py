"""Epochs of the online methods: perceptrons, with and without a budget, and Pegasos.

Each sample updates the model at once. Kernel values are computed for a block of samples at a time: their
outputs under the present model, and the values between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import _native
from ...kernels import KernelData, n_points
from ...losses import Loss
from ...solving import (
    Callback,
    Certificate,
    OwnRows,
    SolverResult,
    State,
    Status,
    Stop,
    best_point,
    drive,
    until_cut,
)

SAMPLES_PER_BLOCK = 256  # whose kernel values are computed together
LOSSES_WITH_UNBOUNDED_SLOPE = ("squared", "squared-hinge")

POINT = ("coef", "time", "sqnorm")  # the entries of a state that are the model

Order = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class OnlineProblem:
    """A stream of samples, and the rule by which they change ``f_t(x) = sum_j a_jt k(x, x_j)``.

    With ``m = y f_t(x)`` and ``u = -y slope(m)``, a sample of weight w does ``f += w u k(x, .)`` if alpha is
    0, and a step of Pegasos, ``f = (1 - eta alpha) f + eta w u k(x, .)`` with ``eta = 1 / (alpha time)``,
    otherwise; time is the weight of the samples so far. Points are numbered: first ``earlier``, the support
    vectors of earlier batches, then the rows. When the budget is full, a support vector drawn at random makes
    room for a new one.
    """

    kernel: KernelData
    targets: np.ndarray  # y, (n_samples, n_columns), entries -1.0, 0.0, +1.0
    weight: np.ndarray  # w, (n_samples,), positive
    loss: Loss
    alpha: float = 0.0
    budget: int = 0  # 0: none
    earlier: Any = None

    @property
    def n_earlier(self) -> int:
        """Support vectors of earlier batches."""
        return 0 if self.earlier is None else n_points(self.earlier)


@dataclass(frozen=True)
class OnlineResult(SolverResult):
    """Coefficients (n_support, n_columns) of the points numbered ``support``.

    ``memory`` is what the next batch needs: a ``State`` for ``resumed``.
    """

    support: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    memory: State = field(default_factory=State)


def permutations(n: int, seed: list[int]) -> Order:
    """Every epoch visits all samples in an order of its own."""
    return lambda epoch: np.random.default_rng([*seed, epoch]).permutation(n)


def weighted_draws(weight: np.ndarray, seed: list[int]) -> Order:
    """Every epoch is n draws in random order; a sample's share of them is its share of the weight.

    The draws are systematic: sample i comes ``n w_i / sum w`` times, rounded up or down. Equal weights give
    a permutation.
    """
    n = len(weight)
    ends = np.cumsum(weight / weight.max())
    ends *= n / ends[-1]

    def order(epoch: int) -> np.ndarray:
        rng = np.random.default_rng([*seed, epoch])
        counts = np.diff(np.floor(ends + rng.random()), prepend=0.0).astype(np.int64)
        return rng.permutation(np.repeat(np.arange(n), counts))

    return order


def online(
    problem: OnlineProblem,
    order: Order,
    *,
    stop: Stop,
    seed: int = 0,
    own_rows: OwnRows | None = None,
    state: State | None = None,
    callback: Callback | None = None,
) -> OnlineResult:
    """Up to ``stop.max_iter`` epochs; a perceptron has converged after an epoch without an update.

    Where ``own_rows`` is given, on which Pegasos is judged, it may have diverged.
    """
    epochs = OnlineEpochs(problem, order, stop.resumed(state) or start(problem), seed, stop)
    status, history = drive(epochs.state, epochs.step, epochs.certify, stop, callback)
    if own_rows is not None and epochs.return_to_best_point(own_rows):
        status = Status.DIVERGED
        history = tuple(check for check in history if np.isfinite(check.primal))
    support, state = epochs.support(), epochs.state
    memory = State(
        **{name: state[name] for name in ("time", "sqnorm", "n_updates")}, coef=state.coef[support]
    )
    coef = memory.coef * _scale(problem.alpha, state.time)
    return OnlineResult(coef, 0.0, status, history, support=support, memory=memory)


def start(problem: OnlineProblem) -> State:
    """The state before the first sample of the first batch."""
    state = _before_batch(problem)
    state.time[:] = _first_time(problem)
    return state


def resumed(problem: OnlineProblem, memory: State) -> State:
    """The state before the first sample of a batch, given the memory of earlier ones."""
    state, m = _before_batch(problem), problem.n_earlier
    state.coef[:m] = memory.coef
    if problem.budget:
        state.slots[:m] = np.arange(m)
        state.n_support[0] = m
    for name in ("time", "sqnorm", "n_updates"):
        state[name][:] = memory[name]
    return state


def _first_time(problem: OnlineProblem) -> float:
    """0; for losses with an unbounded slope ``max_i k(x_i, x_i) / alpha``.

    Then no step is longer than the inverse of the curvature, and steps do not grow.
    """
    if problem.alpha == 0.0 or problem.loss.name not in LOSSES_WITH_UNBOUNDED_SLOPE:
        return 0.0
    diagonal = problem.kernel.diagonal(problem.kernel.points(slice(None)))
    return max(float(diagonal.max()), 0.0) / problem.alpha


def _before_batch(problem: OnlineProblem) -> State:
    n, n_columns = problem.targets.shape
    return State(
        coef=np.zeros((problem.n_earlier + n, n_columns)),
        time=np.zeros(n_columns),
        sqnorm=np.zeros(n_columns),
        suffered=np.zeros(n_columns),
        seen=np.zeros(n_columns),
        slots=np.zeros(problem.budget, dtype=np.int64),
        n_support=np.zeros(1, dtype=np.int64),
        n_updates=np.zeros(1, dtype=np.int64),
        n_updates_before=0,
        position=0,
        epoch=0,
    )


def _scale(alpha: float, time: np.ndarray) -> np.ndarray:
    """``f_t = scale_t g_t``."""
    if alpha == 0.0:
        return np.ones_like(time)
    return np.divide(1.0, alpha * time, out=np.zeros_like(time), where=time > 0.0)


def _penalty(alpha: float, time: np.ndarray, sqnorm: np.ndarray) -> float:
    """``alpha/2 ||f||^2``; alpha scale = 1 / time, because the square of the scale may overflow."""
    return 0.5 * float(np.sum(_scale(alpha, time) * sqnorm / np.maximum(time, 1e-300)))


class OnlineEpochs:
    """Epochs over the samples of an ``OnlineProblem``; ``state.coef`` holds g, of which f is a multiple."""

    def __init__(self, problem: OnlineProblem, order: Order, state: State, seed: int, stop: Stop) -> None:
        self.problem, self.order, self.state = problem, order, state
        self.seed, self.cancel, self.deadline = seed, stop.cancel, stop.deadline

    def step(self) -> None:
        """One epoch, or the part that the time limit allows; the next step then continues it."""
        state = self.state
        order = self.order(state.epoch)
        if state.position == 0:
            state.suffered[:] = state.seen[:] = 0.0
            state.n_updates_before = int(state.n_updates[0])
        while state.position < len(order):
            self._block(order[state.position : state.position + SAMPLES_PER_BLOCK])
            state.position += SAMPLES_PER_BLOCK
            if self.deadline.passed():
                break
        if state.position >= len(order):
            state.position, state.epoch = 0, state.epoch + 1

    def certify(self) -> Certificate:
        """The mean loss of the epoch's samples, each before its update, plus the penalty of Pegasos.

        Only a whole epoch in which a perceptron makes no update proves anything: its loss is 0.
        """
        state, problem = self.state, self.problem
        met = state.seen > 0.0
        losses = np.where(
            met, state.suffered / np.where(met, state.seen, 1.0), problem.loss.value(np.zeros(1))
        )
        penalty = _penalty(problem.alpha, state.time, state.sqnorm) if problem.alpha > 0.0 else 0.0
        clean = state.epoch > 0 and state.position == 0 and state.n_updates[0] == state.n_updates_before
        dual = 0.0 if clean and problem.loss.name == "perceptron" and problem.alpha == 0.0 else -np.inf
        primal, n_values = float(losses.sum() + penalty), problem.kernel.n_values
        if problem.alpha > 0.0 and primal < state.get("best_primal", np.inf) and state.coef.any():
            state.update(best_primal=primal, **{f"best_{name}": state[name].copy() for name in POINT})
        return Certificate(primal, dual, len(self.support()), n_values)

    def return_to_best_point(self, rows: OwnRows) -> bool:
        """Take back the model of the best epoch, or of the batch before, if the present one diverged."""
        problem, state = self.problem, self.state

        def excess(prefix: str) -> float:
            coef, time, sqnorm = (state[prefix + name] for name in POINT)
            scale = _scale(problem.alpha, time)
            with np.errstate(over="ignore", invalid="ignore"):
                outputs = scale * self._outputs(rows.index, coef)
                penalty = float(_penalty(problem.alpha, time, sqnorm))
                return rows.excess(outputs.astype(problem.kernel.dtype), penalty)

        point, diverged = "", False
        with until_cut(self.deadline):
            point, diverged = best_point(["best_", ""] if "best_coef" in state else [""], excess)
        for name in POINT:
            state[name][...] = state[point + name]
        return diverged

    def support(self) -> np.ndarray:
        """The numbers of the support vectors: ascending, or with a budget in the order of their slots."""
        if self.problem.budget:
            return self.state.slots[: self.state.n_support[0]].copy()
        return np.flatnonzero((self.state.coef != 0.0).any(axis=1))

    def _block(self, which: np.ndarray) -> None:
        problem, state = self.problem, self.state
        outputs, K, column_of = self._budgeted(which) if problem.budget else self._unbounded(which)
        _native.online_block(
            problem.loss.name,
            problem.alpha,
            self.seed,
            K,
            problem.n_earlier + which,
            problem.targets[which],
            problem.weight[which],
            outputs,
            column_of,
            *(state[name] for name in ("coef", "time", "sqnorm", "suffered", "seen", "slots")),
            state.n_support,
            state.n_updates,
            self.cancel,
        )

    def _unbounded(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs of the model for a block of samples, and the kernel values between them."""
        between = self.problem.kernel.between(which, which)
        return self._outputs(which, self.state.coef), between, np.zeros(0, dtype=np.int64)

    def _outputs(self, which: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """``sum_j coef_j k(x_i, x_j)`` for the samples i given, of a model without a budget."""
        m, kernel = self.problem.n_earlier, self.problem.kernel
        support = np.flatnonzero((coef != 0.0).any(axis=1))
        rows = support[support >= m]
        outputs = kernel.matmul(which, rows - m, coef[rows])
        if m:
            with _native.one_blas_thread():
                outputs += kernel.block(which, self.problem.earlier) @ coef[:m]
        return outputs

    def _budgeted(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Space for outputs, kernel values including the support vectors', and the column of each slot."""
        problem, state = self.problem, self.state
        m, kernel = problem.n_earlier, problem.kernel
        slots = state.slots[: state.n_support[0]]
        old = slots < m
        K = kernel.between(which, np.concatenate([slots[~old] - m, which]))
        if old.any():
            K = np.hstack([kernel.block(which, problem.earlier[slots[old]]), K])
        column_of = np.zeros(problem.budget, dtype=np.int64)
        column_of[np.concatenate([np.flatnonzero(old), np.flatnonzero(~old)])] = np.arange(len(slots))
        return np.zeros((len(which), problem.targets.shape[1])), K, column_of
