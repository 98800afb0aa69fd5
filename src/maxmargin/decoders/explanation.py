"""How a code decoded one sample: which columns erred, how far each row was, whether that was corrected."""

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

MOST_LINES = 10  # of each table


@dataclass(frozen=True, eq=False)
class Explanation:
    """One sample's way from the columns' outputs to a class.

    Attributes
    ----------
    label : object
        The true class, or the predicted one where no truth was given.
    predicted : object
        What the decoder said.
    row : ndarray of shape (n_columns,)
        The code's entries for ``label``.
    outputs : ndarray of shape (n_columns,)
        What the columns said.
    wrong : ndarray of int
        Columns that take part in ``label`` (an entry that is not 0) and whose output has not its sign.
    distances : ndarray of shape (n_classes,)
        ``sum_t (1 - c_yt sign f_t) / 2`` of each class before decoding; an entry or output of 0 costs 1/2.
    scores : ndarray of shape (n_classes,)
        The decoder's, larger is better.
    correctable : int
        So many wrong outputs, whichever they are, leave ``label`` the nearest row.
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
        """Whether columns erred and the class is right all the same."""
        return len(self.wrong) > 0 and bool(self.predicted == self.label)

    @property
    def verdict(self) -> str:
        """One line: what the columns got wrong, and what became of it."""
        n_wrong, right = len(self.wrong), bool(self.predicted == self.label)
        erred = f"{n_wrong} of the {np.count_nonzero(self.row)} columns of {self.label!s} erred"
        sure = n_wrong <= self.correctable
        if n_wrong == 0:
            return f"no column of {self.label!s} erred" + (
                "" if right else f", yet {self.decoder} decoding did"
            )
        if right and sure:
            return f"{erred}, and the code corrects any {self.correctable}: corrected"
        if right:
            return f"{erred}, more than the {self.correctable} that are always corrected, but corrected here"
        if sure:
            return f"{erred}: the nearest row is right, but {self.decoder} decoding goes by sizes and erred"
        return f"{erred}, more than the {self.correctable} that are always corrected: not corrected"

    def __str__(self) -> str:
        lines = [f"{self.label!s}, decoded as {self.predicted!s}: {self.verdict}", ""]
        lines += ["   class        distance       score"]
        ranked = np.argsort(-self.scores, kind="stable")
        for k in ranked[:MOST_LINES]:
            name, distance, score = str(self.classes[k]), self.distances[k], self.scores[k]
            lines.append(f"   {name:<10} {distance:>10g} {score:>11.4g}")
        if len(ranked) > MOST_LINES:
            lines.append(f"   and {len(ranked) - MOST_LINES} more classes")
        if len(self.wrong):
            lines += ["", "   wrong column    entry      output"]
        for t in self.wrong[:MOST_LINES]:
            lines.append(f"   {t:>12} {self.row[t]:>8d} {self.outputs[t]:>11.4g}")
        if len(self.wrong) > MOST_LINES:
            lines.append(f"   and {len(self.wrong) - MOST_LINES} more columns")
        return "\n".join(lines)


def explanations(
    F: FloatArray, labels: IntArray | None, code: Code, decoder: Decoder, classes: NDArray[Any]
) -> list[Explanation]:
    """One for each row of outputs; ``labels`` are numbers of classes, None for those predicted."""
    F = checked_outputs(F, code)
    decision = decision_values(F, code, decoder)
    predicted = predicted_classes(decision)
    scores = np.column_stack([-decision, decision]) if decision.ndim == 1 else decision
    judged = predicted if labels is None else labels
    distances = (code.n_columns - np.sign(F) @ code.matrix.T.astype(np.float64)) / 2.0
    wrong = code.targets(judged) * F <= 0.0
    wrong &= code.targets(judged) != 0
    sure = np.maximum(np.ceil(code.row_margins() / 2.0).astype(int) - 1, 0)
    return [
        Explanation(
            label=classes[judged[i]],
            predicted=classes[predicted[i]],
            row=code.matrix[judged[i]].astype(np.intp),
            outputs=F[i],
            wrong=np.flatnonzero(wrong[i]),
            distances=distances[i],
            scores=scores[i],
            correctable=int(sure[judged[i]]),
            classes=classes,
            decoder=decoder.name,
        )
        for i in range(len(F))
    ]
