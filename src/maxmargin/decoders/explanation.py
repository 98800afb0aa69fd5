"""How a code decoded one sample: which columns were wrong, and whether the code corrected them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import Code
from .margin_sums import checked_outputs
from .protocol import Decoder
from .registry import decision_values, predicted_classes

__all__ = ["Explanation", "explanations"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

MAX_TABLE_ROWS = 10  # of each table in the text


@dataclass(frozen=True, eq=False)
class Explanation:
    """How one sample's column outputs were decoded to a class.

    Attributes
    ----------
    label : object
        The true class, or the predicted one if no label was given.
    predicted : object
        The decoder's prediction.
    row : ndarray of shape (n_columns,)
        The code's entries for ``label``.
    outputs : ndarray of shape (n_columns,)
        The columns' outputs.
    wrong : ndarray of int
        Columns with a non-zero entry for ``label`` whose output does not have its sign.
    distances : ndarray of shape (n_classes,)
        ``sum_t (1 - c_yt sign f_t) / 2`` for each class; an entry or output of 0 costs 1/2.
    scores : ndarray of shape (n_classes,)
        The decoder's scores; larger is better.
    correctable : int
        With up to this many wrong outputs, whichever they are, ``label`` remains the nearest row.
    classes : ndarray of shape (n_classes,)
    decoder : str
    """

    label: Any
    predicted: Any
    row: IntArray
    outputs: FloatArray
    wrong: IntArray
    distances: FloatArray
    scores: FloatArray
    correctable: int
    classes: NDArray[Any]
    decoder: str

    @property
    def corrected(self) -> bool:
        """Whether some columns were wrong and the predicted class is right."""
        return len(self.wrong) > 0 and bool(self.predicted == self.label)

    @property
    def verdict(self) -> str:
        """One line: how many columns were wrong, and whether that was corrected."""
        n_wrong, right = len(self.wrong), bool(self.predicted == self.label)
        count = f"{n_wrong} wrong out of {np.count_nonzero(self.row)} columns of {self.label!s}"
        sure = n_wrong <= self.correctable
        if n_wrong == 0:
            return f"no column of {self.label!s} was wrong" + (
                "" if right else f", but {self.decoder} decoding was"
            )
        if right and sure:
            return f"{count}, and the code corrects any {self.correctable}: corrected"
        if right:
            return f"{count}, more than the {self.correctable} that are always corrected, but corrected here"
        if sure:
            return f"{count}: the nearest row is right, but {self.decoder} decoding goes by size and is not"
        return f"{count}, more than the {self.correctable} that are always corrected: not corrected"

    def __str__(self) -> str:
        lines = [f"{self.label!s}, decoded as {self.predicted!s}: {self.verdict}", ""]
        lines += ["   class        distance       score"]
        ranked = np.argsort(-self.scores, kind="stable")
        for k in ranked[:MAX_TABLE_ROWS]:
            name, distance, score = str(self.classes[k]), self.distances[k], self.scores[k]
            lines.append(f"   {name:<10} {distance:>10g} {score:>11.4g}")
        if len(ranked) > MAX_TABLE_ROWS:
            lines.append(f"   and {len(ranked) - MAX_TABLE_ROWS} more classes")
        if len(self.wrong):
            lines += ["", "   wrong column    entry      output"]
        for t in self.wrong[:MAX_TABLE_ROWS]:
            lines.append(f"   {t:>12} {self.row[t]:>8d} {self.outputs[t]:>11.4g}")
        if len(self.wrong) > MAX_TABLE_ROWS:
            lines.append(f"   and {len(self.wrong) - MAX_TABLE_ROWS} more columns")
        return "\n".join(lines)


def explanations(
    F: FloatArray, labels: IntArray | None, code: Code, decoder: Decoder, classes: NDArray[Any]
) -> list[Explanation]:
    """One for each row of outputs; ``labels`` are class indices, or None to use the predicted ones."""
    F = checked_outputs(F, code)
    decision = decision_values(F, code, decoder)
    predicted = predicted_classes(decision)
    scores = np.column_stack([-decision, decision]) if decision.ndim == 1 else decision
    explained = predicted if labels is None else labels
    distances = (code.n_columns - np.sign(F) @ code.matrix.T.astype(np.float64)) / 2.0
    wrong = code.targets(explained) * F <= 0.0
    wrong &= code.targets(explained) != 0
    sure = np.maximum(np.ceil(code.row_margins() / 2.0).astype(int) - 1, 0)
    return [
        Explanation(
            label=classes[explained[i]],
            predicted=classes[predicted[i]],
            row=code.matrix[explained[i]].astype(np.intp),
            outputs=F[i],
            wrong=np.flatnonzero(wrong[i]),
            distances=distances[i],
            scores=scores[i],
            correctable=int(sure[explained[i]]),
            classes=classes,
            decoder=decoder.name,
        )
        for i in range(len(F))
    ]
