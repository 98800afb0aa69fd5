"""The one door to the compiled core: dtypes, layouts and shapes are checked here, nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cython_blas, cython_lapack

from . import _core
from ._blas import one_blas_thread
from .grouped import GroupedMatrix
from .layout import is_sparse
from .threads import effective_n_threads

__all__ = [
    "CompiledKernel",
    "CsvParser",
    "LibsvmParser",
    "RowFiller",
    "RowStats",
    "add_support",
    "back_fit",
    "best_intercept",
    "code_sums",
    "compact_rows",
    "csv_first_row",
    "dual_cd_epoch",
    "exp",
    "gather_rows",
    "hash_rows",
    "kernel_block",
    "kernel_grouped_matmul",
    "kernel_matmul",
    "lasso_epochs",
    "lasvm_block",
    "lasvm_reprocess",
    "loss_conjugate",
    "loss_slope",
    "loss_value",
    "one_blas_thread",
    "online_block",
    "pairs_step",
    "pairs_sweep",
    "row_stats",
    "rows_dot",
    "rows_equal",
    "rows_gram",
    "rows_sqnorm",
    "rows_sum",
    "simd_name",
    "smo_block",
    "squared_hinge_step",
    "step_length",
    "svm_look",
    "svm_polish",
    "svm_rounds",
    "svm_small_rounds",
    "topk_look",
    "topk_project",
    "topk_prox",
    "topk_sweep",
    "topk_tile",
]

simd_name = _core.simd_name
NEVER = np.zeros(1, dtype=np.uint8)  # a cancel flag that nobody sets

# ---- kernels ----

_core.set_blas(
    *(cython_blas.__pyx_capi__[name] for name in ("sgemm", "dgemm", "ssyrk", "dsyrk")),
    cython_lapack.__pyx_capi__["dgesv"],
)


class CompiledKernel(Protocol):
    """What the kernel engine needs to know: a name it has a loop for, and numbers."""

    @property
    def native(self) -> tuple[str, float, float, float]:
        """Name, gamma, coef0, degree."""
        ...


@dataclass(frozen=True)
class RowStats:
    """What is worth knowing of rows that are used many times, computed once.

    ``sqnorms[i] = ||x_i - centre||^2``. Where all entries are whole multiples of a ``step``, which is 0 for
    none, products are computed in integers. Two sets of rows share both: ``row_stats(Z, like=row_stats(X))``.
    """

    centre: np.ndarray | None
    sqnorms: np.ndarray
    step: float = 0.0


def _matrix(X: Any) -> Any:
    """X as the core takes it: a view of a C-contiguous array or of canonical CSR.

    Nothing is copied, but for parts of a CSR matrix that are not contiguous or number in two dtypes.
    """
    if not is_sparse(X) and not isinstance(X, np.ndarray):
        raise TypeError(f"rows must be a NumPy array or a SciPy CSR matrix; got {type(X).__name__}.")
    if X.dtype not in (np.float32, np.float64):
        raise TypeError(f"rows must be float32 or float64; got {X.dtype}.")
    if not is_sparse(X):
        if X.ndim != 2 or not X.flags.c_contiguous:
            raise TypeError(f"rows must be 2-d and C-contiguous; got shape {X.shape}, strides {X.strides}.")
        return _core.Matrix(X)
    if X.format != "csr" or not X.has_canonical_format:
        raise TypeError(
            "sparse rows must be CSR with sorted indices and no duplicates; call sum_duplicates()."
        )
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    data, indices, indptr = (np.ascontiguousarray(part) for part in (X.data, indices, indptr))
    return _core.Matrix(data, indices, indptr, X.shape[1])


def _real(name: str, values: Any, dtype: Any) -> np.ndarray:
    """Values that are only read: converted where need be, but not from what is no real number."""
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got an array of {values.dtype}.")
    return np.ascontiguousarray(values, dtype=dtype)


def _subset(rows: Any, n_rows: int) -> np.ndarray | None:
    if rows is None:
        return None
    rows = np.asarray(rows)
    if rows.size and rows.dtype.kind not in "iu":
        raise IndexError(f"row numbers must be integers; got an array of {rows.dtype}.")
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    if rows.ndim != 1 or (rows.size and (rows.min() < 0 or rows.max() >= n_rows)):
        raise IndexError(f"row numbers must be a 1-d array within 0..{n_rows - 1}.")
    return rows


def _numbers(values: np.ndarray, n: int) -> np.ndarray:
    values = _real("row statistics", values, np.float64)
    if values.shape != (n,):
        raise ValueError(f"row statistics must have shape ({n},); got {values.shape}.")
    return values


def _centre(Z: Any, z_rows: np.ndarray | None) -> np.ndarray | None:
    centre = np.empty(Z.shape[1])
    useful = _core.useful_centre_f32 if Z.dtype == np.float32 else _core.useful_centre_f64
    return centre if useful(_matrix(Z), z_rows, centre) else None


def _centre_of(X: Any, centre: np.ndarray | None) -> np.ndarray | None:
    if centre is None:
        return None
    centre = _real("a centre", centre, np.float64)
    if centre.shape != (X.shape[1],):
        raise ValueError(
            f"a centre must have shape ({X.shape[1]},), one entry for each feature; got {centre.shape}."
        )
    return centre


def _grid_step(X: Any, rows: np.ndarray | None, n_threads: int) -> float:
    find = _core.grid_step_f32 if X.dtype == np.float32 else _core.grid_step_f64
    return float(find(_matrix(X), rows, n_threads))


def _shared_step(X: Any, rows: np.ndarray | None, step: float, n_threads: int) -> float:
    """The step, if the rows of X are multiples of it too; else 0."""
    check = _core.on_grid_f32 if X.dtype == np.float32 else _core.on_grid_f64
    return step if step > 0 and check(_matrix(X), rows, step, n_threads) else 0.0


def row_stats(X: Any, like: RowStats | None = None, *, n_threads: int | None = None) -> RowStats:
    """The centre and step (X's own, or those of ``like``), and squared norms about the centre."""
    matrix, sqnorms = _matrix(X), np.empty(X.shape[0])
    centre = like.centre if like is not None else None if is_sparse(X) else _centre(X, None)
    if centre is not None and is_sparse(X):
        raise ValueError(
            "sparse rows are never centred; take their row_stats first, and the other rows' like it."
        )
    if X.dtype == np.float32:
        _core.row_sqnorms_f32(matrix, _centre_of(X, centre), sqnorms)
    else:
        _core.row_sqnorms_f64(matrix, _centre_of(X, centre), sqnorms)
    threads = effective_n_threads(n_threads)
    step = _grid_step(X, None, threads) if like is None else _shared_step(X, None, like.step, threads)
    return RowStats(centre, sqnorms, step)


WORTH_A_LOOK = 1 << 27  # multiply-adds from which rows without statistics are looked at


def _step_of_both(sides: Any, known: list[RowStats], n_threads: int) -> float:
    """The step that both sides, (matrix, row numbers, statistics) each, are multiples of; 0 for none."""
    if known:
        step = known[0].step if len({s.step for s in known}) == 1 else 0.0
    else:
        counts = [X.shape[0] if rows is None else len(rows) for X, rows, _ in sides]
        work = counts[0] * counts[1] * sides[0][0].shape[1]
        larger, rows, _ = sides[int(counts[1] > counts[0])]
        step = _grid_step(larger, rows, n_threads) if work >= WORTH_A_LOOK else 0.0
    for X, rows, stats in sides:
        step = step if stats is not None else _shared_step(X, rows, step, n_threads)
    return step


def _arguments(
    X: Any, Z: Any, kernel: CompiledKernel, x_rows: Any, z_rows: Any, stats: Any, n_threads: int = 1
) -> tuple[list[Any], int, int]:
    """The arguments that kernel_block and kernel_matmul share, checked, and the shape of the result."""
    x_matrix, z_matrix = _matrix(X), _matrix(Z)
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features and Z has {Z.shape[1]}; they must have the same features."
        )
    if X.dtype != Z.dtype:
        raise TypeError(f"X and Z must share a dtype; got {X.dtype} and {Z.dtype}.")
    x_rows, z_rows = _subset(x_rows, X.shape[0]), _subset(z_rows, Z.shape[0])
    x_stats, z_stats = stats
    known = [s for s in (x_stats, z_stats) if s is not None]
    if known:
        centre = known[0].centre
        if any(s.centre is not centre for s in known):
            raise ValueError("x_stats and z_stats have different centres; compute one with like= the other.")
        if centre is not None and (is_sparse(X) or is_sparse(Z)):
            raise ValueError(
                "sparse rows are never centred; take their row_stats first, the others' like it."
            )
    elif kernel.native[0] in ("rbf", "squared-distance") and not is_sparse(X) and not is_sparse(Z):
        centre = _centre(Z, z_rows)
    else:
        centre = None
    sqnorms = [
        None if s is None else _numbers(s.sqnorms, rows.shape[0]) for s, rows in ((x_stats, X), (z_stats, Z))
    ]
    n = X.shape[0] if x_rows is None else len(x_rows)
    m = Z.shape[0] if z_rows is None else len(z_rows)
    step = 0.0
    if kernel.native[0] != "laplacian":
        step = _step_of_both(((X, x_rows, x_stats), (Z, z_rows, z_stats)), known, n_threads)
    return [x_matrix, z_matrix, *kernel.native, x_rows, z_rows, *sqnorms, _centre_of(X, centre), step], n, m


