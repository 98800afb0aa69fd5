"""The Lagrangian SVM: squared losses, a penalised intercept; linear, with a kernel, or on eigen features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...base import FitInput, KernelClassifier, forget
from ...data import WeightedRows, check_choice, check_costs, check_flag, check_number, check_scale
from ...kernels import Linear
from ...solving import Callback, SolverResult, Status, Stop, solve_columns, unsolved
from ..eigen_map import MAX_AUTO_EXACT_ROWS, find_eigen_features
from ..linear import MAX_NEWTON_ORDER, count_support, linear_outputs
from .iteration import row_mu
from .spaces import ColumnSolver, EigenSpace, KernelSpace, LagrangianStart, LinearSpace, SpaceResult

MAX_AUTO_KERNEL_ROWS = 4000  # different rows whose kernel matrix "auto" holds
MAX_KERNEL_ROWS = 20_000  # different rows whose kernel matrix can be held
AUTO_COMPONENTS = 500  # eigen features of "auto" beyond that
OPTIONAL_ATTRIBUTES = (
    "coef_",
    "support_",
    "support_vectors_",
    "dual_coef_",
    "n_components_",
    "trace_captured_",
    "kernel_gap_",
)


class LagrangianSVC(KernelClassifier):
    """The Lagrangian SVM, certified by its duality gap.

    For every column of the code, with targets y in {-1, +1}, it minimises over w and b

        1/2 (||w||^2 + b^2) + C/2 sum_i s_i max(0, 1 - y_i f(x_i))^2,    f(x) = <w, phi(x)> + b,

    where s_i is the sample's weight times its class's. The only constraint of the dual is a >= 0, which
    allows a very simple method: the published iteration solves one linear system again and again.
    scikit-learn's ``LinearSVC(C=c, loss="squared_hinge")``, which has no 1/2, is ``C=2*c`` here.

    **Precision.** ``dual_gap_`` holds for the rows as given, dense or CSR: it is computed in double, also for
    float32 rows and their kernel matrix. Eigen features of more than 1,000 float32 rows are in float32: what
    their rounding can do, measured on a sample of rows in double, is added to the gap, and where that is then
    above ``tol`` the problem is solved again on features in double.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the losses against the norm.
    kernel : str, callable or Kernel, default="linear"
        "linear" uses the features themselves, for any number of rows, dense or CSR. Other kernels, as in
        :class:`KernelSVC`, use a kernel matrix in memory, or eigen features.
    gamma, degree, coef0
        As in :class:`KernelSVC`.
    solver : {"auto", "newton", "lagrangian"}, default="auto"
        "newton" takes a handful of steps, each with a factorisation for the violated margins. "lagrangian" is
        the published iteration, with a single factorisation and hundreds of steps, more for a larger C.
        "auto" chooses "newton", except for linear problems with more than 2,000 rows and more than 2,000
        features: there it is "dual-cd", the coordinate descent of :class:`LinearSVC`. ``solver_`` is the one
        that was used; all reach the same certificate.
    mu : float, optional
        Step size of the published iteration, between 0 and 2 / max C_i, where C_i is C times a sample's
        weight; other solvers ignore it. Equal samples are merged, and k of them have the step mu / k, which
        moves them as if they were separate. By default each sample has its own step, 1.9 / C_i.
    n_components : int, "auto" or None, default="auto"
        The number of eigen features that approximate the kernel. None keeps the whole kernel matrix in
        memory, of at most 20,000 different rows. "auto" is None for the linear kernel and up to 4,000
        different rows, and 500 beyond.
    kernel_gap : bool, default=False
        With eigen features, also compute ``kernel_gap_``, a bound on the distance from the optimum for the
        kernel itself. It needs the kernel values between all support vectors.
    code : str or Code, default="one-vs-rest"
    decoder : str or Decoder, default="auto"
    class_weight : dict or "balanced", optional
    tol : float, default=1e-3
        Bound on the relative duality gap.
    max_iter : int, default=10000
        Steps, for each column.
    max_seconds : float, default=3600.0
        For the whole fit.
    n_jobs : int, optional
        Number of threads; None leaves the choice to the environment. It does not change the result.
    warm_start : bool, default=False
        Start from the last fit, where it had the same classes and code, as many rows of each class and as
        many features, or the same eigen features' kernel; not "dual-cd".
    random_state : int, RandomState or None
        For eigen features, ``gamma="median"`` and "dual-cd".

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns, n_features)
        With the linear kernel (and without ``n_components``).
    intercept_ : ndarray of shape (n_columns,)
    support_, support_vectors_, dual_coef_
        With other kernels: rows of X with a coefficient in some column, these rows, and the coefficients
        (n_columns, n_support). On eigen features these are the landmarks, the same for all columns.
    n_support_ : int
        How many; with the linear kernel, different rows with a multiplier in some column.
    space_ : {"linear", "kernel", "eigen"}
        Where the problem was solved. The certificate of "eigen" is for the problem on the eigen features.
    n_components_ : int
        The number of eigen features found; only if ``space_`` is "eigen", like the next two.
    trace_captured_ : float
        Their share of the kernel matrix's trace.
    kernel_gap_ : float
        The largest relative gap of a column for the kernel itself; only with ``kernel_gap=True``.
    solver_ : str
    dual_gap_, objective_, status_, n_iter_, history_, classes_, code_, decoder_, n_features_in_
        As in :class:`LinearSVC`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LagrangianSVC
    >>> model = LagrangianSVC().fit(*load_iris(return_X_y=True))
    >>> bool(model.dual_gap_ <= 1e-3)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        solver: str = "auto",
        mu: float | None = None,
        n_components: Any = "auto",
        kernel_gap: bool = False,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.mu = mu
        self.n_components = n_components
        self.kernel_gap = kernel_gap
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0.0)
        check_choice("solver", self.solver, ("auto", "newton", "lagrangian"))
        if self.mu is not None:
            check_number("mu", self.mu, above=0.0)
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ("auto",))
        elif self.n_components is not None:
            check_number("n_components", self.n_components, at_least=1, integer=True)
        check_flag("kernel_gap", self.kernel_gap)
        check_flag("warm_start", self.warm_start)
        self._check_kernel()
        self._check_stopping()

    def _prepare(self, data: WeightedRows) -> None:
        check_costs(self.C, data.weight)
        if isinstance(self._kernel_parameter(), Linear):
            check_scale(data.rows.X, data.rows.sqnorms(), self.C * float(data.weight.sum()))
            self.kernel_ = Linear()
            forget(self, "gamma_")
        else:
            super()._prepare(data)
        self.solver_ = self.solver
        if self.solver == "auto":
            wide = min(len(data.rows), data.rows.X.shape[-1]) > MAX_NEWTON_ORDER and self._is_linear()
            self.solver_ = "dual-cd" if wide else "newton"

    def _canonical(self, X: Any, labels: np.ndarray, weight: np.ndarray, n_threads: int) -> WeightedRows:
        self._largest_weight = float(weight.max())  # of a row as it is given, before equal ones are merged
        return super()._canonical(X, labels, weight, n_threads)

    def _is_linear(self) -> bool:
        """Whether the problem is solved in the features of X."""
        return isinstance(self.kernel_, Linear) and not isinstance(self.n_components, int | np.integer)

    def _space(self, data: WeightedRows, *, in_double: bool = False) -> LinearSpace | KernelSpace:
        """Where to solve, by the kernel and the number of different rows.

        Eigen features are in double ``in_double``, or where they are exact and there are few rows.
        """
        asked, n = self.n_components, len(data.rows)
        if self._is_linear():
            return LinearSpace(data, self.C, self.solver_)
        if asked is None and n > MAX_KERNEL_ROWS:
            raise ValueError(
                f"n_components=None holds the kernel matrix of at most {MAX_KERNEL_ROWS:,} different rows; "
                f"got {n:,}. Set n_components to a number of eigen features, or to 'auto'."
            )
        kernel = self._kernel_data(data)
        if asked is None or (isinstance(asked, str) and n <= MAX_AUTO_KERNEL_ROWS):
            return KernelSpace(kernel, data, self.C, self.solver_)
        wanted = AUTO_COMPONENTS if isinstance(asked, str) else int(asked)
        found = find_eigen_features(
            kernel,
            wanted,
            rng=self._rng(2),
            weight=data.weight,
            in_double=in_double or n <= MAX_AUTO_EXACT_ROWS,
        )
        return EigenSpace(found, data, self.C, self.solver_)

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> list[SolverResult]:
        space = self._space(data)
        results = self._solve_in(space, data, stop, callback, n_threads)
        if not isinstance(space, EigenSpace):
            return results
        results = self._with_rounding(space, data, results)
        is_open = any(r.status is Status.CONVERGED and r.gap > stop.tol for r in results)
        if space.is_single and is_open and not stop.deadline.passed():
            space = cast(EigenSpace, self._space(data, in_double=True))
            results = self._solve_in(space, data, stop, callback, n_threads)
            results = self._with_rounding(space, data, results)
        end = Status.TIME_LIMIT if stop.deadline.passed() else Status.STALLED
        return [_judged(result, stop.tol, end) for result in results]

    def _with_rounding(
        self, space: EigenSpace, data: WeightedRows, results: list[SolverResult]
    ) -> list[SolverResult]:
        """The results with what rounding of eigen features can do included in their gaps."""
        kernel, rows = (
            self._kernel_data(data),
            [self.code_.column(data.labels, t)[0] for t in range(len(results))],
        )
        return [space.with_rounding(kernel, which, result) for which, result in zip(rows, results)]

    def _solve_in(
        self,
        space: LinearSpace | KernelSpace,
        data: WeightedRows,
        stop: Stop,
        callback: Callback | None,
        n_threads: int,
    ) -> list[SolverResult]:
        given = self.mu if self.solver_ == "lagrangian" else None
        mu = row_mu(given, self.C * data.weight, self.C * self._largest_weight)
        starts = self._starts(space, data)

        def solve_column(column: int, stop: Stop, n_inner: int) -> SpaceResult:
            which, targets = self.code_.column(data.labels, column)
            start = None if starts is None else starts[column]
            seed = self._seed + column
            method = ColumnSolver(self.solver_, mu, stop, callback, start, seed)  # type: ignore[arg-type]
            return SpaceResult(**vars(space.solve(which, targets, n_inner, method)), space=space)

        def without_time(column: int) -> SpaceResult:
            n = len(self.code_.column(data.labels, column)[0])
            coef = np.zeros(n if space.name == "kernel" else space.n_features)
            return SpaceResult(**vars(replace(unsolved(coef), dual_coef=np.zeros(n))), space=space)

        return list(solve_columns(solve_column, self.code_.n_columns, stop, n_threads, unsolved=without_time))

    def _starts(self, space: LinearSpace | KernelSpace, data: WeightedRows) -> list[np.ndarray] | None:
        """Where the columns start: at the last fit's solutions, if there are any for such a problem."""
        last: LagrangianStart | None = getattr(self, "_last", None)
        if last is None or not self.warm_start or last.kind != self._kind(space, data):
            return None
        return last.starts

    def _kind(self, space: LinearSpace | KernelSpace, data: WeightedRows) -> tuple[Any, ...]:
        """What two fits must have in common for one to start from the other."""
        return (
            space.name,
            space.n_features,
            self.kernel_ if space.name == "eigen" else None,  # features of other kernels are others
            self.solver_,
            self.classes_.tolist(),
            self.code_.matrix.tolist(),
            data.rows.X.shape,
            np.bincount(data.labels).tolist(),
        )

    def _store(self, results: Sequence[Any], data: WeightedRows) -> None:
        space = results[0].space
        forget(self, *OPTIONAL_ATTRIBUTES)
        self._last = None
        if self.warm_start:
            starts = [space.start(result, self.solver_) for result in results]
            self._last = LagrangianStart(self._kind(space, data), starts)
        self.space_ = space.name
        if space.name == "kernel":
            self._keep_columns(results, data)
        elif isinstance(space, EigenSpace):
            self._keep_eigen(space, results, data)
        else:
            self.coef_ = np.vstack([result.coef for result in results])
            self.n_support_ = count_support(results, self.code_, data.labels)
        self.intercept_ = np.array([result.intercept for result in results])

    def _keep_eigen(self, space: EigenSpace, results: Sequence[Any], data: WeightedRows) -> None:
        found = space.found
        self.n_components_, self.trace_captured_ = len(found.eigenvalues), found.trace_captured
        coef = found.projection @ np.column_stack([result.coef for result in results])
        self._keep(found.points, coef, None if found.index is None else data.rows.index[found.index])

    def _report(self, results: Sequence[Any], fit: FitInput) -> None:
        """The gap of the problem with the kernel itself; infinite where there is no time for it."""
        space = results[0].space
        if not (self.kernel_gap and isinstance(space, EigenSpace)):
            return
        self.kernel_gap_ = np.inf
        kernel = self._kernel_data(fit.data).in_double()
        columns = [self.code_.column(fit.data.labels, t) for t in range(len(results))]
        gaps = [space.kernel_gap(kernel, *column, r) for column, r in zip(columns, results, strict=True)]
        self.kernel_gap_ = max(gaps)

    def _column_outputs(self, X: Any) -> np.ndarray:
        if self.space_ != "linear":
            return super()._column_outputs(X)
        return linear_outputs(X, self.coef_, self.intercept_, self.n_jobs)


def _judged(result: SolverResult, tol: float, end: Status) -> SolverResult:
    """The result; one whose gap is larger than the tolerance with rounding included has not converged."""
    is_open = result.status is Status.CONVERGED and result.gap > tol
    return replace(result, status=end) if is_open else result
