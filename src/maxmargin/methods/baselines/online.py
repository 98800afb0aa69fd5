"""Online kernel classifiers: perceptrons, with and without a budget, and kernel Pegasos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from ...base import SUCCESS, KernelClassifier, learn_batch, with_callbacks
from ...data import WeightedRows, check_choice, check_number
from ...kernels import join_points, n_points
from ...losses import LOSSES, SKLEARN_NAMES, loss_from_name
from ...solving import Callback, Deadline, OwnRows, SolverResult, Status, Stop
from .online_epochs import OnlineProblem, OnlineResult, online, permutations, resumed, start, weighted_draws


class OnlineRule(NamedTuple):
    """What distinguishes the online methods; a budget of 0 means no budget."""

    loss: str
    alpha: float = 0.0
    budget: int = 0


class _OnlineClassifier(KernelClassifier):
    """Columns share one support set: a sample enters when some column's loss has a slope."""

    _success = (*SUCCESS, Status.MAX_ITER)  # the number of epochs is a choice, not a failure
    _remedy_for_overflow = "raise alpha and lower the weights"
    _remedy_for_divergence = "raise alpha, or raise max_iter"

    def _rule(self) -> OnlineRule:
        return OnlineRule("perceptron")

    def _stop(self, deadline: Deadline) -> Stop:
        return Stop(tol=0.0, max_iter=self.max_iter, deadline=deadline)

    def _check_parameters(self) -> None:
        self._check_kernel()
        check_number("max_iter", self.max_iter, at_least=1, integer=True)
        check_number("max_seconds", self.max_seconds, above=0.0)

    def _problem(self, data: WeightedRows, weight: np.ndarray, earlier: Any = None) -> OnlineProblem:
        rule, targets = self._rule(), self.code_.targets(data.labels).astype(np.float64)
        if rule.alpha == 0.0:
            _check_steps(data.rows.X, weight)
        n_pool = len(data.rows) + (0 if earlier is None else n_points(earlier))
        return OnlineProblem(
            self._kernel_data(data),
            targets,
            weight,
            loss_from_name(rule.loss),
            rule.alpha,
            min(rule.budget, n_pool),  # a larger budget has no effect
            earlier,
        )

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> list[SolverResult]:
        own_rows = None
        if self._rule().alpha > 0.0:
            order = weighted_draws(data.weight, [self._seed, 2])
            problem = self._problem(data, np.ones(len(data.rows)))
            own_rows = OwnRows.of(problem.targets, data.weight, problem.loss)
        else:
            order = permutations(len(data.rows), [self._seed, 2])
            problem = self._problem(data, data.weight)
        return [online(problem, order, stop=stop, seed=self._seed, own_rows=own_rows, callback=callback)]

    def _store(self, results: Sequence[Any], data: WeightedRows) -> None:
        support = results[0].support
        self._keep(self._kernel_data(data).points(support), results[0].coef, data.rows.index[support])
        self._memory = results[0].memory

    @with_callbacks  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch of a stream, row by row in the order given.

        After ``fit`` it continues from the fitted model. A gamma given by name is taken from the first batch.
        ``support_`` is None afterwards, because support vectors of earlier batches are not rows of this X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,)
            The classes of all batches. Needed in the first call, optional later.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        learn_batch(self, X, y, classes, sample_weight)
        return self

    def _learn_batch(
        self, data: WeightedRows, first: bool, stop: Stop, callback: Callback | None
    ) -> OnlineResult:
        budget = self._rule().budget
        if not first and 0 < budget < self.n_support_:
            raise ValueError(
                f"budget={budget} is less than the {self.n_support_} support vectors of the model so far; a "
                "budget cannot shrink within a stream: keep it, or call fit to start from scratch."
            )
        problem = self._problem(data, data.weight, None if first else self.support_vectors_)
        state = start(problem) if first else resumed(problem, self._memory)
        stop, rows = replace(stop, max_iter=1), np.arange(len(data.rows))
        own_rows = None
        if problem.alpha > 0.0:
            own_rows = OwnRows.of(problem.targets, data.weight, problem.loss, part_of_stream=True)
        return online(
            problem,
            lambda _: rows,
            stop=stop,
            seed=self._seed,
            own_rows=own_rows,
            state=state,
            callback=callback,
        )

    def _store_batch(self, result: Any, data: WeightedRows, first: bool) -> None:
        support, kernel = result.support, self._kernel_data(data)
        n_earlier = 0 if first else self.n_support_
        new = support >= n_earlier
        points = kernel.points(support[new] - n_earlier)
        if not first:
            joined = join_points(self.support_vectors_[support[~new]], points)
            points = joined[np.argsort(np.concatenate([np.flatnonzero(~new), np.flatnonzero(new)]))]
        self._keep(points, result.coef, None)
        self._memory = result.memory


def _check_steps(X: Any, weight: np.ndarray) -> None:
    """Raise if the weights, which are step lengths here, are beyond the range of float32 kernel values."""
    if X.dtype == np.float32 and not (weight.min() >= 1e-30 and weight.sum() <= 1e30):
        raise ValueError(
            "with X in float32 the weights (sample weights times class weights) must lie between 1e-30 and, "
            f"in all, 1e30; got weights from {weight.min():g} to {weight.max():g}. Divide them by a common "
            "factor."
        )


