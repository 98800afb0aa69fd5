"""Many classes by any binary classifier: a code's columns fitted in parallel, and a decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ...base import CodedClassifier, DecodedClassifier, forget
from ...checkpoints import fit_record, parameter_identity
from ...data import check_folds, given_folds
from ...solving import Status, worst_status
from ..kernel_svm import KernelSVC
from .column_tasks import TrainingData, check_binary_classifier, weight_parameter
from .columns import ClonedColumns, SharedColumns, takes_codes


def _estimator_has(method: str) -> Callable[[OutputCodeClassifier], bool]:
    """Raises the estimator's own error where it has no such method."""

    def check(model: OutputCodeClassifier) -> bool:
        getattr(model._inner(), method)
        return True

    return check


class OutputCodeClassifier(MetaEstimatorMixin, DecodedClassifier):  # type: ignore[misc]
    """Many classes by a binary classifier for each column of a code, and a decoder of their outputs.

    Column t of the code is the problem of telling the classes with ``code_.matrix[:, t] == 1`` from those
    with -1; classes with 0 have no part in it. A column's output f_t(x) is the ``decision_function`` of its
    classifier, or ``2 p - 1`` with the probability p where there is only ``predict_proba``.

    Any classifier of scikit-learn's interface will do, pipelines included: each column has a clone, which is
    given the targets 0 (for -1) and 1 (for +1), and clones are fitted side by side by joblib. A classifier of
    this library that takes ``code=`` is fitted once, with the code, because it shares kernel values
    between columns.

    Parameters
    ----------
    estimator : classifier, optional
        Not fitted; ``KernelSVC()`` by default. Of ours, its own ``code`` and ``decoder`` are not used.
    code : str or Code, default="designed"
        A ``Code``, or the name of a family in ``maxmargin.codes.CODES``.
    decoder : str or Decoder, default="auto"
        How outputs become scores of classes, see ``maxmargin.decoders.DECODERS``. Some learn from the
        columns' outputs on the training rows, and some from outputs for rows out of fold.
    class_weight : dict or "balanced", optional
        Factors of the sample weights, by the labels in y.
    cv : int, splitter or iterable of splits, default=5
        Folds for a decoder that learns from outputs out of fold: columns are then fitted again without each
        of them. For a number, rows of each class are dealt out in turn, equal rows of numbers together.
        Not used otherwise.
    n_jobs : int, optional
        Workers of joblib, whose backend may be another machine's; with a classifier of ours that takes codes,
        its number of threads. Results do not depend on it.
    random_state : int, RandomState or None
        For codes that are drawn, and for every ``random_state`` in the estimator that is None: each column
        gets a number of its own. One that is given is left as it is.

    Attributes
    ----------
    estimators_ : list
        The fitted clone of each column; or one classifier of ours that has all columns. After ``partial_fit``
        None for a column none of whose classes has come yet: its output is 0.
    classes_ : ndarray of shape (n_classes,)
    code_ : Code
    decoder_ : Decoder
        Fitted, where it learns.
    dual_gap_ : float
        The largest relative duality gap of a column. This one and the next four: where the columns'
        classifiers, or the last steps of their pipelines, are of this library.
    status_ : str
        "converged", or the worst end of a column.
    n_iter_ : int
        The largest number of iterations.
    objective_ : float
        The sum over the columns.
    history_ : list of tuple of Check
        The certificates of each column.
    fold_gap_ : float
        The largest relative duality gap of a fit without a fold, where one model has all columns.
    n_features_in_ : int
        Where X has features; ``feature_names_in_`` where they have names.

    Notes
    -----
    Rows of weight 0 are left out, and a class without a weight leaves. Otherwise weights mean what they mean
    to the estimator, which must take them. A gamma that is a word is one number for all columns where one fit
    has them all, and each column's own otherwise; a budget of support vectors is one for all columns, or
    each column's own. Out of fold, rows of a class that has no other row are predicted by columns that do
    not know the class; a column left with one side has that side, -1 or 1, as its output. Warnings of
    columns are summarised: one for each category names the columns that issued it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from maxmargin import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(LogisticRegression(max_iter=1000), code="one-vs-one").fit(X, y)
    >>> len(model.estimators_), model.decision_function(X).shape
    (3, (150, 3))
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        code: Any = "designed",
        decoder: Any = "auto",
        class_weight: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.decoder = decoder
        self.class_weight = class_weight
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ---- fitting ----

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the columns, and the decoder where it learns.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, list} of n_samples
            Whatever the estimator takes.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            For an estimator that takes it, or a pipeline whose last step does.
        **params
            Metadata for the estimator's ``fit`` and the splitter, where scikit-learn's routing is enabled.

        Returns
        -------
        self
        """
        forget(self, "estimators_")  # not fitted until this fit ends
        check_folds(self.cv)
        estimator = self._checked_estimator()
        X, y = self._given(X, y, reset=True)
        with fit_record(self) as record:
            self._draw_seed(record)
            record.bind(parameter_identity(self) | {"seed": str(self._seed)})
            labels, weight = self._labels_and_weights(y, sample_weight)
            self._choose_code()
            passed = self._weight_to_pass(sample_weight, weight)
            own, of_splitter = self._routed("fit", passed, params)
            data = TrainingData(X, labels, weight, self.classes_, own, record.below("columns"))
            heard = passed is None or any(value is passed for value in own.values())
            columns, decoder = self._new_columns(estimator, heard).fit(
                data, self._learner, self._folds(y, of_splitter)
            )
        if decoder is not None:
            self.decoder_ = decoder
        self._keep(columns)
        return self

    @available_if(_estimator_has("partial_fit"))  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **params: Any
    ) -> Self:
        """Learn from one more batch: every column from the rows of its classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, list} of n_samples
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,)
            All classes that any batch will have: the code is made for them. Needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
        **params
            Metadata for the estimator's ``partial_fit``, where scikit-learn's routing is enabled.

        Returns
        -------
        self
        """
        estimator = self._checked_estimator()
        first = self._open_stream(classes)
        X, y = self._given(X, y, reset=first)
        labels, weight = self._batch_labels_and_weights(y, sample_weight)
        own, _ = self._routed("partial_fit", self._weight_to_pass(sample_weight, weight), params)
        data = TrainingData(X, labels, weight, self.classes_, own)
        columns = self._new_columns(estimator) if first else self._columns
        self._keep(columns.partial_fit(data))
        return self

    def _inner(self) -> Any:
        """The estimator, or the default."""
        if self.estimator is not None:
            return self.estimator
        default = KernelSVC()
        if get_config()["enable_metadata_routing"]:
            default.set_fit_request(sample_weight=True)
        return default

    def _checked_estimator(self) -> Any:
        estimator = self._inner()
        check_binary_classifier(estimator)
        return estimator

    def _given(self, X: Any, y: Any, reset: bool) -> tuple[Any, np.ndarray]:
        """X as the estimator is to see it, its features noted, and labels."""
        y = validate_data(self, X="no_validation", y=y, reset=reset)
        (X,) = indexable(X)
        check_consistent_length(X, y)
        if not len(y):
            raise ValueError("Found an X with 0 sample(s) while a minimum of 1 is required.")
        return validate_data(self, X, reset=reset, skip_check_array=True), y

    def _folds(self, y: np.ndarray, split_params: dict[str, Any]) -> int | np.ndarray:
        """Their number, or the fold of each row where the splitter says which."""
        needed = self._learner is not None and self._learner.learns_from == "out-of-fold"
        fold = given_folds(self.cv, y, **split_params) if needed else None
        return fold if fold is not None else int(self.cv) if needed else 0

    def _new_columns(self, estimator: Any, heard: bool = True) -> ClonedColumns | SharedColumns:
        """One model where it can have all columns; not where it does not hear of the weights."""
        kind = SharedColumns if heard and takes_codes(estimator) else ClonedColumns
        return kind(estimator, self.code_, self._seed, self.n_jobs, type(self).__name__)

    def _keep(self, columns: ClonedColumns | SharedColumns) -> None:
        """Fitted columns, and the certificates that all of them have."""
        models = [
            model[-1] if isinstance(model, Pipeline) else model
            for model in columns.estimators
            if model is not None
        ]
        forget(self, *CERTIFICATE_SUMMARIES)
        for name, summary in CERTIFICATE_SUMMARIES.items():
            if all(isinstance(model, CodedClassifier) and hasattr(model, name) for model in models):
                setattr(self, name, summary([getattr(model, name) for model in models]))
        self._columns = columns
        self.estimators_ = list(columns.estimators)

    # ---- metadata ----

    def _weight_to_pass(self, sample_weight: Any, weight: np.ndarray) -> np.ndarray | None:
        return None if sample_weight is None and self.class_weight is None else weight

    def _routed(
        self, method: str, weight: np.ndarray | None, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the estimator's method gets beside X and y, and what the splitter gets."""
        if not get_config()["enable_metadata_routing"]:
            if params:
                raise ValueError(
                    f"{method} got {sorted(params)}, which it can hand on to the estimator only with "
                    "sklearn.set_config(enable_metadata_routing=True)."
                )
            if weight is None:
                return {}, {}
            return {weight_parameter(self._inner(), method): weight}, {}
        routed = process_routing(self, method, sample_weight=weight, **params)
        own = dict(routed.estimator[method])
        if self.class_weight is not None and not any(value is weight for value in own.values()):
            raise ValueError(
                "class_weight reaches the estimator as sample_weight, which it does not request; call its "
                f"set_{method}_request(sample_weight=True), or leave class_weight out."
            )
        return own, dict(routed.splitter.split) if method == "fit" else {}

    def get_metadata_routing(self) -> MetadataRouter:
        """What metadata go where: to this estimator, to the columns' and to the splitter."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping = mapping.add(caller="partial_fit", callee="partial_fit")
        router.add(estimator=self._inner(), method_mapping=mapping)
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    # ---- prediction ----

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        if getattr(X, "ndim", 2) != 1:  # texts have no features, and what is no matrix the estimator refuses
            X = validate_data(self, X, reset=False, skip_check_array=True)
        return self._columns.outputs(X)

    def __sklearn_is_fitted__(self) -> bool:
        """True between the end of a fit and the start of the next."""
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self) -> Any:
        """What the estimator takes is taken."""
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags


def _worst(statuses: list[Any]) -> str:
    return str(worst_status(Status(status) for status in statuses))


CERTIFICATE_SUMMARIES: dict[str, Callable[[list[Any]], Any]] = {
    "dual_gap_": max,
    "status_": _worst,
    "n_iter_": lambda counts: int(np.max(counts)),
    "objective_": sum,
    "fold_gap_": max,
    "history_": lambda histories: [history for model in histories for history in model],
}
