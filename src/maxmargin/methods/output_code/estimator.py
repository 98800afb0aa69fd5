"""Multiclass classification by any binary classifier: a code's columns, fitted in parallel, and a decoder."""

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
from ...data import check_folds, check_label_types, checked_input, given_folds
from ...solving import Status, worst_status
from ..kernel_svm import KernelSVC
from .column_tasks import TrainingData, check_binary_classifier, weight_parameter
from .columns import ClonedColumns, SharedColumns, takes_codes


def _estimator_has(method: str) -> Callable[[OutputCodeClassifier], bool]:
    """Raise the estimator's own error if it has no such method."""

    def check(model: OutputCodeClassifier) -> bool:
        getattr(model._inner(), method)
        return True

    return check


class OutputCodeClassifier(MetaEstimatorMixin, DecodedClassifier):  # type: ignore[misc]
    """Multiclass classifier: a binary classifier for each column of a code, and a decoder of their outputs.

    Column t of the code separates the classes with ``code_.matrix[:, t] == 1`` from those with -1; classes
    with 0 take no part. A column's output f_t(x) is the ``decision_function`` of its classifier, or
    ``2 p - 1`` with the probability p if it has only ``predict_proba``.

    Any classifier with scikit-learn's interface can be used, pipelines included. Each column has a clone,
    trained on the targets 0 (for -1) and 1 (for +1); joblib fits the clones in parallel. A classifier of this
    library that takes ``code=`` is fitted once, with the code, because it shares kernel values between
    columns.

    **Precision.** Certificates are those of ``estimators_``, made as their classes state. Rows reach them in
    the precision given, dense or CSR.

    Parameters
    ----------
    estimator : classifier, optional
        It is cloned, not fitted; ``KernelSVC()`` by default. Its own ``code`` and ``decoder`` are ignored.
    code : str or Code, default="designed"
        A ``Code``, or the name of a family in ``maxmargin.codes.CODES``.
    decoder : str or Decoder, default="auto"
        How outputs become scores of classes, see ``maxmargin.decoders.DECODERS``. Some decoders learn from
        the columns' outputs on the training rows, others from out-of-fold outputs.
    class_weight : dict or "balanced", optional
        Factors of the sample weights, keyed by the labels in y.
    cv : int, splitter or iterable of splits, default=5
        Folds for a decoder that learns from out-of-fold outputs: columns are refitted without each fold. For
        a number, the rows of each class are dealt out in turn, with equal numeric rows together. Other
        decoders ignore it.
    n_jobs : int, optional
        Number of joblib workers (any joblib backend), or of threads for a classifier of this library that
        takes ``code=``. Results do not depend on it.
    random_state : int, RandomState or None
        Seeds random codes, and every ``random_state`` of the estimator that is None: each column gets its own
        number. A ``random_state`` that is given does not change.

    Attributes
    ----------
    estimators_ : list
        The fitted clone of each column, or one classifier of this library for all columns. After
        ``partial_fit``, None for a column none of whose classes has arrived yet; its output is 0.
    classes_ : ndarray of shape (n_classes,)
    code_ : Code
    decoder_ : Decoder
        Fitted, if it learns.
    dual_gap_ : float
        The largest relative duality gap of a column. This attribute and the next four exist if the columns'
        classifiers, or the last steps of their pipelines, belong to this library.
    status_ : str
        "converged", or the worst status of a column.
    n_iter_ : int
        The largest number of iterations.
    objective_ : float
        The sum over the columns.
    history_ : list of tuple of Check
        The certificates of each column.
    fold_gap_ : float
        The largest relative duality gap of a fit without one fold, if one model has all columns.
    n_features_in_ : int
        If X has features; ``feature_names_in_`` if they have names.

    Notes
    -----
    Rows of weight 0 are left out, and so are classes with no other rows. Otherwise weights mean what they
    mean to the estimator, which must accept them. If one fit has all columns, they share a gamma given by
    name and a budget of support vectors; otherwise each column has its own. Out of fold, rows of a class with
    no other row are predicted by columns that were not trained on the class; a column left with one side
    outputs that side, -1 or 1. Warnings of columns are summarised: one warning for each category names the
    columns that issued it.

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
            Metadata for the estimator's ``fit`` and the splitter, if scikit-learn's routing is enabled.

        Returns
        -------
        self
        """
        forget(self, "estimators_")  # not fitted until this fit ends
        check_folds(self.cv)
        estimator = self._checked_estimator()
        X, y = self._given(X, y, reset=True)
        with np.errstate(under="ignore"), fit_record(self) as record:
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
        """Update the model with one more batch: every column with the rows of its classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, list} of n_samples
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,)
            All classes of all batches, for which the code is made. Required in the first call.
        sample_weight : array-like of shape (n_samples,), optional
        **params
            Metadata for the estimator's ``partial_fit``, if scikit-learn's routing is enabled.

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
        with np.errstate(under="ignore"):
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
        """X as passed to the estimator, and labels; records the features."""
        check_label_types(y)
        y = validate_data(self, X="no_validation", y=y, reset=reset)
        (X,) = indexable(checked_input(X))
        check_consistent_length(X, y)
        if not len(y):
            raise ValueError("Found an X with 0 sample(s) while a minimum of 1 is required.")
        return validate_data(self, X, reset=reset, skip_check_array=True), y

    def _folds(self, y: np.ndarray, split_params: dict[str, Any]) -> int | np.ndarray:
        """The number of folds, or the fold of each row if a splitter assigns them."""
        needed = self._learner is not None and self._learner.learns_from == "out-of-fold"
        fold = given_folds(self.cv, y, **split_params) if needed else None
        return fold if fold is not None else int(self.cv) if needed else 0

    def _new_columns(self, estimator: Any, heard: bool = True) -> ClonedColumns | SharedColumns:
        """One model for all columns if it can have them and receives the weights, else clones."""
        kind = SharedColumns if heard and takes_codes(estimator) else ClonedColumns
        return kind(estimator, self.code_, self._seed, self.n_jobs, type(self).__name__)

    def _keep(self, columns: ClonedColumns | SharedColumns) -> None:
        """Store the fitted columns, and the certificates that all of them have."""
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
        """Metadata for the estimator's method, and for the splitter."""
        if not get_config()["enable_metadata_routing"]:
            if params:
                raise ValueError(
                    f"{method} got {sorted(params)}, which it can pass to the estimator only with "
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
        """Metadata routing to this estimator, to the columns' estimators and to the splitter."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping = mapping.add(caller="partial_fit", callee="partial_fit")
        router.add(estimator=self._inner(), method_mapping=mapping)
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    # ---- prediction ----

    @np.errstate(under="ignore")
    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        if getattr(X, "ndim", 2) != 1:  # texts have no features; the estimator refuses other input
            X = validate_data(self, checked_input(X), reset=False, skip_check_array=True)
        return self._columns.outputs(X)

    def __sklearn_is_fitted__(self) -> bool:
        """True between the end of a fit and the start of the next."""
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self) -> Any:
        """The tags of the estimator: the same input is accepted."""
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


def fitted_columns(model: OutputCodeClassifier) -> ClonedColumns | SharedColumns:
    """The estimators of a fitted model's columns, and how they are shared."""
    return model._columns
