"""``LinearSVR``: linear regression with robust losses, one certified problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from ...base import CertifiedMachine, ConformalIntervals, forget, r_squared
from ...data import (
    WeightedRows,
    check_choice,
    check_costs,
    check_flag,
    check_number,
    check_scale,
    near_origin,
)
from ...solving import Callback, Check, SolverResult, State, Stop
from ..kernel_svr import REGRESSION_LOSSES, RegressionLoss, Targets
from ..linear import (
    MAX_WIDE_NEWTON_ROWS,
    SECOND_ORDER_TOL,
    SOLVERS,
    Intercept,
    dual_cd,
    fastest_solver,
    linear_outputs,
    newton,
    truncated_newton,
)
from .problem import SidesProblem, in_given_units, sides_of, without_losses

__all__ = ["LinearSVR"]

LIKE_CLASSIFICATION = {  # the loss of which the two sides of a residual are
    "epsilon-insensitive": "hinge",
    "squared-epsilon-insensitive": "squared-hinge",
    "pinball": "hinge",
    "huber": "smoothed-hinge",
}
MAX_COUPLING = 5.0  # to which a few hundred epochs suffice, even where all rows are alike


class LinearSVR(ConformalIntervals, RegressorMixin, CertifiedMachine):  # type: ignore[misc]
    """Linear support vector regression, certified by its duality gap.

    It minimises over w and b, with weights s_i,

        1/2 ||w||^2 + C sum_i s_i loss(y_i - <w, x_i> - b).

    The intercept is not penalised; ``penalize_intercept=True`` adds b^2/2, as scikit-learn's ``LinearSVR``
    does. The loss of a residual r is one of

        max(0, |r| - epsilon)                          "epsilon-insensitive"
        max(0, |r| - epsilon)^2 / 2                    "squared-epsilon-insensitive"
        max(quantile r, (quantile - 1) r)              "pinball", whose optimum is a conditional quantile
        r^2 / 2, from delta on delta (|r| - delta/2)   "huber"

    as in :class:`KernelSVR`, which with a linear kernel solves the same problem. scikit-learn's squared loss
    has no 1/2: its C is 2 C here. The solvers are those of :class:`LinearSVC`.

    **Precision.** ``dual_gap_`` is computed in double from the rows and targets as given, float32 or float64,
    dense or CSR.

    Parameters
    ----------
    C : float, default=1.0
    loss : str, default="epsilon-insensitive"
        "epsilon-insensitive", "squared-epsilon-insensitive", "pinball" or "huber".
    epsilon : float, default=0.1
        Residuals up to this size cost nothing. In units of y.
    quantile : float, default=0.5
        Of the pinball loss, between 0 and 1.
    delta : float, default=1.0
        The residual at which the Huber loss becomes linear. In units of y.
    fit_intercept : bool, default=True
    penalize_intercept : bool, default=False
    solver : {"auto", "newton", "dual-cd", "truncated-newton"}, default="auto"
        "newton" takes few steps, each with a factorisation of order min(n_samples, n_features). "dual-cd"
        takes many cheap epochs; it has no Huber loss. "truncated-newton", for the squared and the Huber loss,
        needs nothing but products with the rows. "auto" chooses as :class:`LinearSVC` does, and takes
        "dual-cd" for more features than rows where C is small. ``solver_`` is the one that was used.
    tol : float, default=1e-4
        Bound on the relative duality gap.
    max_iter : int, default=1000
        Newton steps or epochs.
    max_seconds : float, default=3600.0
    n_jobs : int, optional
        Number of threads; None leaves the choice to the environment. It does not change the result.
    random_state : int, RandomState or None
        Determines the order of the coordinates in "dual-cd".

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    n_support_ : int
        Distinct (row, target) pairs with a dual coefficient.
    objective_ : float
        The primal value.
    dual_gap_ : float
        The relative duality gap; what rounding can do is added.
    history_ : sequence of tuple of Check
        One tuple: the certificates.
    status_ : str
        "converged", or why the fit stopped early.
    n_iter_ : int
    solver_ : str
    calibration_scores_ : ndarray
        Set by ``calibrate``.
    n_features_in_ : int
    feature_names_in_ : ndarray, where X has names

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(C=1000, loss="pinball", quantile=0.9).fit(X, y)
    >>> model.status_, round(float((y <= model.predict(X)).mean()), 1)
    ('converged', 0.9)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "epsilon-insensitive",
        epsilon: float = 0.1,
        quantile: float = 0.5,
        delta: float = 1.0,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.epsilon = epsilon
        self.quantile = quantile
        self.delta = delta
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0.0)
        check_choice("loss", self.loss, REGRESSION_LOSSES)
        check_number("epsilon", self.epsilon, at_least=0.0)
        check_number("delta", self.delta, above=0.0)
        check_number("quantile", self.quantile, above=0.0)
        if self.quantile >= 1.0:
            raise ValueError(f"quantile must be a number between 0 and 1; got {self.quantile!r}.")
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("penalize_intercept", self.penalize_intercept)
        check_choice("solver", self.solver, SOLVERS)
        kind = LIKE_CLASSIFICATION[REGRESSION_LOSSES[self.loss]]
        if self.solver == "truncated-newton" and kind == "hinge":
            raise ValueError(
                "solver='truncated-newton' needs a loss with a curvature, loss='squared-epsilon-insensitive' "
                f"or 'huber'; got loss={self.loss!r}. Use solver='auto', 'newton' or 'dual-cd'."
            )
        if self.solver == "dual-cd" and kind == "smoothed-hinge":
            raise ValueError(
                "solver='dual-cd' has no Huber loss; got loss='huber'. Use solver='auto', 'newton' or "
                "'truncated-newton'."
            )
        self._check_stopping()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the regressor.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            float32 and float64 are used without a copy; anything else is converted to float64.
        y : array-like of shape (n_samples,)
            Real targets.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 equals repeating the row, a weight of 0 omitting it.

        Returns
        -------
        self
        """
        return self._fit_to(X, y, sample_weight)

    def _prepare(self, data: WeightedRows) -> None:
        forget(self, "calibration_scores_")
        check_costs(self.C, data.weight)
        check_scale(data.rows.X, data.rows.sqnorms(), self.C * float(data.weight.sum()))

    def _results(self, data: WeightedRows, stop: Stop, callback: Callback | None) -> Sequence[SolverResult]:
        intercept: Intercept = "penalised" if self.penalize_intercept else "free"
        intercept = intercept if self.fit_intercept else "none"
        targets = Targets.of(data.labels, data.weight, centred=intercept == "free")
        loss = RegressionLoss(REGRESSION_LOSSES[self.loss], self.epsilon, self.quantile, self.delta)
        rows = near_origin(data.rows, data.weight) if intercept == "free" else data.rows
        of_targets = loss.problem(None, targets, self.C, data.weight)
        problem = sides_of(rows, data.labels, of_targets, targets, intercept)
        unit = targets.unit**2
        self.solver_ = self._fastest(problem, data) if self.solver == "auto" else self.solver

        def tell(check: Check, state: State) -> bool:
            return callback is not None and bool(callback(in_given_units(check, unit), state))

        found = self._solved(problem, stop, None if callback is None else tell)
        return [
            replace(
                found,
                coef=found.coef * targets.unit,
                intercept=targets.given(found.intercept),
                history=tuple(in_given_units(check, unit) for check in found.history),
            )
        ]

    def _fastest(self, problem: SidesProblem, data: WeightedRows) -> str:
        """The choice of ``LinearSVC``, but coordinate descent for wide rows that hardly share a residual."""
        kind, tol = LIKE_CLASSIFICATION[REGRESSION_LOSSES[self.loss]], self.tol
        wide = MAX_WIDE_NEWTON_ROWS < len(data.rows) < data.rows.n_features
        if kind == "hinge" and wide and tol > SECOND_ORDER_TOL and problem.coupling <= MAX_COUPLING:
            return "dual-cd"
        return fastest_solver(data, self.C, kind, tol)

    def _solved(self, problem: SidesProblem, stop: Stop, callback: Callback | None) -> SolverResult:
        """The solution in units of the scaled targets."""
        if problem.tiny == 0.0:
            return without_losses(problem, stop=stop, callback=callback)
        if self.solver_ == "dual-cd" and problem.loss.name != "smoothed-hinge":
            return dual_cd(problem, stop=stop, seed=self._seed, callback=callback)
        if self.solver_ == "truncated-newton":
            return truncated_newton(problem, stop=stop, callback=callback)
        return newton.newton(problem, stop=stop, callback=callback)

    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        found = results[0]
        self.coef_, self.intercept_ = found.coef, np.array([found.intercept])
        sides = np.zeros((1, 2)) if found.dual_coef is None else found.dual_coef.reshape(-1, 2)
        self.n_support_ = int(np.count_nonzero(sides.sum(axis=1)))

    def predict(self, X: Any) -> np.ndarray:
        """The predicted targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.asarray(self._outputs(X)[:, 0])

    def _column_outputs(self, X: Any) -> np.ndarray:
        return linear_outputs(X, self.coef_[None, :], self.intercept_, self.n_jobs)

    def _ends(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        found = self.predict(X)
        return found, found

    score = r_squared
