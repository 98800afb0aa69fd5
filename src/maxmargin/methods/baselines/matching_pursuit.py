"""Kernel matching pursuit: greedy least squares on columns of the kernel matrix (Vincent & Bengio 2002).

The chosen columns are orthonormalised, so that appending one costs O(n b) and refits all coefficients: the
residual is orthogonal to all of them at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ... import _native
from ...base import KernelClassifier
from ...data import WeightedRows, check_flag, check_kernel_sums, check_number
from ...kernels import KernelData
from ...losses import loss_from_name
from ...solving import (
    Callback,
    Certificate,
    Deadline,
    OwnRows,
    SolverResult,
    State,
    Status,
    Stop,
    best_point,
    drive,
    until_cut,
)

Draw = Callable[[int], np.ndarray]
MIN_LENGTH = {"float64": 1e-10, "float32": 1e-6}  # squared share of a column that must lie outside the basis
MAX_STORED_KERNEL_VALUES = 32 << 20  # of a kernel matrix; a larger one is computed anew in every step
KERNEL_VALUES_PER_BLOCK = 4 << 20  # in memory at a time, where the matrix is not stored
MIN_GAIN = 1e-15  # as a share of the objective at f = 0


class KernelMatchingPursuit(KernelClassifier):
    """Kernel matching pursuit with back-fitting (Vincent & Bengio 2002).

    Support vectors are added one by one, each time the one that most decreases the sum over the columns t of

        (1/n_t) sum_i w_i (y_it - f_t(x_i))^2 / 2 + alpha/2 ||a_t||^2,    f_t(x) = sum_j a_jt k(x, x_j),

    over all samples, and all coefficients are fitted again. Columns share the support vectors, so there are
    never more than ``budget`` in all. There is no intercept. A step costs kernel values between all samples
    and all candidates; the samples' part of the basis takes n_samples times budget numbers.

    **Precision.** Nothing is certified: ``dual_gap_`` is infinite. Kernel values and the basis have the
    precision of the rows, dense or CSR.

    Parameters
    ----------
    budget : int, default=100
        Support vectors, at most.
    n_candidates : int, optional
        Rows, drawn at random, that are tried at each step; None tries all of them. 59 include one of the best
        twentieth with probability 0.95, at a small part of the cost.
    pre_fit : bool, default=True
        Compare candidates by the objective after all coefficients are fitted again (the authors'
        "pre-fitting"). False compares what their own coefficients gain, and fits again afterwards
        ("back-fitting").
    alpha : float, default=1e-6
        Weight of the penalty. A small one keeps coefficients moderate where columns of the kernel matrix are
        nearly dependent, and lets weights matter where the budget suffices to fit every sample. 0 is the
        method of the paper.
    kernel, gamma, degree, coef0, code, decoder, class_weight, max_seconds, n_jobs
        As in :class:`KernelPerceptron`.
    random_state : int, RandomState or None
        The candidates.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The support vectors' rows in X, in the order chosen.
    objective_ : float
        The value above.
    dual_gap_ : float
        Infinite: nothing is proved about the choice of the rows.
    status_ : str
        "budget_full"; "no_loss_left" where fewer support vectors suffice; "time_limit" or "stopped";
        "diverged", with a warning, if outputs on the training rows are not finite or worse than zeros.
    n_iter_ : int
        Steps.
    support_vectors_, dual_coef_, intercept_, n_support_, gamma_, classes_, history_, code_, decoder_, \
