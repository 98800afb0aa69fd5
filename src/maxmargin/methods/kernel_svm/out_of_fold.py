"""Out-of-fold outputs of the kernel SVM: each column is refitted without each fold.

Every fold is warm-started from the coefficients of the fit to all rows, without those of its held-out rows,
so little work remains. Kernel values are shared: one product gives the gradients of all starting points, and
if most of the kernel matrix will be needed, it is computed once and kept, memory permitting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..._native import effective_n_threads
from ...base import FoldOutputs
from ...data import WeightedRows
from ...kernels import KernelData, Precomputed
from ...solving import Callback, State, Status, Stop, solve_columns, worst_status
from .problem import SvmProblem, balanced
from .solve import working_sets
from .working_set import start

if TYPE_CHECKING:
    from .estimator import KernelSVC

__all__ = ["outputs_without_folds"]

MIN_SUPPORT_SHARE_TO_HOLD_MATRIX = 0.25  # with more, the matrix is cheaper than one product per fold
MAX_SAMPLES_ALWAYS_HELD = 1000  # in the kernel matrix


@dataclass(frozen=True)
class FoldFits:
    """The fits of one column without each fold.

    ``coef`` is (n_samples, n_folds), 0 for the rows of the fold itself. ``outputs`` holds each row's output
    by the fit without its fold. ``gap`` is the largest relative duality gap, ``kernel_values`` the number of
    kernel values computed.
    """

    coef: np.ndarray
    intercept: np.ndarray
    outputs: np.ndarray
    status: tuple[Status, ...]
    gap: float
    kernel_values: int


def memory(n_samples: int, dtype: np.dtype) -> int:
    """Bytes with which a column never computes a kernel value twice."""
    return 3 * n_samples**2 * np.dtype(dtype).itemsize


def out_of_fold(
    problem: SvmProblem,
    a: np.ndarray,
    fold: np.ndarray,
    n_folds: int,
    *,
    stop: Stop,
    cache_bytes: int,
    shrinking: bool = True,
    callback: Callback | None = None,
) -> FoldFits:
    """Fit a column without each fold in turn; ``a`` are the coefficients of the fit to all rows."""
    own = problem.kernel
    problem, cache_bytes = _with_matrix(problem, a, cache_bytes)
    kernel, everyone = problem.kernel, np.arange(len(fold))
    trained = [np.flatnonzero(fold != k) for k in range(n_folds)]
    parts = [_part(problem, rows) for rows in trained]
    coef, intercept = np.zeros((len(fold), n_folds)), np.zeros(n_folds)
    for k, rows in enumerate(trained):
        coef[rows, k] = balanced(parts[k], a[rows])
    f = _product(kernel, everyone, coef)
    outputs, results = np.empty(len(fold)), []
    for k, (part, rows) in enumerate(zip(parts, trained)):
        before = coef[:, [k]].copy()
        if _one_sided(part):  # a constant f has the least loss
            coef[rows, k], intercept[k] = 0.0, part.y[0] if len(rows) else 0.0
        else:
            limits = replace(stop, deadline=stop.deadline.part(1.0 / (n_folds - k)))
            state = _state(part, stop.tol, shrinking, before[rows, 0], f[rows, k])
            result = working_sets(
                part,
                stop=limits,
                cache_bytes=cache_bytes,
                shrinking=shrinking,
                state=state,
                callback=callback,
            )
            coef[rows, k], intercept[k] = result.coef, result.intercept
            results.append(result)
        held = np.flatnonzero(fold == k)
        outputs[held] = f[held, k] + _product(kernel, held, coef[:, [k]] - before)[:, 0] + intercept[k]
    computed = own.n_values + (sum(part.kernel.n_values for part in parts) if kernel is own else 0)
    gap = max((result.gap for result in results), default=0.0)
    return FoldFits(coef, intercept, outputs, tuple(result.status for result in results), gap, computed)


def _part(problem: SvmProblem, rows: np.ndarray) -> SvmProblem:
    return SvmProblem(problem.kernel.take(rows), problem.y[rows], problem.cost[rows], problem.squared)


def _one_sided(problem: SvmProblem) -> bool:
    return abs(float(problem.y.sum())) == len(problem.y)


def _state(problem: SvmProblem, tol: float, shrinking: bool, a: np.ndarray, f: np.ndarray) -> State:
    """A warm start from coefficients whose outputs are known."""
    state = start(problem, tol, shrinking, a, f)
    state.polished = True  # solving to the tolerance is enough
    return state


def _with_matrix(problem: SvmProblem, a: np.ndarray, cache_bytes: int) -> tuple[SvmProblem, int]:
    """The problem with its kernel matrix in memory, if that pays off and takes at most half of the memory."""
    kernel, n = problem.kernel, len(problem.y)
    n_bytes = n * n * kernel.dtype.itemsize
    pays = n <= MAX_SAMPLES_ALWAYS_HELD or np.count_nonzero(a) > MIN_SUPPORT_SHARE_TO_HOLD_MATRIX * n
    if isinstance(kernel.kernel, Precomputed) or not pays or 2 * n_bytes > cache_bytes:
        return problem, cache_bytes
    everyone, K = np.arange(n), np.empty((n, n), dtype=kernel.dtype)
    kernel.fill(everyone, everyone, (K, everyone, 0))
    held = KernelData(Precomputed(), K, everyone, kernel.n_threads, cancel=kernel.cancel, source=kernel)
    return replace(problem, kernel=held), cache_bytes - n_bytes


def _product(kernel: KernelData, rows: np.ndarray, A: np.ndarray) -> np.ndarray:
    """``K[rows] @ A``, skipping zero rows of A."""
    which = np.flatnonzero(A.any(axis=1))
    return kernel.matmul(rows, which, A[which]) if len(which) else np.zeros((len(rows), A.shape[1]))


def outputs_without_folds(
    model: KernelSVC,
    data: WeightedRows,
    fold: np.ndarray,
    coef: np.ndarray,
    stop: Stop,
    *,
    everywhere: bool = True,
    callback: Callback | None = None,
) -> FoldOutputs:
    """Out-of-fold outputs of the canonical rows, warm-started from the model fitted to all rows.

    ``coef`` (n_columns, n_support) holds the support vector coefficients that the folds start from. Unless
    ``everywhere`` is set, a column's outputs are 0 for rows that do not take part in it.
    """
    code, kernel = model.code_, model._kernel_data(data)
    outputs = np.zeros((len(data.rows), code.n_columns))
    columns = [code.column(data.labels, t) for t in range(code.n_columns)]
    # Memory per column depends only on the data, so results do too; the number of parallel columns may vary.
    limit = int(model.cache_mb_ * 1e6)
    shares = [min(limit, memory(len(which), kernel.dtype)) for which, _ in columns]
    n_threads = effective_n_threads(model.n_jobs)
    at_once = max(1, min(n_threads, code.n_columns, limit // max(1, *shares)))

    def solve(t: int, stop: Stop, _: int) -> FoldFits | None:
        which, targets = columns[t]
        if not model._cost(t) > 0.0:  # zero coefficients, with nu: nothing is known of C
            return None
        rows = replace(kernel, n_threads=n_threads // at_once, cancel=stop.cancel)
        problem = model._problem(rows.take(which), targets, data.weight[which], model._cost(t))
        known = np.zeros(data.rows.X.shape[0])
        known[model.support_] = coef[t]
        fits = out_of_fold(
            problem,
            known[data.rows.index[which]],
            fold[which],
            int(fold.max()) + 1,
            stop=stop,
            cache_bytes=shares[t],
            shrinking=model.shrinking,
            callback=callback,
        )
        outputs[which, t] = fits.outputs
        if everywhere and len(which) < len(outputs):
            others = np.setdiff1d(np.arange(len(outputs)), which)
            F = rows.matmul(others, which, fits.coef) + fits.intercept
            outputs[others, t] = F[np.arange(len(others)), fold[others]]
        return fits

    solved = solve_columns(solve, code.n_columns, stop, at_once)
    fits = [column for column in solved if column is not None]
    gap = max((column.gap for column in fits), default=0.0)
    return FoldOutputs(outputs, gap, worst_status(status for column in fits for status in column.status))
