"""The kinds of entries in a report: a bound, an estimate, and a bound that does not apply."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import check_number

__all__ = ["Bound", "DoesNotApply", "Estimate", "Inapplicable", "MarginSample"]

FloatArray = NDArray[np.float64]
ERROR = "error"


class DoesNotApply(ValueError):
    """An assumption of a bound does not hold for the model; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, DoesNotApply, jaakkola_haussler_estimate
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0, intercept=0.5)
    >>> try:
    ...     jaakkola_haussler_estimate(sample, np.zeros(200))
    ... except DoesNotApply as error:
    ...     print("it is for models without an intercept")
    it is for models without an intercept
    """


@dataclass(frozen=True)
class Bound:
    """An upper bound that holds with probability at least ``1 - delta`` over the draw of the sample.

    Attributes
    ----------
    value : float
        The sum of the terms.
    delta : float
        0 for a bound that always holds.
    terms : dict of str to float
    vacuous : bool
        Whether it is no better than guessing: ``value >= min(1/2, majority_error)``.
    majority_error : float
        The error on the sample of always predicting the most frequent class.
    name : str
    of : str
        What is bounded: "error" is the probability of a wrong prediction for a new row.
    notes : tuple of str
        Assumptions that were not checked.

    Examples
    --------
    >>> from maxmargin.bounds import hold_out_bound
    >>> print(hold_out_bound(5, 200))
    hold-out: error <= 0.05184 with probability 0.95
      = 0.025 (hold-out error) + 0.02684 (confidence)
    """

    value: float
    delta: float
    terms: Mapping[str, float]
    vacuous: bool
    majority_error: float = 0.5
    name: str = ""
    of: str = ERROR
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        sum_of_terms = " + ".join(f"{value:.4g} ({term})" for term, value in self.terms.items())
        chance = f" with probability {1 - self.delta:.4g}" if self.delta > 0 else ""
        lines = [f"{self.name}: {self.of} <= {self.value:.4g}{chance}", f"= {sum_of_terms}"]
        return "\n  ".join(lines + _remarks(self))


@dataclass(frozen=True)
class Estimate:
    """An estimate without a guarantee: it may be too low for new rows.

    Attributes
    ----------
    value : float
    terms : dict of str to float
        What it was computed from.
    vacuous : bool
        Whether it is no better than guessing: ``value >= min(1/2, majority_error)``.
    majority_error, name, of, notes
        As in :class:`Bound`.
    standard_error : float or None
        Of an estimate by random draws.

    Examples
    --------
    >>> from maxmargin.bounds import Estimate
    >>> Estimate(0.08, name="span").value
    0.08
    """

    value: float
    terms: Mapping[str, float] = field(default_factory=dict)
    vacuous: bool = False
    majority_error: float = 0.5
    name: str = ""
    of: str = "leave-one-out error"
    notes: tuple[str, ...] = ()
    standard_error: float | None = None

    def __str__(self) -> str:
        spread = "" if self.standard_error is None else f" +- {self.standard_error:.2g}"
        terms = ", ".join(f"{term} {value:.6g}" for term, value in self.terms.items())
        return "\n  ".join([f"{self.name}: {self.of} about {self.value:.4g}{spread}", terms, *_remarks(self)])


@dataclass(frozen=True)
class Inapplicable:
    """A bound or estimate that does not apply to a model, and the reason.

    Attributes
    ----------
    name : str
        Of the bound.
    reason : str
        Which assumption does not hold.

    Examples
    --------
    >>> from maxmargin.bounds import Inapplicable
    >>> Inapplicable("jaakkola-haussler", "it is for models without an intercept").reason
    'it is for models without an intercept'
    """

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: does not apply; {self.reason}"


Entry = Bound | Estimate | Inapplicable


def _remarks(entry: Bound | Estimate) -> list[str]:
    flag = [f"vacuous: the majority-class error is {entry.majority_error:.4g}"] if entry.vacuous else []
    return flag + [f"note: {note}" for note in entry.notes]


def is_vacuous(value: float, majority_error: float) -> bool:
    """Whether a classifier with this error is no better than guessing."""
    return not value < min(0.5, majority_error)


def bound_of_terms(
    name: str, terms: dict[str, float], delta: float, majority_error: float, **more: Any
) -> Bound:
    """The sum of the terms as a bound."""
    value = math.fsum(terms.values())
    return Bound(value, delta, terms, is_vacuous(value, majority_error), majority_error, name, **more)


def check_delta(delta: float) -> None:
    """Raise unless delta is a probability of failure."""
    check_number("delta", delta, above=0.0)
    if delta >= 1.0:
        raise ValueError(
            f"delta must lie between 0 and 1, the probability that a bound fails; got {delta!r}."
        )


@dataclass(frozen=True)
class MarginSample:
    """The input of a bound: one output ``f(x) + b`` on the sample that it was trained on.

    Parameters
    ----------
    margins : array-like of shape (n_rows,)
        ``y_i (f(x_i) + b)``.
    diagonal : array-like of shape (n_rows,)
        ``k(x_i, x_i)``.
    norm : float
        ``||f||``. A penalised intercept is part of f, with the kernel ``k + 1``.
    intercept : float, optional
        b where it is not penalised; None for a model without a free intercept.
    counts : array-like of shape (n_rows,), optional
        The number of independent observations that each row stands for; 1 by default.
    n_samples : int, optional
        The number of all observations, including those that take no part in this output; the bounded error
        is a share of it. By default the sum of the counts.
    majority_error : float, default=0.5

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> sample.n_samples, sample.norm
    (200, 3.0)
    """

    margins: FloatArray
    diagonal: FloatArray
    norm: float
    intercept: float | None = None
    counts: Any = None
    n_samples: int = 0
    majority_error: float = 0.5

    def __post_init__(self) -> None:
        """Check that the arrays are finite and of one length, and that counts are whole numbers."""
        margins, diagonal = (np.asarray(v, dtype=np.float64) for v in (self.margins, self.diagonal))
        counts = np.ones(len(margins)) if self.counts is None else np.asarray(self.counts, dtype=np.float64)
        if margins.ndim != 1 or not len(margins) or not margins.shape == diagonal.shape == counts.shape:
            raise ValueError(
                "margins, diagonal and counts must have one number for each row, and at least one row; got "
                f"shapes {margins.shape}, {diagonal.shape} and {counts.shape}."
            )
        if not (np.isfinite(margins).all() and np.isfinite(diagonal).all() and (diagonal >= 0.0).all()):
            raise ValueError("margins must be finite, and the diagonal k(x, x) finite and >= 0.")
        check_counts("counts", counts)
        check_number("norm", self.norm, at_least=0.0)
        own = int(counts.sum())
        n_samples = self.n_samples or own
        check_number("n_samples", n_samples, at_least=own, integer=True)
        for name, value in zip(("margins", "diagonal", "counts"), (margins, diagonal, counts)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "n_samples", int(n_samples))

    @property
    def own(self) -> float:
        """The number of observations that take part in this output."""
        return float(self.counts.sum())

    @property
    def trace(self) -> float:
        """``sum_i k(x_i, x_i)`` over observations."""
        return float(self.counts @ self.diagonal)

    def mean(self, values: FloatArray) -> float:
        """The sum over observations, divided by ``n_samples``."""
        return float(self.counts @ values) / self.n_samples


def check_counts(name: str, counts: FloatArray) -> None:
    """Raise for weights that are not numbers of observations."""
    if not (np.isfinite(counts).all() and (counts >= 0.0).all() and (counts == np.round(counts)).all()):
        raise ValueError(
            f"{name} must be whole numbers >= 0: a bound counts independent observations, and a weight of 2 "
            "means a row that was observed twice. Leave out weights with any other meaning."
        )
