"""Support vector classifiers as linear programs: sparse in features or in kernel functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...base import KernelClassifier, forget
from ...data import (
    Rows,
    WeightedRows,
    check_choice,
    check_costs,
    check_flag,
    check_number,
    check_scale,
    near_origin,
)
from ...kernels import Kernel, Linear
from ...solving import Callback, SolverResult, Stop, solve_columns, unsolved
from ..eigen_map import EIGEN_METHODS, EigenFeatures, find_eigen_features
from ..linear import linear_outputs
from .features import EigenColumns, Features, KernelColumns, RawFeatures
from .generation import ProgramResult, WarmSets, WorkingSet, generate, nothing_active
from .program import HingeProgram, Pairs, TwoClasses, WrongClasses

OPTIONAL_ATTRIBUTES = ("coef_", "support_", "support_vectors_", "dual_coef_", "n_support_", "trace_captured_")


class LinearProgramSVC(KernelClassifier):
    """The L1 SVM: a linear program with few non-zero coefficients.

    For every column of the code, with targets y in {-1, +1}, it minimises over w and b

        ||w||_1 + C sum_i s_i max(0, 1 - y_i (<w, phi(x_i)> + b)),

    where s_i is the sample's weight times its class's. phi(x) is x itself (``kernel=None``), the vector of
    kernel values k(x, x_j) with all training rows (``features="columns"``), or that of the kernel's leading
    eigen features (``features="eigen"``). ``penalty=None`` leaves ||w||_1 out and
    minimises the mean of the hinge losses. ``multi_class="joint"`` solves for all classes at once,

        min  sum_g ||w_g||_1 + C sum_i s_i sum_{g != y_i} max(0, 1 - (f_{y_i}(x_i) - f_g(x_i))).

    HiGHS solves a program restricted to some features and samples. Features and samples that violate the
    optimality conditions are added until the duality gap of the whole program is at most ``tol``.

    **Precision.** ``dual_gap_`` holds for the rows as given, dense or CSR: programs and certificates are in
    double, kernel values and eigen features of float32 rows included.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the losses against the norm; ignored if ``penalty=None``.
    penalty : {"l1", None}, default="l1"
    multi_class : {"code", "joint"}, default="code"
        Two-class problems by a code, or one program for all classes, which has no code and no decoder.
    kernel : None, str, callable or Kernel, default=None
        None for the features themselves; else as in :class:`KernelSVC`.
    gamma, degree, coef0
        As in :class:`KernelSVC`.
    features : {"columns", "eigen"}, default="columns"
        With a kernel: sparse in kernel functions, or in the features of :class:`KernelEigenMap`.
    n_components : int, default=100
        Eigen features, at most.
    eigen_method : str, default="auto"
        How they are computed: "exact", "randomized", "pivoted-cholesky", "landmarks" or "auto".
    fit_intercept : bool, default=True
    code : str or Code, default="one-vs-rest"
    decoder : str or Decoder, default="auto"
    class_weight : dict or "balanced", optional
    tol : float, default=1e-6
        Bound on the relative duality gap ``(primal - dual) / max(|primal|, |dual|)``.
    max_iter : int, default=1000
        Restricted programs, for each column.
    max_seconds : float, default=3600
        For the whole fit.
    n_jobs : int, optional
        Number of threads; None leaves the choice to the environment. It does not change the result.
    warm_start : bool, default=False
        Start from the features and samples of the previous fit's last program, if X has the same shape, y the
        same classes and the program the same features and columns. Everything else may have changed.
    random_state : int, RandomState or None
        For ``gamma="median"`` and eigen features.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns, n_features), or (n_classes, n_features) where joint
        Without a kernel, or for eigen features, with a column for each eigen feature found. Zeros are exact.
    support_, support_vectors_, dual_coef_
        With a kernel: rows with a coefficient, as in :class:`KernelSVC`; for eigen features the landmarks.
    trace_captured_ : float
        The share of the kernel's trace in the eigen features.
    intercept_ : ndarray of shape (n_columns,) or (n_classes,)
        Those of a joint program sum to 0, since only their differences matter.
    n_nonzero_ : int
        Features (raw, kernel functions or eigen features) with a coefficient in some column.
    objective_ : float
        The primal value, summed over the columns.
    dual_gap_ : float
        The largest relative duality gap of a column; what rounding can do to margins is added. For eigen
        features it is that of the program on the features ``k(x, landmarks) @ projection``.
    status_ : str
        "converged", or the worst status of a column.
    history_ : list of tuple of Check
        The certificates of each column; one history where joint.
    classes_, n_iter_, gamma_, kernel_, code_, decoder_, n_features_in_
        As in :class:`KernelSVC`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from maxmargin import LinearProgramSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearProgramSVC(C=0.01).fit(X / X.std(axis=0), y)
    >>> model.status_, model.n_nonzero_ < 20
    ('converged', True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str | None = "l1",
        multi_class: str = "code",
        kernel: Any = None,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        features: str = "columns",
        n_components: int = 100,
        eigen_method: str = "auto",
        fit_intercept: bool = True,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.multi_class = multi_class
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.features = features
        self.n_components = n_components
        self.eigen_method = eigen_method
        self.fit_intercept = fit_intercept
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
        if self.penalty is not None and self.penalty != "l1":
            raise ValueError(f"penalty must be 'l1' or None; got {self.penalty!r}.")
        check_choice("multi_class", self.multi_class, ("code", "joint"))
        if self._joint and not (isinstance(self.code, str) and self.code == "one-vs-rest"):
            raise ValueError(
                f"multi_class='joint' has no code; leave code at 'one-vs-rest' (got {self.code!r}) or use "
                "multi_class='code'."
            )
        if self._joint and not (isinstance(self.decoder, str) and self.decoder == "auto"):
            raise ValueError(
                f"multi_class='joint' has no decoder; leave decoder at 'auto' (got {self.decoder!r}) or use "
                "multi_class='code'."
            )
        check_choice("features", self.features, ("columns", "eigen"))
        check_number("n_components", self.n_components, at_least=1, integer=True)
        check_choice("eigen_method", self.eigen_method, EIGEN_METHODS)
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("warm_start", self.warm_start)
        self._check_kernel()
        self._check_stopping()

    @property
    def _joint(self) -> bool:
        return bool(self.multi_class == "joint")

    @property
    def _in_columns(self) -> bool:
        """Whether features are kernel functions at the rows."""
        return self.kernel is not None and bool(self.features == "columns")

    def _kernel_parameter(self) -> Kernel:
        return Linear() if self.kernel is None else super()._kernel_parameter()

    def _prepare(self, data: WeightedRows) -> None:
        check_costs(self.C if self.penalty else 1.0, data.weight)
        if self.kernel is None:
            check_scale(data.rows.X, data.rows.sqnorms(), 1.0)
        else:
            super()._prepare(data)

    # ---- solving ----

    def _eigen_features(self, data: WeightedRows) -> EigenFeatures | None:
        """The features that the program is solved on, where these are eigen features."""
        if self.kernel is None or self._in_columns:
            return None
        kernel, rng = self._kernel_data(data), self._rng(2)
        return find_eigen_features(
            kernel, self.n_components, method=self.eigen_method, rng=rng, weight=data.weight, in_double=True
        )

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> list[SolverResult]:
        given, eigen = data, self._eigen_features(data)
        if eigen is not None:
            rows = Rows(eigen.features, np.arange(len(data.rows)))
            given = WeightedRows(rows, data.labels, data.weight)
        elif self.kernel is None and self.fit_intercept:
            given = replace(data, rows=near_origin(data.rows, data.weight))
        last = self._earlier_working_sets(data, eigen)

        def solve_column(column: int, stop: Stop, n_inner: int) -> ProgramResult:
            which, pairs = self._column(data, column)
            part = given.take(which, n_inner, stop.cancel)
            features = self._features(part, eigen, data, which)
            program = self._program(features, pairs, part.weight)
            state = last[column].state(program, data.rows.index[which]) if last else None
            return replace(generate(program, stop=stop, state=state, callback=callback), eigen=eigen)

        n_columns = 1 if self._joint else self.code_.n_columns

        def without_time(column: int) -> ProgramResult:
            n = len(self._column(data, column)[0]) if self._in_columns else given.rows.n_features
            return ProgramResult(**vars(unsolved(np.zeros((1, n)))), state=nothing_active(), eigen=eigen)

        return list(solve_columns(solve_column, n_columns, stop, n_threads, unsolved=without_time))

    def _column(self, data: WeightedRows, column: int) -> tuple[np.ndarray, Pairs]:
        """The rows of a column, and its constraints."""
        if self._joint:
            return np.arange(len(data.rows)), WrongClasses(data.labels, len(self.classes_))
        which, targets = self.code_.column(data.labels, column)
        return which, TwoClasses(targets)

    def _features(
        self, part: WeightedRows, eigen: EigenFeatures | None, data: WeightedRows, which: np.ndarray
    ) -> Features:
        """The features of a column's rows; kernel values are in double: rounding would change the program."""
        if self._in_columns:
            return KernelColumns(self._kernel_data(part).in_double())
        if eigen is None:
            return RawFeatures(part.rows)
        kernel = self._kernel_data(data)
        own = np.sqrt(np.maximum(kernel.diagonal(eigen.points), 0.0))
        return EigenColumns(part.rows, eigen.projection, kernel.lengths(which), own)

    def _program(self, features: Features, pairs: Pairs, weight: np.ndarray) -> HingeProgram:
        cost = self.C * weight if self.penalty else weight / weight.sum()
        return HingeProgram(features, pairs, cost, self.penalty is not None, bool(self.fit_intercept))

    # ---- what is kept ----

    def _store(self, results: Sequence[Any], data: WeightedRows) -> None:
        coef, eigen = self._joined(results, data), results[0].eigen
        forget(
            self,
            "_last",
            *OPTIONAL_ATTRIBUTES,
        )
        used = np.flatnonzero(coef.any(axis=1))
        if self._in_columns:
            self._keep(self._kernel_data(data).points(used), coef[used], data.rows.index[used])
        else:
            self.coef_ = np.ascontiguousarray(coef.T)
        if eigen is not None:
            self._keep_landmarks(eigen, coef, data)
        self.n_nonzero_ = len(used)
        self.intercept_ = np.concatenate([result.intercepts for result in results])
        if self.warm_start:
            self._last = WarmSets(self._kind(data, eigen), self._working_sets(results, data))

    def _joined(self, results: Sequence[Any], data: WeightedRows) -> np.ndarray:
        """Coefficients of all columns, (n_features, n_outputs)."""
        if not self._in_columns:
            return np.concatenate([result.coef for result in results]).T
        coef = np.zeros((len(data.rows), sum(len(result.coef) for result in results)))
        for column, result in enumerate(results):
            which, _ = self._column(data, column)
            coef[which, column : column + len(result.coef)] = result.coef.T
        return coef

    def _keep_landmarks(self, eigen: EigenFeatures, coef: np.ndarray, data: WeightedRows) -> None:
        """Functions of eigen features are kernel expansions at the landmarks."""
        support = None if eigen.index is None else data.rows.index[eigen.index]
        self._keep(eigen.points, eigen.projection @ coef, support)
        self.trace_captured_ = eigen.trace_captured

    def _working_sets(self, results: Sequence[Any], data: WeightedRows) -> list[WorkingSet]:
        """What the columns ended with, for a warm start."""
        sets = []
        for column, result in enumerate(results):
            which, pairs = self._column(data, column)
            index, by_row = data.rows.index[which], self._in_columns
            sets.append(WorkingSet.of(result.state, index, pairs.width, by_row))
        return sets

    def _kind(self, data: WeightedRows, eigen: EigenFeatures | None) -> tuple[Any, ...]:
        """What two fits must have in common for one to start from the other."""
        n_eigen = 0 if eigen is None else eigen.features.shape[1]
        columns = "joint" if self._joint else self.code_
        kind = (self.kernel is None, self._in_columns, n_eigen, bool(self.fit_intercept), columns)
        return (data.rows.X.shape, self.classes_.tolist(), *kind)

    def _earlier_working_sets(self, data: WeightedRows, eigen: EigenFeatures | None) -> list[WorkingSet]:
        """Those of the last fit, if it was of the same kind; none without ``warm_start``."""
        last: WarmSets | None = getattr(self, "_last", None)
        if last is None or not self.warm_start or last.kind != self._kind(data, eigen):
            return []
        return last.sets

    # ---- prediction ----

    def _column_outputs(self, X: Any) -> np.ndarray:
        if self.kernel is None:
            outputs = linear_outputs(X, self.coef_, self.intercept_, self.n_jobs)
        else:
            outputs = super()._column_outputs(X)
        if outputs.shape[1] > self.code_.n_columns:  # a joint program of two classes
            return outputs[:, 1:] - outputs[:, :1]
        return outputs
