"""Labels of a file and classes of a model: which label stands for which class, and how that was found out.

A label is a class if their texts are equal ("1" and 1), or else if both are numbers of one value ("1.0" and
1). Where no label of a file is a class, but every one becomes a class without one common ending, as the
"<=50K." of Adult's test file, it is matched in that way. Everything but equal texts is reported in ``notes``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..data import ParameterError, check_choice

__all__ = ["UNKNOWN", "LabelMatch", "UnknownLabelError"]

UNKNOWN = -1
MAX_NAMED = 10
MAX_UNKNOWN = 10_000


class UnknownLabelError(ParameterError):
    """A file has labels that are not among the model's classes."""


class LabelMatch:
    """The class of each label, decided as labels are met.

    Parameters
    ----------
    classes : sequence
        Of the model, in its order.
    renamed : mapping of str to str, optional
        Labels of the file, and the class that each stands for.
    unknown : {"error", "wrong"}, default="error"
        What a label that is no class is: an error, or a row that no answer is right for. With "wrong" no
        ending is dropped.

    Attributes
    ----------
    unknown_counts : Counter
        Rows of each label that is no class.
    """

    def __init__(
        self, classes: Sequence[Any], renamed: Mapping[str, str] | None = None, unknown: str = "error"
    ) -> None:
        check_choice("unknown", unknown, ("error", "wrong"))
        self.unknown = unknown
        self.names = [str(label) for label in classes]
        self.unknown_counts: Counter[str] = Counter()
        self.ending: str | None = None
        self._by_text = _unambiguous(self.names, range(len(self.names)))
        self._by_value = _unambiguous([_value(name) for name in self.names], range(len(self.names)))
        self._by_value.pop(None, None)
        self._known: dict[str, int] = {}
        self._same_value: dict[str, str] = {}
        self._unused = dict(renamed or {})
        self._renamed = {old: self._renaming(old, new) for old, new in self._unused.items()}
        self._as_they_are = False  # whether some label was a class as it stood

    def numbers(self, labels: Any) -> np.ndarray:
        """The place of each label's class; ``UNKNOWN`` for those that are none."""
        distinct, inverse, counts = np.unique(
            np.asarray(labels), return_inverse=True, return_counts=True, equal_nan=False
        )
        texts = [str(label) for label in distinct.tolist()]
        self._learn([text for text in texts if text not in self._known])
        places = np.array([self._known[text] for text in texts], dtype=np.intp)
        self.unknown_counts.update(
            {text: int(n) for text, n, place in zip(texts, counts, places) if place == UNKNOWN}
        )
        return places[inverse.reshape(-1)]

    @property
    def notes(self) -> list[str]:
        """How labels were matched, where it was not by equal texts."""
        notes = []
        if self.ending is not None:
            notes.append(f"labels matched after dropping {self.ending!r}")
        if self._same_value:
            pairs = ", ".join(f"{label!r} is {name}" for label, name in sorted(self._same_value.items()))
            notes.append(f"labels matched by value: {pairs}")
        if self._unused:
            notes.append(f"labels to be renamed that the file does not have: {sorted(self._unused)}")
        if self.unknown_counts:
            n_rows = sum(self.unknown_counts.values())
            notes.append(
                f"{n_rows} rows have labels that are not classes of the model and count as errors: "
                f"{_named(self.unknown_counts)}"
            )
        return notes

    # ---- how a label is matched ----

    def _learn(self, texts: list[str]) -> None:
        plain = {text: place for text in texts if (place := self._place(text)) is not None}
        strange = [text for text in texts if text not in plain]
        self._as_they_are |= any(text not in self._renamed for text in plain)
        self._known |= plain
        if self.unknown == "wrong":
            self._known |= dict.fromkeys(strange, UNKNOWN)
            if len(self._known) > MAX_UNKNOWN + len(self.names):
                raise UnknownLabelError(
                    f"the file has more than {MAX_UNKNOWN} labels that are not among the model's classes, "
                    f"{_named(self.names)}; is the right column the target?"
                )
        elif strange or (self.ending is not None and self._as_they_are):
            self._drop_ending(strange)

    def _place(self, text: str) -> int | None:
        if text in self._renamed:
            self._unused.pop(text, None)
            return self._renamed[text]
        if text in self._by_text:
            return self._by_text[text]
        place = self._by_value.get(_value(text))
        if place is not None:
            self._same_value[text] = self.names[place]
        return place

    def _drop_ending(self, strange: list[str]) -> None:
        endings = set.intersection(*map(self._endings, strange)) if strange else set()
        if self.ending is not None:
            endings &= {self.ending}
        if len(endings) != 1 or self._as_they_are:
            raise self._refusal(strange)
        (self.ending,) = endings
        cut = len(self.ending)
        self._known |= {text: self._by_text[text[:-cut]] for text in strange}

    def _endings(self, text: str) -> set[str]:
        """What may be dropped from a label to make a class of it."""
        return {text[len(n) :] for n in self._by_text if text.startswith(n) and len(text) > len(n)}

    def _renaming(self, old: str, new: str) -> int:
        if new not in self._by_text:
            raise UnknownLabelError(
                f"label {old!r} is mapped to {new!r}, which is not among the model's classes, "
                f"{_named(self.names)}."
            )
        return self._by_text[new]

    def _refusal(self, strange: list[str]) -> UnknownLabelError:
        if not strange:
            strange = [text for text in self._known if text not in self._by_text]
        return UnknownLabelError(
            f"labels {_named(strange)} are not among the model's classes, {_named(self.names)}.",
            "Map them to classes ({labels}), or count their rows as errors ({unknown_labels}).",
            labels=None,
            unknown_labels="wrong",
        )


def _value(text: str) -> float | None:
    """The number that a text is, if it is one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) or "_" in text else value


def _unambiguous(keys: Iterable[Any], places: Iterable[int]) -> dict[Any, int]:
    """The place of each key that has only one."""
    found = list(zip(keys, places))
    how_often = Counter(key for key, _ in found)
    return {key: place for key, place in found if how_often[key] == 1}


def _named(labels: Iterable[str]) -> str:
    names = list(labels)
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{names[:MAX_NAMED]!r}{more}"
