"""The linear support vector classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...base import CodedClassifier
from ...calibration import log_odds_to_probabilities
from ...data import (
    WeightedRows,
    check_choice,
    check_costs,
    check_flag,
    check_number,
    check_scale,
    near_origin,
)
from ...decoders import gives_probabilities, scores_are_outputs
from ...losses import loss_from_name
from ...solving import Callback, SolverResult, Stop
from ..blocks import LinearPlan, fit_blocks
from .choice import fastest_solver
from .dual_cd import dual_cd
from .log_newton import log_newton
from .newton import newton
from .outputs import count_support, linear_outputs
from .problem import Intercept, MarginProblem
from .small import SmallFit, is_small
from .truncated_newton import truncated_newton


def has_probabilities(model: Any) -> bool:
    """Whether a model has probabilities, or will have them once fitted; raises with a remedy if not."""
    if gives_probabilities(getattr(model, "decoder_", model.decoder)):
        return True
    if model._direct_probabilities() if hasattr(model, "status_") else model._is_log():
        return True
    raise AttributeError(
        "LinearSVC has predict_proba with loss='log' and one-vs-rest, or with a decoder that gives "
        f"probabilities, 'probabilistic' or 'coupling'; got loss={model.loss!r}, decoder={model.decoder!r}."
    )


SOLVERS = ("auto", "newton", "dual-cd", "truncated-newton")


class LinearSVC(CodedClassifier):
    """Soft-margin linear SVM, certified by its duality gap.

    For every column of the code, with targets y in {-1, +1}, it minimises

        1/2 ||w||^2 + C sum_i s_i loss(y_i (<w, x_i> + b))

    over w and b, where s_i is the sample's weight times its class's. The intercept b is not penalised, so
    with the hinge loss this is ``SVC(kernel="linear")``; ``penalize_intercept=True`` adds b^2/2, as
    scikit-learn's ``LinearSVC`` does. The squared hinge is ``max(0, 1 - m)^2 / 2``: scikit-learn's
    ``LinearSVC(C=c, loss="squared_hinge")``, which has no 1/2, is ``C=2*c`` here.

    **Precision.** ``dual_gap_`` is computed in double from the rows as given, float32 or float64, dense or
    CSR.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the losses against the norm.
    loss : {"hinge", "squared-hinge", "log"}, default="hinge"
        "log" is ``log(1 + exp(-m))``, which makes this logistic regression: scikit-learn's
        ``LogisticRegression(C=c)`` is ``C=c`` here. It comes with ``predict_proba``.
    fit_intercept : bool, default=True
    penalize_intercept : bool, default=False
    code : str or Code, default="one-vs-rest"
        How several classes become two-class problems: a ``Code``, or the name of a family in
        ``maxmargin.codes.CODES``.
    decoder : str or Decoder, default="auto"
        How the columns' outputs become class scores: margins for one-vs-rest, votes for one-vs-one.
    class_weight : dict or "balanced", optional
        Factors applied to the sample weights.
    solver : {"auto", "newton", "dual-cd", "truncated-newton"}, default="auto"
        "newton" takes few steps, each with a factorisation of order min(n_samples, n_features). "dual-cd"
        takes many cheap epochs and copies the rows; it has no log loss. "truncated-newton", for the squared
        hinge and the log loss, needs nothing but products with the rows. "auto" chooses "newton" up to order
        2000 (wide data with the squared hinge: 500 rows). Beyond that it chooses "truncated-newton" for the
        log loss, and for sparse data with at least as many rows as features and a large C or a ``tol`` of at
        most 1e-5, and "dual-cd" otherwise. ``solver_`` is the one that was used.
    tol : float, default=1e-4
        Bound on the relative duality gap ``(primal - dual) / max(|primal|, |dual|)``.
    max_iter : int, default=1000
        Newton steps or epochs, for each column.
    max_seconds : float, default=3600
        For the whole fit.
    n_jobs : int, optional
        Number of threads; None leaves the choice to the environment. It does not change the result.
    random_state : int, RandomState or None
        Determines the order of the coordinates in "dual-cd".

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns, n_features)
    intercept_ : ndarray of shape (n_columns,)
    classes_ : ndarray of shape (n_classes,)
    dual_gap_ : float
        The largest relative duality gap of a column; what rounding can do is added.
    objective_ : float
        The primal value, summed over the columns.
    status_ : str
        Why the fit stopped: "converged", or the worst status of a column.
    n_iter_ : int
    n_support_ : int
        Distinct rows with a dual coefficient in some column; after ``fit_blocks`` all such rows.
    n_passes_, n_rows_ : int
        After ``fit_blocks``: passes over the source, and its rows.
    history_ : list of tuple of Check
        The certificates of each column.
    solver_ : str
    code_ : Code
    decoder_ : Decoder
    n_features_in_ : int
    feature_names_in_ : ndarray, where X has names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> model = LinearSVC().fit(*load_iris(return_X_y=True))
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    """

    fit_blocks, _block_plan = fit_blocks, LinearPlan()

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0.0)
        check_choice("loss", self.loss, ("hinge", "squared-hinge", "log", "squared_hinge", "log_loss"))
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("penalize_intercept", self.penalize_intercept)
        check_choice("solver", self.solver, SOLVERS)
        if self.solver == "truncated-newton" and self.loss == "hinge":
            raise ValueError(
                "solver='truncated-newton' needs a loss with a curvature, loss='squared-hinge' or 'log'; got "
                "loss='hinge'. Use solver='auto', 'newton' or 'dual-cd'."
            )
        if self.solver == "dual-cd" and self._is_log():
            raise ValueError(
                "solver='dual-cd' needs loss='hinge' or 'squared-hinge'; got loss='log'. Use solver='auto', "
                "'newton' or 'truncated-newton'."
            )
        self._check_stopping()

    def _prepare(self, data: WeightedRows) -> None:
        check_costs(self.C, data.weight)
        check_scale(data.rows.X, data.rows.sqnorms(), self.C * float(data.weight.sum()))
        best = fastest_solver(data, self.C, loss_from_name(self.loss).name, self.tol)
        self.solver_ = best if self.solver == "auto" else self.solver

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> Sequence[SolverResult]:
        if self.fit_intercept and not self.penalize_intercept:
            data = replace(data, rows=near_origin(data.rows, data.weight))
        if self.solver_ == "dual-cd":  # once for all columns
            data = replace(data, rows=data.rows.compacted())
        if self.solver_ == "newton" and not self._is_log() and is_small(data):
            loss = loss_from_name(self.loss).name
            fit = SmallFit(data, self.C * data.weight, self.code_, loss, self._intercept())
            return fit.solve(stop, callback, n_threads)
        return super()._solve_all(data, stop, callback, n_threads)

    def _solve(
        self, data: WeightedRows, targets: np.ndarray, column: int, stop: Stop, callback: Callback | None
    ) -> SolverResult:
        problem = MarginProblem(
            data.rows, targets, self.C * data.weight, loss_from_name(self.loss), self._intercept()
        )
        if self.solver_ == "newton":
            return (log_newton if self._is_log() else newton)(problem, stop=stop, callback=callback)
        if self.solver_ == "truncated-newton":
            return truncated_newton(problem, stop=stop, callback=callback)
        return dual_cd(problem, stop=stop, seed=self._seed + column, callback=callback)

    def _is_log(self) -> bool:
        return loss_from_name(self.loss).name == "log"

    def _direct_probabilities(self) -> bool:
        """Whether the scores are log odds: the log loss, and each score the output of one column."""
        return self._is_log() and scores_are_outputs(self.code_, self.decoder_)

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    @np.errstate(under="ignore")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, whose argmax is ``predict``'s answer.

        With the log loss and one-vs-rest they are ``1 / (1 + exp(-f))``, divided by their sum for several
        classes. Otherwise a decoder must give them: "probabilistic" or "coupling".

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        if gives_probabilities(self.decoder_):
            return super().predict_proba(X)
        return log_odds_to_probabilities(self.decision_function(X))

    def _intercept(self) -> Intercept:
        if not self.fit_intercept:
            return "none"
        return "penalised" if self.penalize_intercept else "free"

    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        self.coef_ = np.vstack([result.coef for result in results])
        self.intercept_ = np.array([result.intercept for result in results])
        self.n_support_ = count_support(results, self.code_, data.labels)

    def _column_outputs(self, X: Any) -> np.ndarray:
        return linear_outputs(X, self.coef_, self.intercept_, self.n_jobs)
