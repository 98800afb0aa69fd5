"""Second-order steps for the top-k SVM: proximal steps on the dual, each by Newton's method on its primal.

Given dual variables A', a proximal step maximises D(A) / alpha - tau/2 sum_i c_i ||a_i - a'_i||^2 over the
domain. Its primal is smooth: over W it minimises

    phi(W) = 1/2 ||W||^2 + sum_i c_i max_a ( a_y - <a, z_i> - tau/2 ||a - a'_i||^2 ),     z_i = W'x_i.

The maximisers a_i(z_i) are projections. So phi has the gradient W - W(A(Z)), half of whose squared norm is
how far W and A(Z) are from each other's optimum, and a generalised Hessian

    V -> V + 1/tau sum_i c_i x_i (J_i V'x_i)',

J_i being the projector onto the directions of the face that a_i lies on. Few samples have such directions,
and conjugate gradients need products with their rows only. With a small tau a few proximal steps reach the
optimum to any accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import _native
from ...data import Rows
from ...numerics import interruptible
from ...solving import Deadline, State
from .problem import TopKProblem

Pair = tuple[np.ndarray, np.ndarray]

MAX_HELD_ENTRIES = 1 << 25  # of the rows, which are held in double
MAX_FACTORED_SAMPLES = 1500  # samples whose kernel matrix is factored into features
PROXIMAL_TOLERANCE = 1e-3  # half the gradient's squared norm over the proximal term where a step ends
NEWTON_ITERATIONS_PER_STEP = 8  # an unfinished proximal step is resumed by the next call
MAX_NEWTON_ITERATIONS = 40  # of a proximal step; more mean that its tau was too small
MAX_HESSIAN_ORDER = 512  # coefficients in W up to which the Hessian may be formed
MAX_HESSIAN_WORK = 1 << 24  # operations up to which the Hessian may be formed
MAX_CG_PRODUCTS = 400  # of one Newton system
MAX_LINE_SEARCH_TRIALS = 15
TAU_WITHOUT_SCORES = 1e300  # so large that scores do not matter: a plain projection
TAU_DECREASE = 1.0 / 3.0  # factor of tau after a step that converged quickly
TAU_INCREASE = 10.0  # factor of tau after a step that did not converge


def fits_newton(problem: TopKProblem) -> bool:
    """Whether the rows, or features of the kernel matrix, are small enough to be held."""
    n = len(problem.labels)
    return (
        n * problem.data.n_features <= MAX_HELD_ENTRIES
        if isinstance(problem.data, Rows)
        else n <= MAX_FACTORED_SAMPLES
    )


def _features(problem: TopKProblem, cancel: np.ndarray) -> np.ndarray:
    """Rows whose products are those of the problem, the constant among them."""
    if isinstance(problem.data, Rows):
        X = problem.data.X[problem.data.index]
        X = X if isinstance(X, np.ndarray) else X.toarray()
        X = np.column_stack([X, np.full(len(X), np.sqrt(problem.constant))]).astype(np.float64)
        # More features than samples: their triangular factor has the same products.
        if X.shape[1] <= len(X):
            return X
        triangle = interruptible(lambda: np.linalg.qr(X.T, mode="r"), len(X), cancel)
        return np.ascontiguousarray(np.asarray(triangle).T)
    K = problem.data.between(slice(None), slice(None)).astype(np.float64) + problem.constant
    size = max(float(np.abs(K).max()), 1e-290)  # without it eigh may not converge
    values, vectors = interruptible(lambda: np.linalg.eigh(0.5 * (K / size + K.T / size)), len(K), cancel)
    kept = values > 1e-14 * max(values[-1], 0.0)
    return np.ascontiguousarray(vectors[:, kept] * (np.sqrt(values[kept]) * np.sqrt(size)))


class Newton:
    """Proximal steps from ``state.A``; W is ``state.V`` while one is under way."""

    def __init__(self, problem: TopKProblem, deadline: Deadline) -> None:
        self.problem, self.deadline, self.cancel = problem, deadline, deadline.flag
        with _native.one_blas_thread():
            self.X = _features(problem, deadline.flag)

    def start(self, state: State, tau: float) -> None:
        """The first tau, and W at A."""
        state.tau, state.n_newton, state.V = tau, 0, self.lift(state.A)

    def lift(self, A: np.ndarray, some: np.ndarray | slice = slice(None)) -> np.ndarray:
        """``sum_i c_i x_i a_i'`` over some samples."""
        out: np.ndarray = self.X[some].T @ (self.problem.cost[some, None] * A)
        return out

    def step(self, state: State) -> bool:
        """A few iterations of Newton's method; True if they complete a proximal step and change A.

        A proximal step that does not converge leaves A unchanged, and the next one has a larger tau.
        """
        W = state.V
        Z = self.X @ W
        A, marks = self._prox(state, Z)
        for _ in range(NEWTON_ITERATIONS_PER_STEP):
            gradient = W - self.lift(A)
            apart, moved = float(np.vdot(gradient, gradient)), self._moved(state, A)
            if apart <= max(PROXIMAL_TOLERANCE * moved, 1e-30 * float(np.vdot(W, W))):
                return self._accept(state, A)
            along = self._direction(state, marks, gradient)
            if self.deadline.passed():
                break
            if not np.isfinite(along).all():
                state.n_newton = MAX_NEWTON_ITERATIONS
                break
            change = self.X @ along
            length, A, marks = self._search(state, (W, Z), (along, change), gradient)
            W, Z = W + length * along, Z + length * change
            state.n_newton += 1
        state.V = W
        if state.n_newton >= MAX_NEWTON_ITERATIONS:
            self.start(state, state.tau * TAU_INCREASE)
        return False

    def _accept(self, state: State, A: np.ndarray) -> bool:
        """Accept A after one more projection: with a small tau it misses the domain by more than rounding."""
        state.A[:], _, _ = _native.topk_prox(
            self.problem, A, np.zeros_like(A), TAU_WITHOUT_SCORES, self.cancel
        )
        self.start(state, state.tau * (TAU_DECREASE if state.n_newton < MAX_NEWTON_ITERATIONS // 2 else 1.0))
        return True

    def _moved(self, state: State, A: np.ndarray) -> float:
        change = A - state.A
        return float(state.tau * (self.problem.cost @ np.einsum("ij,ij->i", change, change)))

    def _prox(self, state: State, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A(Z), and the marks of its faces."""
        A, _, marks = _native.topk_prox(self.problem, state.A, Z, state.tau, self.cancel)
        return A, marks

    def _search(
        self, state: State, at: Pair, along: Pair, gradient: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The step length, 1 or where phi is nearly flat along a descent direction; A and marks there.

        ``at`` and ``along`` are W and Z, and their directions.
        """
        linear, quadratic = float(np.vdot(at[0], along[0])), float(np.vdot(along[0], along[0]))

        def look(t: float) -> tuple[float, np.ndarray, np.ndarray]:
            A, marks = self._prox(state, at[1] + t * along[1])
            pull = np.einsum("ij,ij->i", A, along[1])
            return linear + t * quadratic - float(self.problem.cost @ pull), A, marks

        t, low, high = 1.0, 0.0, 1.0
        at_low, (at_high, A, marks) = float(np.vdot(gradient, along[0])), look(1.0)
        goal = 0.1 * abs(at_low)
        if at_high <= goal or not at_low < 0.0:  # the latter by rounding
            return 1.0, A, marks
        for trial in range(MAX_LINE_SEARCH_TRIALS):
            t = low + (high - low) * (at_low / (at_low - at_high) if trial % 3 < 2 else 0.5)
            slope, A, marks = look(t)
            if abs(slope) <= goal:
                break
            if slope < 0.0:
                low, at_low = t, slope
            else:
                high, at_high = t, slope
        return t, A, marks

    def _direction(self, state: State, marks: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Newton's direction, from the Hessian itself where it is small, else by conjugate gradients."""
        some, faces = Faces.of(marks, self.problem.labels, self.problem.loss.kappa)
        X, scale = self.X[some], (self.problem.cost[some] / state.tau)[:, None]
        if gradient.size <= MAX_HESSIAN_ORDER and len(some) * gradient.size**2 <= MAX_HESSIAN_WORK:
            try:
                return -_solve(_hessian(X, scale, faces), gradient.T.ravel()).reshape(gradient.T.shape).T
            except np.linalg.LinAlgError:  # singular to rounding
                pass
        return self._conjugate_gradients(X, scale, faces, gradient)

    def _conjugate_gradients(
        self, X: np.ndarray, scale: np.ndarray, faces: Faces, gradient: np.ndarray
    ) -> np.ndarray:
        """The direction up to a hundredth of the gradient, scaled with the Hessian's diagonal."""
        inverse = 1.0 / (1.0 + np.square(X).T @ (scale * faces.diagonal()))
        solution, residual = np.zeros_like(gradient), -gradient
        direction = inverse * residual
        product = float(np.vdot(residual, direction))
        goal = 1e-4 * float(np.vdot(gradient, gradient))
        for _ in range(MAX_CG_PRODUCTS):
            if self.cancel[0]:
                raise _native.Cancelled("cancelled")
            if self.deadline.passed():
                break
            image = direction + X.T @ (scale * faces.project(X @ direction))
            length = product / float(np.vdot(direction, image))
            solution += length * direction
            residual -= length * image
            if float(np.vdot(residual, residual)) <= goal:
                break
            scaled = inverse * residual
            before, product = product, float(np.vdot(residual, scaled))
            direction *= product / before
            direction += scaled
        return solution


def _solve(H: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``H^{-1} right``, with H scaled to a unit diagonal: features may have very different sizes."""
    scale = 1.0 / np.sqrt(np.diagonal(H))
    solution: np.ndarray = scale * np.linalg.solve(scale[:, None] * H * scale, scale * right)
    return solution


def _hessian(X: np.ndarray, scale: np.ndarray, faces: Faces) -> np.ndarray:
    """The Hessian over W by classes: an identity, and for every two classes a product of the rows."""
    d, m = X.shape[1], faces.mask.shape[1]
    H = np.eye(m * d).reshape(m, d, m, d)
    for g in range(m):
        column = faces.column(g)
        for h in np.flatnonzero(column.any(axis=0)):
            H[g, :, h] += X.T @ (scale * column[:, h, None] * X)
    return H.reshape(m * d, m * d)


@dataclass(frozen=True)
class Faces:
    """The projectors J_i onto the directions of the faces that some samples' variables lie on.

    Entries within ``mask`` move by any amounts whose sum is 0. In the cone, those held at its bound move
    with the sum: ``rays`` are unit vectors, one for each of the samples ``rayed``.
    """

    mask: np.ndarray
    count: np.ndarray
    rays: np.ndarray
    rayed: np.ndarray

    @classmethod
    def of(cls, marks: np.ndarray, labels: np.ndarray, kappa: int) -> tuple[np.ndarray, Faces]:
        """From the marks of ``_native.topk_prox``: the samples that have directions, and their faces."""
        own = marks[np.arange(len(labels)), labels]
        some = np.flatnonzero((np.count_nonzero(marks == 1, axis=1) > 1) | (own == 2))
        mask = (marks[some] == 1).astype(np.float64)
        count = np.maximum(mask.sum(axis=1, keepdims=True), 1.0)
        rayed = np.flatnonzero(own[some] == 2)
        each, y = np.arange(len(rayed)), labels[some[rayed]]
        held = marks[some[rayed]] == 2
        held[each, y] = False
        n_held = np.count_nonzero(held, axis=1)[:, None]
        rays = -held.astype(np.float64) - mask[rayed] * (kappa - n_held) / count[rayed]
        rays[each, y] = kappa
        rays /= np.sqrt(np.einsum("ij,ij->i", rays, rays))[:, None]
        return some, cls(mask, count, rays, rayed)

    def project(self, V: np.ndarray) -> np.ndarray:
        """``J_i v_i`` for each sample."""
        out = V * self.mask
        out -= self.mask * (out.sum(axis=1, keepdims=True) / self.count)
        if len(self.rayed):
            along = np.einsum("ij,ij->i", self.rays, V[self.rayed])
            out[self.rayed] += self.rays * along[:, None]
        return out

    def diagonal(self) -> np.ndarray:
        """The diagonals of the J_i."""
        out = self.mask * (1.0 - 1.0 / self.count)
        out[self.rayed] += np.square(self.rays)
        return out

    def column(self, g: int) -> np.ndarray:
        """Column g of each J_i."""
        out = -self.mask * (self.mask[:, [g]] / self.count)
        out[:, g] += self.mask[:, g]
        out[self.rayed] += self.rays * self.rays[:, [g]]
        return out