def _output(out: Any, shape: tuple[int, int], dtype: Any) -> np.ndarray:
    if out is None:
        return np.empty(shape, dtype=dtype)
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == dtype
    if not fits or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError(f"out must be a writeable C-contiguous {np.dtype(dtype)} array of shape {shape}.")
    return out


def kernel_block(
    X: Any,
    Z: Any,
    kernel: CompiledKernel,
    *,
    x_rows: Any = None,
    z_rows: Any = None,
    x_stats: RowStats | None = None,
    z_stats: RowStats | None = None,
    out: np.ndarray | None = None,
    n_threads: int | None = None,
) -> np.ndarray:
    """``K[i, j] = k(X[x_rows[i]], Z[z_rows[j]])`` for dense or CSR rows of one dtype.

    ``x_stats`` and ``z_stats`` (from :func:`row_stats`, over all rows of X and Z) save work when the same
    rows come again and again. The bits of the result do not depend on ``n_threads``.
    """
    threads = effective_n_threads(n_threads)
    arguments, n, m = _arguments(X, Z, kernel, x_rows, z_rows, (x_stats, z_stats), threads)
    out = _output(out, (n, m), X.dtype)
    with one_blas_thread():
        _core.kernel_block(*arguments, out, threads)
    return out


class RowFiller:
    """Fills kernel rows among the rows of one X again and again: what does not change is checked once."""

    def __init__(self, X: Any, kernel: CompiledKernel, stats: RowStats) -> None:
        none = np.zeros(0, dtype=np.int64)
        arguments, _, _ = _arguments(X, X, kernel, none, none, (stats, stats))
        self.source = _core.RowSource(arguments[0], *kernel.native, *arguments[9:])

    def fill(
        self,
        which: NDArray[Any],
        others: NDArray[Any],
        out: tuple[NDArray[Any], NDArray[Any], int],
        n_threads: int,
        cancel: NDArray[Any],
    ) -> None:
        """``rows[slots, first : first + len(others)] = k(X[which], X[others])``; out: rows, slots, first."""
        _core.kernel_fill(self.source, which, others, *out, n_threads, cancel)


