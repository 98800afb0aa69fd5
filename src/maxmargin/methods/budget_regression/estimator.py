"""``SparseKernelRegressor``: kernel regression with a hard budget of support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from sklearn.base import RegressorMixin

from ...base import ConformalIntervals, KernelMachine, forget, linear_weights, r_squared
from ...data import WeightedRows, check_choice, check_number
from ...kernels import KernelData, points_of
from ...losses import Loss
from ...residual_losses import ERROR, Huber, NarrowHuber, Pinball, SquaredError
from ...solving import Callback, SolverResult, Stop
from ..budget import ALPHA_SEARCH, BudgetProblem, BudgetResult, GreedyOptions, greedy
from ..kernel_svr import Targets

__all__ = ["SparseKernelRegressor"]

BUDGET_LOSSES = {
    "squared": "squared",
    "squared_error": "squared",
    "huber": "huber",
    "pinball": "pinball",
}


MIN_DELTA = 0.05  # of a Huber loss, in units of the targets' size, that needs no wider twin


@dataclass(frozen=True)
class ScaledLoss:
    """A loss of targets divided by ``unit``, whose slopes are of the size 1, and what it is worth.

    The problem as given is ``height`` times that of the scaled targets with ``alpha unit^2 / height``.
    """

    loss: Loss
    share: float | None  # of the weight below the best constant: its quantile; None for the mean
    unit: float
    height: float

    @property
    def per_alpha(self) -> float:
        """The alpha given, times this, is that of the scaled problem."""
        return self.unit * self.unit / self.height


class SparseKernelRegressor(ConformalIntervals, RegressorMixin, KernelMachine):  # type: ignore[misc]
    """Kernel regression with at most ``budget`` support vectors.

    It minimises, over the set S of at most ``budget`` rows and over the coefficients a, with weights s_i of
    total W,

        (1/W) sum_i s_i loss(y_i - b - f(x_i)) + alpha/2 a' K_SS a,    f(x) = sum_{j in S} a_j k(x, x_j).

    b is the best constant: the mean of y for the squared loss, the median for "huber", the quantile for
    "pinball". It is fixed before a is found, as the classifier's is at 0. The loss of a residual r is one of

        r^2 / 2                                        "squared"
        r^2 / 2, from delta on delta (|r| - delta/2)   "huber"
        max(quantile r, (quantile - 1) r)              "pinball", whose optimum is a conditional quantile

    S is found as by :class:`SparseKernelClassifier`: greedily, by the predicted decrease of the objective on
    a sample of the data, with Newton's method for the coefficients, and swaps once the set is full. The
    pinball loss is smoothed while S is found; for the last refit the smoothing shrinks until the problem as
    stated is solved to ``tol``. ``dual_gap_`` certifies the coefficients for S, not S itself.

    **Precision.** As in :class:`SparseKernelClassifier`: ``dual_gap_`` holds for the rows as given; what the
    rounding of float32 kernel values can do is added to it.

    Parameters
    ----------
    budget : int, default=100
        Support vectors. Never exceeded.
    loss : {"squared", "huber", "pinball"}, default="squared"
    quantile : float, default=0.5
        Of the pinball loss, between 0 and 1.
    delta : float, default=1.0
        The residual at which the Huber loss becomes linear. In units of y.
    n_candidates : int, default=60
        Rows drawn at random, from which a new support vector is selected.
    alpha : float or "auto", default="auto"
        The weight of the norm; C = 1 / (W alpha). "auto" takes the largest, of a warm-started grid, whose
        loss on held-out rows exceeds the least by at most one standard error of their difference. The last
        refit uses the held-out rows too.
    kernel, gamma, degree, coef0
        As in :class:`SparseKernelClassifier`.
    cache_mb : float, default=1024
        Limit, in MiB, on the memory for features, ``budget`` numbers a row.
    tol : float, default=1e-3
        Bound on ``dual_gap_``.
    max_iter : int, default=10000
        Limit on rounds of growth and swaps.
    max_seconds : float, default=3600
        Time limit of a fit. A fit stopped by it warns; it has the support vectors found so far, with
        coefficients for the sample that they were chosen on.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    random_state : int, RandomState or None
        Seeds candidates and samples.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Rows of X, in the order in which they were chosen.
    support_vectors_ : array of shape (n_support, n_features)
        For a precomputed kernel, the column indices.
    dual_coef_ : ndarray of shape (1, n_support)
    intercept_ : ndarray of shape (1,)
        The b above.
    n_support_ : int
        At most ``budget``.
    alpha_, gamma_ : float
        The values used.
    alpha_search_ : dict of arrays
        Each "alpha" tried by ``alpha="auto"``: the "budget" so far, its held-out "loss", the
        "standard_error" of its difference to the best loss of that budget, and the "gap" of its fit.
    objective_ : float
        The value above.
    dual_gap_ : float
        Relative duality gap: no coefficients for these support vectors lower the objective by more than this
        share.
    history_ : list of one tuple of Check
    status_ : str
        "budget_full", or "no_loss_left" where fewer support vectors suffice; "stopped" by a callback.
        "stalled", "max_iter" and "time_limit" come with a warning.
    calibration_scores_ : ndarray
        Set by ``calibrate``.
    n_iter_, kernel_, n_features_in_

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from maxmargin import SparseKernelRegressor
    >>> X, y = make_friedman1(2000, random_state=0)
    >>> model = SparseKernelRegressor(budget=60, random_state=0).fit(X, y)
    >>> model.n_support_, bool(model.dual_gap_ <= 1e-3), bool(model.score(X, y) > 0.9)
    (60, True, True)
    """

    _remedy_for_overflow = _remedy_for_divergence = "raise alpha"

    def __init__(
        self,
        budget: int = 100,
        *,
        loss: str = "squared",
        quantile: float = 0.5,
        delta: float = 1.0,
        n_candidates: int = 60,
        alpha: float | str = "auto",
        kernel: Any = "rbf",
        gamma: Any = "median",
        degree: float = 3,
        coef0: float = 0.0,
        cache_mb: float = 1024.0,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.loss = loss
        self.quantile = quantile
        self.delta = delta
        self.n_candidates = n_candidates
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_mb = cache_mb
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("budget", self.budget, at_least=1, integer=True)
        check_choice("loss", self.loss, BUDGET_LOSSES)
        check_number("quantile", self.quantile, above=0.0)
        if self.quantile >= 1.0:
            raise ValueError(f"quantile must be a number between 0 and 1; got {self.quantile!r}.")
        check_number("delta", self.delta, above=0.0)
        check_number("n_candidates", self.n_candidates, at_least=1, integer=True)
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ("auto",))
        else:
            check_number("alpha", self.alpha, above=0.0)
        check_number("cache_mb", self.cache_mb, above=0.0)
        self._kernel_parameter()
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

    def _scaled_loss(self, unit: float) -> ScaledLoss:
        loss = BUDGET_LOSSES[self.loss]
        if loss == "squared":
            return ScaledLoss(SquaredError(), None, unit, unit * unit)
        if loss == "pinball":
            return ScaledLoss(Pinball(self.quantile), self.quantile, unit, unit)
        delta = self.delta / unit
        kind, scale = NarrowHuber if delta < MIN_DELTA else Huber, min(1.0, delta)
        return ScaledLoss(kind(delta, delta / scale), 0.5, unit, unit * scale * unit)

    def _solve_all(
        self, kernel: KernelData, data: WeightedRows, stop: Stop, callback: Callback | None
    ) -> Sequence[SolverResult]:
        forget(self, "calibration_scores_")
        targets = Targets.of(data.labels, data.weight, self._scaled_loss(1.0).share)
        scaled = self._scaled_loss(targets.unit)
        problem = BudgetProblem(
            kernel,
            targets.values[:, None],
            data.weight,
            scaled.loss,
            1.0 if self.alpha == "auto" else float(self.alpha) * scaled.per_alpha,
            argument=ERROR,
            unit=scaled.height,
        )
        options = GreedyOptions(
            self.budget,
            n_candidates=self.n_candidates,
            choose_alpha=self.alpha == "auto",
            cache_bytes=int(self.cache_mb * 2**20),
            path=False,
            calibrate=False,
        )
        found, _ = greedy(problem, options, stop=stop, seed=self._seed, callback=callback)
        given, height = found.alpha / scaled.per_alpha, scaled.height
        table = found.alpha_search * np.array([1.0, 1.0 / scaled.per_alpha, height, height, 1.0])
        return [replace(targets.as_given(found), alpha=given, alpha_search=table)]

    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        found = cast(BudgetResult, results[0])
        self.support_ = data.rows.index[found.support]
        self.n_support_ = len(self.support_)
        self.support_vectors_ = points_of(self.kernel_, data.rows.X, self.support_)
        self.dual_coef_ = np.ascontiguousarray(found.coef.T)
        self.intercept_ = np.array([found.intercept])
        self.alpha_ = found.alpha
        self.alpha_search_ = dict(zip(ALPHA_SEARCH, found.alpha_search.T.copy(), strict=True))

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

    def _ends(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        found = self.predict(X)
        return found, found

    score = r_squared
    coef_ = property(linear_weights)
