"""Class probabilities from those of a code's columns, by the generalised Bradley-Terry model.

Column t gives the probability r_t that a row belongs to one of its +1 classes, given that it belongs to one
of its classes. With q_t+ and q_t- the sums of p over its classes with +1 and -1, the model equates r_t with
q_t+ / (q_t+ + q_t-), and p maximises the likelihood (Huang, Weng and Lin, 2006):

    max_p  sum_t  r_t log q_t+  +  (1 - r_t) log q_t-  -  log(q_t+ + q_t-)    s.t.  sum_y p_y = 1,  p >= 0.

If the columns are exact, so is p. A lower bound that is tight at the current p, log q' >=
sum_y (p_y / q) log p_y' and -log q' >= -q' / q up to constants, separates the classes; maximising it gives
the step, with q = q+ + q-,

    p_y  <-  p_y (sum_{c_yt = 1} r_t / q_t+  +  sum_{c_yt = -1} (1 - r_t) / q_t-) / sum_{c_yt != 0} 1 / q_t,

which never lowers the likelihood. Two steps estimate the rate at which log p converges, and a third
extrapolates at that rate (Varadhan and Roland, 2008) unless this is less likely. Rows that converge slowly,
because their columns contradict each other, are finished by ``bradley_terry_newton``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..codes import Code
from .bradley_terry_newton import MIN_CLASS_PROBABILITY, newton_finish

__all__ = ["bradley_terry"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

MIN_SIDE_PROBABILITY = 1e-7  # that a column gives to either side
STEP_TOL = 1e-7  # a row has converged when one step changes no probability by more
MAX_EXTRAPOLATIONS = 20  # rounds of three steps, before Newton's method
OUTPUTS_PER_BATCH = 2_000_000


def bradley_terry(positive: FloatArray, code: Code) -> FloatArray:
    """Probabilities (n, n_classes) from those of the columns' +1 sides, ``positive`` (n, n_columns).

    Without zeros in the code the likelihood is concave and the result is its maximum; with zeros it may be a
    local maximum, the one reached from equal probabilities. A row has converged when one step changes no
    probability by more than 1e-7; the few that have not after 200 Newton steps are returned as they are. A
    row's result does not depend on other rows.
    """
    r = np.clip(positive, MIN_SIDE_PROBABILITY, 1.0 - MIN_SIDE_PROBABILITY)
    steps, size = _Steps(code), max(1, OUTPUTS_PER_BATCH // code.n_columns)
    parts = [_solved(r[start : start + size].T, steps, code) for start in range(0, len(r), size)]
    return np.concatenate([np.empty((0, code.n_classes)), *(part.T for part in parts)])


class _Steps:
    """The step for one code; arrays are (n_classes, n) and (n_columns, n)."""

    def __init__(self, code: Code) -> None:
        self.plus, self.minus = (csr_array((code.matrix == s).astype(np.float64)) for s in (1, -1))
        self.plus_sums, self.minus_sums = csr_array(self.plus.T), csr_array(self.minus.T)
        self.either = csr_array(self.plus + self.minus)
        self.all_columns = csr_array(np.ones((1, code.n_columns)))

    def __call__(self, p: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The next p, and the log-likelihood of the current one."""
        above, below = self.plus_sums @ p, self.minus_sums @ p
        both = above + below
        likelihood = (self.all_columns @ (r * np.log(above / both) + (1.0 - r) * np.log(below / both)))[0]
        wanted = self.plus @ (r / above) + self.minus @ ((1.0 - r) / below)
        return _normalised(p * wanted / (self.either @ (1.0 / both))), likelihood


def _normalised(p: FloatArray) -> FloatArray:
    p = np.maximum(p / _total(p), MIN_CLASS_PROBABILITY)
    return p / _total(p)


def _total(p: FloatArray) -> FloatArray:
    """Sums over the classes in a fixed order, whatever the number of rows in the batch."""
    return np.add.accumulate(p, axis=0)[-1]


def _solved(r: FloatArray, step: _Steps, code: Code) -> FloatArray:
    """Iterate from equal probabilities until each row has converged."""
    n_classes, n = step.plus.shape[0], r.shape[1]
    P, active = np.full((n_classes, n), 1.0 / n_classes), np.arange(n)
    for _ in range(MAX_EXTRAPOLATIONS):
        p, r_active = P[:, active], r[:, active]
        once, _ = step(p, r_active)
        twice, likelihood = step(once, r_active)
        ahead, promised = step(_extrapolated(p, once, twice), r_active)
        P[:, active] = np.where(promised >= likelihood, ahead, twice)
        active = active[np.abs(once - p).max(axis=0) > STEP_TOL]
        if not len(active):
            return P
    P[:, active] = newton_finish(P[:, active].T, r[:, active].T, code).T
    return P


def _extrapolated(p: FloatArray, once: FloatArray, twice: FloatArray) -> FloatArray:
    """log p extrapolated at the rate that two steps show."""
    before, first, second = np.log(p), np.log(once), np.log(twice)
    move = first - before
    turn = second - first - move
    length = np.sqrt(_total(move**2) / np.maximum(_total(turn**2), np.finfo(np.float64).tiny))
    rate = np.clip(length, 1.0, 1e6)
    theta = before + 2.0 * rate * move + rate**2 * turn
    return _normalised(np.exp(theta - theta.max(axis=0)))
