"""Classification by least squares: without a penalty, with a ridge, or with the lasso's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._native import effective_n_threads
from ...base import CodedClassifier, first_step_of, forget
from ...data import WeightedRows, check_costs, check_flag, check_number, check_sample_weight, check_scale
from ...solving import Callback, Deadline, SolverResult, Stop, ended_in_time, solve_columns
from ..linear import linear_outputs
from .columns import SquaresAtCost, SquaresOnRows, SquaresResult
from .data import SquaresData
from .leave_one_out import SquaresInput, leave_one_out
from .path import LeastSquaresPath, follow
from .problem import Penalty

PENALTIES: dict[Any, Penalty] = {None: "none", "ridge": "ridge", "lasso": "lasso"}


class LeastSquaresClassifier(CodedClassifier):
    """Least squares on targets -1 and +1, certified by its duality gap.

    For every column of the code, with f(x) = <w, x> + b, it minimises over w and b

        penalty=None     1/2 sum_i s_i (y_i - f(x_i))^2
        penalty="ridge"  1/2 ||w||^2 + C/2 sum_i s_i (y_i - f(x_i))^2
        penalty="lasso"  ||w||_1 + C/2 sum_i s_i (y_i - f(x_i))^2

    where s_i is the sample's weight times its class's. The intercept b is not penalised. In scikit-learn's
    parameters, for n rows of weight 1: ``Ridge(alpha)`` and ``RidgeClassifier(alpha)`` are ``C=1/alpha``,
    ``Lasso(alpha)`` is ``C=1/(n*alpha)``, each with the objective divided by alpha.

    **Precision.** ``dual_gap_`` is computed in double from the rows as given, float32 or float64, dense or
    CSR.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the squares against the penalty; ignored without a penalty.
    penalty : {"ridge", "lasso", None}, default="ridge"
        "lasso" sets coefficients to exactly 0. Without a penalty the shortest of several solutions is
        returned, and ``rank_`` is the number of directions that the features span.
    fit_intercept : bool, default=True
    code : str or Code, default="one-vs-rest"
        How several classes become two-class problems. Columns on the same rows share one factorisation.
    decoder : str or Decoder, default="auto"
        How the columns' outputs become class scores.
    class_weight : dict or "balanced", optional
        Factors applied to the sample weights.
    tol : float, default=1e-4
        Bound on the relative duality gap ``(primal - dual) / max(|primal|, |dual|)``.
    max_iter : int, default=1000
        Corrections of a solution, or rounds of the lasso, for each column.
    max_seconds : float, default=3600
        For the whole fit. A factorisation in progress is completed, for ridge with its leave-one-out scores:
        a few seconds at the largest order of 3000.
    warm_start : bool, default=False
        Start from the coefficients of the previous fit, if the method is iterative.
    n_jobs : int, optional
        Number of threads; None leaves the choice to the environment. It does not change the result.
    random_state : int, RandomState or None
        Accepted for compatibility: nothing here is random.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns, n_features)
    intercept_ : ndarray of shape (n_columns,)
    classes_ : ndarray of shape (n_classes,)
    dual_gap_ : float
        The largest relative duality gap of a column. Without a penalty the lower bound is over all
        coefficients that differ from ``coef_`` by up to ten times its length, and by any length along
        directions in which features differ, too little for ``rank_`` but by more than rounding their entries
        explains.
    objective_ : float
        The primal value, summed over the columns.
    loo_scores_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        With a ridge: the exact scores of each row from a fit without it, with unchanged class weights. A row
        of weight s > 1 counts as s rows, of which one is left out. NaN if rounding leaves fewer than three
        digits of a score, as for nearly equal rows at a very large C. Not set if no matrix was factorised
        (both n_samples and n_features above 3000).
    loo_error_ : float
        The share of the sample weight that ``loo_scores_`` gets wrong; NaN if any score is NaN.
    rank_ : int
        Without a penalty: the effective rank of the features, about their means where there is an intercept;
        the smallest over the columns. Not set if no matrix was factorised (above 1000).
    status_ : str
        Why the fit stopped: "converged", or the worst status of a column.
    n_iter_ : int
    history_ : list of tuple of Check
        The certificates of each column.
    code_ : Code
    decoder_ : Decoder
    n_features_in_ : int
    feature_names_in_ : ndarray, where X has names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LeastSquaresClassifier
    >>> model = LeastSquaresClassifier().fit(*load_iris(return_X_y=True))
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str | None = "ridge",
        fit_intercept: bool = True,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        max_seconds: float = 3600.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0.0)
        if self.penalty is not None and not (isinstance(self.penalty, str) and self.penalty in PENALTIES):
            raise ValueError(f"penalty must be 'ridge', 'lasso' or None; got {self.penalty!r}.")
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("warm_start", self.warm_start)
        self._check_stopping()

    def _begin(self, X: Any, y: Any, sample_weight: Any, *more: Any, **named: Any) -> SquaresInput:
        fit = super()._begin(X, y, sample_weight, *more, **named)
        return SquaresInput(**vars(fit), sample_weight=check_sample_weight(sample_weight, len(fit.labels)))

    def _prepare(self, data: WeightedRows) -> None:
        check_costs(self.C, data.weight)
        check_scale(data.rows.X, data.rows.sqnorms(), self.C * float(data.weight.sum()))

    def _on_rows(self, data: WeightedRows) -> SquaresOnRows:
        """The problems of columns that take these rows."""
        squares = SquaresData(data.rows, data.weight, bool(self.fit_intercept))
        return SquaresOnRows(squares.near_origin(), PENALTIES[self.penalty])

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> list[SolverResult]:
        earlier = self._earlier_coefficients(data)
        patterns = [column.tobytes() for column in (self.code_.matrix.T != 0)]
        shared: dict[bytes, SquaresAtCost] = {}
        for column, pattern in enumerate(patterns):
            if patterns.count(pattern) > 1 and pattern not in shared:
                which, _ = self.code_.column(data.labels, column)
                shared[pattern] = self._on_rows(data.take(which, n_threads, stop.cancel)).at(self.C)

        def solve_column(column: int, stop: Stop, n_inner: int) -> SquaresResult:
            which, targets = self.code_.column(data.labels, column)
            problems = shared.get(patterns[column])
            if problems is None:
                problems = self._on_rows(data.take(which, n_inner, stop.cancel)).at(self.C)
            start = None if earlier is None else earlier[column]
            return SquaresResult(**vars(problems.solve(targets, start, stop, callback)), problems=problems)

        def without_time(column: int) -> SquaresResult:
            return SquaresResult(**vars(self._unsolved(data, column)))

        return list(solve_columns(solve_column, self.code_.n_columns, stop, n_threads, unsolved=without_time))

    def _earlier_coefficients(self, data: WeightedRows) -> np.ndarray | None:
        """The coefficients of the last fit, if it had the same columns and features."""
        shape = (self.code_.n_columns, data.rows.n_features)
        same = getattr(self, "_last_classes", None) == self.classes_.tolist()
        fits = self.warm_start and same and self.coef_.shape == shape
        return self.coef_ if fits else None

    def _store(self, results: Sequence[Any], data: WeightedRows) -> None:
        self.coef_ = np.vstack([result.coef for result in results])
        self.intercept_ = np.array([result.intercept for result in results])
        self._last_classes = self.classes_.tolist()
        forget(self, "loo_scores_", "loo_error_", "rank_")
        ranks = [result.problems.rank for result in results if result.problems is not None]
        if self.penalty is None and None not in ranks:
            self.rank_ = int(min(rank for rank in ranks if rank is not None))

    def _report(self, results: Sequence[Any], fit: Any) -> None:
        """Leave-one-out scores; a decoder that learns has learned from the row that is left out, too."""
        found = leave_one_out(self, results, fit) if self._learner is None else None
        if found is not None:
            self.loo_scores_, self.loo_error_ = found

    def _column_outputs(self, X: Any) -> np.ndarray:
        return linear_outputs(X, self.coef_, self.intercept_, self.n_jobs)

    def path(self, X: Any, y: Any, Cs: Any = None, sample_weight: Any = None) -> LeastSquaresPath:
        """Coefficients for a grid of C, each with its certificate.

        Ridge uses one decomposition for all C. The lasso starts at the largest C with all coefficients 0 and
        goes upwards, each solution starting from the previous one. The result holds arrays, whereas
        ``KernelSVC.path`` yields models.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        Cs : array-like, optional
            At least one number > 0; they are sorted. By default 50 from the lasso's largest C without any
            coefficient to a thousand times that, or from almost no fit to almost no ridge.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        LeastSquaresPath
        """
        if self.penalty is None:
            raise ValueError("penalty=None has no C, so no path; use penalty='ridge' or 'lasso'.")
        model = clone(self)
        model._check_parameters()
        model._draw_seed()
        n_threads = effective_n_threads(self.n_jobs)
        with Deadline(model.max_seconds) as deadline, ended_in_time(deadline, first_step_of(model)):
            data = model._weighted_rows(X, y, sample_weight, n_threads)
            return follow(model, data, Cs, model._stop(deadline), n_threads)
