"""Newton steps for many columns at once: factors where they are cheap, conjugate gradients where not."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve

from ...numerics import FeaturePanel

DIRECT = 150.0  # work of the Hessians, in passes over the panel, up to which they are computed in full
SAMPLED = 50.0  # the same for the sampled Hessians that are preconditioners beyond
REUSE = 128  # order from which on an earlier factor is tried before a new one is computed
CHANGED = 0.1  # share of the curvature that may have changed since then
PATIENCE = 8  # conjugate gradients with an earlier factor
FACTORS = 50_000_000  # numbers in factors that are held at a time
KEPT = 1 << 25  # numbers in Hessians that are kept, to be updated where few rows change sides


class NewtonSteps:
    """Solves ``(Phi' D_t Phi + alpha I) x = -g_t`` for columns t.

    By Cholesky; by conjugate gradients where the factors are only near: those of a sample of the rows, or
    those of an earlier step, which are nearly right once few rows change sides.
    """

    def __init__(self, panel: FeaturePanel, alpha: float) -> None:
        self.panel, self.alpha = panel, alpha
        self.factors: dict[int, np.ndarray] = {}
        self.factored: np.ndarray | None = None  # the curvatures they belong to
        self.hessians: dict[int, np.ndarray] = {}  # without alpha

    def step(self, D: np.ndarray, G: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The steps for the open columns, 0 in the others; D holds the rows' curvatures, G the gradients."""
        at_once = max(1, FACTORS // len(G) ** 2)
        if len(columns) > at_once:  # some columns at a time, and nothing is kept of them
            parts = [columns[i : i + at_once] for i in range(0, len(columns), at_once)]
            return np.asarray(sum(NewtonSteps(self.panel, self.alpha).step(D, G, part) for part in parts))
        step, d, g = np.zeros_like(G), D[:, columns], G[:, columns]
        if len(G) >= REUSE and self._are_near(d, columns):
            found, converged = self._with_earlier_factors(d, g, columns)
            if converged:
                step[:, columns] = found
                return step
        before = np.zeros_like(d) if self.factored is None else self.factored[:, columns]
        if self.factored is None:
            self.factored = np.zeros_like(D)
        self.factored[:, columns] = d
        if self._factorise(d, before, columns, len(G)):
            step[:, columns] = -self._precondition(g, columns)
        else:
            step[:, columns], _ = self._conjugate_gradients(d, g, columns, 30)
        return step

    def _are_near(self, D: np.ndarray, columns: np.ndarray) -> bool:
        """Whether there are factors of much the same Hessians."""
        if self.factored is None or not all(t in self.factors for t in columns):
            return False
        change = np.abs(D - self.factored[:, columns]).sum(axis=0)
        return bool((change <= CHANGED * D.sum(axis=0)).all())

    def _with_earlier_factors(
        self, D: np.ndarray, G: np.ndarray, columns: np.ndarray
    ) -> tuple[np.ndarray, bool]:
        if self.panel.exact_gram:
            return self._conjugate_gradients(D, G, columns, PATIENCE)
        return -self._precondition(G, columns), True

    def _factorise(self, D: np.ndarray, before: np.ndarray, columns: np.ndarray, b: int) -> bool:
        """New factors; whether they are those of the Hessians themselves."""
        panel, n_active, stride = self.panel, np.count_nonzero(D, axis=0), 1
        work = b * float(n_active.sum())
        shared = len(columns) > 1 and all(np.array_equal(D[:, 0], D[:, t]) for t in range(1, len(columns)))
        if panel.exact_gram and work > DIRECT * D.size and not shared:
            stride = max(1, min(int(work / (SAMPLED * D.size)), int(n_active.min()) // (4 * b)))

        def factor(t: int, alone: bool = False) -> np.ndarray:
            if stride > 1 or not panel.exact_gram or D.shape[1] * b * b > KEPT:
                which = np.flatnonzero(D[:, t])[::stride]
                H = panel.gram(which, stride * D[which, t], b, alone=alone)
            else:
                H = self._hessian(int(columns[t]), D[:, t], before[:, t], b, alone)
            return regularised_factor(H, self.alpha)

        if shared or len(columns) == 1:
            found = [factor(0, alone=True)] * len(columns)
        else:
            found = panel.pool.map(factor, range(len(columns)), b * (work / stride + b * b))
        self.factors.update(zip(columns.tolist(), found))
        return stride == 1

    def _hessian(self, t: int, d: np.ndarray, before: np.ndarray, b: int, alone: bool) -> np.ndarray:
        """``Phi' diag(d) Phi``; where few rows have changed, by adding and subtracting theirs."""
        change = d if t not in self.hessians else d - before
        if 2 * np.count_nonzero(change) > np.count_nonzero(d):
            self.hessians.pop(t, None)
            change = d
        more, less = np.flatnonzero(change > 0.0), np.flatnonzero(change < 0.0)
        H = self.panel.gram(more, change[more], b, alone=alone)
        if t in self.hessians:
            H += self.hessians[t]
            H -= self.panel.gram(less, -change[less], b, alone=alone)
        self.hessians[t] = H
        return H.copy()

    def _precondition(self, R: np.ndarray, columns: np.ndarray) -> np.ndarray:
        def solve(t: int) -> np.ndarray:
            return np.asarray(cho_solve((self.factors[columns[t]], True), R[:, t], check_finite=False))

        return np.column_stack(self.panel.pool.map(solve, range(len(columns)), 2.0 * R.size * len(R)))

    def _conjugate_gradients(
        self, D: np.ndarray, G: np.ndarray, columns: np.ndarray, max_iter: int
    ) -> tuple[np.ndarray, bool]:
        """All columns at once, each until its residual is a tenth of the gradient; whether all got there."""
        X, R = np.zeros_like(G), -G
        Z = self._precondition(R, columns)
        S, rho = Z.copy(), np.sum(R * Z, axis=0)
        enough = 0.01 * rho
        for _ in range(max_iter):
            Q = self.panel.tdot(D * self.panel.dot(S), len(G)) + self.alpha * S
            rate = _ratio(rho, np.sum(S * Q, axis=0))
            X += rate * S
            R -= rate * Q
            Z = self._precondition(R, columns)
            rho, before = np.sum(R * Z, axis=0), rho
            if (rho <= enough).all():
                return X, True
            S = Z + _ratio(rho, before) * S
        return X, False


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b > 0.0, a / np.where(b > 0.0, b, 1.0), 0.0)


def regularised_factor(H: np.ndarray, alpha: float) -> np.ndarray:
    """The Cholesky factor of H + alpha I; single precision may ask for a little more than alpha."""
    ridge, diagonal = alpha, H.diagonal().copy()
    while True:
        H[np.diag_indices_from(H)] = diagonal + ridge
        try:
            return np.linalg.cholesky(H)  # unlike SciPy's, it lets other threads run
        except np.linalg.LinAlgError:
            ridge = max(10.0 * ridge, 1e-7 * float(diagonal.max()), 1e-300)
