"""``AutoSVC``, the classifier that chooses its kernel, parameters and scaling."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._native import effective_n_threads
from ..base import forget, labelled
from ..checkpoints import Checkpoint, FitRecord, data_identity, fit_record, parameter_identity, set_checkpoint
from ..data import (
    WeightedRows,
    apart_by_folds,
    canonical,
    check_choice,
    check_folds,
    check_label_types,
    check_number,
    check_rows,
    given_folds,
    is_number,
    stratified_folds,
    validate_rows,
)
from ..solving import Deadline, Status, ended_in_time
from ..table import TablePreparation, is_plain_matrix
from .candidates import Candidate, Trial, candidates_for
from .chosen import ChosenModel
from .column_groups import check_column_groups, grouped_positions
from .cost import OPERATIONS_PER_SECOND, affordable_budget, shape_of
from .folds import Sample, median_gammas
from .metric import METRICS, metric_on_all_rows
from .over_blocks import FitsBlocks, block_candidates
from .refine import Refined, refine
from .refit import refitted
from .repeats import observations, spread
from .scaling import scalings
from .search import Found, Search

__all__ = ["AutoSVC"]

SEARCH_TIME_SHARE = 0.6  # of max_seconds; the fit to all rows has the rest
FIT_OPERATIONS_SHARE = 0.4  # of what max_seconds has room for, that an exact fit to all rows may take
SEARCH_OPERATIONS_SHARE = 0.3  # of what max_seconds has room for by the cost model: predictions may be off


class AutoSVC(FitsBlocks, ChosenModel, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A max-margin classifier that chooses its kernel, its parameters and the scaling of its columns.

    Candidates are linear SVMs and rbf, exponential and laplacian kernel SVMs, one-vs-one and one-vs-rest,
    each over a grid of C and gamma; with ``budget``, or where an exact fit would take too long, kernel
    classifiers with few support vectors. Each is scored on held-out rows. Of all that are within one standard
    error of the paired differences to the best, the simplest is chosen and fitted to all rows. Where held-out
    rows look wrongly labelled (a margin below -1), the ramp loss is tried on the chosen kernel model.

    Columns need no preparation: they are centred and scaled, and heavy-tailed ones may be bent by a logarithm
    (sparse ones are divided by their largest value, without centring). Data frames with categories or missing
    values go through a :class:`~maxmargin.table.TablePreparation` first.

    **Precision.** ``dual_gap_`` is that of ``estimator_`` for the scaled columns, dense or CSR. They have the
    precision of the rows, float64 for a data frame; the class of ``estimator_`` states how it is computed.

    Parameters
    ----------
    max_seconds : float, default=60.0
        Decides, by predicted operations, how many rows and candidates are compared; and ends a fit that takes
        longer, with the status "time_limit".
    budget : int, optional
        At most so many support vectors.
    learn_metric : {"auto", "diagonal", "full"} or None, default="auto"
        Scale the columns of a chosen kernel model by the root of the average squared gradient of its decision
        function and fit again, if the held-out loss falls by more than a standard error. "full" also tries
        the root of the whole average outer product of gradients, which combines columns. None: never.
    scoring : str or callable, optional
        One of scikit-learn's scorers; by default the 0-1 error, with the log loss as tie-break.
    cv : int, splitter or iterable of splits, default=5
        Folds; every row must be held out exactly once.
    column_groups : list of lists of str or int, optional
        Groups of columns, by name or position; columns of no group form one more. A weighted sum of kernels,
        one a group, is tried in place of the one kernel of all columns, and taken if the held-out loss falls
        by more than a standard error. The weights are equal unless others lower the loss by more than that.
    class_weight : dict or "balanced", optional
    n_jobs : int, optional
        Number of threads; all cores by default. Results are bit-identical for any value.
    random_state : int, RandomState or None
        Seeds samples of rows.

    Attributes
    ----------
    table_ : TablePreparation or None
        How a data frame becomes a matrix, if it has categories or missing values.
    estimator_ : LinearSVC, KernelSVC or SparseKernelClassifier
        The chosen model, fitted to all rows.
    candidates_ : dict of lists
        One entry for each candidate: ``pandas.DataFrame(model.candidates_)`` is a table.
    choice_ : str
        What was chosen, over what, and why.
    status_ : str
        That of ``estimator_``, or "time_limit" if there was no time for some candidates.
    group_weights_ : ndarray or None
        Weights of the kernels of ``column_groups``, in their order, sum 1; a group whose rows are all equal
        has 0. None where one kernel of all columns was chosen.
    dual_gap_, objective_, history_, n_support_, n_iter_
        Those of ``estimator_``.
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import AutoSVC
    >>> model = AutoSVC(random_state=0).fit(*load_iris(return_X_y=True))
    >>> model.status_, model.predict_proba([[5.1, 3.5, 1.4, 0.2]]).argmax()
    ('converged', np.int64(0))
    """

    _checkpoint: Checkpoint | None = None

    def __init__(
        self,
        max_seconds: float = 60.0,
        budget: int | None = None,
        learn_metric: str | None = "auto",
        scoring: Any = None,
        cv: Any = 5,
        column_groups: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.max_seconds = max_seconds
        self.budget = budget
        self.learn_metric = learn_metric
        self.scoring = scoring
        self.cv = cv
        self.column_groups = column_groups
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    set_checkpoint = set_checkpoint

    def __getstate__(self) -> Any:
        """The model alone: the checkpoint file is not pickled."""
        return {name: value for name, value in super().__getstate__().items() if name != "_checkpoint"}

    # ---- fitting ----

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Compare candidates on held-out rows, and fit the chosen one to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 equals repeating the row, a weight of 0 omitting it.
        groups : array-like of shape (n_samples,), optional
            Rows of one group are held out together, by ``StratifiedGroupKFold`` or by the splitter ``cv``.

        Returns
        -------
        self
        """
        forget(self, "status_")  # not fitted until this fit ends
        self._check_parameters()
        with (
            np.errstate(under="ignore"),
            Deadline(self.max_seconds) as deadline,
            ended_in_time(deadline, "AutoSVC to compare even one candidate"),
            fit_record(self) as record,
        ):
            return self._fit(X, y, sample_weight, groups, deadline, record)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, deadline: Deadline, record: FitRecord
    ) -> Self:
        forget(self, "n_passes_", "n_rows_")
        seed = self._seed_of(record)
        X, y = self._validated_pair(X, y)
        self.classes_, labels, weight = labelled(type(self).__name__, y, sample_weight, self.class_weight)
        data, parts, fold = self._folded(X, y, labels, weight, groups)
        record.bind(parameter_identity(self) | {"seed": str(seed)} | data_identity(data))
        rows = data.rows.X[data.rows.index]
        views = scalings(rows, data.weight)
        matrices = {name: scaling.transform(rows) for name, scaling in views.items()}
        sample = spread(matrices, data, parts, fold, len(self.classes_))
        groups = self._column_groups(rows)
        found = self._search(sample, seed, deadline, record)
        common = {"n_jobs": self.n_jobs, "random_state": seed}
        columns = [tuple(group) for group in groups]
        rules = (self.learn_metric, columns, common, self.max_seconds, deadline)
        refined = refine(found, *rules, with_ramp=self._n_rows_in_blocks is None)
        trial, metric = refined.trial, refined.metric.tried
        self.scaling_ = views[trial.candidate.view]
        if metric is not None and metric.accepted:
            X = matrices[trial.candidate.view]
            coordinates, gamma = metric_on_all_rows(metric, refined.fits, (X, data.labels, data.weight))
            self.scaling_ = self.scaling_.with_metric(coordinates)
            matrices[trial.candidate.view] = self.scaling_.transform(rows)
            trial = replace(metric.trial, gamma=gamma)
            refined = refined.at(trial)
        self.group_weights_ = refined.group_weights
        self.calibrator_ = refined.judge.calibrator(trial)
        given = (matrices[trial.candidate.view], self.classes_[data.labels], data.weight)
        sampled = np.unique(found.judge.sample.rows)
        self.estimator_, rows_used = refitted(
            lambda: self._model(trial, seed), given, sampled, deadline, record.below("model", binds=False)
        )
        if getattr(self.estimator_, "support_", None) is not None:  # rows of X as given
            self.estimator_.support_ = data.rows.index[rows_used[self.estimator_.support_]]
        self._explain(found, refined)
        return self

    def _check_parameters(self) -> None:
        check_number("max_seconds", self.max_seconds, above=0.0)
        if self.learn_metric is not None:
            check_choice("learn_metric", self.learn_metric, tuple(METRICS))
        check_folds(self.cv)
        check_column_groups(self.column_groups)
        if self.budget is not None:
            check_number("budget", self.budget, at_least=1, integer=True)
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(f"scoring must be one score: a name, a callable or None; got {self.scoring!r}.")

    def _seed_of(self, record: FitRecord) -> int:
        drawn = int(check_random_state(self.random_state).randint(2**31))
        return record.seed(drawn, isinstance(self.random_state, Integral))

    def _validated_pair(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Rows as a matrix, and y; sets ``table_`` for data frames that are not plain numbers."""
        check_label_types(y)
        forget(self, "feature_names_in_")
        self.table_ = None
        if is_plain_matrix(X):
            X, y = validate_rows(self, X, y=y)
            return X, y
        if y is None:
            raise ValueError("AutoSVC requires y to be passed, but the target y is None.")
        self.table_ = TablePreparation(dtype="float64").fit(X)
        self.n_features_in_ = self.table_.n_features_in_
        self.feature_names_in_ = self.table_.feature_names_in_
        rows, y = check_rows(self.table_.transform(X)), column_or_1d(y)
        check_consistent_length(rows, y)
        return rows, y

    def _column_groups(self, rows: Any) -> list[list[int]]:
        """Positions in the prepared matrix of each group's columns; constant ones of a table may be gone."""
        if self.column_groups is None:
            return []
        names = getattr(self, "feature_names_in_", None)
        found = grouped_positions(self.column_groups, self.n_features_in_, names)
        if self.table_ is None:
            return found
        return [np.flatnonzero(np.isin(self.table_.sources_, group)).tolist() for group in found]

    def _folded(
        self, X: Any, y: Any, labels: np.ndarray, weight: np.ndarray, groups: Any
    ) -> tuple[WeightedRows, np.ndarray, np.ndarray]:
        """Canonical rows, the number of parts of each that are held out separately, and their folds."""
        n_threads = effective_n_threads(self.n_jobs)
        cv: Any = self.cv
        if groups is not None and is_number(cv):
            cv = StratifiedGroupKFold(int(cv))
        given = given_folds(cv, y, **({} if groups is None else {"groups": groups}))
        if given is None:
            data = canonical(X, labels, weight, n_threads=n_threads)
            parts = observations(data, int(self.cv))
            folds = stratified_folds(np.repeat(data.labels, parts), int(self.cv))
            return data, parts, folds
        data, folds = apart_by_folds(
            lambda numbers: canonical(X, numbers, weight, n_threads=n_threads), labels, given
        )
        return data, np.ones_like(folds), folds

    def _search(self, sample: Sample, seed: int, deadline: Deadline, record: FitRecord) -> Found:
        scorer = None if self.scoring is None else check_scoring(self, self.scoring)
        medians = {name: median_gammas(X, sample.weight, seed) for name, X in sample.views.items()}
        room = self.max_seconds * OPERATIONS_PER_SECOND
        candidates = self._affordable(sample, FIT_OPERATIONS_SHARE * room)
        candidates = [c for c in candidates if c.is_linear or c.kernel in medians[c.view]]
        limit = SEARCH_OPERATIONS_SHARE * room
        common = {"n_jobs": self.n_jobs, "random_state": seed}
        with deadline.nested(SEARCH_TIME_SHARE) as until:
            search = Search(
                sample, self.classes_, scorer, medians, common, limit, record.below("search"), until
            )
            return search.run(candidates)

    def _affordable(self, sample: Sample, limit: float) -> list[Candidate]:
        """Candidates whose fit to all rows is within the limit, in operations; with a budget if need be."""
        X, n_classes = sample.views["standardised"], len(self.classes_)
        budget = self.budget or affordable_budget(X, sample.labels, limit)
        if self._n_rows_in_blocks is not None:
            return block_candidates(list(sample.views), n_classes, self.budget)
        candidates = candidates_for(list(sample.views), n_classes, budget)
        if self.budget is not None:
            return candidates
        if budget is not None:
            return candidates + candidates_for(list(sample.views), n_classes, None)[: len(sample.views)]
        shape = shape_of(X, sample.labels)
        return [c for c in candidates if c.is_linear or shape.fit(c) <= limit]

    def _model(self, trial: Trial, seed: int) -> Any:
        model = trial.candidate.estimator(trial.gamma, trial.value, n_jobs=self.n_jobs, random_state=seed)
        return model.set_params(max_seconds=self.max_seconds)

    def _explain(self, found: Found, refined: Refined) -> None:
        """Set ``candidates_``, ``choice_`` and ``status_``, and warn if the time was up."""
        found.n_rows = self._n_rows_in_blocks or found.n_rows
        table = refined.lines(found)
        self.candidates_ = {name: [line[name] for line in table] for name in table[0]}
        self.choice_ = refined.words(found)
        complete = found.complete and refined.in_time
        self.status_ = self.estimator_.status_ if complete else str(Status.TIME_LIMIT)
        if not complete:
            warnings.warn(
                "AutoSVC stopped (time_limit) before all candidates were compared; candidates_ lists what "
                "was not tried. Raise max_seconds, or fit fewer rows.",
                ConvergenceWarning,
                stacklevel=4,
            )

    # ---- prediction ----

    def _scaled(self, X: Any) -> Any:
        check_is_fitted(self)
        if self.table_ is None:
            return self.scaling_.transform(validate_rows(self, X, reset=False))
        return self.scaling_.transform(self.table_.transform(X))

    @np.errstate(under="ignore")
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, larger is better: (n_samples, n_classes), or (n_samples,) for two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray
            For two classes, positive values favour ``classes_[1]``.
        """
        Z = self._scaled(X)
        return np.asarray(self.estimator_.decision_function(Z))

    @np.errstate(under="ignore")
    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        Z = self._scaled(X)
        return np.asarray(self.estimator_.predict(Z))

    @np.errstate(under="ignore")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, calibrated on held-out rows; their argmax is the class of ``predict``.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self.decision_function(X)
        return self.calibrator_.predict_proba(scores)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_is_fitted__(self) -> bool:
        """True between the end of a fit and the start of the next."""
        return hasattr(self, "status_")

    def __sklearn_tags__(self) -> Any:
        """Sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
