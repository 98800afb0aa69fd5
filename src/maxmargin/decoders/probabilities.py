"""Decoders that give probabilities, from columns calibrated on rows they were not trained on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..calibration import IsotonicCalibrator, SigmoidCalibrator, check_method, nearest_agreeing, pair_agreeing
from ..codes import Code
from ..data import check_sample_weight
from .bradley_terry import bradley_terry
from .coupling import couple, has_all_pairs
from .learned_weights import MAX_FITTED_OUTPUT, checked_labels
from .margin_sums import checked_outputs, margin_sums, ordered_by_margins
from .protocol import LearnsFrom

__all__ = ["CoupledPairs", "Coupling", "Probabilistic"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Curve = SigmoidCalibrator | IsotonicCalibrator

DIGITS = 6  # after the point, of a logarithm: what differs by less is equal, as far as it was computed


def column_curves(
    F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None, method: str = "sigmoid"
) -> tuple[Curve, ...]:
    """A curve for each column, fitted to outputs for the rows of its own classes; others are not looked at.

    The outputs (n, n_columns) are for rows that the columns were not trained on, labels are ``0, 1, ...``.
    """
    weight = np.ones(len(F)) if sample_weight is None else sample_weight
    curves: list[Curve] = []
    for t in range(code.n_columns):
        which, targets = code.column(y, t)
        if not weight[which].any():
            raise ValueError(
                f"column {t} has nothing to learn a curve from: it tells apart the classes "
                f"{np.flatnonzero(code.matrix[:, t]).tolist()}, and no row of y with a weight is of these. "
                "Give rows of every class of the code."
            )
        curve = SigmoidCalibrator() if method == "sigmoid" else IsotonicCalibrator()
        curves.append(curve.fit(F[which, t], targets > 0.0, weight[which]))
    return tuple(curves)


def column_probabilities(curves: tuple[Curve, ...], F: FloatArray) -> FloatArray:
    """(n, n_columns): with which probability a row of one of a column's classes is of one with +1."""
    return np.column_stack([curve.predict(F[:, t]) for t, curve in enumerate(curves)])


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
        F = np.clip(checked_outputs(F, code), -MAX_FITTED_OUTPUT, MAX_FITTED_OUTPUT)
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
        positive = column_probabilities(self.curves, np.clip(F, -MAX_FITTED_OUTPUT, MAX_FITTED_OUTPUT))
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


@dataclass
class CoupledPairs:
    """Outputs of a one-vs-one code to probabilities whose argmax is the prediction.

    Every column has a curve of its own, fitted to its outputs for the rows of its two classes, and the pairs
    are coupled. Where the coupled probabilities would contradict the prediction they are replaced by the
    nearest ones that do not.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}

    Attributes
    ----------
    curves_ : tuple of SigmoidCalibrator or IsotonicCalibrator
        One for each column.
    code_ : Code
    """

    method: str = "sigmoid"
    curves_: tuple[Curve, ...] = field(default=(), init=False)
    code_: Code | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Refuse an unknown method at once."""
        check_method(self.method)

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Self:
        """Fit to outputs (n, n_columns) for rows that the columns were not trained on, labels ``0, 1, ...``.

        Outputs for rows of classes that a column does not tell apart are not looked at.
        """
        if not has_all_pairs(code):
            raise ValueError(f"coupling needs a column for each pair of classes; code {code.name!r} has not.")
        self.code_, self.curves_ = code, column_curves(F, y, code, sample_weight, self.method)
        return self

    def predict_proba(self, F: FloatArray, scores: FloatArray) -> FloatArray:
        """Probabilities (n, n_classes) from the columns' outputs; their argmax is that of the scores."""
        if self.code_ is None:
            raise ValueError("CoupledPairs is not fitted; call fit first.")
        return nearest_agreeing(couple(column_probabilities(self.curves_, F), self.code_), scores)
