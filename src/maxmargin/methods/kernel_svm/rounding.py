"""What rounded kernel values can do to the certificate of a kernel SVM.

With values in float32, the residuals r = y - f that a solver keeps are off by e. A sample of rows, evaluated
in double, measures e, relative to sqrt(k(x, x)), in proportion to which it grows. The gap is a sum of convex
terms of r, so a term grows at most to its value at one end of an interval around r. If that matters, the
terms that can change are computed in double.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ... import _native
from ...solving import Certificate, kernel_errors
from .box_problem import BoxProblem
from .row_cache import GRADIENT_ROUNDING

__all__ = ["Judged", "RoundedPoint", "double_rounding", "in_parts"]

N_SAMPLED_ROWS = 64  # half of them support vectors
ERRORS_PER_BOUND = 2.0  # root mean squares that bound e in the gap; their mean effect is a quarter of that
ERRORS_PER_DOUBT = 8.0  # a term that changes within this many root mean squares is recomputed
ERRORS_PER_LARGEST = 6.0  # the largest error that is expected among all rows
MAX_ROUNDING_PER_TOL = 0.1  # what rounding may add to a relative gap before terms are computed in double
ROWS_BETWEEN_CLOCKS = 1024  # whose outputs are computed in double between two looks at the clock


@dataclass(frozen=True)
class Judged:
    """A certificate that includes rounding, and its intercept.

    Unless ``decided``, only values in double can show whether the point is within the tolerance.
    """

    certificate: Certificate
    b: float
    decided: bool


@dataclass(frozen=True)
class InDouble:
    """What values in double show: the gap, its intercept, what the dual value gains, and its error."""

    gap: float
    b: float
    correction: float
    dual_error: float


@dataclass(frozen=True)
class RoundedPoint:
    """Coefficients of all samples, an intercept, and the gradients of ``rows``, from rounded kernel values.

    ``error`` is the root mean square of e / sqrt(k(x, x)), measured on a sample of the rows.
    """

    problem: BoxProblem
    a: np.ndarray
    g: np.ndarray
    b: float
    rows: np.ndarray
    lengths: np.ndarray = field(init=False)
    error: float = field(init=False)
    bias: float = field(init=False)  # of the outputs of support vectors, away from their targets

    def __post_init__(self) -> None:
        """Measure the errors."""
        own, places = self.a[self.rows], _sample(self.a[self.rows])
        e = self._outputs(self.rows[places]) - self.problem.y[self.rows[places]] + self._residuals()[places]
        lengths, held = _lengths(self.problem, self.rows), own[places] != 0.0
        error = np.sqrt(np.mean((e / lengths[places]) ** 2)) if len(e) else 0.0
        bias = np.mean(np.sign(own[places][held]) * e[held]) if held.any() else 0.0
        for name, value in (("lengths", lengths), ("error", float(error)), ("bias", abs(float(bias)))):
            object.__setattr__(self, name, value)

    def _residuals(self) -> np.ndarray:
        return self.problem.residuals(self.rows, self.a[self.rows], self.g[self.rows])

    def _outputs(self, rows: np.ndarray) -> np.ndarray:
        support = np.flatnonzero(self.a)
        return self.problem.kernel.outputs_in_double(rows, support, self.a[support])

    def _grown(self, n_errors: float) -> np.ndarray:
        """How much larger each term can be if outputs are off by this many root mean squares."""
        r, width = self._residuals() - self.b, n_errors * self.error * self.lengths
        return self.problem.grown_terms(self.rows, self.a[self.rows], r, width)

    @property
    def gap_error(self) -> float:
        """What rounding can add to primal minus dual."""
        return float(self._grown(ERRORS_PER_BOUND).sum())

    @property
    def dual_error(self) -> float:
        """How far rounding can move the dual value."""
        return self._dual_error_of(slice(None))

    def _dual_error_of(self, which: np.ndarray | slice) -> float:
        """What the errors of some of ``rows`` contribute to it."""
        a, lengths = self.a[self.rows][which], self.lengths[which]
        spread = ERRORS_PER_BOUND * self.error * float(np.linalg.norm(a * lengths))
        return 0.5 * (self.bias * float(np.abs(a).sum()) + spread)

    @property
    def leaves_settled(self) -> bool:
        """Whether rounding is small enough for the rows that are not here, settled by a fixed margin."""
        margin = GRADIENT_ROUNDING[self.problem.kernel.dtype.itemsize]
        largest = ERRORS_PER_LARGEST * self.error * float(self.lengths.max(initial=0.0))
        return len(self.rows) == len(self.a) or largest <= margin

    def judge(self, certificate: Certificate, tol: float, late: Callable[[], bool]) -> Judged:
        """The certificate with rounding included; terms are computed in double if it could decide the end.

        A gap above the tolerance is no decision where rounding can be all of it.
        """
        gap, dual_error = certificate.primal - certificate.dual, self.dual_error
        gap_error = self.gap_error
        largest = tol * max(abs(certificate.primal), abs(certificate.dual), certificate.tiny)
        little = MAX_ROUNDING_PER_TOL * largest
        decided = gap > max(largest, gap_error) or gap_error + dual_error <= little
        if not decided:
            found = self._in_double(little, late)
            if found is not None and found.gap + found.dual_error <= largest:
                right = replace(certificate, dual=certificate.dual + found.correction)
                return Judged(_bounds(right, found.gap, found.dual_error), found.b, True)
        return Judged(_bounds(certificate, gap + gap_error, dual_error), self.b, decided)

    def _in_double(self, little: float, late: Callable[[], bool]) -> InDouble | None:
        """The gap with terms in doubt in double, and its best intercept; None if other terms may change.

        Where rounding could move the dual value by more than ``little``, that is computed in double, too.
        """
        problem, a = self.problem, self.a
        in_doubt = self._grown(ERRORS_PER_DOUBT) > 0.0
        if self._dual_error_of(~in_doubt) > little:
            in_doubt |= a[self.rows] != 0.0
        doubt = self.rows[in_doubt]
        f = in_parts(self._outputs, doubt, late)
        if f is None:
            return None
        g = self.g.copy()
        g[doubt] = problem.y[doubt] - f - problem.ridge[doubt] * a[doubt]
        parts = (a, g, problem.lower, problem.upper, problem.y, problem.cost)
        b, gap, _ = _native.svm_look(*(part[self.rows] for part in parts), problem.squared, **problem.shape)
        largest = (np.abs(g - self.g)[doubt] / self.lengths[in_doubt]).max(initial=0.0)
        least = self.lengths[~in_doubt].min(initial=np.inf)
        room = (ERRORS_PER_DOUBT - ERRORS_PER_LARGEST) * self.error * least
        if largest > ERRORS_PER_LARGEST * self.error or abs(b - self.b) > room:
            return None
        correction = 0.5 * float(a[doubt] @ (g - self.g)[doubt])
        return InDouble(float(gap), float(b), correction, self._dual_error_of(~in_doubt))


def double_rounding(problem: BoxProblem, a: np.ndarray, g: np.ndarray, b: float, rows: np.ndarray) -> float:
    """What rounding in double can do to the gap and the dual value.

    It matters where kernel values are large and nearly equal, as for a linear kernel of rows far from 0: sums
    of them cancel, and so does a sum of a that is not 0.
    """
    support, own = np.flatnonzero(a), a[rows]
    errors = kernel_errors(a[support], _lengths(problem, support), _lengths(problem, rows), b)
    grown = problem.grown_terms(rows, own, problem.residuals(rows, own, g[rows]) - b, errors)
    left = abs(float(a.sum()) - problem.sum_a) * (abs(b) + float(np.abs(g[rows]).max(initial=0.0)))
    return float(grown.sum() + 0.5 * np.abs(own) @ errors) + left


def in_parts(
    outputs: Callable[[np.ndarray], np.ndarray], rows: np.ndarray, late: Callable[[], bool]
) -> np.ndarray | None:
    """``outputs(rows)``, some rows at a time; None if ``late()`` before all are done."""
    f = np.empty(len(rows))
    for i in range(0, len(rows), ROWS_BETWEEN_CLOCKS):
        if late():
            return None
        some = slice(i, i + ROWS_BETWEEN_CLOCKS)
        f[some] = outputs(rows[some])
    return f


def _bounds(certificate: Certificate, gap: float, dual_error: float) -> Certificate:
    """The bounds for a gap that is known, at a dual value that is known up to an error."""
    return replace(certificate, primal=certificate.dual + gap, dual=certificate.dual - dual_error)


def _lengths(problem: BoxProblem, rows: np.ndarray) -> np.ndarray:
    """``sqrt(k(x, x))``; rows where it is 0 count as short as others, or as long if the kernel is indefinite.

    It is 1 for all rows if it is not finite, or 0, everywhere.
    """
    lengths = problem.kernel.lengths(rows)
    known = lengths > 0.0
    if known.all() and np.isfinite(lengths).all():
        return lengths
    if not known.any() or not np.isfinite(lengths).all():
        return np.ones(len(rows))
    others = lengths[known].min() if problem.kernel.kernel.positive else lengths.max()
    return np.where(known, lengths, others)


def _sample(a: np.ndarray) -> np.ndarray:
    """Evenly spaced rows: half of them among those with a coefficient, half among all."""
    half = N_SAMPLED_ROWS // 2
    return np.unique(np.concatenate([_spread(np.flatnonzero(a), half), _spread(np.arange(len(a)), half)]))


def _spread(rows: np.ndarray, n: int) -> np.ndarray:
    return rows[np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(np.int64)] if len(rows) else rows
