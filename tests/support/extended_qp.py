"""Small convex quadratic programs in extended precision: a referee that double precision cannot be."""

import numpy as np

LD = np.longdouble
EPS = LD(np.finfo(LD).eps)


def lu_solver(M):
    """A function that solves ``M x = right``, by elimination with partial pivoting."""
    M, n = M.astype(LD), len(M)
    order = np.arange(n)
    for k in range(n):
        p = k + int(np.argmax(np.abs(M[k:, k])))
        if p != k:
            M[[k, p]], order[[k, p]] = M[[p, k]], order[[p, k]]
        if M[k, k] == 0.0:
            M[k, k] = EPS * max(np.abs(M).max(), LD(1e-300))
        M[k + 1 :, k] /= M[k, k]
        M[k + 1 :, k + 1 :] -= M[k + 1 :, k, None] * M[k, k + 1 :]

    def solve(right):
        x = right.astype(LD)[order]
        for k in range(1, n):
            x[k] -= M[k, :k] @ x[:k]
        for k in reversed(range(n)):
            x[k] = (x[k] - M[k, k + 1 :] @ x[k + 1 :]) / M[k, k]
        return x

    return solve


def refined_solver(M):
    """The same for a matrix that may be singular up to rounding: a little is added, and corrected for."""
    solve = lu_solver(M + EPS * np.diag(np.maximum(np.diag(M), EPS)))

    def refined(right):
        x = solve(right)
        for _ in range(2):
            x = x + solve(right - M @ x)
        return x

    return refined


def cholesky(M):
    """L with ``L L' = M``."""
    L, n = M.astype(LD), len(M)
    for k in range(n):
        L[k, k] = np.sqrt(L[k, k])
        L[k + 1 :, k] /= L[k, k]
        for j in range(k + 1, n):
            L[j:, j] -= L[j:, k] * L[j, k]
    return np.tril(L)


def minimise(P, c, G, h, n_steps=100):
    """Points (x, z) ever nearer to ``argmin 1/2 x'Px + c'x  s.t.  Gx <= h`` and its multipliers z >= 0.

    Mehrotra's method. The caller makes each z feasible for a dual of its own and judges the bound: nothing is
    assumed about how far this has come.
    """
    P, c, G, h = (np.asarray(part, dtype=LD) for part in (P, c, G, h))
    n, m = len(c), len(h)
    x, s, z = np.zeros(n, LD), np.maximum(h, LD(1.0)), np.ones(m, LD)
    for _ in range(n_steps):
        r_x, r_z, mu = P @ x + c + G.T @ z, G @ x + s - h, s @ z / m
        if not mu > EPS**1.5:
            return
        scaled = G.T * (z / s)
        solve = refined_solver(P + scaled @ G)

        def direction(r_s, solve=solve, r_x=r_x, r_z=r_z, s=s, z=z):
            dx = solve(-r_x - G.T @ ((z * r_z - r_s) / s))
            ds = -r_z - G @ dx
            return dx, ds, (-r_s - z * ds) / s

        _, ds, dz = direction(s * z)
        t = min(_length(s, ds), _length(z, dz))
        centring = ((s + t * ds) @ (z + t * dz) / (m * mu)) ** 3
        dx, ds, dz = direction(s * z + ds * dz - centring * mu)
        t = LD(0.99) * min(_length(s, ds), _length(z, dz))
        if not (np.isfinite(dx).all() and np.isfinite(dz).all()):
            return
        x, s, z = x + t * dx, s + t * ds, z + t * dz
        yield x, z


def _length(v, dv):
    return min(LD(1.0), np.min(-v[dv < 0] / dv[dv < 0], initial=LD(1.0)))
