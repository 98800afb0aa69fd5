"""Baselines for budgeted methods that see all the data: LaSVM and kernel matching pursuit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import KernelClassifier
from ...data import (
    WeightedRows,
    check_choice,
    check_costs,
    check_flag,
    check_number,
)
from ...solving import Callback, SolverResult, Stop
from .lasvm import LasvmProblem, Recipe, lasvm
from .matching_pursuit import PursuitProblem, matching_pursuit


class LaSVM(KernelClassifier):
    """The 1-norm SVM by LaSVM (Bordes, Ertekin, Weston & Bottou 2005), certified by its duality gap.

    For every column of the code, with targets y in {-1, +1}, it works on

        1/2 ||f||^2 + C sum_i s_i max(0, 1 - y_i (f(x_i) + b)),    f(x) = sum_j a_j k(x, x_j),

    over f and b, where s_i is the sample's weight times its class's: the problem of scikit-learn's ``SVC``.
    Samples come one at a time. PROCESS inserts one and takes a step in the dual with its most violating
    partner among the samples held; REPROCESS takes one with the most violating pair and drops samples that
    cannot become support vectors. One epoch gives nearly the SVM; epochs follow until the duality gap over
    all samples is at most ``tol``. All kernel values between the samples held are kept, about ``n_support_``
    squared of them.

    Parameters
    ----------
    C : float, default=1.0
    selection : {"random", "active", "gradient"}, default="random"
        Which of ``n_candidates`` samples is processed: any, the one with the smallest |f(x) + b|, or the one
        with the smallest margin y (f(x) + b). An epoch goes once through the samples, in groups of so many.
        "active" need not come to the optimum: a sample far on the wrong side is hardly ever chosen.
    n_candidates : int, default=50
        Without effect on "random", which processes every sample.
    finishing : bool, default=True
        End each epoch with REPROCESS until no pair of the samples held violates optimality by more than
        1e-3, in later epochs a tenth of that each.
    max_support : int, optional
        Stop before a column has more support vectors than this (``status_`` is then "budget_full").
    kernel, gamma, degree, coef0, code, decoder, class_weight
        As in :class:`KernelPerceptron`.
    tol : float, default=1e-3
        Bound on the relative duality gap. A certificate costs the kernel values between all samples and the
        support vectors.
    max_iter : int, default=20
        Epochs. With 1 it is the method of the paper, and a warning tells the gap that it leaves.
    max_seconds, n_jobs, random_state
        As in :class:`KernelPerceptron`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The rows in X with a coefficient in some column, class by class.
    support_vectors_ : array of shape (n_support, n_features)
    dual_coef_ : ndarray of shape (n_columns, n_support)
        0 where a column does not use a support vector of another.
    intercept_ : ndarray of shape (n_columns,)
    objective_ : float
        The primal value, summed over the columns.
    dual_gap_ : float
        The largest relative duality gap of a column.
    history_ : list of tuple of Check
        The certificates of each column.
    n_support_, gamma_, classes_, status_, n_iter_, code_, decoder_, n_features_in_
        As in :class:`KernelPerceptron`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LaSVM
    >>> model = LaSVM(random_state=0).fit(*load_iris(return_X_y=True))
    >>> bool(model.dual_gap_ <= 1e-3)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        selection: str = "random",
        n_candidates: int = 50,
        finishing: bool = True,
        max_support: int | None = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 20,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.selection = selection
        self.n_candidates = n_candidates
        self.finishing = finishing
        self.max_support = max_support
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0.0)
        check_choice("selection", self.selection, ("random", "active", "gradient"))
        check_number("n_candidates", self.n_candidates, at_least=1, integer=True)
        check_flag("finishing", self.finishing)
        if self.max_support is not None:
            check_number("max_support", self.max_support, at_least=2, integer=True)
        self._check_kernel()
        self._check_stopping()

    def _prepare(self, data: WeightedRows) -> None:
        check_costs(self.C, data.weight)
        super()._prepare(data)

    def _solve(
        self, data: WeightedRows, targets: np.ndarray, column: int, stop: Stop, callback: Callback | None
    ) -> SolverResult:
        problem = LasvmProblem(self._kernel_data(data), targets, self.C * data.weight)
        group = 1 if self.selection == "random" else self.n_candidates
        recipe = Recipe(self.selection, group, self.finishing, self.max_support or 0)
        return lasvm(problem, recipe, stop=stop, seed=[self._seed, 2, column], callback=callback)

    def _store(self, results: list[SolverResult], data: WeightedRows) -> None:
        coef = np.zeros((len(data.rows), len(results)))
        for column, result in enumerate(results):
            which, _ = self.code_.column(data.labels, column)
            coef[which, column] = result.coef
        support = np.flatnonzero((coef != 0.0).any(axis=1))
        points, rows = self._kernel_data(data).points(support), data.rows.index[support]
        self._keep(points, coef[support], rows, data.labels[support])
        self.intercept_ = np.array([result.intercept for result in results])


class KernelMatchingPursuit(KernelClassifier):
    """Kernel matching pursuit with back-fitting (Vincent & Bengio 2002).

    Support vectors are added one by one, each time the one that most decreases the sum over the columns t of

        (1/n_t) sum_i w_i (y_it - f_t(x_i))^2 / 2 + alpha/2 ||a_t||^2,    f_t(x) = sum_j a_jt k(x, x_j),

    over all samples, and all coefficients are fitted again. Columns share the support vectors, so there are
    never more than ``budget`` in all. There is no intercept. A step costs kernel values between all samples
    and all candidates; the samples' part of the basis takes n_samples times budget numbers.

    Parameters
    ----------
    budget : int, default=100
        Support vectors, at most.
    n_candidates : int, optional
        At each step so many rows, drawn at random, are tried; None tries all of them. 59 find one of the best
        twentieth with probability 0.95, at a small part of the cost.
    pre_fit : bool, default=True
        Compare candidates by the objective after all coefficients are fitted again (the authors'
        "pre-fitting"). False compares what their own coefficients gain, and fits again afterwards
        ("back-fitting").
    alpha : float, default=1e-6
        A small one keeps coefficients moderate where columns of the kernel matrix are nearly dependent, and
        lets weights matter where the budget would do to fit every sample. 0 is the method of the paper.
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
        Infinite: that the rows are the best is not proved.
    status_ : str
        "budget_full"; "no_loss_left" where fewer do as well; "time_limit" or "stopped".
    n_iter_ : int
        Steps.
    support_vectors_, dual_coef_, intercept_, n_support_, gamma_, classes_, history_, code_, decoder_, \
n_features_in_
        As in :class:`KernelPerceptron`.
    """

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

    def _stop(self) -> Stop:
        return Stop(tol=0.0, max_iter=self.budget, max_seconds=self.max_seconds)

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

    def _store(self, results: list[Any], data: WeightedRows) -> None:
        support = results[0].support
        self._keep(self._kernel_data(data).points(support), results[0].coef, data.rows.index[support])
