"""Predictions as CSV (RFC 4180), a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ...evaluation import Predicted

_SPECIAL = (",", '"', "\n", "\r")


def field(text: object) -> str:
    """One field: quoted where it has to be."""
    word = str(text)
    if any(sign in word for sign in _SPECIAL) or word != word.strip():
        return '"' + word.replace('"', '""') + '"'
    return word


def line(fields: Iterable[object]) -> bytes:
    """One line, in UTF-8."""
    return (",".join(field(entry) for entry in fields) + "\n").encode("utf-8", "surrogatepass")


class PredictionText:
    """Lines of predictions for a model's classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    scores, probabilities : bool
        Whether lines have these beside the label.
    """

    def __init__(self, classes: np.ndarray, *, scores: bool, probabilities: bool):
        import numpy as np

        self._classes = classes
        self._words = np.array([field(label) for label in classes.tolist()], dtype=object)
        self.columns = ["prediction"]
        if scores:  # two classes have one score, positive for the second
            self.columns += [f"score {label}" for label in (classes if len(classes) > 2 else classes[1:])]
        if probabilities:
            self.columns += [f"probability {label}" for label in classes]

    def head(self) -> bytes:
        """The line with the names."""
        return line(self.columns)

    def body(self, block: Predicted) -> bytes:
        """The lines of a block."""
        import numpy as np

        words = self._words[np.searchsorted(self._classes, block.labels)].tolist()
        numbers: list[Sequence[str]] = []
        for values in (block.scores, block.probabilities):
            if values is not None:
                numbers += [_texts(column) for column in (values.T if values.ndim == 2 else values[None])]
        lines = words if not numbers else map(",".join, zip(words, *numbers))
        return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


def _texts(column: Any) -> list[str]:
    """Numbers as short as they can be read back exactly."""
    return list(map(repr, column.tolist()))
