"""Labels of a classifier with a code: as numbers, with their weights, at once or batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..codes import Code, code_from_name
from ..data import check_sample_weight, class_weights, label_numbers
from ..decoders import (
    DECODERS,
    Decoder,
    decoder_from_name,
    gives_probabilities,
)

__all__ = ["ClassLabels"]


class ClassLabels:
    """What an estimator with the parameters ``code, decoder, class_weight`` makes of its labels.

    It sets ``classes_``, ``code_`` and ``decoder_``, and ``_seed``, the one integer that all randomness of a
    fit comes from.
    """

    code: Any
    decoder: Any
    class_weight: Any
    classes_: np.ndarray
    code_: Code
    decoder_: Decoder
    _seed: int
    _learner: Decoder | None

    def _draw_seed(self) -> None:
        """Set ``_seed``, before anything random is done."""
        self._seed = int(check_random_state(getattr(self, "random_state", 0)).randint(2**31))

    def _labels_and_weights(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Labels ``0, 1, ...`` and weights, those of classes included; classes without a weight leave."""
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, len(y))
        weight = weight * class_weights(self.class_weight, y, weight)
        known = np.unique(y[weight > 0.0])
        if len(known) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, but y has only one class with a positive "
                f"weight: {known.tolist()!r}."
            )
        self.classes_ = known
        return np.minimum(np.searchsorted(known, y), len(known) - 1), weight

    def _choose_code(self) -> None:
        """Sets ``code_`` and ``decoder_``; a decoder that is still to learn gets a stand-in until then.

        It is ``_learner`` then, or None. One output has nothing to learn but its probabilities.
        """
        self.code_ = code_from_name(self.code, len(self.classes_), self._seed)
        self.decoder_ = decoder_from_name(self.decoder, self.code_)
        self._learner = None
        self.__dict__.pop("fold_gap_", None)
        if self.decoder_.learns_from != "nothing":
            learner, self.decoder_ = self.decoder_, decoder_from_name("auto", self.code_)
            if self.code_.n_columns > 1 or gives_probabilities(learner):
                self._learner = learner

    # ---- batches of a stream ----

    def _begin_stream(self, classes: Any) -> None:
        if classes is None:
            raise ValueError(
                "the first call of partial_fit needs classes=, all labels that any batch will have: one "
                "batch may not have them all."
            )
        known = np.unique(column_or_1d(np.asarray(classes)))
        if len(known) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, but classes has only one class: "
                f"{known.tolist()!r}."
            )
        self.classes_ = known
        self._draw_seed()
        self._choose_code()

    def _check_fixed_decoder(self) -> None:
        decoder = DECODERS.get(self.decoder) if isinstance(self.decoder, str) else self.decoder
        if getattr(decoder, "learns_from", "nothing") != "nothing":
            raise ValueError(
                f"{type(self).__name__}.partial_fit cannot learn a decoder: a batch is not all of the data "
                f"that decoder={self.decoder!r} would learn from. Call fit, or take a fixed decoder."
            )

    def _take_fixed_decoder(self) -> None:
        """The decoder as the parameter is now, whatever an earlier fit had."""
        self.decoder_ = decoder_from_name(self.decoder, self.code_)

    def _check_same_classes(self, classes: Any) -> None:
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(
                f"classes={np.asarray(classes).tolist()!r} differ from those of the first call, "
                f"{self.classes_.tolist()!r}; leave them out, or call fit to begin anew."
            )

    def _batch_labels_and_weights(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Labels ``0, 1, ...`` and weights of one batch, which need not have all classes."""
        check_classification_targets(y)
        labels = self._batch_labels(y)
        weight = check_sample_weight(sample_weight, len(y)) * self._batch_class_weights(y)
        if not weight.any():
            raise ValueError("class_weight leaves every row of this batch without a weight; leave it out.")
        return labels, weight

    def _batch_labels(self, y: np.ndarray) -> np.ndarray:
        return label_numbers(
            y,
            self.classes_,
            "y has labels {labels} that are not among the classes of the first call, {classes}; name every "
            "class there.",
        )

    def _batch_class_weights(self, y: np.ndarray) -> np.ndarray:
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} cannot be used with partial_fit: a batch does not know "
                "the frequencies of the stream. Give a dict, or sample_weight."
            )
        everything = np.concatenate([self.classes_, y])  # so that a class missing here is no stranger
        return class_weights(self.class_weight, everything, np.ones(len(everything)))[len(self.classes_) :]
