"""Linear programs in integers: the simplex method without rounding, a referee that needs no proof."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

BITS = 256  # of the entries of a row, from its largest entry on


def fraction(value):
    """The exact value of a number of any arithmetic."""
    if isinstance(value, Decimal | Fraction | int):
        return Fraction(value)
    high = float(value)
    return Fraction(high) + Fraction(float(value - type(value)(high)))


def integers(values):
    """Numbers times a power of two, rounded to integers of ``BITS`` bits, and that power."""
    exact = [fraction(value) for value in values]
    most = max(map(abs, exact), default=Fraction(0))
    shift = BITS if most == 0 else BITS - most.numerator.bit_length() + most.denominator.bit_length()
    power = Fraction(2) ** shift
    return [round(value * power) for value in exact], power


def largest_sum(rows, limits, costs):
    """The largest ``sum(x)`` with ``rows @ x <= limits`` and ``0 <= x <= costs``, as a fraction.

    Limits are not negative, so that x = 0 is where the simplex method starts. Entries are rounded to ``BITS``
    bits of the largest one in their row; what is then maximised is exact, and its x is tried in every row.
    """
    n = len(costs)
    unit = Fraction(1, max((Fraction(cost).denominator for cost in map(fraction, costs)), default=1))
    A, b = [], []
    for row, limit in zip(rows, limits):
        entries, power = integers(row)
        bound = fraction(limit) * power / unit
        A.append([entry * bound.denominator for entry in entries])
        b.append(bound.numerator)
    for i, cost in enumerate(costs):
        A.append([int(i == j) for j in range(n)])
        b.append(int(fraction(cost) / unit))
    A, b = np.array(A, object), np.array(b, object)
    x, scale = _vertex(A, b)
    assert (x >= 0).all()
    assert (A @ x <= b * scale).all()
    return Fraction(int(x.sum()), int(scale)) * unit


def _vertex(A, b):
    """An x and its denominator that maximise the sum, by pivots that divide without a remainder."""
    m, n = A.shape
    T = np.zeros((m + 1, n + 1), object)
    T[:m, :n], T[:m, n], T[m, :n] = A, b, -1
    scale, inside, outside, n_pivots = 1, np.arange(n, n + m), np.arange(n), 0
    while (T[m, :n] < 0).any():
        worth = np.flatnonzero(T[m, :n] < 0)
        if n_pivots < 4 * (m + n):
            q = int(worth[np.argmin(T[m, worth])])
        else:  # Bland's rule, which does not cycle
            q = int(worth[np.argmin(outside[worth])])
        rows = np.flatnonzero(T[:m, q] > 0)
        p = int(min(rows, key=lambda i: (Fraction(T[i, n], T[i, q]), inside[i])))
        pivot, column = T[p, q], T[:, q].copy()
        line = T[p].copy()
        T = (T * pivot - np.outer(column, line)) // scale
        T[p], T[:, q], T[p, q] = line, -column, scale
        scale, n_pivots = pivot, n_pivots + 1
        inside[p], outside[q] = outside[q], inside[p]
    x = np.zeros(n, object)
    for i in np.flatnonzero(inside < n):
        x[inside[i]] = T[i, n]
    return x, scale
