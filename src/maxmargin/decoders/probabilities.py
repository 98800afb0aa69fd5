"""Decoders that give probabilities, from columns calibrated on rows they were not trained on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..calibration import nearest_agreeing, pair_agreeing
from ..codes import Code
from ..data import check_sample_weight
from .bradley_terry import bradley_terry
from .column_curves import Curve, column_curves, column_probabilities
from .coupling import couple, has_all_pairs
from .learned_weights import LARGEST, checked_labels
from .margin_sums import checked_outputs, margin_sums, ordered_by_margins
from .protocol import LearnsFrom

__all__ = ["Coupling", "Probabilistic"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

DIGITS = 6  # after the point, of a logarithm: what differs by less is equal, as far as it was computed


@dataclass(frozen=True)
class _Calibrated:
    """Every column has a sigmoid of its own; a subclass joins them to probabilities of the classes.

    The scores are logarithms of the probabilities, and equal ones go to the larger sum of margins. One
    column tells two classes apart by its sign: there the probabilities are the nearest that agree with it.
    """

    curves: tuple[Curve, ...] | None = field(default=None, hash=False)
    learns_from: ClassVar[LearnsFrom] = "out-of-fold"
    own_rows_only: ClassVar[bool] = True  # what a column says of classes it was not trained on is not used

    @abstractmethod
    def _joined(self, positive: FloatArray, code: Code) -> FloatArray:
        """Probabilities (n, n_classes) from those of the columns' sides with +1."""

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Self:
        """Fit the sigmoids to outputs for rows that the columns were not trained on."""
        F = np.clip(checked_outputs(F, code), -LARGEST, LARGEST)
        labels, weight = checked_labels(y, len(F), code), check_sample_weight(sample_weight, len(F))
        return replace(self, curves=column_curves(F, labels, code, weight))

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """Logarithms of the probabilities, ties decided."""
        F = checked_outputs(F, code)
        logs = np.log(np.maximum(self._free(F, code), np.finfo(np.float64).tiny)).round(DIGITS)
        return ordered_by_margins(logs, logs.copy(), margin_sums(F, code))

    def probabilities(self, F: FloatArray, code: Code) -> FloatArray:
        """Probabilities (n, n_classes): rows sum to 1, and their argmax is that of the scores."""
        F = checked_outputs(F, code)
        P = self._free(F, code)
        return nearest_agreeing(P, self.scores(F, code)) if code.n_classes > 2 else P

    def _free(self, F: FloatArray, code: Code) -> FloatArray:
        """Probabilities in which ties may be left."""
        if self.curves is None:
            raise ValueError(f"{type(self).__name__} is not fitted; call fit, and use what it returns.")
        positive = column_probabilities(self.curves, np.clip(F, -LARGEST, LARGEST))
        if code.n_classes == 2:
            sign = int(code.matrix[1, 0])
            p = positive[:, 0] if sign > 0 else 1.0 - positive[:, 0]
            return pair_agreeing(p, sign * F[:, 0])
        return self._joined(positive, code)


@dataclass(frozen=True)
class Probabilistic(_Calibrated):
    """The most likely probabilities of the classes, for any code: see ``bradley_terry``."""

    name: str = field(default="probabilistic", init=False)

    def _joined(self, positive: FloatArray, code: Code) -> FloatArray:
        return bradley_terry(positive, code)


@dataclass(frozen=True)
class Coupling(_Calibrated):
    """Pairs of classes coupled as Wu, Lin and Weng do, for one-vs-one: see ``coupling``."""

    name: str = field(default="coupling", init=False)

    def check(self, code: Code) -> None:
        """Refuse a code that has not one column for each pair of classes."""
        if code.n_classes > 2 and not has_all_pairs(code):
            raise ValueError(
                f"decoder='coupling' needs a column for each pair of classes, code='one-vs-one'; code "
                f"{code.name!r} has not. Take decoder='probabilistic' for any code."
            )

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Self:
        """Fit the sigmoids to outputs for rows that the columns were not trained on."""
        self.check(code)
        return super().fit(F, y, code, sample_weight)

    def _joined(self, positive: FloatArray, code: Code) -> FloatArray:
        return couple(positive, code)