class KernelPerceptron(_OnlineClassifier):
    """The kernel perceptron (Aizerman, Braverman & Rozonoer 1964).

    For every column of the code, with targets y in {-1, +1}, samples come in random order, and one with

        y_i f(x_i) <= 0,    f(x) = sum_j a_j k(x, x_j),

    is an error: y_i times its weight is added to its a_i. The fit ends after an epoch without an error
    (``status_`` is "converged") or after ``max_iter`` epochs, which is not a failure: on data that f cannot
    separate there are always errors. Columns share their support vectors.

    **Precision.** Nothing is certified but that no training row is an error. Outputs are sums of kernel
    values in the precision of the rows, dense or CSR.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
    gamma : float or {"scale", "auto", "median"}, default="scale"
    degree : float, default=3
    coef0 : float, default=0.0
    code : str or Code, default="one-vs-rest"
    decoder : str or Decoder, default="auto"
    class_weight : dict or "balanced", optional
    max_iter : int, default=10
        Epochs.
    max_seconds : float, default=3600
    n_jobs : int, optional
        Threads; the result does not depend on it.
    random_state : int, RandomState or None
        The order of the samples.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,), or None after ``partial_fit``
        The support vectors' rows in X.
    support_vectors_ : array of shape (n_support, n_features)
    dual_coef_ : ndarray of shape (n_columns, n_support)
    intercept_ : ndarray of shape (n_columns,)
        Zeros.
    n_support_ : int
    gamma_ : float
    classes_ : ndarray of shape (n_classes,)
    objective_ : float
        The mean loss of the samples of the last epoch, each before its update, summed over the columns.
    dual_gap_ : float
        0 if the fit converged, else infinite: nothing is proved.
    status_ : str
        "converged", "max_iter", "time_limit" or "stopped"; "diverged", with a warning, where outputs on the
        training rows are not finite, or the objective of Pegasos is worse than that of zero coefficients:
        the model is then the best one that an epoch ended with.
    n_iter_ : int
        Epochs started.
    history_ : list of one tuple of Check
        All columns together.
    code_ : Code
    decoder_ : Decoder
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import KernelPerceptron
    >>> model = KernelPerceptron(random_state=0).fit(*load_iris(return_X_y=True))
    >>> bool(model.score(*load_iris(return_X_y=True)) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        max_iter: int = 10,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state


class BudgetPerceptron(_OnlineClassifier):
    """The kernel perceptron on a budget (Cavallanti, Cesa-Bianchi & Gentile 2007).

    A :class:`KernelPerceptron` in which, once the budget is full, a support vector drawn at random makes room
    for each new one. There are never more than ``budget`` in all: the columns of a code share them.

    **Precision.** As in :class:`KernelPerceptron`.

    Parameters
    ----------
    budget : int, default=100
        Support vectors, at most.
    kernel, gamma, degree, coef0, code, decoder, class_weight, max_iter, max_seconds, n_jobs
        As in :class:`KernelPerceptron`.
    random_state : int, RandomState or None
        The order of the samples, and which support vectors leave.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_support_, gamma_, classes_, objective_, dual_gap_, \
status_, n_iter_, history_, code_, decoder_, n_features_in_
        As in :class:`KernelPerceptron`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import BudgetPerceptron
    >>> model = BudgetPerceptron(budget=20, random_state=0).fit(*load_iris(return_X_y=True))
    >>> model.n_support_ <= 20
    True
    """

    def __init__(
        self,
        budget: int = 100,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        max_iter: int = 10,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("budget", self.budget, at_least=1, integer=True)

    def _rule(self) -> OnlineRule:
        return OnlineRule("perceptron", budget=self.budget)


class KernelPegasos(_OnlineClassifier):
    """Kernel Pegasos without a budget (Shalev-Shwartz, Singer, Srebro & Cotter 2011).

    For every column of the code, stochastic subgradient steps on

        (1/n) sum_i w_i loss(y_i f(x_i)) + alpha/2 ||f||^2,    f(x) = sum_j a_j k(x, x_j),

    in the RKHS: at step t, with a sample drawn in proportion to its weight and u = -y slope(y f(x)),
    ``f = (1 - eta alpha) f + eta u k(x, .)``, eta = 1/(alpha t). An epoch is n draws in random order, each
    sample once where weights are equal. For the squared losses, whose slopes have no bound, t starts at
    ``max_i k(x_i, x_i) / alpha``. In ``partial_fit``, which draws nothing, a row of weight w takes a step of
    w times the length and advances t by w.

    **Precision.** Nothing is certified: ``dual_gap_`` is infinite. Outputs are sums of kernel values in the
    precision of the rows, dense or CSR.

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the penalty; C = 1/(n alpha).
    loss : {"hinge", "squared-hinge", "log", "squared", "perceptron"}, default="hinge"
    kernel, gamma, degree, coef0, code, decoder, class_weight
        As in :class:`KernelPerceptron`.
    max_iter : int, default=5
        Epochs, after which the fit normally ends.
    max_seconds, n_jobs, random_state
        As in :class:`KernelPerceptron`.

    Attributes
    ----------
    objective_ : float
        The mean loss of the samples of the last epoch, each before its update, plus the penalty of the final
        f; summed over the columns.
    dual_gap_ : float
        Infinite: nothing is proved.
    support_, support_vectors_, dual_coef_, intercept_, n_support_, gamma_, classes_, status_, n_iter_, \
history_, code_, decoder_, n_features_in_
        As in :class:`KernelPerceptron`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import KernelPegasos
    >>> model = KernelPegasos(random_state=0).fit(*load_iris(return_X_y=True))
    >>> model.score(*load_iris(return_X_y=True)) > 0.9
    True
    """

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: str = "hinge",
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        max_iter: int = 5,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("alpha", self.alpha, above=0.0)
        check_choice("loss", self.loss, (*LOSSES, *SKLEARN_NAMES))

    def _rule(self) -> OnlineRule:
        return OnlineRule(self.loss, self.alpha)
