"""``KernelSVR``: kernel regression with robust losses, one certified problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import r2_score

from ...base import ConformalIntervals, KernelMachine, fit_deadline, forget, kernel_data, linear_weights
from ...checkpoints import FitRecord
from ...data import WeightedRows, check_choice, check_costs, check_flag, check_grid, check_number
from ...kernels import KernelData
from ...solving import Callback, SolverResult, Stop
from ..kernel_svm import cache_megabytes, check_cache_mb, svm_path, working_sets
from .nu import solve_nu
from .problem import RegressionLoss, RegressionProblem, Targets
from .quantiles import check_quantiles, solve_in_turn

__all__ = ["REGRESSION_LOSSES", "KernelSVR"]

REGRESSION_LOSSES = {
    "epsilon-insensitive": "epsilon-insensitive",
    "epsilon_insensitive": "epsilon-insensitive",
    "squared-epsilon-insensitive": "squared-epsilon-insensitive",
    "squared_epsilon_insensitive": "squared-epsilon-insensitive",
    "pinball": "pinball",
    "huber": "huber",
}
MAX_ROWS_OF_CROSSINGS = 4096


class KernelSVR(ConformalIntervals, RegressorMixin, KernelMachine):  # type: ignore[misc]
    """Kernel support vector regression, certified by its duality gap.

    It minimises over f and b, with f(x) = sum_j a_j k(x, x_j) and weights s_i,

        1/2 ||f||^2 + C sum_i s_i loss(y_i - f(x_i) - b).

    The intercept is not penalised. The loss of a residual r is one of

        max(0, |r| - epsilon)                          "epsilon-insensitive", the problem of ``SVR``
        max(0, |r| - epsilon)^2 / 2                    "squared-epsilon-insensitive"
        max(quantile r, (quantile - 1) r)              "pinball", whose optimum is a conditional quantile
        r^2 / 2, from delta on delta (|r| - delta/2)   "huber"

    With ``nu``, epsilon is a variable too, and C nu sum_i s_i epsilon is added to the objective.

    The dual is solved by the working sets of :class:`KernelSVC`, with one variable for each row. Problems of
    up to 1,000 rows are solved to the precision of their kernel values.

    **Precision.** As in :class:`KernelSVC`: ``dual_gap_`` holds for the rows and targets as given, float32
    rows included.

    Parameters
    ----------
    C : float, default=1.0
    loss : str, default="epsilon-insensitive"
        "epsilon-insensitive", "squared-epsilon-insensitive", "pinball" or "huber".
    epsilon : float, default=0.1
        Residuals up to this size cost nothing. In units of y.
    nu : float, optional
        In (0, 1]: with "epsilon-insensitive", epsilon is found, not given (``NuSVR``). At the optimum at most
        this share of the rows (by weight) has residuals beyond it, and at least this share are support
        vectors; a fit is so close to that as ``tol`` demands.
    quantile : float, default=0.5
        Of the pinball loss, between 0 and 1.
    quantiles : sequence of float, optional
        Ascending; with "pinball", one problem each over the same kernel rows. ``predict`` then returns them
        as columns, sorted in each row, so that they do not cross.
    delta : float, default=1.0
        The residual at which the Huber loss becomes linear. In units of y.
    kernel, gamma, degree, coef0
        As in :class:`KernelSVC`.
    tol : float, default=1e-3
        Bound on the relative duality gap.
    max_iter : int, default=100000
        Rounds (one block each).
    max_seconds : float, default=3600.0
    cache_mb : float or "auto", default="auto"
        Memory for kernel rows. "auto" takes a quarter of the available memory, at most 1,000 MB.
    shrinking : bool, default=True
        Set settled rows aside, and start large problems on a subset of their rows.
    n_jobs : int, optional
        Number of threads; all cores by default. Results are bit-identical for any value.
    random_state : int, RandomState or None
        Used only by ``gamma="median"``; nothing else is random.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Rows of X with a non-zero coefficient.
    support_vectors_ : array of shape (n_support, n_features)
        For a precomputed kernel, the column indices.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        An output for each of the ``quantiles``, or one.
    intercept_ : ndarray of shape (n_outputs,)
    n_support_ : int
    objective_ : float
        The primal value, summed over the outputs.
    dual_gap_ : float
        The largest relative duality gap of an output.
    history_ : sequence of tuple of Check
        The certificates: bounds, KKT violation, kernel values computed, cache hit rate.
    status_ : str
        "converged", or why the fit stopped early.
    epsilon_ : float
        Only with ``nu``: the epsilon found.
    crossed_ : float
        Only with ``quantiles``: the share of training rows, by weight, whose predictions have to be sorted;
        on a sample of 4,096 rows if there are more.
    calibration_scores_ : ndarray
        Set by ``calibrate``.
    cache_mb_ : float
        The memory limit in effect.
    n_iter_, gamma_, kernel_, n_features_in_
        As in :class:`KernelSVC`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import KernelSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelSVR(C=1000, loss="pinball", quantile=0.9).fit(X, y)
    >>> model.status_, round(float((y <= model.predict(X)).mean()), 1)
    ('converged', 0.9)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "epsilon-insensitive",
        epsilon: float = 0.1,
        nu: float | None = None,
        quantile: float = 0.5,
        quantiles: Any = None,
        delta: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        max_seconds: float = 3600.0,
        cache_mb: Any = "auto",
        shrinking: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.epsilon = epsilon
        self.nu = nu
        self.quantile = quantile
        self.quantiles = quantiles
        self.delta = delta
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.cache_mb = cache_mb
        self.shrinking = shrinking
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0.0)
        check_choice("loss", self.loss, REGRESSION_LOSSES)
        check_number("epsilon", self.epsilon, at_least=0.0)
        check_number("delta", self.delta, above=0.0)
        if self.nu is not None:
            self._check_nu(self.nu)
        if self.quantiles is not None:
            check_quantiles(self.quantiles)
            if REGRESSION_LOSSES[self.loss] != "pinball":
                raise ValueError(f"quantiles are those of loss='pinball'; got loss={self.loss!r}.")
        check_number("quantile", self.quantile, above=0.0)
        if self.quantile >= 1.0:
            raise ValueError(f"quantile must be a number between 0 and 1; got {self.quantile!r}.")
        check_flag("shrinking", self.shrinking)
        check_cache_mb(self.cache_mb)
        self._kernel_parameter()
        self._check_stopping()

    def _check_nu(self, nu: float) -> None:
        check_number("nu", nu, above=0.0)
        if nu > 1.0:
            raise ValueError(f"nu must be None or a number > 0 and at most 1; got {nu!r}.")
        if REGRESSION_LOSSES[self.loss] != "epsilon-insensitive":
            raise ValueError(f"nu finds the epsilon of loss='epsilon-insensitive'; got loss={self.loss!r}.")

    def _read_machine(self, record: FitRecord) -> None:
        """Set ``cache_mb_``."""
        self.cache_mb_ = cache_megabytes(self.cache_mb, record)

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

    def _solve_all(
        self, kernel: KernelData, data: WeightedRows, stop: Stop, callback: Callback | None
    ) -> Sequence[SolverResult]:
        forget(self, "epsilon_", "crossed_", "calibration_scores_")
        targets = Targets.of(data.labels, data.weight)
        of = self._problems(kernel, targets, data)
        return [targets.as_given(found) for found in self._solutions(of, targets.unit, stop, callback)]

    def _problems(
        self, kernel: KernelData, targets: Targets, data: WeightedRows
    ) -> Callable[..., RegressionProblem]:
        """The problem of these rows, for the quantile given where there are several."""
        loss = RegressionLoss(REGRESSION_LOSSES[self.loss], self.epsilon, self.quantile, self.delta)
        return partial(loss.problem, kernel, targets, self.C, data.weight)

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> list[KernelSVR]:
        """Models for several values of C, each warm-started from the one before, with its cached kernel rows.

        Not for ``nu`` and ``quantiles``, which solve several problems for each C.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        Cs : array-like of shape (n_models,)
            Solved in this order; from small to large is fastest.

        Returns
        -------
        list of KernelSVR
            One fitted model per C. ``max_seconds`` limits the average time per model; this estimator itself
            is not fitted.
        """
        Cs = check_grid("Cs", Cs)
        if self.nu is not None or self.quantiles is not None:
            raise ValueError(
                f"path needs one problem for each C; got nu={self.nu!r} and quantiles={self.quantiles!r}. "
                "Set both to None, or fit the values of C separately."
            )
        common = clone(self).set_params(C=float(max(Cs)))
        with np.errstate(under="ignore"), fit_deadline(common, self.max_seconds * len(Cs)) as deadline:
            data = common._begin(X, y, sample_weight, FitRecord(), deadline)
            return common._path(Cs, data, common._stop(deadline))

    def _path(self, Cs: np.ndarray, data: WeightedRows, stop: Stop) -> list[KernelSVR]:
        """The models of :meth:`path`; the C of this one is the largest."""
        check_costs(float(Cs.min()), data.weight)
        targets = Targets.of(data.labels, data.weight)
        problem = self._problems(kernel_data(self.kernel_, data), targets, data)()
        found = svm_path(
            problem,
            [C / self.C for C in Cs],
            stop=stop,
            cache_bytes=int(self.cache_mb_ * 1e6),
            shrinking=self.shrinking,
        )
        models = []
        for C, result in zip(Cs, found, strict=True):
            model = copy(self).set_params(C=float(C))
            model._finish([targets.as_given(result)], data)
            models.append(model)
        return models

    def _solutions(
        self, of: Callable[..., RegressionProblem], unit: float, stop: Stop, callback: Callback | None
    ) -> list[SolverResult]:
        """The solutions in units of the scaled targets."""
        rules: dict[str, Any] = {"stop": stop, "cache_bytes": int(self.cache_mb_ * 1e6), "callback": callback}
        rules["shrinking"] = self.shrinking
        if self.quantiles is not None:
            return solve_in_turn([of(quantile=float(q)) for q in self.quantiles], **rules)
        problem = of()
        if self.nu is None:
            return [working_sets(problem, **rules)]
        found, epsilon = solve_nu(problem, self.nu * float(problem.cost.sum()), **rules)
        self.epsilon_ = epsilon * unit
        return [found]

    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        super()._store(results, data)
        if self.quantiles is not None:
            some = data.rows.index[:MAX_ROWS_OF_CROSSINGS]  # canonical rows are in random order
            crossed = (np.diff(self._column_outputs(data.rows.X[some]), axis=1) < 0.0).any(axis=1)
            self.crossed_ = float(np.average(crossed, weights=data.weight[: len(some)]))

    def predict(self, X: Any) -> np.ndarray:
        """The predicted targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            With ``quantiles``, of shape (n_samples, n_quantiles).
        """
        outputs = self._outputs(X)
        return np.asarray(outputs[:, 0] if self.quantiles is None else np.sort(outputs, axis=1))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the predictions, or of the quantile that is nearest to the median.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        found = self.predict(X)
        if self.quantiles is not None:
            found = found[:, int(np.argmin(np.abs(np.asarray(self.quantiles) - 0.5)))]
        return float(r2_score(y, found, sample_weight=sample_weight))

    def _ends(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        found = self.predict(X).reshape(-1, len(self.intercept_))
        return found[:, 0], found[:, -1]

    coef_ = property(linear_weights)