def kernel_matmul(
    X: Any,
    Z: Any,
    A: np.ndarray,
    kernel: CompiledKernel,
    *,
    x_rows: Any = None,
    z_rows: Any = None,
    x_stats: RowStats | None = None,
    z_stats: RowStats | None = None,
    out: np.ndarray | None = None,
    n_threads: int | None = None,
    cancel: np.ndarray = NEVER,
) -> np.ndarray:
    """``kernel_block(X, Z, kernel) @ A`` for A of shape (m, c), without ever holding the kernel matrix."""
    threads = effective_n_threads(n_threads)
    arguments, n, m = _arguments(X, Z, kernel, x_rows, z_rows, (x_stats, z_stats), threads)
    A = _real("A", A, X.dtype)
    if A.ndim != 2 or A.shape[0] != m:
        raise ValueError(f"A must have shape ({m}, c), one row for each row of Z; got {A.shape}.")
    out = _output(out, (n, A.shape[1]), X.dtype)
    with one_blas_thread():
        _core.kernel_matmul(*arguments, A, out, threads, cancel)
    return out


def kernel_grouped_matmul(
    X: Any, Z: Any, A: GroupedMatrix, kernel: CompiledKernel, *, n_threads: int | None = None
) -> np.ndarray:
    """``kernel_matmul`` for an A in groups of rows: a group costs as much as it has columns."""
    threads = effective_n_threads(n_threads)
    arguments, n, m = _arguments(X, Z, kernel, None, None, (None, None), threads)
    starts, widths = _real("starts", A.starts, np.int64), [len(columns) for columns in A.columns]
    if starts[0] != 0 or starts[-1] != m or len(starts) != 1 + len(widths):
        raise ValueError(f"the groups of A must cover {m} rows, one for each row of Z; got {starts}.")
    shapes = list(zip(np.diff(starts).tolist(), widths))
    if [block.shape for block in A.blocks] != shapes or min(np.diff(starts), default=0) < 0:
        raise ValueError("each block of A must have a row for each row of its group, and its columns.")
    columns = _real("columns", np.concatenate([*A.columns, []]), np.int64)
    if columns.size and (columns.min() < 0 or columns.max() >= A.n_columns):
        raise IndexError(f"columns must be within 0..{A.n_columns - 1}.")
    values = _real("A", np.concatenate([*(block.ravel() for block in A.blocks), []]), X.dtype)
    column_starts = np.cumsum([0, *widths], dtype=np.int64)
    out = np.empty((n, A.n_columns), dtype=X.dtype)
    with one_blas_thread():
        _core.kernel_grouped_matmul(*arguments, starts, column_starts, columns, values, out, threads)
    return out


