"""Regularisation and bandwidth chosen by cross-validation, with work shared along the grid."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, _num_samples, check_consistent_length, check_is_fitted

from ..base import forget
from ..data import (
    check_choice,
    check_flag,
    check_label_types,
    check_number,
    check_sample_weight,
    checked_input,
    numeric_targets,
)
from ..methods.kernel_svm import KernelSVC
from ..solving import Deadline, too_late
from .grid import RULES, Grid, chosen_point, grid_for, has_open_bandwidth
from .over_blocks import SearchesBlocks
from .regularization_path import final_estimator, fitted, start_in_search
from .search import FittedFolds, ScoreTable, is_at_most_one, search
from .shared_kernel import KernelFolds, can_share
from .splits import Split, median_of, splits_of

__all__ = ["PathCV", "chosen_model"]

REFIT_TIME_SHARE = 0.2  # of max_seconds


def transformed(estimator: Any, X: Any, y: np.ndarray) -> Any:
    """The rows that reach the last step of a pipeline fitted to them, or the rows themselves."""
    if not isinstance(estimator, Pipeline):
        return X
    if len(estimator.steps) > 1:
        X = clone(estimator[:-1]).fit_transform(X, y)
    return transformed(estimator.steps[-1][1], X, y)


def _where_the_model_has(name: str) -> Any:
    def check(search: PathCV) -> bool:
        model = getattr(search, "best_estimator_", None)
        return hasattr(search._new_estimator() if model is None else model, name)

    return available_if(check)


class PathCV(SearchesBlocks, BaseEstimator):  # type: ignore[misc]
    """An estimator whose regularisation, gamma and epsilon are chosen by cross-validation.

    Every point of the grid is scored on held-out folds, as in scikit-learn's ``GridSearchCV``; the names of
    the results are the same. Work is shared between points: on each fold, solutions are followed from strong
    to weak regularisation, each starting from the one before (see :func:`maxmargin.path`). A fold's model
    depends on the fold's own training rows only, but for the support vectors of :meth:`fit_blocks`.

    For :class:`KernelSVC` all folds share one kernel matrix. It is computed once for each gamma; for the
    "rbf" kernel, distances are computed once for all gammas. The matrix takes at most half of ``cache_mb``,
    and the folds' caches the other half. Each fold computes its own kernel rows where the matrix does not
    fit, where gammas are "fixed" and gamma is given by name, and for decoders that learn from the training
    rows. The fits of a fold of :class:`KernelSVR` share kernel rows along C.

    **Precision.** Certificates are those of the fitted estimators, made as their class states: that of the
    chosen one is in ``best_estimator_``, the largest of each point's in ``cv_results_["max_dual_gap"]``.
    Folds over a shared matrix are solved in one call, to about half of ``tol`` and not to rounding as small
    single fits are, where their problems have at most 2,048 rows of float64, the kernel is known to be
    positive, ``tol`` is above 1e-8, and ``cache_mb`` holds the call. What the call leaves is solved like a
    single fit with half of ``tol``, and all others like single fits. Where no coefficient is inside its
    bounds, an interval of intercepts may be optimal for the hinge: the call may take another of them.

    Parameters
    ----------
    estimator : estimator, optional
        Any classifier or regressor with a parameter C or alpha, or a pipeline around one; by default
        ``KernelSVC()``.
    Cs, alphas : array-like, optional
        Values of whichever parameter the estimator has. By default eight values of lambda between 1e-5 and
        1e2 in ``(1/n) sum loss + lambda/2 ||f||^2``: alpha is lambda, and ``C = 1 / (lambda n)`` with n the
        total weight of all rows.
    gammas : array-like or "fixed", optional
        By default the estimator's own gamma if that was set; else, for a kernel of a distance, five
        values around the median heuristic, a factor of 4 apart. In a pipeline the last step's gamma counts,
        and the heuristic looks at the rows as the other steps transform them. "fixed" keeps a gamma given by
        name, too.
    epsilons : array-like, optional
        Values of a regressor's epsilon; by default its own.
    cv : int, splitter or iterable of splits, default=5
        For a number, the rows of each class, or all rows of a regression, are dealt to the folds in turn.
        Equal rows stay together, and the folds do not depend on the order of the rows.
    scoring : str or callable, optional
        One of scikit-learn's scorers; by default the estimator's ``score``: one minus the 0-1 loss, or R^2.
    rule : {"best", "one-standard-error"}, default="best"
        "best" takes the point with the largest mean score, the first of several; "one-standard-error" takes
        the most regularised point with the same gamma and epsilon whose mean is within one standard error.
    eliminate : bool, default=False
        Skip the remaining folds of a point that could not be the best even with a score of 1 on all of them.
        The best point stays the same; ``cv_results_["eliminated"]`` marks the points skipped. It needs a
        score of at most 1, such as accuracy or R^2.
    refit : bool, default=True
        Fit the chosen point to all rows; ``predict`` needs it.
    max_seconds : float, optional
        For the whole search; None, the default, leaves the limits to the estimator. Every fold of every gamma
        has an equal share of the time, and the last refit a fifth of it. A fit that reaches its share ends
        with the status "time_limit" and a warning, and is scored as it is. Points that there was no time for
        have no score, as eliminated ones; ``TimeoutError`` is raised if no point has one on every fold.
    n_jobs : int, optional
        For :class:`KernelSVC`, the number of threads; all cores by default. For other estimators, the number
        of joblib workers, one fold each; one by default, and the estimator uses its own threads. Results do
        not depend on it.
    random_state : int, RandomState or None
        Seeds the sample of rows for the median heuristic, and an estimator whose ``random_state`` is None.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted to all rows with the chosen parameters; only with ``refit``.
    best_params_, best_score_, best_index_
        Parameters, mean score and position in ``cv_results_`` of the chosen point.
    cv_results_ : dict of arrays
        As in ``GridSearchCV``, in the order of ``ParameterGrid``, plus ``eliminated`` and ``max_dual_gap``,
        the largest gap over the folds. Scores skipped by elimination are nan.
    start_ : str
        What each model inherits from the one before: see :class:`maxmargin.selection.RegularizationPath`.
    n_splits_ : int
    scorer_, classes_, n_features_in_
        A search over a regressor has no ``classes_``.

    Notes
    -----
    The default gammas are computed from all rows, without their labels. For :class:`SparseKernelClassifier`
    support vectors are chosen anew for every point and fold, so the scores are those of ``GridSearchCV`` with
    the same splits; :func:`maxmargin.path` chooses them once. With ``gammas="fixed"``, a gamma
    given by name is computed from each fold's training rows. A fold whose training rows all belong to one
    class predicts that class. Where a loss leaves the intercept an interval, as "hinge" and "pinball" can,
    the scores may be those of another of its points. Eliminated points are not chosen by "one-standard-error"
    either.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import KernelSVC, PathCV
    >>> search = PathCV(KernelSVC(), Cs=[0.1, 1, 10], gammas=[0.1, 1]).fit(*load_iris(return_X_y=True))
    >>> sorted(search.best_params_), len(search.cv_results_["params"])
    (['C', 'gamma'], 6)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        Cs: Any = None,
        alphas: Any = None,
        gammas: Any = None,
        epsilons: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        rule: str = "best",
        eliminate: bool = False,
        refit: bool = True,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.alphas = alphas
        self.gammas = gammas
        self.epsilons = epsilons
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.eliminate = eliminate
        self.refit = refit
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ---- fitting ----

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Score every point of the grid, and fit the chosen one to all rows.

        Parameters
        ----------
        X, y
            Whatever the estimator takes.
        sample_weight : array-like of shape (n_samples,), optional
            Used in fits and scores: a weight of 2 is a row given twice, a weight of 0 a row left out.
        groups : array-like of shape (n_samples,), optional
            For a splitter that uses groups.

        Returns
        -------
        self
        """
        if hasattr(self.estimator, "passes_over"):  # an estimator of Dask collections
            return self._fit_collections(X, y, sample_weight, groups)
        forget(self, "best_params_")  # not fitted until this fit ends
        self._check_parameters()
        with Deadline(self._seconds) as deadline:
            return self._fit(X, y, sample_weight, groups, deadline)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, deadline: Deadline) -> Self:
        seed = int(check_random_state(self.random_state).randint(2**31))
        estimator, X = self._new_estimator(seed), checked_input(X)
        y, labels, weight = self._labelled(X, y, sample_weight)
        (X,) = indexable(X)
        grid = self._grid(estimator, X, y, labels, weight, seed)
        kernel_matrix = get_tags(estimator).input_tags.pairwise
        rows, stratified = None if kernel_matrix else X, is_classifier(estimator)
        splits = splits_of(self.cv, rows, y, labels, weight, groups, stratified)
        self.scorer_ = check_scoring(estimator, self.scoring)
        given = None if sample_weight is None else weight
        run = self._runner(estimator, X, y, given, splits, grid)
        with np.errstate(under="ignore"):
            table = search(grid, len(splits), run, self.eliminate, self._search_until(deadline))
        self._check_time(table, deadline)
        chosen = chosen_point(grid, table.scores, self.rule)
        forget(self, "best_estimator_")
        if self.refit:
            self._keep_best(self._refitted(estimator, grid, chosen, X, y, given))
        self._keep_results(table, grid, chosen, len(splits), start_in_search(estimator, grid.name))
        return self

    @property
    def _seconds(self) -> float:
        return np.inf if self.max_seconds is None else self.max_seconds

    def _search_until(self, deadline: Deadline) -> Deadline:
        return deadline.part(1.0 - REFIT_TIME_SHARE) if self.refit else deadline

    def _keep_results(self, table: ScoreTable, grid: Grid, chosen: int, n_splits: int, start: str) -> None:
        self.cv_results_ = table.results(grid)
        self.n_splits_, self.start_ = n_splits, start
        self.best_index_ = chosen
        self.best_score_ = float(self.cv_results_["mean_test_score"][chosen])
        self.best_params_ = grid.points[chosen]

    def _check_parameters(self) -> None:
        check_choice("rule", self.rule, RULES)
        check_flag("eliminate", self.eliminate)
        check_flag("refit", self.refit)
        if self.max_seconds is not None:
            check_number("max_seconds", self.max_seconds, above=0.0)
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(f"scoring must be one score: a name, a callable or None; got {self.scoring!r}.")
        if self.eliminate and not is_at_most_one(self.scoring):
            raise ValueError(
                f"eliminate needs a score of at most 1, such as scoring='accuracy'; got {self.scoring!r}. "
                "Set eliminate=False to score every point on every fold."
            )

    def _check_time(self, table: ScoreTable, deadline: Deadline) -> None:
        """Warn if there was no time to score some points on every fold; raise if that is so for all."""
        scored = np.isfinite(table.fit_seconds).all(axis=1)
        if scored.all() or not deadline.is_limited or (self.eliminate and not deadline.passed()):
            return
        if not scored.any():
            raise too_late(deadline, "PathCV to score a point of the grid on every fold")
        warnings.warn(
            f"PathCV stopped (time_limit) with {scored.sum()} of {len(scored)} points scored on every fold; "
            "raise max_seconds, or search fewer points.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _new_estimator(self, seed: int | None = None) -> Any:
        estimator = KernelSVC() if self.estimator is None else clone(self.estimator)
        if self.random_state is not None and estimator.get_params().get("random_state", 0) is None:
            estimator.set_params(random_state=seed)
        return estimator

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Labels as given, labels as numbers, and weights; sets ``classes_``. Or targets, twice."""
        if y is None:
            raise ValueError("PathCV requires y to be passed, but the target y is None.")
        regression = not is_classifier(self)
        if regression:
            y = numeric_targets(y)
        else:
            check_label_types(y)
        y = _check_y(y, y_numeric=regression, estimator=self)
        check_consistent_length(X, y)
        weight = check_sample_weight(sample_weight, _num_samples(y))
        if regression:
            forget(self, "classes_")
            return y, y.astype(np.float64), weight
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        counted = np.unique(labels[weight > 0.0])
        if len(counted) < 2:
            raise ValueError(
                "PathCV needs at least two classes, but y has only one class with a positive weight: "
                f"{self.classes_[counted].tolist()!r}."
            )
        return y, labels, weight

    def _grid(
        self, estimator: Any, X: Any, y: np.ndarray, labels: np.ndarray, weight: np.ndarray, seed: int
    ) -> Grid:
        median = None
        if self.gammas is None and has_open_bandwidth(final_estimator(estimator)):
            kept = np.flatnonzero(weight > 0.0)
            rows = transformed(estimator, _safe_indexing(X, kept), y[kept])
            median = median_of(rows, labels[kept], weight[kept], seed)
        return grid_for(
            estimator, self.Cs, self.alphas, self.gammas, float(weight.sum()), median, self.epsilons
        )

    def _runner(self, estimator: Any, X: Any, y: Any, weight: Any, splits: list[Split], grid: Grid) -> Any:
        """The function that scores folds: on one kernel matrix where possible, else by separate fits."""
        parts = (X, y, weight, splits, grid, self.scorer_, self.n_jobs)
        shared = start_in_search(estimator, grid.name) == "kernel-rows" and can_share(estimator, grid)
        if shared and self._asks_for_scores():
            folds = KernelFolds(clone(estimator), *parts)
            if folds.fits:
                return folds.run
        return FittedFolds(estimator, *parts).run

    def _asks_for_scores(self) -> bool:
        """Whether the scorer needs only predictions or decision values, no probabilities."""
        known = self.scoring is None or isinstance(self.scoring, str)
        return known and getattr(self.scorer_, "_response_method", "predict") != "predict_proba"

    def _refitted(self, estimator: Any, grid: Grid, chosen: int, X: Any, y: Any, weight: Any) -> Any:
        """The chosen point fitted to all rows."""
        return fitted(clone(estimator).set_params(**grid.points[chosen]), X, y, weight)

    def _keep_best(self, model: Any) -> None:
        self.best_estimator_ = model
        forget(self, "n_features_in_", "feature_names_in_")
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    # ---- prediction ----

    def _best(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"this search was fitted with refit=False, so it has no model; fit one with the parameters "
                f"{self.best_params_!r}, or search with refit=True."
            )
        return self.best_estimator_

    @_where_the_model_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the chosen model."""
        return np.asarray(self._best().decision_function(checked_input(X)))

    def predict(self, X: Any) -> np.ndarray:
        """The classes or the targets that the chosen model predicts."""
        return np.asarray(self._best().predict(checked_input(X)))

    @_where_the_model_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the chosen model."""
        return np.asarray(self._best().predict_proba(checked_input(X)))

    @_where_the_model_has("predict_log_proba")  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of ``predict_proba``."""
        return np.asarray(self._best().predict_log_proba(checked_input(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The chosen model's score, by ``scoring``."""
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.scorer_(self._best(), checked_input(X), y, **weighted))

    def __sklearn_is_fitted__(self) -> bool:
        """True between the end of a fit and the start of the next."""
        return hasattr(self, "best_params_")

    def __sklearn_tags__(self) -> Any:
        """The tags of the estimator: the search accepts the same input."""
        tags = super().__sklearn_tags__()
        inner = get_tags(KernelSVC() if self.estimator is None else self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "input_tags"):
            setattr(tags, name, getattr(inner, name))
        tags.target_tags.required = True
        return tags


def chosen_model(search: PathCV) -> Any:
    """The model that a search has fitted with the best parameters; an error if it was fitted without one."""
    return search._best()
