"""Lower bounds on the problems of kernel regression and of the one-class SVM, in extended precision."""

import numpy as np

from .certified_problems import rotated
from .extended_qp import array, eye, minimise, number, zeros


def residual_bound(Phi, y, cost, form, K=None, *, free=True):
    """Of ``1/2 ||w||^2 + sum_i loss_i(y_i - <w, phi_i> - b)``, with losses as ``form`` of their dual.

    ``form`` has the bounds of its coefficients, whether it is squared, and its kink. A loss that is squared
    and bounded is that of r - t, plus cost t^2 / 2, for the best t. b is 0 unless it is ``free``.
    """
    (low, high), squared, kink = (array(bound) for bound in form[:2]), form[2], number(form[3])
    bounded = np.isfinite(form[0]).all()
    (n, d), y, cost = Phi.shape, array(y) - number(y[0] if free else 0), array(cost)
    (turned, size), most = rotated(Phi), cost.max()
    n_free = n if squared and bounded else 0
    ends = d + 1 + np.cumsum([0, n_free, n, n])
    P, c = zeros(ends[-1], ends[-1]), zeros(ends[-1])
    P[:d, :d], P[d, d] = np.diag(1 / (most * size * size)), number(0 if free else 1)
    if n_free:
        P[ends[0] : ends[1], ends[0] : ends[1]] = np.diag(cost / most)
    if bounded:
        c[ends[1] : ends[2]], c[ends[2] :] = high / most, -low / most
    else:
        P[ends[1] :, ends[1] :] = np.diag(np.concatenate([cost, cost]) / most)
    G, h = zeros(4 * n, ends[-1]), zeros(4 * n)
    G[:n, :d], G[:n, d], h[:n] = -turned / size, zeros(n) - (1 if free else 0), kink - y
    P[d, d] = number(0 if free else 1)
    if n_free:
        G[:n, ends[0] : ends[1]] = -eye(n)
    G[n : 2 * n, : ends[1]], h[n : 2 * n] = -G[:n, : ends[1]], kink + y
    G[: 2 * n, ends[1] :] = G[2 * n :, ends[1] :] = -eye(2 * n)
    best = number(0)  # at a = 0
    for _, z in minimise(P, c, G, h):
        a = most * (z[:n] - z[n : 2 * n])
        a = np.minimum(np.maximum(a, low), high) if bounded else a
        up, down = a[a > 0].sum(), -a[a < 0].sum()
        if free and not (up > 0 and down > 0):
            continue
        if free:
            a = np.where(a > 0, a * min(1, down / up), a * min(1, up / down))
        w = a @ Phi
        bend = (w @ w if K is None else a @ K @ a) + ((a / cost) @ a if squared else 0)
        gain = a @ y - kink * np.abs(a).sum()
        best = max(best, gain - bend / 2)
        if not bounded and bend > 0 and gain > 0:  # the best multiple of a
            best = max(best, gain * gain / bend / 2)
    return best


def one_class_bound(Phi, cost, K=None):
    """Of ``1/2 ||w||^2 + sum_i cost_i max(0, rho - <w, phi_i>) - rho``."""
    (n, d), cost, size = Phi.shape, array(cost), np.abs(Phi).max()
    size = size if size > 0 else number(1)
    P, c = zeros(d + 1 + n, d + 1 + n), zeros(d + 1 + n)
    P[:d, :d] = eye(d)
    c[d], c[d + 1 :] = -1, cost
    G, h = zeros(2 * n, d + 1 + n), zeros(2 * n)
    G[:n, :d], G[:n, d] = -Phi / size, zeros(n) + 1
    G[:n, d + 1 :] = G[n:, d + 1 :] = -eye(n)
    best = None
    for _, z in minimise(P, c, G, h):
        a = np.minimum(z[:n], cost)
        room = (cost - a).sum()
        a = a / a.sum() if a.sum() > 1 or not room > 0 else a + (1 - a.sum()) * (cost - a) / room
        w = a @ Phi
        value = -(w @ w if K is None else a @ K @ a) / 2
        best = value if best is None else max(best, value)
    return best


def nu_bound(Phi, y, share, nu, K=None):
    """Of ``1/2 ||w||^2 + sum_i share_i max(0, rho - y_i (<w, phi_i> + b)) - nu rho``, for rho >= 0."""
    (n, d), y, share, size = Phi.shape, array(y), array(share), np.abs(Phi).max()
    size, half = size if size > 0 else number(1), number(nu) / 2
    P, c = zeros(d + 2 + n, d + 2 + n), zeros(d + 2 + n)
    P[:d, :d] = eye(d)
    c[d + 1], c[d + 2 :] = -number(nu), share
    G, h = zeros(2 * n + 1, d + 2 + n), zeros(2 * n + 1)
    G[:n, :d], G[:n, d], G[:n, d + 1] = -(Phi * y[:, None]) / size, -y, zeros(n) + 1
    G[:n, d + 2 :] = G[n : 2 * n, d + 2 :] = -eye(n)
    G[2 * n, d + 1] = -number(1)
    best = None
    for _, z in minimise(P, c, G, h):
        a = np.minimum(np.maximum(z[:n], number(0)), share)
        for side in (1, -1):  # nu / 2 on each: more is feasible, too, but never better
            own = y == side
            x, room, missing = a[own], share[own] - a[own], half - a[own].sum()
            if missing < 0:
                a[own] = x * (half / x.sum())
            elif room.sum() > 0:
                a[own] = x + np.minimum(room, missing * room / room.sum())
        a = a * y
        w = a @ Phi
        value = -(w @ w if K is None else a @ K @ a) / 2
        best = value if best is None else max(best, value)
    return best
