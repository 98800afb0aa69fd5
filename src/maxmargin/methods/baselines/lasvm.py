"""LaSVM: the 1-norm SVM with an intercept, sample by sample (Bordes, Ertekin, Weston & Bottou 2005).

Steps involve only the samples in the method's memory, and all kernel values between these are stored. Values
against new samples are computed for a block of them at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import KernelClassifier
from ...data import WeightedRows, check_choice, check_costs, check_flag, check_number
from ...solving import Callback, SolverResult, Stop
from ..kernel_svm import SvmProblem
from .lasvm_epochs import LasvmOptions, lasvm

__all__ = ["LaSVM", "LasvmOptions", "lasvm"]


class LaSVM(KernelClassifier):
    """The 1-norm SVM by LaSVM (Bordes, Ertekin, Weston & Bottou 2005), certified by its duality gap.

    For every column of the code, with targets y in {-1, +1}, it works on

        1/2 ||f||^2 + C sum_i s_i max(0, 1 - y_i (f(x_i) + b)),    f(x) = sum_j a_j k(x, x_j),

    over f and b, where s_i is the sample's weight times its class's: the problem of scikit-learn's ``SVC``.
    Samples come one at a time. PROCESS inserts one and takes a step in the dual with its most violating
    partner among the samples in memory; REPROCESS takes one with the most violating pair and drops samples
    that cannot become support vectors. One epoch gives nearly the SVM; epochs follow until the duality gap
    over all samples is at most ``tol``. All kernel values between the samples in memory are stored, about
    ``n_support_`` squared of them.

    **Precision.** ``dual_gap_`` holds for the rows as given, dense or CSR, and their kernel values in exact
    arithmetic: for float32 rows it includes what rounding can do, and a fit continues in double where that
    would decide its end, as in :class:`KernelSVC`.

    Parameters
    ----------
    C : float, default=1.0
    selection : {"random", "active", "gradient"}, default="random"
        Which of ``n_candidates`` samples is processed: any, the one with the smallest ``|f(x) + b|``, or the
        one with the smallest margin y (f(x) + b). An epoch visits the samples once, in groups of that size.
        "active" need not reach the optimum: a sample far on the wrong side is hardly ever chosen.
    n_candidates : int, default=50
        Ignored by "random", which processes every sample.
    finishing : bool, default=True
        End each epoch with REPROCESS until no pair of the samples in memory violates optimality by more than
        1e-3, a tenth of that in each later epoch.
    max_support : int, optional
        Stop before a column has more support vectors than this (``status_`` is then "budget_full").
    kernel, gamma, degree, coef0, code, decoder, class_weight
        As in :class:`KernelPerceptron`.
    tol : float, default=1e-3
        Bound on the relative duality gap. A certificate needs the kernel values between all samples and the
        support vectors.
    max_iter : int, default=20
        Epochs. 1 is the method of the paper, and a warning reports the remaining gap.
    max_seconds, n_jobs, random_state
        As in :class:`KernelPerceptron`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The rows in X with a coefficient in some column, class by class.
    support_vectors_ : array of shape (n_support, n_features)
    dual_coef_ : ndarray of shape (n_columns, n_support)
        0 where a column does not use a support vector.
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
        problem = SvmProblem(self._kernel_data(data), targets, self.C * data.weight)
        group = 1 if self.selection == "random" else self.n_candidates
        options = LasvmOptions(self.selection, group, self.finishing, self.max_support or 0)
        return lasvm(problem, options, stop=stop, seed=[self._seed, 2, column], callback=callback)

    def _store(self, results: Sequence[SolverResult], data: WeightedRows) -> None:
        coef = np.zeros((len(data.rows), len(results)))
        for column, result in enumerate(results):
            which, _ = self.code_.column(data.labels, column)
            coef[which, column] = result.coef
        support = np.flatnonzero((coef != 0.0).any(axis=1))
        points, rows = self._kernel_data(data).points(support), data.rows.index[support]
        self._keep(points, coef[support], rows, data.labels[support])
        self.intercept_ = np.array([result.intercept for result in results])
