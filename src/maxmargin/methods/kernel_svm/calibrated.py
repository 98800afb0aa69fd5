"""Probabilities for the exact kernel SVM, calibrated on out-of-fold outputs."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..._native import effective_n_threads
from ...base import SHARE_BEFORE_FOLDS, FoldOutputs, forget
from ...calibration import CalibratedScores, check_method
from ...checkpoints import Checkpoint, FitRecord, fit_record, parameter_identity, set_checkpoint
from ...data import WeightedRows, apart_by_folds, check_folds, given_folds
from ...decoders import CoupledPairs, decision_values, has_all_pairs
from ...solving import Deadline, Status, ended_in_time
from .estimator import KernelSVC
from .out_of_fold import outputs_without_folds

FEATURES = ("n_features_in_", "feature_names_in_")


class CalibratedSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A :class:`KernelSVC` with probabilities that never contradict its predictions.

    The SVM is fitted to all rows, and this fit alone predicts. It is then refitted without each of ``cv``
    folds, and the probabilities are calibrated on its outputs for the held-out rows:

    - two classes: a curve from output to probability, Platt's sigmoid or isotonic;
    - one-vs-one: such a curve for each pair of classes, coupled by the method of Wu, Lin and Weng;
    - other codes: one increasing map for the scores of all classes, see :class:`CalibratedScores`.

    If the argmax of the probabilities differs from ``predict``, the nearest probabilities that agree with it
    are returned.

    **Precision.** The certificate is that of ``estimator_``, made as :class:`KernelSVC` states. The fits
    without a fold have certificates of their own; probabilities have none.

    Parameters
    ----------
    estimator : KernelSVC, optional
        The unfitted SVM; ``KernelSVC()`` by default. To scale features, put the calibrated SVM into a
        pipeline, ``make_pipeline(StandardScaler(), CalibratedSVC())``, not the other way round.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        "isotonic" fits any increasing curve, but needs about a thousand rows per class.
    cv : int, splitter or iterable of splits, default=5
        The folds. A number means stratified folds. A scikit-learn splitter or its splits, for example for
        groups, must hold out every row exactly once and train on all the others. Equal rows of one class and
        fold are merged into one row with the sum of their weights.
    n_jobs : int, optional
        Number of threads; overrides the estimator's own. Results are bit-identical for any value.

    Attributes
    ----------
    estimator_ : KernelSVC
        The SVM fitted to all rows.
    calibrator_ : CalibratedScores or CoupledPairs
        Maps scores, or outputs of pairs, to probabilities.
    fold_gap_ : float
        The largest relative duality gap over all columns and folds.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int

    Notes
    -----
    All folds use the kernel of the fit to all rows, so a named gamma such as "scale" is computed once. Class
    weights act like sample weights: with a class weight of 2, the probabilities are those of data in which
    the class is twice as frequent. If a class has a single row, the fold without that row does not know the
    class, and pairs with that class are constant there. The SVM may take half of the
    estimator's ``max_seconds``, the folds the rest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import CalibratedSVC, KernelSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CalibratedSVC(KernelSVC(C=10)).fit(X, y)
    >>> P = model.predict_proba(X)
    >>> P.shape, bool((model.classes_[P.argmax(axis=1)] == model.predict(X)).all())
    ((150, 3), True)
    """

    _checkpoint: Checkpoint | None = None

    def __init__(
        self, estimator: Any = None, *, method: str = "sigmoid", cv: Any = 5, n_jobs: int | None = None
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs

    # ---- fitting ----

    set_checkpoint = set_checkpoint

    def __getstate__(self) -> Any:
        """The model alone: the checkpoint file is not pickled."""
        return {name: value for name, value in super().__getstate__().items() if name != "_checkpoint"}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the SVM to all rows, and calibrate probabilities on its out-of-fold outputs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Anything that ``KernelSVC`` accepts, including a kernel matrix, or objects for a callable kernel.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 equals repeating the row, a weight of 0 omitting it.

        Returns
        -------
        self
        """
        forget(self, "calibrator_")  # not fitted until this fit ends
        check_method(self.method)
        check_folds(self.cv)
        given = given_folds(self.cv, y)
        model = self._new_estimator()
        model._check_parameters()
        with (
            np.errstate(under="ignore"),
            Deadline(model.max_seconds) as deadline,
            ended_in_time(deadline, "CalibratedSVC to calibrate probabilities"),
            fit_record(self) as record,
        ):
            record.bind(parameter_identity(self))
            until = deadline.part(SHARE_BEFORE_FOLDS)
            model._fit(X, y, sample_weight, record=record.below("SVM"), deadline=until)
            data, fold, coef = self._folded(model, model._labelled(X, y, sample_weight), given)
            folds = FitRecord() if model.status_ == str(Status.TIME_LIMIT) else record.below("folds")
            # Coupling uses the outputs of a pair only for rows of its two classes.
            everywhere = not has_all_pairs(model.code_)
            stop = folds.limits(model._stop(deadline))
            data = data.until(deadline.flag)
            if model.loss == "ramp":  # no convex problem to start the folds from
                found = model._out_of_fold(data, fold, stop, None, effective_n_threads(model.n_jobs))
            else:
                found = outputs_without_folds(model, data, fold, coef, stop, everywhere=everywhere)
        self._certify(found)
        self.estimator_, self.classes_ = model, model.classes_
        forget(self, *FEATURES)
        for name in FEATURES:
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        self.calibrator_ = self._calibrator(model, found.outputs, data)
        return self

    def _new_estimator(self) -> KernelSVC:
        if self.estimator is None:
            return KernelSVC(n_jobs=self.n_jobs)
        if not isinstance(self.estimator, KernelSVC):
            raise ValueError(
                f"estimator must be a KernelSVC; got {self.estimator!r}. Put a scaler before CalibratedSVC "
                "in a pipeline; for other classifiers see sklearn.calibration.CalibratedClassifierCV."
            )
        model = clone(self.estimator)
        return model if self.n_jobs is None else model.set_params(n_jobs=self.n_jobs)

    def _folded(
        self, model: KernelSVC, labelled: tuple[Any, np.ndarray, np.ndarray], given: np.ndarray | None
    ) -> tuple[WeightedRows, np.ndarray, np.ndarray]:
        """Canonical rows, the fold of each, and the support vector coefficients that warm-start the folds."""
        (X, labels, weight), n_threads = labelled, effective_n_threads(model.n_jobs)
        data = model._canonical(X, labels, weight, n_threads)
        if given is None:
            return data, model._folds(data, int(self.cv)), model.dual_coef_
        apart, fold = apart_by_folds(
            lambda numbers: model._canonical(X, numbers, weight, n_threads), labels, given
        )
        same = len(apart.rows) == len(data.rows)  # else merged rows share a coefficient
        return apart, fold, model.dual_coef_ if same else np.zeros_like(model.dual_coef_)

    def _certify(self, found: FoldOutputs) -> None:
        self.fold_gap_ = found.gap
        if found.status is not Status.CONVERGED:
            warnings.warn(
                f"CalibratedSVC: cross-validation fits stopped ({found.status}) with relative duality gaps "
                f"up to {found.gap:.1e}; raise the estimator's max_iter or max_seconds, raise tol, or scale "
                "the features.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _calibrator(
        self, model: KernelSVC, outputs: np.ndarray, data: WeightedRows
    ) -> CalibratedScores | CoupledPairs:
        if has_all_pairs(model.code_):
            return CoupledPairs(self.method).fit(outputs, data.labels, model.code_, data.weight)
        scores = decision_values(outputs, model.code_, model.decoder_)
        return CalibratedScores(self.method).fit(scores, data.labels, data.weight)

    # ---- prediction ----

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the SVM: (n_samples, n_classes), or (n_samples,) for two classes."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def predict(self, X: Any) -> np.ndarray:
        """The predictions of the SVM, which are also the classes of largest probability."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @np.errstate(under="ignore")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities; their argmax is the class that ``predict`` returns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        model = self.estimator_
        F = model._column_outputs(model._validated(X))
        scores = decision_values(F, model.code_, model.decoder_)
        if isinstance(self.calibrator_, CoupledPairs):
            return self.calibrator_.predict_proba(F, scores)
        return self.calibrator_.predict_proba(scores)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Those of the SVM: shares of the columns of X in the squared gradients of its outputs."""
        check_is_fitted(self)
        return self.estimator_.feature_importances_

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_is_fitted__(self) -> bool:
        """True between the end of a fit and the start of the next."""
        return hasattr(self, "calibrator_")

    def __sklearn_tags__(self) -> Any:
        """The same input as the SVM is accepted."""
        tags = super().__sklearn_tags__()
        inner = get_tags(KernelSVC() if self.estimator is None else self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        return tags
