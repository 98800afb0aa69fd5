"""Prediction of every classifier with a code and a decoder: outputs of columns, scores, labels."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, cast

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..codes import Code
from ..data import label_numbers
from .explanation import Explanation, explanations
from .protocol import Decoder, ProbabilityDecoder
from .registry import DECODERS, decision_values, predicted_classes

__all__ = ["DecodedOutputs", "gives_probabilities"]


def gives_probabilities(decoder: Any) -> bool:
    """Whether the decoder, or the one of that name, turns outputs into probabilities."""
    known = DECODERS.get(decoder) if isinstance(decoder, str) else decoder
    return hasattr(known, "probabilities")


def _has_probabilities(model: DecodedOutputs) -> bool:
    decoder = getattr(model, "decoder_", getattr(model, "decoder", None))
    if gives_probabilities(decoder):
        return True
    names = sorted(name for name in DECODERS if gives_probabilities(name))
    raise AttributeError(
        f"{type(model).__name__} has predict_proba only with a decoder that gives probabilities, one of "
        f"{names}; this one has decoder={getattr(decoder, 'name', decoder)!r}."
    )


def _has_columns(model: DecodedOutputs) -> bool:
    if not model._joint:
        return True
    raise AttributeError(
        f"{type(model).__name__} learns the scores of all classes together: it has no columns of a code, "
        "whose outputs have signs of their own. Use decision_function, or predict."
    )


class DecodedOutputs:
    """A classifier that predicts by the outputs of a code's columns.

    A fitted one has ``classes_``, ``code_`` and ``decoder_``; ``_outputs`` gives the columns' outputs. Where
    these are scores of classes, which mean something only beside each other, the model is ``_joint``.
    """

    classes_: np.ndarray
    code_: Code
    decoder_: Decoder

    @property
    def _joint(self) -> bool:
        return False

    @abstractmethod
    def _outputs(self, X: Any) -> np.ndarray:
        """Outputs of all columns, (n_samples, n_columns), for X as a user gives it to a fitted model."""

    @available_if(_has_columns)  # type: ignore[untyped-decorator]
    def column_outputs(self, X: Any) -> np.ndarray:
        """Outputs of the code's columns, positive where a column speaks for its classes with +1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Column t tells classes apart by the signs in ``code_.matrix[:, t]``. :meth:`decode` takes them.
        """
        return self._outputs(X)

    @available_if(_has_columns)  # type: ignore[untyped-decorator]
    def decode(self, F: Any) -> np.ndarray:
        """Predicted labels from stored outputs of the columns.

        Parameters
        ----------
        F : array-like of shape (n_samples, n_columns)
            As :meth:`column_outputs` gives them.

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
            The true labels. Without them columns are held against the predicted class.

        Returns
        -------
        list of Explanation
            One for each sample; ``print`` shows it as a table.
        """
        F = self._outputs(X)
        labels = None if y is None else self._label_numbers(y, len(F))
        return explanations(F, labels, self.code_, self.decoder_, self.classes_)

    def _label_numbers(self, y: Any, n_samples: int) -> np.ndarray:
        y = column_or_1d(y)
        if len(y) != n_samples:
            raise ValueError(f"y needs a label for each of the {n_samples} samples; got {len(y)}.")
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
            For two classes, positive values speak for ``classes_[1]``.
        """
        return decision_values(self._outputs(X), self.code_, self.decoder_)

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
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, whose argmax is ``predict``'s answer.

        Only with a decoder that gives them, ``"probabilistic"`` or ``"coupling"``.

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