n_features_in_
        As in :class:`KernelPerceptron`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import KernelMatchingPursuit
    >>> model = KernelMatchingPursuit(budget=10).fit(*load_iris(return_X_y=True))
    >>> model.n_support_ <= 10
    True
    """

    _remedy_for_divergence = "raise alpha, or lower the budget"

    def __init__(
        self,
        budget: int = 100,
        *,
        n_candidates: int | None = None,
        pre_fit: bool = True,
        alpha: float = 1e-6,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.n_candidates = n_candidates
        self.pre_fit = pre_fit
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("budget", self.budget, at_least=1, integer=True)
        if self.n_candidates is not None:
            check_number("n_candidates", self.n_candidates, at_least=1, integer=True)
        check_flag("pre_fit", self.pre_fit)
        check_number("alpha", self.alpha, at_least=0.0)
        check_number("max_seconds", self.max_seconds, above=0.0)
        self._check_kernel()

    def _stop(self, deadline: Deadline) -> Stop:
        return Stop(tol=0.0, max_iter=self.budget, deadline=deadline)

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> list[SolverResult]:
        n, targets = len(data.rows), self.code_.targets(data.labels).astype(np.float64)
        budget = min(self.budget, n)
        problem = PursuitProblem(self._kernel_data(data), targets, data.weight, budget, self.alpha)
        draw = None
        if self.n_candidates is not None and self.n_candidates < n:
            size = self.n_candidates

            def draw(step: int) -> np.ndarray:
                return self._rng(2, step).choice(n, size=size, replace=False)

        return [matching_pursuit(problem, draw, pre_fit=self.pre_fit, stop=stop, callback=callback)]

    def _store(self, results: Sequence[Any], data: WeightedRows) -> None:
        support = results[0].support
        self._keep(self._kernel_data(data).points(support), results[0].coef, data.rows.index[support])


# ---- the solver ----


@dataclass(frozen=True)
class PursuitProblem:
    """Minimise over the columns a_t of a matrix with at most ``budget`` non-zero rows the sum over t of

        (1/n_t) sum_i w_i (y_it - f_t(x_i))^2 / 2 + alpha/2 ||a_t||^2,    f_t(x) = sum_j a_jt k(x, x_j).

    Sample i takes part in column t where y_it is not 0, and n_t is the weight of those that do.
    """

    kernel: KernelData
    targets: np.ndarray  # y, (n_samples, n_columns), entries -1.0, 0.0, +1.0
    weight: np.ndarray  # w, (n_samples,), positive
    budget: int
    alpha: float = 0.0


@dataclass(frozen=True)
class PursuitResult(SolverResult):
    """Coefficients (n_support, n_columns) of the rows at the positions ``support``, in the order chosen."""

    support: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def matching_pursuit(
    problem: PursuitProblem,
    draw: Draw | None = None,
    *,
    pre_fit: bool = True,
    stop: Stop,
    state: State | None = None,
    callback: Callback | None = None,
) -> PursuitResult:
    """Choose ``problem.budget`` rows one by one, among all rows or, at step s, among ``draw(s)``.

    The chosen one decreases the objective most: with all coefficients refitted if ``pre_fit``, else by its
    own coefficient alone, all being refitted afterwards.
    """
    pursuit = Pursuit(problem, draw, pre_fit, stop.resumed(state))
    stop = replace(stop, max_iter=problem.budget)
    status, history = drive(pursuit.state, pursuit.step, pursuit.certify, stop, callback)
    if stop.deadline.has_cut and not len(pursuit.support):
        raise _native.Cancelled("cancelled")  # no row was chosen
    if status in (Status.STALLED, Status.MAX_ITER):
        full = len(pursuit.support) == problem.budget
        status = Status.BUDGET_FULL if full else Status.NO_LOSS_LEFT
    b, diverged = len(pursuit.support), False
    with until_cut(stop.deadline):
        b, diverged = pursuit.best_point()
    if diverged:
        status, history = Status.DIVERGED, tuple(check for check in history if check.n_support <= b)
    return PursuitResult(pursuit.coefficients(b), 0.0, status, history, support=pursuit.support[:b].copy())


class Pursuit:
    """Steps of matching pursuit; columns of the code that use the same samples share an orthonormal basis.

    With v_i = w_i / n_t, everything is scaled by sqrt(v_i) and has one more entry for each support vector:
    the column of row j is ``(sqrt(v_i) k(x_i, x_j), .., sqrt(alpha))``, a target ``(sqrt(v_i) y_i, .., 0)``,
    and the objective half the squared residual.
    """

    def __init__(
        self, problem: PursuitProblem, draw: Draw | None, pre_fit: bool, state: State | None
    ) -> None:
        self.problem, self.draw, self.pre_fit = problem, draw, pre_fit
        masks, basis_of = np.unique((problem.targets != 0.0).T, axis=0, return_inverse=True)
        self.basis_of = basis_of.ravel()
        v = problem.weight * masks
        self.root = np.sqrt(v / v.sum(axis=1, keepdims=True))  # (n_bases, n)
        self.min_length = MIN_LENGTH[str(problem.kernel.dtype)]
        self.K: np.ndarray | None = None
        self.state = state if state is not None else self._start()

    def _start(self) -> State:
        problem, (n_bases, n) = self.problem, self.root.shape
        residual = np.zeros((len(self.basis_of), n + problem.budget))
        residual[:, :n] = self.root[self.basis_of] * problem.targets.T
        return State(
            residual=residual,
            Q=np.zeros((n_bases, problem.budget, n + problem.budget)),
            R=np.zeros((n_bases, problem.budget, problem.budget)),  # chosen columns = Q'R, R upper triangular
            share=np.zeros((len(residual), problem.budget)),  # <q, y_t>
            chosen=np.zeros(problem.budget, dtype=np.int64),
            n_chosen=0,
            available=np.ones(n, dtype=bool),
            # of every row's column, where all are candidates: updating them is cheaper than computing them
            products=np.zeros((len(residual), 0)),
            sqnorms=np.zeros((n_bases, 0)),
            taken=np.zeros((n_bases, 0)),  # the part of these that lies in the basis
            min_gain=MIN_GAIN * 0.5 * float(np.sum(residual**2)),
        )

    @property
    def support(self) -> np.ndarray:
        """The rows chosen so far."""
        return self.state.chosen[: self.state.n_chosen]

    def step(self) -> bool:
        """Choose one more row; true when no candidate decreases the objective."""
        candidates, products, sqnorms, lengths = self._candidates()
        check_kernel_sums(self.problem.kernel.dtype, products, sqnorms)
        usable = (lengths > self.min_length * sqnorms) & self.state.available[candidates]
        lengths = np.where(usable, lengths if self.pre_fit else sqnorms, np.inf)
        gains = np.sum(0.5 * products**2 / lengths[self.basis_of], axis=0)
        for best in np.argsort(-gains, kind="stable"):
            if not gains[best] > self.state.min_gain:
                break
            if self._append(int(candidates[best])):
                return False
        return True

    def certify(self) -> Certificate:
        """The objective, without a bound: nothing is proved about the choice of the rows."""
        primal = 0.5 * float(np.sum(self.state.residual**2))
        return Certificate(primal, n_support=self.state.n_chosen, kernel_values=self.problem.kernel.n_values)

    def best_point(self) -> tuple[int, bool]:
        """How many of the rows chosen to keep: all, or fewer and True if rounding undoes the decrease."""
        problem, b = self.problem, self.state.n_chosen
        rows = OwnRows.of(problem.targets, problem.weight, loss_from_name("squared"))
        K = problem.kernel.between(rows.index, self.support)

        def excess(n_chosen: int) -> float:
            coef = self.coefficients(n_chosen)
            with np.errstate(over="ignore", invalid="ignore"):
                outputs = K[:, :n_chosen] @ coef.astype(K.dtype)
                return rows.excess(outputs, 0.5 * problem.alpha * float(np.square(coef).sum()))

        return best_point(range(min(1, b), b + 1), excess)

    def coefficients(self, b: int) -> np.ndarray:
        """The coefficients of the first b rows chosen, refitted: (b, n_columns)."""
        coef = np.zeros((b, len(self.basis_of)))
        for t, g in enumerate(self.basis_of):
            R = self.state.R[g, :b, :b]
            spans = np.diag(R) > 0.0  # a row that adds nothing here helps other columns
            coef[spans, t] = solve_triangular(R[np.ix_(spans, spans)], self.state.share[t, :b][spans])
        return coef

    # ---- candidates: <column, residual>, ||column||^2, and the part of it outside the basis ----

    @np.errstate(over="ignore", invalid="ignore")
    def _candidates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        state, n = self.state, self.root.shape[1]
        if self.draw is None:
            if state.products.shape[1] == 0:
                state.products = self._all_products(self.root[self.basis_of] * state.residual[:, :n])
                state.sqnorms, state.taken = self._all_sqnorms(), np.zeros(self.root.shape)
            return np.arange(n), state.products, state.sqnorms, state.sqnorms - state.taken
        candidates = self.draw(state.n_iter)
        K = self.problem.kernel.between(np.arange(n), candidates).astype(np.float64)
        with _native.one_blas_thread():
            products = (self.root[self.basis_of] * state.residual[:, :n]) @ K
            sqnorms = self.root**2 @ K**2 + self.problem.alpha
            in_basis = [
                state.Q[g, : state.n_chosen, :n] @ (root[:, None] * K) for g, root in enumerate(self.root)
            ]
        return candidates, products, sqnorms, sqnorms - np.array([np.sum(d**2, axis=0) for d in in_basis])

    def _all_products(self, vectors: np.ndarray) -> np.ndarray:
        """``sum_i vector_i k(x_i, x_j)`` for all rows j, and each of the vectors."""
        n = self.root.shape[1]
        rows = np.arange(n)
        if self.K is None and n * n <= MAX_STORED_KERNEL_VALUES:
            self.K = self.problem.kernel.between(rows, rows)
        if self.K is None:
            return self.problem.kernel.matmul(rows, rows, vectors.T).T.copy()
        with _native.one_blas_thread():
            return (vectors.astype(self.K.dtype) @ self.K).astype(np.float64)

    def _all_sqnorms(self) -> np.ndarray:
        n = self.root.shape[1]
        out, step = np.empty((len(self.root), n)), max(1, KERNEL_VALUES_PER_BLOCK // n)
        rows = np.arange(n)
        for i in range(0, n, step):
            if self.problem.kernel.cancel[0]:
                raise _native.Cancelled("cancelled")
            K = (
                self.problem.kernel.between(rows[i : i + step], rows)
                if self.K is None
                else self.K[i : i + step]
            )
            with _native.one_blas_thread():
                out[:, i : i + step] = self.root**2 @ (K.astype(np.float64) ** 2).T
        return out + self.problem.alpha

    # ---- the basis ----

    def _append(self, row: int) -> bool:
        """Add a row's column to every basis that does not span it yet; false if all do."""
        state, n, b = self.state, self.root.shape[1], self.state.n_chosen
        k = self.problem.kernel.between(np.arange(n), np.array([row]))[:, 0].astype(np.float64)
        column = np.zeros((len(self.root), n + self.problem.budget))
        column[:, :n] = self.root * k
        column[:, n + b] = np.sqrt(self.problem.alpha)
        state.available[row] = False
        if not any([self._orthonormalise(g, c) for g, c in enumerate(column)]):  # noqa: C419
            return False
        q = state.Q[self.basis_of, b]
        state.share[:, b] = np.sum(q * state.residual, axis=1)
        state.residual -= state.share[:, b, None] * q
        state.chosen[b], state.n_chosen = row, b + 1
        if self.draw is None:
            self._update_candidates(b)
        return True

    def _orthonormalise(self, g: int, column: np.ndarray) -> bool:
        """Append the part of a column outside the basis; false, with a zero vector, if there is none."""
        state, b = self.state, self.state.n_chosen
        Q, start = state.Q[g, :b], float(column @ column)
        state.Q[g, b], state.R[g, :, b] = 0.0, 0.0
        h = np.zeros(b)
        for _ in range(2):  # one pass leaves rounding errors of the size of what it removes
            taken = Q @ column
            column = column - taken @ Q
            h += taken
        left = float(column @ column)
        if not left > self.min_length * start:
            return False
        state.Q[g, b] = column / np.sqrt(left)
        state.R[g, :b, b], state.R[g, b, b] = h, np.sqrt(left)
        return True

    def _update_candidates(self, b: int) -> None:
        """Update the products and norms of every row's column for the new basis vectors."""
        state, n = self.state, self.root.shape[1]
        along = self._all_products(self.root * state.Q[:, b, :n])
        state.taken += along**2
        state.products -= state.share[:, b, None] * along[self.basis_of]
