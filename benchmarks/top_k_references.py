"""References for the top-k SVM: a QP solver for every block, and the narrower domain of Lapin et al.

Neither is meant for use. Seconds are processor time on one thread.
"""

import time
import warnings
from dataclasses import dataclass

import numpy as np
import piqp
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from maxmargin import TopKSVC
from maxmargin.data.rows import Rows
from maxmargin.methods.top_k.loss import TopKHinge
from maxmargin.methods.top_k.problem import TopKProblem


@dataclass(frozen=True)
class Moment:
    """Bounds of the "include" problem after so many epochs; ``own_gap`` is relative and to the own primal."""

    epochs: int
    seconds: float
    primal: float
    dual: float
    own_gap: float
    status: str = ""

    @property
    def gap(self):
        """The gap relative to the primal, as ``dual_gap_``."""
        return (self.primal - self.dual) / self.primal


def fitted(
    X, y, k, C, *, solver="auto", true_class="include", tol=1e-3, epochs=100_000, limit=3600.0, seed=0
):
    """A ``TopKSVC`` of one thread without intercept, alpha = 1 / (C n), and the seconds that its fit took."""
    alpha = 1.0 / (C * len(y))
    model = TopKSVC(
        k,
        alpha,
        solver=solver,
        true_class=true_class,
        fit_intercept=False,
        tol=tol,
        max_iter=epochs,
        max_seconds=limit,
        n_jobs=1,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap shows an early end
        start = time.process_time()
        model.fit(X, y)
        return model, time.process_time() - start


def moment(X, y, k, C, **how):
    """One fit by the package, measured with the "include" primal whatever it was trained for.

    With ``true_class="exclude"`` this is the domain p_j <= s/k of Lapin et al. under the published loss.
    """
    model, seconds = fitted(X, y, k, C, **how)
    last = model.history_[0][-1]
    loss = TopKHinge(k).value(X @ model.coef_.T, np.searchsorted(model.classes_, y)).mean()
    primal = 0.5 * model.alpha * float(np.sum(model.coef_**2)) + float(loss)
    return Moment(model.n_iter_, seconds, primal, last.dual, model.dual_gap_, model.status_)


class BlockProgram:
    """``min 1/2 ||u||^2 + 1/2 sigma^2 - <a, u>`` over the domain of the loss, by piqp.

    That is u >= 0, sigma = sum u <= 1, u_j <= 1/k, (k-1) u_j <= sigma. It is set up once; a block
    changes a alone. sigma is a variable, which keeps all matrices sparse.
    """

    def __init__(self, size, k):
        self.size = size
        self.solver = piqp.SparseSolver()
        self.solver.settings.eps_abs = self.solver.settings.eps_rel = 1e-8
        G = sparse.hstack([(k - 1) * sparse.eye(size), -np.ones((size, 1))], format="csc")
        G = G if k > 1 else sparse.csc_matrix((0, size + 1))
        self.solver.setup(
            sparse.eye(size + 1, format="csc"),
            np.zeros(size + 1),
            sparse.csc_matrix(np.append(np.ones(size), -1.0)[None]),
            np.zeros(1),
            G,
            np.full(G.shape[0], -np.inf),
            np.zeros(G.shape[0]),
            np.zeros(size + 1),
            np.append(np.full(size, 1.0 / k), 1.0),
        )

    def __call__(self, a):
        """u, with entries below 0 by rounding set to 0."""
        self.solver.update(c=np.append(-a, 0.0))
        self.solver.solve()
        return np.maximum(self.solver.result.x[: self.size], 0.0)


def block_programs(X, y, k, C, *, tol=1e-3, epochs=100_000, limit=3600.0, seed=0):
    """Block-coordinate ascent with a QP solver for every block: a ``Moment`` for each epoch.

    The seconds exclude certificates. It ends at the tolerance or after ``limit`` seconds; an unfinished epoch
    has no ``Moment``.
    """
    labels = np.unique(y, return_inverse=True)[1].astype(np.int64)
    n, m = len(y), int(labels.max()) + 1
    rows = Rows(X, np.arange(n), 1)
    problem = TopKProblem(rows, labels, np.ones(n), 1.0 / (C * n), TopKHinge(k), m)
    A, W, program = problem.zeros(), np.zeros((X.shape[1], m)), BlockProgram(m - 1, k)
    rng, seconds, moments = np.random.default_rng(seed), 0.0, []
    for epoch in range(1, epochs + 1):
        start = time.process_time()
        for i in rng.permutation(n):
            _block_step(problem, program, A, W, X[i], i)
            if seconds + time.process_time() - start > limit:
                return moments
        seconds += time.process_time() - start
        bounds = problem.certificate(A)
        gap = (bounds.primal - bounds.dual) / bounds.primal
        moments.append(Moment(epoch, seconds, bounds.primal, bounds.dual, gap))
        if gap <= tol:
            return moments
    return moments


def _block_step(problem, program, A, W, x, i):
    """The best a_i, by quadratic programming."""
    y, cost = problem.labels[i], problem.cost[i]
    z = x @ W
    target = (A[i, y] - A[i]) + (1.0 + z - z[y]) / (cost * problem.sqnorms[i])
    u = np.insert(program(np.delete(target, y)), y, 0.0)
    new = -u
    new[y] = u.sum()
    change = new - A[i]
    A[i] = new
    W += cost * np.outer(x, change)
