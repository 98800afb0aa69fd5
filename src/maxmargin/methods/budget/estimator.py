"""``SparseKernelClassifier``: a kernel classifier with a hard budget of support vectors."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...base import KernelClassifier, learn_batch, with_callbacks
from ...calibration import CalibratedScores, log_odds_to_probabilities
from ...data import WeightedRows, check_number
from ...decoders import decision_values, gives_probabilities, scores_are_outputs
from ...losses import loss_from_name
from ...solving import Callback, SolverResult, Stop
from ..blocks import KernelPlan, fit_blocks
from .fit import BudgetFit, fit_batch, fit_rows
from .parameters import check_budget_parameters, has_probabilities
from .path import path_table, smallest_good_budget
from .problem import ALPHA_SEARCH, UntrainedOutputs
from .truncation import truncated


class SparseKernelClassifier(KernelClassifier):
    """Kernel classifier with at most ``budget`` support vectors, shared by all classes.

    For the columns t of its code, with targets y_it in {-1, 0, +1}, it minimises the sum over t of

        (1/n_t) sum_i w_i loss(y_it f_t(x_i)) + alpha/2 a_t' K_SS a_t,  f_t(x) = sum_{j in S} a_jt k(x, x_j),

    over the set S, of at most ``budget`` rows, and over the coefficients a. n_t is the weight of the rows
    that take part in column t. There is no intercept. S is found greedily: candidates are scored by the
    predicted decrease of the objective on a sample of the data, Newton's method keeps the coefficients at the
    optimum, and swaps improve a full set. ``dual_gap_`` certifies the coefficients for S, not S itself.

    **Precision.** ``dual_gap_`` holds for the rows as given, dense or CSR. Kernel values of float32 rows are
    in float32; what that can do, measured on a sample in double, is added to the gap, and where it would
    decide, the last refit (in ``fit_blocks`` the last pass) is in double. :meth:`as_published` is the method
    of the paper instead, S and a by stochastic gradient steps, which nothing certifies.

    Parameters
    ----------
    budget : int, default=100
        Support vectors in all, whatever the number of classes. Never exceeded.
    loss : {"squared-hinge", "log", "squared", "hinge", "ramp", "perceptron"}, default="squared-hinge"
        "ramp", the hinge cut off at the margin -1, is for wrong labels: a stationary point, with the gap of
        its last convex step. The optimum for "perceptron" is 0: it needs ``refit=None``.
    selection : {"gain", "random", "perceptron", "loss", "active", "loss-probabilistic"}, default="gain"
        Which candidates become support vectors: those with the largest predicted decrease of the objective;
        any; the first with a loss; the largest loss; the smallest ``|f|``; drawn in proportion to the losses.
        Only "gain" is followed by swaps, and it needs ``refit="newton"``.
    refit : {"newton", None}, default="newton"
        How coefficients are found: "newton" keeps them at the optimum for the support vectors, None takes
        gradient steps as published, without a certificate.
    back_fit : int, "n/B" or None, default=None
        With ``refit=None``, samples to back-fit with after each new support vector; "n/B" is the number of
        rows divided by the budget. With ``refit="newton"`` it must be None.
    n_candidates : int, default=60
        Rows drawn at random, from which a new support vector is selected.
    alpha : float or "auto", default="auto"
        The weight of the norm; C = 1 / (n alpha). "auto" takes the largest, of a warm-started grid, whose
        loss on held-out rows exceeds the least by at most one standard error of their difference, and none
        that the precision cannot certify. The last refit uses the held-out rows too.
    move_centers : bool, default=False
        Move the support vectors off the data to lower the objective further (RBF kernel). They are then
        prototypes instead of rows of X, and ``support_`` is None.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "polynomial", "rbf", "sigmoid", "laplacian", "exponential"; "precomputed" takes X as matrix
        between all training rows, and between new rows and all training rows at prediction; a callable
        ``k(X, Z)`` returns the matrix of kernel values; X and Z may be sequences of any objects.
    gamma : "median", "scale", "auto" or float, default="median"
        Of all kernels but the linear one. "median" is the median of one over the squared distance between two
        rows; the exponential kernel takes the root.
    degree : float, default=3
        Of the polynomial kernel.
    coef0 : float, default=0.0
        Of the polynomial and sigmoid kernels.
    code : str or Code, default="one-vs-rest"
        How several classes become two-class problems, the columns.
    decoder : str or Decoder, default="auto"
        How the columns' outputs become one score for each class.
    class_weight : dict or "balanced", optional
        Multiplies the sample weights; "balanced" gives every class the same total.
    validation_fraction : float, optional
        Share of the rows, between 0 and 1, that is held out. It gives ``budget_path_`` its scores, which
        :meth:`choose_budget` needs, chooses alpha where that is "auto", and ends the growth when the
        held-out loss has not fallen for two doublings of the budget.
    cache_mb : float, default=1024
        Limit, in MiB, on the memory for features, ``budget`` numbers a row. Working space comes on top:
        blocks of kernel values and matrices of order ``budget`` (at most about 400 MiB of these). Support
        vectors are chosen on a sample of at least ``budget`` rows. Where the features of all rows do not fit,
        the last refit computes those of the remaining rows in every pass.
    merge_duplicates : bool, default=True
        Merge equal (row, label) pairs, adding their weights.
    warm_start : bool, default=False
        Start from the support vectors of the last fit, for the same or a larger budget. Swaps may still
        replace them.
    tol : float, default=1e-3
        Bound on ``dual_gap_``.
    max_iter : int, default=10000
        Limit on rounds of growth and swaps, or with ``refit=None`` on steps of Algorithm 1.
    max_seconds : float, default=3600
        Time limit of a fit, checked between two rounds. A fit stopped by the limit warns; it has the support
        vectors found so far, with coefficients for the sample that they were chosen on, and no calibration.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    random_state : int, RandomState or None
        Seeds candidates, samples, and which rows are held out.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,) or None
        Rows of X, in the order in which they were chosen. None after ``partial_fit``, with moved centres, and
        after a warm start from support vectors that are not rows of this X.
    support_vectors_ : array of shape (n_support, n_features)
        Objects for a callable kernel on objects, column numbers for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_columns, n_support)
    intercept_ : ndarray of shape (n_columns,)
        Zeros.
    n_support_ : int
        At most ``budget``.
    alpha_, gamma_ : float
        The values used.
    alpha_search_ : dict of arrays
        Each "alpha" tried by ``alpha="auto"``: the "budget" so far, its held-out "loss", the
        "standard_error" of its difference to the best loss of that budget, and the "gap" of its fit.
    budget_path_ : dict of arrays
        "budget", "loss" (mean training loss, summed over the columns), "gap" (relative, of that model) and
        "score" (accuracy on the held-out rows; NaN without ``validation_fraction``) of the models with the
        first 1, 2, ..., 16, 20, 25, ... support vectors. Where X has many more rows than the budget, the path
        is that of a sample of them. With ``refit=None`` "loss" is that of the candidates when drawn.
    objective_ : float
        The value above, summed over the columns; with ``refit=None`` the last "loss".
    dual_gap_ : float
        Relative duality gap: no coefficients for these support vectors lower the objective by more than this
        share. Infinite with ``refit=None``.
    status_ : str
        "budget_full", or "no_loss_left" where fewer support vectors suffice; "stopped" by a callback.
        "stalled", "max_iter" and "time_limit" come with a warning, as does "diverged": with ``refit=None``,
        outputs on the training rows that are not finite, or a mean loss above that of zero coefficients. The
        model is then the best one of the path.
    n_iter_ : int
    history_ : list of one tuple of Check
        All columns together.
    calibrator_ : CalibratedScores or None
        Maps scores to probabilities.
    classes_, code_, decoder_, kernel_, n_features_in_

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from maxmargin import SparseKernelClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparseKernelClassifier(budget=60, random_state=0).fit(X, y)
    >>> model.n_support_, bool(model.dual_gap_ <= 1e-3), bool(model.score(X, y) > 0.97)
    (60, True, True)
    """

    fit_blocks, _block_plan = fit_blocks, KernelPlan()
    _swaps = True  # of support vectors, once the budget is full
    _remedy_for_overflow = "raise alpha"
    _remedy_for_divergence = "raise alpha, set back_fit='n/B', or set refit='newton'"

    def __init__(
        self,
        budget: int = 100,
        *,
        loss: str = "squared-hinge",
        selection: str = "gain",
        refit: str | None = "newton",
        back_fit: int | str | None = None,
        n_candidates: int = 60,
        alpha: float | str = "auto",
        move_centers: bool = False,
        kernel: Any = "rbf",
        gamma: Any = "median",
        degree: float = 3,
        coef0: float = 0.0,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        validation_fraction: float | None = None,
        cache_mb: float = 1024.0,
        merge_duplicates: bool = True,
        warm_start: bool = False,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.loss = loss
        self.selection = selection
        self.refit = refit
        self.back_fit = back_fit
        self.n_candidates = n_candidates
        self.alpha = alpha
        self.move_centers = move_centers
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.cache_mb = cache_mb
        self.merge_duplicates = merge_duplicates
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def as_published(cls, budget: int = 100, **parameters: Any) -> Self:
        """The method of Blondel, Seki and Uehara: Algorithms 1 and 2 as printed.

        Hinge loss, candidates drawn in proportion to their losses, n/B samples of back-fitting after each
        support vector, no refit, duplicates not merged. There is no certificate.

        ``alpha="auto"`` tries 1, 1e-1, 1e-2, ..., 1e-7, each times the mean of k(x, x), and takes the one
        with the best accuracy on a tenth of the rows: the largest of equals, and one that diverges only if
        all do. ``partial_fit`` has no rows to choose on: there it is 1e-4 times the mean of k(x, x) in the
        first batch.

        Parameters
        ----------
        budget : int, default=100
        **parameters
            Any of the constructor's; they override those of the paper.

        Returns
        -------
        SparseKernelClassifier
            Not fitted yet.
        """
        published: dict[str, Any] = {
            "loss": "hinge",
            "selection": "loss-probabilistic",
            "refit": None,
            "back_fit": "n/B",
            "merge_duplicates": False,
        }
        return cls(budget, **(published | parameters))

    def _check_parameters(self) -> None:
        check_budget_parameters(self, self._kernel_parameter())
        self._check_stopping()

    def _solve_all(
        self, data: WeightedRows, stop: Stop, callback: Callback | None, n_threads: int
    ) -> list[SolverResult]:
        return [fit_rows(self, data, stop, callback)]

    @with_callbacks  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch of a stream.

        The published method (``refit=None``) takes the rows in the order given. With ``back_fit="n/B"``, n
        counts the rows seen so far, and a batch back-fits as many samples as it has rows, so that a stream
        makes the steps of one fit however it is split. Otherwise the model is fitted again to a sample of the
        stream so far, this batch included.

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
    ) -> BudgetFit:
        return fit_batch(self, data, first, stop, callback)

    def _store(self, results: Any, data: WeightedRows) -> None:
        found = cast(BudgetFit, results[0])
        self._keep(found.support_vectors, found.coef, found.support_in_x)
        self.alpha_ = found.alpha
        self.alpha_search_ = dict(zip(ALPHA_SEARCH, found.alpha_search.T.copy(), strict=True))
        self.t_ = found.t
        self.budget_path_ = path_table(found.path)
        self._path_coef = {budget: point.coef for budget, point in found.path.items()}
        self._classes_of_coef = self.classes_
        self._training = found.memory
        self._calibrate(found.calibration, found.data)

    def _store_batch(self, result: SolverResult, data: WeightedRows, first: bool) -> None:
        self._store([result], data)

    def _calibrate(self, found: UntrainedOutputs | None, data: WeightedRows) -> None:
        """Calibrate probabilities on outputs for held-out rows, if there are any."""
        self.calibrator_ = None
        if found is None or self._direct_probabilities():
            return
        scores = decision_values(found.outputs, self.code_, self.decoder_)
        self.calibrator_ = CalibratedScores().fit(scores, data.labels[found.rows], data.weight[found.rows])

    def _direct_probabilities(self) -> bool:
        """Whether the scores are log odds: the log loss, and each score the output of one column."""
        return loss_from_name(self.loss).name == "log" and scores_are_outputs(self.code_, self.decoder_)

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    @np.errstate(under="ignore")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, whose argmax is ``predict``'s answer.

        With the log loss and one-vs-rest they are ``1 / (1 + exp(-f))``, divided by their sum for several
        classes. Otherwise they are calibrated on outputs for held-out rows, see
        :class:`~maxmargin.calibration.CalibratedScores`. A decoder with probabilities of its own, such as
        "probabilistic", gives those.

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
        scores = self.decision_function(X)
        if self.calibrator_ is not None:
            return np.asarray(self.calibrator_.predict_proba(scores))
        return log_odds_to_probabilities(scores)

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def truncate(self, budget: int, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """The model with the first ``budget`` support vectors, refitted for exactly that set.

        alpha does not change. A model fitted with that budget is usually better: its alpha and its support
        vectors are chosen for it. With ``refit=None`` the coefficients are those of the time when the budget
        was reached, stored for the budgets of ``budget_path_``.

        A refit needs the training data. The model refers to them unless it was pickled, copied or updated by
        ``partial_fit``; in these cases give X and y again.

        Parameters
        ----------
        budget : int
            At most ``n_support_``.
        X, y, sample_weight : optional
            The training data, where the model does not refer to them.

        Returns
        -------
        SparseKernelClassifier
            A fitted copy; this model does not change.
        """
        check_is_fitted(self)
        check_number("budget", budget, at_least=1, integer=True)
        if budget > self.n_support_:
            raise ValueError(f"budget={budget}, but this model has only {self.n_support_} support vectors.")
        return truncated(self, int(budget), X, y, sample_weight)

    def choose_budget(self, tolerance: float = 0.002) -> int:
        """The smallest budget of the path whose held-out score is within ``tolerance`` of the best.

        Parameters
        ----------
        tolerance : float, default=0.002
            In accuracy: 0.002 is a fifth of a percent of the held-out rows.

        Returns
        -------
        int
            A budget to give to :meth:`truncate`, or to a new fit.
        """
        check_is_fitted(self)
        check_number("tolerance", tolerance, at_least=0.0)
        return smallest_good_budget(self.budget_path_, tolerance)

    def __getstate__(self) -> Any:
        """The model without its training data."""
        state = super().__getstate__()
        if "_training" in state:
            state["_training"] = state["_training"].without_rows()
        return state
