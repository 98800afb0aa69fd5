"""Small convex quadratic programs beyond double precision: a referee that double precision cannot be.

Numbers are long doubles or, within ``with many_digits():``, decimals, which are slow and settle every doubt.
"""

import decimal
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

DIGITS = 70


@dataclass(frozen=True)
class Arithmetic:
    """How numbers are stored, their unit roundoff, and how small complementarity may become."""

    dtype: type
    eps: object
    least_complementarity: object
    n_steps: int


LONG_DOUBLE = Arithmetic(
    np.longdouble, np.finfo(np.longdouble).eps, np.finfo(np.longdouble).eps ** np.longdouble(1.5), 100
)
DECIMAL = Arithmetic(object, Decimal(10) ** (1 - DIGITS), Decimal("1e-50"), 250)
_used = [LONG_DOUBLE]


@contextmanager
def many_digits():
    """Within it, numbers are decimals."""
    with decimal.localcontext(decimal.Context(prec=DIGITS, Emin=-999999, Emax=999999)):
        _used.append(DECIMAL)
        try:
            yield
        finally:
            _used.pop()


def has_many_digits():
    return _used[-1] is DECIMAL


def eps():
    return _used[-1].eps


def number(value):
    """A float, an integer or a fraction, as a number of the arithmetic in use."""
    if isinstance(value, Decimal | np.longdouble):
        return value
    if _used[-1] is DECIMAL:
        if isinstance(value, Fraction):
            return Decimal(value.numerator) / value.denominator
        return Decimal(int(value) if isinstance(value, np.integer | bool) else float(value))
    if isinstance(value, Fraction):
        high = float(value)
        return np.longdouble(high) + np.longdouble(float(value - Fraction(high)))
    return np.longdouble(value)


def array(values):
    """The same for an array."""
    values = np.asarray(values)
    if _used[-1] is DECIMAL:
        whole = values.dtype == object or np.issubdtype(values.dtype, np.integer)
        values = values.astype(object) if whole else values.astype(np.float64)
        return np.array([number(v) for v in values.ravel().tolist()], object).reshape(values.shape)
    return values.astype(np.longdouble)


def zeros(*shape):
    return array(np.zeros(shape, int))


def eye(n):
    return array(np.eye(n, dtype=int))


def exp(x):
    return np.exp(x)


def log(x):
    return np.frompyfunc(Decimal.ln, 1, 1)(x) if _used[-1] is DECIMAL else np.log(x)


def log1p(x):
    return log(1 + x) if _used[-1] is DECIMAL else np.log1p(x)


def lu_solver(M):
    """A function that solves ``M x = right``, by elimination with partial pivoting."""
    M, n = M.copy(), len(M)
    order = np.arange(n)
    for k in range(n):
        p = k + int(np.argmax(np.abs(M[k:, k])))
        if p != k:
            M[[k, p]], order[[k, p]] = M[[p, k]], order[[p, k]]
        if M[k, k] == 0:
            M[k, k] = eps() * max(np.abs(M).max(), number(1e-300))
        M[k + 1 :, k] /= M[k, k]
        M[k + 1 :, k + 1 :] -= M[k + 1 :, k, None] * M[k, k + 1 :]

    def solve(right):
        x = right[order]
        for k in range(1, n):
            x[k] -= M[k, :k] @ x[:k]
        for k in reversed(range(n)):
            x[k] = (x[k] - M[k, k + 1 :] @ x[k + 1 :]) / M[k, k]
        return x

    return solve


def refined_solver(M):
    """The same for a matrix that may be singular up to rounding: a little is added, and corrected for."""
    solve = lu_solver(M + eps() * np.diag(np.maximum(np.diag(M), eps())))

    @np.errstate(over="ignore", invalid="ignore")  # the caller sees whether numbers are finite
    def refined(right):
        x = solve(right)
        for _ in range(2):
            x = x + solve(right - M @ x)
        return x

    return refined


def cholesky(M):
    """L with ``L L' = M``; None if M has a negative pivot."""
    L, n = M.copy(), len(M)
    for k in range(n):
        if not L[k, k] > 0:
            return None
        L[k, k] = np.sqrt(L[k, k])
        L[k + 1 :, k] /= L[k, k]
        for j in range(k + 1, n):
            L[j:, j] -= L[j:, k] * L[j, k]
        L[k, k + 1 :] = number(0)
    return L


def minimise(P, c, G, h):
    """Points (x, z) ever nearer to ``argmin 1/2 x'Px + c'x  s.t.  Gx <= h`` and its multipliers z >= 0.

    Mehrotra's method. The caller makes each z feasible for a dual of its own and judges the bound: nothing is
    assumed about how far this has come.
    """
    P, c, G, h = array(P), array(c), array(G), array(h)
    n, m = len(c), len(h)
    x, s, z = zeros(n), np.maximum(h, number(1)), zeros(m) + 1
    for _ in range(_used[-1].n_steps):
        r_x, r_z, mu = P @ x + c + G.T @ z, G @ x + s - h, s @ z / m
        if not mu > _used[-1].least_complementarity:
            return
        scaled = G.T * (z / s)
        solve = refined_solver(P + scaled @ G)

        @np.errstate(over="ignore", invalid="ignore")
        def direction(r_s, solve=solve, r_x=r_x, r_z=r_z, s=s, z=z):
            dx = solve(-r_x - G.T @ ((z * r_z - r_s) / s))
            ds = -r_z - G @ dx
            return dx, ds, (-r_s - z * ds) / s

        _, ds, dz = direction(s * z)
        t = min(_length(s, ds), _length(z, dz))
        centring = ((s + t * ds) @ (z + t * dz) / (m * mu)) ** 3
        dx, ds, dz = direction(s * z + ds * dz - centring * mu)
        t = min(_length(s, ds), _length(z, dz)) * 99 / 100
        if (s + t * ds) @ (z + t * dz) > mu * m:  # or the correction may lead around a circle
            dx, ds, dz = direction(s * z - mu / 2)
            t = min(_length(s, ds), _length(z, dz)) * 99 / 100
        with np.errstate(over="ignore"):
            finite = np.isfinite(np.concatenate([dx, dz]).astype(np.float64)).all()
        if not finite:
            return
        x, s, z = x + t * dx, s + t * ds, z + t * dz
        yield x, z


def _length(v, dv):
    return np.min(-v[dv < 0] / dv[dv < 0], initial=number(1))