exp = _core.exp  # checks its arguments itself: a wrapper here would take longer than a short array


# ---- baselines ----

# Shapes and numbers are checked there; arrays are taken as they are, since most of them are changed in place.
online_block, lasvm_block, lasvm_reprocess = _core.online_block, _core.lasvm_block, _core.lasvm_reprocess


# ---- working sets ----

smo_block, svm_look = _core.smo_block, _core.svm_look
svm_rounds, svm_small_rounds = _core.svm_rounds, _core.svm_small_rounds
svm_polish = _core.svm_polish
subtract_rows = _core.subtract_rows
gather_rows = _core.gather_rows


def compact_rows(
    rows: NDArray[Any], which: NDArray[Any], length: NDArray[Any], kept: NDArray[Any], n_threads: int
) -> None:
    """``rows[s, :m] = rows[s, kept[:m]]`` for s in which, m entries of ``kept`` being below ``length[s]``.

    ``kept`` is ascending, so this is done in place.
    """
    counts = np.searchsorted(kept, length[which])
    _core.compact_rows(rows, which, counts, kept, n_threads, NEVER)
    length[which] = counts


# ---- text files ----

# Parsers of one file each, fed piece by piece; they check the arrays that they fill.
CsvParser, LibsvmParser, csv_first_row = _core.CsvParser, _core.LibsvmParser, _core.csv_first_row


