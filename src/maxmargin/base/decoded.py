"""The base class of classifiers with a code and a decoder: labels to columns, outputs to classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import checkpoints
from ..checkpoints import Checkpoint, FitRecord
from ..codes import Code
from ..data import check_label_types, label_numbers
from ..decoders import (
    DECODERS,
    Decoder,
    Explanation,
    ProbabilityDecoder,
    decision_values,
    decoder_from_name,
    explanations,
    gives_probabilities,
    predicted_classes,
)
from .labels import (
    batch_labels,
    check_fixed_decoder,
    check_same_classes,
    choose_code,
    labelled,
    stream_classes,
)

__all__ = ["DecodedClassifier", "drawn_seed", "forget", "without_process_parts"]

NOT_PICKLED = ("_checkpoint", "_functions")  # they belong to this process


def without_process_parts(state: dict[str, Any]) -> dict[str, Any]:
    """What is pickled of an estimator: not the checkpoint file, and not callback functions."""
    return {name: value for name, value in state.items() if name not in NOT_PICKLED}


def drawn_seed(model: Any, record: FitRecord) -> int:
    """The integer from which all randomness of a fit derives; a resumed fit uses that of its first run."""
    random_state = getattr(model, "random_state", 0)
    drawn = int(check_random_state(random_state).randint(2**31))
    return record.seed(drawn, isinstance(random_state, Integral))


def forget(model: Any, *names: str) -> None:
    """Remove those attributes of an earlier fit that the model has."""
    for name in names:
        if name in vars(model):
            delattr(model, name)


def _has_probabilities(model: DecodedClassifier) -> bool:
    decoder = getattr(model, "decoder_", getattr(model, "decoder", None))
    if gives_probabilities(decoder):
        return True
    names = sorted(name for name in DECODERS if gives_probabilities(name))
    raise AttributeError(
        f"{type(model).__name__} has predict_proba only with a decoder that gives probabilities, one of "
        f"{names}; got decoder={getattr(decoder, 'name', decoder)!r}."
    )


def _has_columns(model: DecodedClassifier) -> bool:
    if not model._joint:
        return True
    raise AttributeError(
        f"{type(model).__name__} learns the scores of all classes together, so it has no code columns with "
        "outputs of their own. Use decision_function or predict."
    )


class DecodedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with the parameters ``code, decoder, class_weight`` that decodes the outputs of columns.

    A fitted model has ``classes_``, ``code_``, ``decoder_`` and ``_seed``, the one integer from which all
    randomness of the fit derives. ``_learner`` is the untrained decoder, or None if the decoder is fixed. A
    subclass returns the outputs of its columns from ``_outputs``. If these are class scores, which are
    meaningful only relative to each other, the model is ``_joint``.
    """

    code: Any
    decoder: Any
    class_weight: Any
    classes_: np.ndarray
    code_: Code
    decoder_: Decoder
    _seed: int
    _learner: Decoder | None
    _checkpoint: Checkpoint | None = None

    set_checkpoint = checkpoints.set_checkpoint

    def __getstate__(self) -> Any:
        """The model alone: the checkpoint file and callback functions are not pickled."""
        return without_process_parts(super().__getstate__())

    # ---- labels and the code ----

    def _draw_seed(self, record: FitRecord = FitRecord()) -> None:  # noqa: B008 (it is stateless)
        """Set ``_seed`` before anything random happens; a resumed fit uses the seed of its first run."""
        self._seed = drawn_seed(self, record)

    def _labels_and_weights(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Labels ``0, 1, ...`` and weights, class weights included; sets ``classes_``."""
        self.classes_, labels, weight = labelled(type(self).__name__, y, sample_weight, self.class_weight)
        return labels, weight

    def _choose_code(self) -> None:
        """Set ``code_``, ``decoder_`` and ``_learner``."""
        forget(self, "fold_gap_", "n_passes_", "n_rows_")
        chosen = choose_code(self.code, self.decoder, len(self.classes_), self._seed)
        self.code_, self.decoder_, self._learner = chosen

    def _open_stream(self, classes: Any) -> bool:
        """Check the classes of a batch; True for the first batch, which sets ``classes_`` and ``code_``.

        The decoder follows the current parameter, whatever an earlier fit learned.
        """
        check_fixed_decoder(type(self).__name__, self.decoder)
        first = not self.__sklearn_is_fitted__()
        if first:
            self.classes_ = stream_classes(type(self).__name__, classes)
            self._draw_seed()
            self._choose_code()
        check_same_classes(classes, self.classes_)
        self.decoder_ = decoder_from_name(self.decoder, self.code_)
        return first

    def _batch_labels_and_weights(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Labels ``0, 1, ...`` and weights of one batch, which need not contain all classes."""
        _, labels, weight = batch_labels(y, sample_weight, self.classes_, self.class_weight)
        return labels, weight

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool:
        """True between the end of a fit and the start of the next."""

    # ---- prediction ----

    @property
    def _joint(self) -> bool:
        return False

    @abstractmethod
    def _outputs(self, X: Any) -> np.ndarray:
        """Outputs of all columns, (n_samples, n_columns), for X as passed to a fitted model."""

    def _output_blocks(self, X: Any) -> Iterator[np.ndarray]:
        """``_outputs``, in blocks of rows if there are very many columns."""
        yield self._outputs(X)

    @available_if(_has_columns)  # type: ignore[untyped-decorator]
    def column_outputs(self, X: Any) -> np.ndarray:
        """Outputs of the code's columns; a positive output favours the classes with entry +1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Column t separates the classes by their signs in ``code_.matrix[:, t]``. Input of :meth:`decode`.
        """
        return self._outputs(X)

    @available_if(_has_columns)  # type: ignore[untyped-decorator]
    def decode(self, F: Any) -> np.ndarray:
        """Predicted labels from stored outputs of the columns.

        Parameters
        ----------
        F : array-like of shape (n_samples, n_columns)
            As returned by :meth:`column_outputs`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.classes_[predicted_classes(decision_values(F, self.code_, self.decoder_))]

    @available_if(_has_columns)  # type: ignore[untyped-decorator]
    def explain(self, X: Any, y: Any = None) -> list[Explanation]:
        """Which columns erred for each sample, and whether the code corrected it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            The true labels. Without them columns are compared with the predicted class.

        Returns
        -------
        list of Explanation
            One per sample; ``print`` shows it as a table.
        """
        F = self._outputs(X)
        labels = None if y is None else self._label_numbers(y, len(F))
        return explanations(F, labels, self.code_, self.decoder_, self.classes_)

    def _label_numbers(self, y: Any, n_samples: int) -> np.ndarray:
        check_label_types(y)
        y = column_or_1d(y)
        if len(y) != n_samples:
            raise ValueError(f"y must have a label for each of the {n_samples} samples; got {len(y)}.")
        return label_numbers(
            y,
            self.classes_,
            "y has labels {labels} that the model does not know; it was fitted on {classes}.",
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, larger is better: (n_samples, n_classes), or (n_samples,) for two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray
            For two classes, positive values favour ``classes_[1]``.
        """
        parts = [decision_values(F, self.code_, self.decoder_) for F in self._output_blocks(X)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        chosen = predicted_classes(self.decision_function(X))
        return self.classes_[chosen]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @np.errstate(under="ignore")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities; their argmax is the class that ``predict`` returns.

        Available only with a decoder that gives probabilities, ``"probabilistic"`` or ``"coupling"``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        F, decoder = self._outputs(X), cast(ProbabilityDecoder, self.decoder_)
        return decoder.probabilities(F, self.code_)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
