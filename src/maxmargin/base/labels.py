"""From labels to a code: class numbers, weights, code and decoder, for whole data sets and for batches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..codes import Code, code_from_name
from ..data import check_label_types, check_sample_weight, class_weights, label_numbers
from ..decoders import DECODERS, Decoder, decoder_from_name, gives_probabilities

__all__ = [
    "ClassNumbers",
    "CodeChoice",
    "batch_labels",
    "check_fixed_decoder",
    "check_same_classes",
    "choose_code",
    "labelled",
    "stream_classes",
]


class ClassNumbers(NamedTuple):
    """The classes in ascending order, each row's class as a number ``0, 1, ...``, and each row's weight."""

    classes: np.ndarray
    labels: np.ndarray
    weight: np.ndarray


def labelled(who: str, y: np.ndarray, sample_weight: Any, class_weight: Any) -> ClassNumbers:
    """Labels as numbers, and weights that include the class weights; a class of weight 0 is dropped."""
    known, numbers = _distinct(y)
    weight = check_sample_weight(sample_weight, len(y))
    weight = weight * class_weights(class_weight, y, weight)
    used = np.bincount(numbers[weight > 0.0], minlength=len(known)) > 0
    classes = known[used]
    if len(classes) < 2:
        raise ValueError(
            f"{who} needs at least two classes, but y has only one class with a positive weight: "
            f"{classes.tolist()!r}."
        )
    return ClassNumbers(classes, np.maximum(np.cumsum(used) - 1, 0)[numbers], weight)


def _distinct(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels in ascending order, and each row's label as a number.

    Labels pass scikit-learn's ``check_classification_targets``, which few distinct integers and strings do
    without being asked.
    """
    plain = y.ndim == 1 and y.dtype.kind in "iubU"
    if not plain:
        check_classification_targets(y)
    known, numbers = np.unique(y, return_inverse=True)
    if plain and 2 * len(known) > len(y):
        check_classification_targets(y)
    return known, numbers


class CodeChoice(NamedTuple):
    """A code, the decoder to predict with, and the decoder that has yet to be trained, or None."""

    code: Code
    decoder: Decoder
    learner: Decoder | None


def choose_code(code: Any, decoder: Any, n_classes: int, seed: int) -> CodeChoice:
    """Resolve the parameters ``code`` and ``decoder``.

    A decoder that needs training is returned as ``learner``; until it is trained, the code's default decoder
    takes its place. With a single column only a decoder that gives probabilities is trained.
    """
    matrix = code_from_name(code, n_classes, seed)
    chosen = decoder_from_name(decoder, matrix)
    if chosen.learns_from == "nothing":
        return CodeChoice(matrix, chosen, None)
    learns = matrix.n_columns > 1 or gives_probabilities(chosen)
    return CodeChoice(matrix, decoder_from_name("auto", matrix), chosen if learns else None)


# ---- batches of a stream ----


def stream_classes(who: str, classes: Any) -> np.ndarray:
    """The classes of a stream, which the first call of partial_fit must list."""
    if classes is None:
        raise ValueError(
            "the first call of partial_fit needs classes=, the labels of all batches, because a single batch "
            "may not contain them all."
        )
    check_label_types(classes, "classes")
    known = np.unique(column_or_1d(np.asarray(classes)))
    if len(known) < 2:
        raise ValueError(
            f"{who} needs at least two classes, but classes has only one class: {known.tolist()!r}."
        )
    return known


def check_same_classes(classes: Any, known: np.ndarray) -> None:
    """Raise if the classes differ from those of the first batch."""
    check_label_types(classes, "classes")
    if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
        raise ValueError(
            f"classes={np.asarray(classes).tolist()!r} differ from those of the first call, "
            f"{known.tolist()!r}; omit classes, or call fit to start over."
        )


def learns(decoder: Any) -> bool:
    """Whether a decoder, given by itself or by name, has to be trained."""
    known = DECODERS.get(decoder) if isinstance(decoder, str) else decoder
    return bool(getattr(known, "learns_from", "nothing") != "nothing")


def check_fixed_decoder(who: str, decoder: Any) -> None:
    """Raise if the decoder needs training: a stream never has all rows at once."""
    if learns(decoder):
        raise ValueError(
            f"{who}.partial_fit cannot learn a decoder: decoder={decoder!r} is trained on all of the data, "
            "not on one batch. Call fit, or use a fixed decoder."
        )


def batch_labels(y: np.ndarray, sample_weight: Any, classes: np.ndarray, class_weight: Any) -> ClassNumbers:
    """Labels as numbers and weights of one batch, which need not contain all classes."""
    _distinct(y)
    labels = label_numbers(
        y,
        classes,
        "y has labels {labels} that are not among the classes of the first call, {classes}; list every "
        "class there.",
    )
    weight = check_sample_weight(sample_weight, len(y)) * _batch_class_weights(y, classes, class_weight)
    if not weight.any():
        raise ValueError("class_weight leaves every row of this batch without a weight; skip this batch.")
    return ClassNumbers(classes, labels, weight)


def _batch_class_weights(y: np.ndarray, classes: np.ndarray, class_weight: Any) -> np.ndarray:
    if isinstance(class_weight, str):
        raise ValueError(
            f"class_weight={class_weight!r} cannot be used with partial_fit: the class frequencies of the "
            "whole stream are not known. Pass a dict, or sample_weight."
        )
    everything = np.concatenate([classes, y])  # so that classes missing from the batch are accepted
    return class_weights(class_weight, everything, np.ones(len(everything)))[len(classes) :]
