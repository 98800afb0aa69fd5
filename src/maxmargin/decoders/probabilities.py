"""Decoders with probabilities, from columns calibrated on rows they were not trained on."""

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

LOG_DECIMALS = 6  # log-probabilities are accurate to so many decimals; smaller differences are ties


def column_curves(
    F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None, method: str = "sigmoid"
) -> tuple[Curve, ...]:
    """A curve for each column, from its output to a probability, fitted to the rows of its own classes.

    Outputs (n, n_columns) are for rows that the columns were not trained on; labels are ``0, 1, ...``.
    """
    weight = np.ones(len(F)) if sample_weight is None else sample_weight
    curves: list[Curve] = []
    for t in range(code.n_columns):
        which, targets = code.column(y, t)
        if not weight[which].any():
            raise ValueError(
                f"column {t} cannot be calibrated: it separates the classes "
                f"{np.flatnonzero(code.matrix[:, t]).tolist()}, and no row of y with a positive weight "
                "belongs to them. Add rows of every class of the code."
            )
        curve = SigmoidCalibrator() if method == "sigmoid" else IsotonicCalibrator()
        curves.append(curve.fit(F[which, t], targets > 0.0, weight[which]))
    return tuple(curves)


def column_probabilities(curves: tuple[Curve, ...], F: FloatArray) -> FloatArray:
    """(n, n_columns): the probability of a column's +1 classes, given that the row has one of its classes."""
    return np.column_stack([curve.predict(F[:, t]) for t, curve in enumerate(curves)])


@dataclass(frozen=True)
class _Calibrated:
    """Each column has its own sigmoid; subclasses combine them into class probabilities.

    The scores are the logarithms of the probabilities; ties go to the larger sum of margins. With two classes
    the sign of the one column decides, and the probabilities are the nearest that agree with it.
    """

    curves: tuple[Curve, ...] | None = field(default=None, hash=False)
    learns_from: ClassVar[LearnsFrom] = "out-of-fold"
    own_rows_only: ClassVar[bool] = True  # outputs for classes that a column was not trained on are not used

    @abstractmethod
    def _joined(self, positive: FloatArray, code: Code) -> FloatArray:
        """Probabilities (n, n_classes) from those of the columns' +1 sides."""

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Self:
        """Fit the sigmoids to outputs for rows that the columns were not trained on."""
        F = np.clip(checked_outputs(F, code), -MAX_FITTED_OUTPUT, MAX_FITTED_OUTPUT)
        labels, weight = checked_labels(y, len(F), code), check_sample_weight(sample_weight, len(F))
        return replace(self, curves=column_curves(F, labels, code, weight))

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """Logarithms of the probabilities, with ties broken."""
        F = checked_outputs(F, code)
        logs = np.log(np.maximum(self._free(F, code), np.finfo(np.float64).tiny)).round(LOG_DECIMALS)
        return ordered_by_margins(logs, logs.copy(), margin_sums(F, code))

    def probabilities(self, F: FloatArray, code: Code) -> FloatArray:
        """Probabilities (n, n_classes): rows sum to 1, and their argmax is that of the scores."""
        F = checked_outputs(F, code)
        P = self._free(F, code)
        return nearest_agreeing(P, self.scores(F, code)) if code.n_classes > 2 else P

    def _free(self, F: FloatArray, code: Code) -> FloatArray:
        """Probabilities that may have ties."""
        if self.curves is None:
            raise ValueError(f"{type(self).__name__} is not fitted; call fit and use the decoder it returns.")
        positive = column_probabilities(self.curves, np.clip(F, -MAX_FITTED_OUTPUT, MAX_FITTED_OUTPUT))
        if code.n_classes == 2:
            sign = int(code.matrix[1, 0])
            p = positive[:, 0] if sign > 0 else 1.0 - positive[:, 0]
            return pair_agreeing(p, sign * F[:, 0])
        return self._joined(positive, code)


@dataclass(frozen=True)
class Probabilistic(_Calibrated):
    """Maximum-likelihood class probabilities, for any code: see ``bradley_terry``.

    Parameters
    ----------
    curves : tuple of curves or None
        One for each column; made by ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.decoders import Probabilistic
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(code="exhaustive", decoder=Probabilistic(), random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)
    """

    name: str = field(default="probabilistic", init=False)

    def _joined(self, positive: FloatArray, code: Code) -> FloatArray:
        return bradley_terry(positive, code)


@dataclass(frozen=True)
class Coupling(_Calibrated):
    """Pairwise coupling after Wu, Lin and Weng, for one-vs-one codes: see ``coupling``.

    Parameters
    ----------
    curves : tuple of curves or None
        One for each column; made by ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.decoders import Coupling
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(code="one-vs-one", decoder=Coupling(), random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)
    """

    name: str = field(default="coupling", init=False)

    def check(self, code: Code) -> None:
        """Raise unless the code has one column for each pair of classes."""
        if code.n_classes > 2 and not has_all_pairs(code):
            raise ValueError(
                f"decoder='coupling' needs a column for each pair of classes, as code='one-vs-one' has; got "
                f"code {code.name!r}. Use decoder='probabilistic', which takes any code."
            )

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Self:
        """Fit the sigmoids to outputs for rows that the columns were not trained on."""
        self.check(code)
        return super().fit(F, y, code, sample_weight)

    def _joined(self, positive: FloatArray, code: Code) -> FloatArray:
        return couple(positive, code)


@dataclass
class CoupledPairs:
    """From the outputs of a one-vs-one code to probabilities whose argmax is the prediction.

    Each column has its own curve, fitted to its outputs for the rows of its two classes, and the pairs are
    coupled. Coupled probabilities that contradict the prediction are replaced by the nearest ones that do
    not.

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
        """Check the method."""
        check_method(self.method)

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Self:
        """Fit to outputs (n, n_columns) for rows that the columns were not trained on, labels ``0, 1, ...``.

        A column's outputs for rows of other classes than its two are ignored.
        """
        if not has_all_pairs(code):
            raise ValueError(f"coupling needs a column for each pair of classes; got code {code.name!r}.")
        self.code_, self.curves_ = code, column_curves(F, y, code, sample_weight, self.method)
        return self

    def predict_proba(self, F: FloatArray, scores: FloatArray) -> FloatArray:
        """Probabilities (n, n_classes) from the columns' outputs; their argmax is that of the scores."""
        if self.code_ is None:
            raise ValueError("CoupledPairs is not fitted; call fit first.")
        return nearest_agreeing(couple(column_probabilities(self.curves_, F), self.code_), scores)