# ---- codes ----


def code_sums(F: NDArray[Any], matrix: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """``F @ matrix.T`` as a sum of two doubles, and ``sign(F) @ matrix.T``, for entries -1, 0 and +1."""
    F = _real("F", F, np.float64)
    high, low, votes = (np.empty((F.shape[0], matrix.shape[0])) for _ in range(3))
    _core.code_sums(F, np.ascontiguousarray(matrix, dtype=np.int8), high, low, votes)
    return high, low, votes


# ---- losses ----


def _entrywise(core_map: Callable[..., None], name: str, values: ArrayLike) -> NDArray[Any]:
    values = _real("margins and slopes", values, np.float64)
    out = np.empty(values.shape)
    core_map(name, values.reshape(-1), out.reshape(-1))
    return out


def loss_value(name: str, margins: ArrayLike) -> NDArray[Any]:
    """The compiled loss of that name at each margin."""
    return _entrywise(_core.loss_value, name, margins)


def loss_slope(name: str, margins: ArrayLike) -> NDArray[Any]:
    """Its derivative in the margin."""
    return _entrywise(_core.loss_slope, name, margins)


def loss_conjugate(name: str, slopes: ArrayLike) -> NDArray[Any]:
    """Its convex conjugate at each slope."""
    return _entrywise(_core.loss_conjugate, name, slopes)


# ---- rows ----


def hash_rows(X: Any, n_threads: int = 1) -> NDArray[Any]:
    """A 64-bit fingerprint of each row, the same for dense and CSR, float32 and float64."""
    out = np.empty(X.shape[0], dtype=np.uint64)
    _core.hash_rows(_matrix(X), out, n_threads)
    return out


def rows_equal(X: Any, left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Whether row ``left[p]`` holds the same values as row ``right[p]``."""
    out = np.empty(len(left), dtype=bool)
    _core.rows_equal(_matrix(X), left, right, out)
    return out


def rows_dot(
    X: Any, index: NDArray[Any], w: NDArray[Any], n_threads: int = 1, cancel: NDArray[Any] = NEVER
) -> NDArray[Any]:
    """``X[index] @ w`` in double, for one vector or several as the columns of a matrix."""
    W = np.ascontiguousarray(np.atleast_2d(w.T), dtype=np.float64)
    out = np.empty((len(index), len(W)))
    _core.rows_dot(_matrix(X), index, W, out, n_threads, cancel)
    return out if w.ndim == 2 else out[:, 0]


def rows_sum(
    X: Any, index: NDArray[Any], u: NDArray[Any], n_threads: int = 1, cancel: NDArray[Any] = NEVER
) -> NDArray[Any]:
    """``u @ X[index]`` in double; rows whose u is 0 cost nothing."""
    out = np.empty(X.shape[1])
    _core.rows_sum(_matrix(X), index, np.ascontiguousarray(u, dtype=np.float64), out, n_threads, cancel)
    return out


def rows_sqnorm(
    X: Any, index: NDArray[Any], n_threads: int = 1, cancel: NDArray[Any] = NEVER
) -> NDArray[Any]:
    """Squared norms of the chosen rows, in double."""
    out = np.empty(len(index))
    _core.rows_sqnorm(_matrix(X), index, out, n_threads, cancel)
    return out


def rows_gram(
    X: Any,
    index: NDArray[Any],
    weight: NDArray[Any],
    centre: NDArray[Any],
    n_threads: int = 1,
    cancel: NDArray[Any] = NEVER,
) -> NDArray[Any]:
    """``(X[index] - centre)' diag(weight) (X[index] - centre)``, with products in X's own precision.

    For sparse rows the centre must be 0 or their weighted mean.
    """
    out = np.empty((X.shape[1], X.shape[1]))
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    with one_blas_thread():
        _core.rows_gram(_matrix(X), index, weight, centre, out, n_threads, cancel)
    return out


def best_intercept(iteration: Any, start: float) -> float:
    """The b at which the shares of both signs balance in the present round of a ``NewtonIteration``."""
    return float(_core.best_intercept(*_round(iteration), iteration.state.scores, start))


def step_length(iteration: Any, along: NDArray[Any], linear: float, quadratic: float) -> float:
    """How far to go along a step: the present round's derivative there has fallen to a tenth."""
    scores = iteration.state.scores + iteration.state.b[0]
    free = iteration.problem.intercept == "free"
    return float(_core.step_length(*_round(iteration), scores, along, free, linear, quadratic))


def squared_hinge_step(
    y: NDArray[Any],
    cost: NDArray[Any],
    scores: NDArray[Any],
    along: NDArray[Any],
    linear: float,
    quadratic: float,
) -> float:
    """How far to go: 1, or where ``linear t + quadratic t^2 / 2`` plus losses at scores + t along is flat."""
    return float(
        _core.step_length(y, cost, cost, 1.0, False, scores, along, False, linear, quadratic)
    )  # anchors (the second cost) are of the hinge alone


def _round(iteration: Any) -> tuple[Any, ...]:
    problem, state = iteration.problem, iteration.state
    return problem.y, problem.cost, state.anchor, state.sharpness, iteration.hinge


def dual_cd_epoch(problem: Any, descent: Any, state: Any, cancel: NDArray[Any]) -> None:
    """One epoch of dual coordinate descent on a ``MarginProblem``; ``state`` is changed in place."""
    _core.dual_cd_epoch(
        _matrix(problem.rows.X),
        problem.rows.index,
        problem.y,
        descent.upper,
        descent.ridge,
        descent.sqnorm,
        descent.bias_weight,
        state.a,
        state.w,
        state.bias,
        state.order,
        state.n_active,
        state.violation,
        state.seed,
        state.epoch,
        cancel,
    )


def lasso_epochs(
    G: NDArray[Any],
    w: NDArray[Any],
    gradient: NDArray[Any],
    n_epochs: int,
    still: float,
    cancel: NDArray[Any] = NEVER,
) -> float:
    """Epochs of coordinate descent on ``||w||_1 + 1/2 w'Gw - q'w``; w and ``q - Gw`` change in place.

    Ends early once no coordinate's move is worth more than ``still``; returns the last epoch's largest.
    """
    return float(_core.lasso_epochs(G, w, gradient, n_epochs, still, cancel))


# ---- all classes at once ----


def pairs_step(t: NDArray[Any], u: float, p: NDArray[Any]) -> None:
    """Into p the minimiser of ``(sum p)^2 / 2 + ||p||^2 / 2 - t'p`` over ``0 <= p <= u``, started from p."""
    _core.pairs_step(t, u, p)


def pairs_sweep(problem: Any, state: Any, weight: float, order: NDArray[Any], cancel: NDArray[Any]) -> None:
    """Exact steps for one sample's pairs after the other of an ``AllPairsProblem``; ``state`` is changed.

    ``state.outputs`` is ``(K B)'`` and ``state.bias`` the multipliers plus ``weight`` times the equations'
    residuals.
    """
    _core.pairs_sweep(
        problem.K, problem.labels, problem.cost, weight, state.a, state.outputs, state.bias, order, cancel
    )


# ---- budgeted methods ----


def add_support(j: int, y: NDArray[Any], u: NDArray[Any], problem: Any, state: Any) -> None:
    """One step of every column with y not 0, by which support vector j joins with its update u.

    ``state`` (a, scale, t) is changed in place; the coefficients of column c are ``scale[c] * a[c]``.
    """
    _core.add_support(j, y, u, problem.alpha, state.a, state.scale, state.t)


def back_fit(K: NDArray[Any], targets: NDArray[Any], problem: Any, state: Any, cancel: NDArray[Any]) -> None:
    """One back-fitting update for each row of K, in order; ``state`` (a, scale, t) is changed in place.

    ``K[r, j] = k(x_r, z_j)`` for the drawn samples r, whose targets (n_drawn, n_columns) are in {-1, 0, 1},
    and the support vectors j, whose coefficients are ``scale[c] * a[c, j]`` in column c; what a holds beyond
    them stays as it is. ``problem`` has a loss and an alpha.
    """
    _core.back_fit(K, targets, problem.loss.name, problem.alpha, state.a, state.scale, state.t, cancel)


# ---- the top-k SVM ----


def topk_project(a: NDArray[Any], k: int, include: bool = True, rho: float = 1.0) -> NDArray[Any]:
    """The u that minimises ``||u||^2 / 2 + rho (sum u)^2 / 2 - a'u`` over the domain of the top-k hinge.

    That is ``u >= 0, sum u <= 1, u_j <= min(1/k, sum u / kappa)``, kappa being k - 1, or k with the true
    class left out.
    """
    a = np.ascontiguousarray(a)
    u = np.empty_like(a)
    _core.topk_project(a, k, include, rho, u)
    return u


def _blocks(problem: Any, state: Any, method: str) -> tuple[Any, ...]:
    loss = problem.loss
    return (
        problem.labels,
        problem.cost,
        problem.sqnorms,
        loss.k,
        loss.true_class == "include",
        problem.constant,
        state.passed_over,
        method,
        state.A,
        state.gaps,
        state.moved,
    )


def topk_sweep(
    problem: Any, state: Any, method: str, order: NDArray[Any], cancel: NDArray[Any] = NEVER
) -> None:
    """One step for each sample of ``order`` of a linear ``TopKProblem``; ``state`` is changed in place.

    ``method`` is "exact" or "frank-wolfe". ``state.gaps`` and ``state.moved`` say what each sample's loss was
    above its share of the dual, and whether its step changed anything.
    """
    with one_blas_thread():
        _core.topk_sweep(
            _matrix(problem.data.X),
            problem.data.index,
            *_blocks(problem, state, method),
            state.W,
            state.offset,
            order,
            cancel,
        )


def topk_look(problem: Any, state: Any, cancel: NDArray[Any] = NEVER) -> None:
    """Into ``state.gaps`` those of all samples of a linear ``TopKProblem`` at the present W."""
    labels, cost, sqnorms, k, include, constant, _, _, *arrays = _blocks(problem, state, "exact")
    with one_blas_thread():
        _core.topk_look(
            _matrix(problem.data.X),
            problem.data.index,
            *(labels, cost, sqnorms, k, include, constant, *arrays),
            state.W,
            state.offset,
            problem.data.n_threads,
            cancel,
        )


def topk_prox(
    problem: Any, centre: NDArray[Any], Z: NDArray[Any], tau: float, cancel: NDArray[Any] = NEVER
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """For each sample the a that maximises ``a_y - <a, z> - tau/2 ||a - centre||^2`` over its domain.

    Returns A, the maxima, and how A moves with Z: entries marked 1 by the same amount less their mean, those
    marked 2 in the proportions that the domain's cone holds them in, others not at all.
    """
    A, value, faces = np.empty(Z.shape), np.empty(len(Z)), np.empty(Z.shape, dtype=np.uint8)
    include, n_threads = problem.loss.true_class == "include", problem.data.n_threads
    _core.topk_prox(
        problem.labels, problem.loss.k, include, centre, Z, tau, A, value, faces, n_threads, cancel
    )
    return A, value, faces


def topk_tile(
    problem: Any,
    state: Any,
    method: str,
    which: NDArray[Any],
    products: tuple[NDArray[Any], NDArray[Any]],
    n_passes: int = 1,
) -> NDArray[Any]:
    """Steps for the samples of a tile from ``products``: G among them, with the constant, and scores Z.

    Z is scratch. Returns the change of their coefficients c_i a_i.
    """
    change = np.zeros((len(which), problem.n_classes))
    _core.topk_tile(*_blocks(problem, state, method), which, *products, change, n_passes)
    return change
