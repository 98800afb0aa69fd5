"""The all-pairs M-SVM: one problem for all classes, its certificate, and the nearest feasible dual point.

    min_{f,b}  1/2 sum_g ||f_g||^2 + sum_i c_i sum_{g != y_i} max(0, z_ig),
    z_ig = 1 - (f_{y_i} - f_g)(x_i) - (b_{y_i} - b_g).

Its dual has a variable for each pair of a sample and a wrong class,

    max_a  sum_ig a_ig - 1/2 sum_g B_g' K B_g     s.t.  0 <= a_ig <= c_i,  sum_i B_ig = 0 for every g,

with the coefficients B_ig = [g = y_i] sum_h a_ih - a_ig, so that f_g = sum_i B_ig k(., x_i). Their rows sum
to zero, hence sum_g f_g = 0. For a feasible a the duality gap is sum_ig (c_i max(0, z_ig) - a_ig z_ig), a sum
of non-negative terms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...solving import FLOAT_EPS, Certificate, with_rounding

OUTPUT_ROUNDING = FLOAT_EPS / 2  # error of an output, relative to the root of the sum of its squared terms

KINK_ERRORS = 4.0  # a shortfall of so many errors may be 0


@dataclass(frozen=True)
class AllPairsPoint:
    """A feasible a and intercepts b, the outputs F = K B and the shortfalls z.

    ``gap`` is the primal value at ``scale`` times F and b, minus the dual value. If all margins can be met,
    large costs make the smallest shortfall expensive, and a scale just above 1 removes it.
    """

    a: np.ndarray
    b: np.ndarray
    F: np.ndarray
    z: np.ndarray
    dual: float
    gap: float
    scale: float


@dataclass(frozen=True)
class AllPairsProblem:
    """The kernel matrix in double, labels ``0 .. n_classes-1`` and costs ``c_i > 0``.

    Arrays over pairs are (n_samples, n_classes); entries at a sample's own class are ignored.
    """

    K: np.ndarray
    labels: np.ndarray
    cost: np.ndarray
    n_classes: int
    value_rounding: float = 0.0  # relative error of kernel values

    @cached_property
    def own(self) -> np.ndarray:
        """True at each sample's own class."""
        return np.asarray(self.labels[:, None] == np.arange(self.n_classes))

    @cached_property
    def upper(self) -> np.ndarray:
        """The largest a_ig: c_i, and 0 at the own class."""
        return np.where(self.own, 0.0, self.cost[:, None])

    @property
    def tiny(self) -> float:
        """The size below which objective values are zero: the objective at f = 0 times the unit roundoff."""
        return float(self.upper.sum() * FLOAT_EPS)

    def coefficients(self, a: np.ndarray) -> np.ndarray:
        """B."""
        return np.where(self.own, a.sum(axis=1, keepdims=True), -a)

    def shortfall(self, F: np.ndarray, b: np.ndarray) -> np.ndarray:
        """z, from ``F = K B``; -1 at the own class."""
        scores = F + b
        own = np.take_along_axis(scores, self.labels[:, None], axis=1)
        return np.where(self.own, -1.0, 1.0 - own + scores)

    def gaps(self, a: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The contribution of each pair to the duality gap of a feasible a."""
        return np.where(z > 0.0, (self.upper - a) * z, -a * z)

    def point(self, a: np.ndarray, b: np.ndarray) -> AllPairsPoint:
        """A feasible point near a, with its outputs, and its gap for these intercepts."""
        a = self.balanced(a)
        B = self.coefficients(a)
        F = self.K @ B
        z = self.shortfall(F, b)
        half_norm = 0.5 * float(np.sum(B * F))
        dual = float(a.sum()) - half_norm
        point = AllPairsPoint(a, b, F, z, dual, float(self.gaps(a, z).sum()), 1.0)
        t = self._best_scale(half_norm, 1.0 - z)
        beyond = max(1.0, t) * (1.0 + 2.0 * KINK_ERRORS * self._output_error(point))
        points = [self._scaled(point, half_norm, scale) for scale in (1.0, t, beyond)]
        return min(points, key=self.largest_gap)

    def largest_gap(self, point: AllPairsPoint) -> float:
        """The gap of a point with what rounding can add to it."""
        return point.gap + self.rounding(point)

    def _scaled(self, point: AllPairsPoint, half_norm: float, scale: float) -> AllPairsPoint:
        """The point with another scale, and its gap, which below 0 would be rounding of this size."""
        if scale == 1.0:
            return point
        losses = float(np.sum(self.upper * np.maximum(0.0, 1.0 - scale * (1.0 - point.z))))
        return replace(point, scale=scale, gap=abs(scale * scale * half_norm + losses - point.dual))

    def _best_scale(self, half_norm: float, margins: np.ndarray) -> float:
        """The t that minimises ``t^2 half_norm + sum c max(0, 1 - t margin)``.

        The slope jumps at every 1 / margin, up to which a positive margin still has a loss.
        """
        if not half_norm > 0.0:
            return 1.0
        cost, m = self.upper[~self.own], margins[~self.own]
        order = np.argsort(-m[m > 0.0], kind="stable")
        rising, pull = m[m > 0.0][order], (cost * m)[m > 0.0][order]
        with np.errstate(over="ignore"):
            kinks = np.append(1.0 / rising, np.inf)
        left = np.append(np.cumsum(pull[::-1])[::-1], 0.0) + float((cost * m)[m <= 0.0].sum())
        k = int(np.argmax(left <= 2.0 * half_norm * kinks))
        return float(max(left[k] / (2.0 * half_norm), kinks[k - 1] if k > 0 else 0.0))

    def certificate(self, point: AllPairsPoint) -> Certificate:
        """Both bounds."""
        bounds = Certificate(
            primal=point.dual + point.gap,
            dual=point.dual,
            n_support=int(np.count_nonzero(point.a.any(axis=1))),
            kernel_values=self.K.size,
            tiny=self.tiny,
            violation=self.violation(point.a, point.z),
        )
        return with_rounding(bounds, self.rounding(point))

    def rounding(self, point: AllPairsPoint) -> float:
        """What rounding errors of F = K B, of kernel values and of the balance can add to the gap.

        Errors of many terms are taken to be independent. At a kink they are not: they only add losses there.
        """
        larger = max(1.0, point.scale)  # errors grow with the outputs
        B, error = larger * self.coefficients(point.a), larger * self._output_errors(point)
        lengths, most = np.linalg.norm(B, axis=0), float(error.max())
        z = 1.0 - point.scale * (1.0 - point.z)  # a scale above 1 puts a shortfall on its kink
        kinks, lossy = self.upper[np.abs(z) <= KINK_ERRORS * most], self.upper[z > KINK_ERRORS * most]
        losses = most * float(kinks.sum() + np.linalg.norm(lossy))
        reach = 1.0 + np.abs(point.b) + np.abs(point.F).max(axis=0, initial=0.0)  # of intercepts
        return losses + float(error @ lengths + reach @ np.abs(B.sum(axis=0)))

    def _output_errors(self, point: AllPairsPoint) -> np.ndarray:
        """Errors of ``f_g + b_g``, and of 1 minus it."""
        lengths = np.linalg.norm(self.coefficients(point.a), axis=0)
        size = self._largest_value * lengths + np.abs(point.b) + 1.0
        return np.asarray((OUTPUT_ROUNDING + self.value_rounding) * size)

    def _output_error(self, point: AllPairsPoint) -> float:
        return float(self._output_errors(point).max())

    @cached_property
    def _largest_value(self) -> float:
        return float(np.abs(self.K).max(initial=0.0))

    def violation(self, a: np.ndarray, z: np.ndarray) -> float:
        """How far the KKT conditions are from holding: z <= 0 where a = 0, z >= 0 where a = c, else z = 0."""
        up, down = (a < self.upper) & ~self.own, a > 0.0
        return float(max(np.max(z[up], initial=0.0), np.max(-z[down], initial=0.0)))

    def balanced(self, a: np.ndarray) -> np.ndarray:
        """A feasible point near one that violates the equations.

        Summed over the samples of each class, a is a flow between classes, and the equations require that
        inflow equals outflow. Excess is sent along widest paths from classes with too much to classes with
        too little: first by changing pairs strictly between their bounds, then by reducing any pair.
        """
        for free in (True, False):
            a = self._rerouted(a, free)
        return a

    def _rerouted(self, a: np.ndarray, free: bool) -> np.ndarray:
        within = (a > 0.0) & (a < self.upper) if free else a > 0.0
        room_up = np.where(within, self.upper - a, 0.0) if free else np.zeros_like(a)
        down, up = self._by_class(np.where(within, a, 0.0)), self._by_class(room_up)
        excess, total = self.coefficients(a).sum(axis=0), float(a.sum())
        taken, added = _cancel(excess, down, up, 4.0 * FLOAT_EPS * total)
        less = np.divide(taken, down, out=np.zeros_like(down), where=down > 0.0)[self.labels]
        more = np.divide(added, up, out=np.zeros_like(up), where=up > 0.0)[self.labels]
        return np.where(within, np.clip(a * (1.0 - less) + room_up * more, 0.0, self.upper), a)

    def _by_class(self, values: np.ndarray) -> np.ndarray:
        """Sums over the samples of each class, (n_classes, n_classes)."""
        return np.stack([values[self.labels == g].sum(axis=0) for g in range(self.n_classes)])


def _cancel(
    excess: np.ndarray, down: np.ndarray, up: np.ndarray, nothing: float
) -> tuple[np.ndarray, np.ndarray]:
    """How much to take off and to add for each pair of classes, so that no class has an excess.

    From g to h goes what is taken off (g, h), at most ``down[g, h]``, or added to (h, g), at most
    ``up[h, g]``.
    """
    taken, added, excess = np.zeros_like(down), np.zeros_like(up), excess.copy()
    for _ in range(4 * len(excess) ** 2):
        source, sink = int(np.argmax(excess)), int(np.argmin(excess))
        amount = min(excess[source], -excess[sink])
        if amount <= nothing:
            break
        room = (down - taken) + (up - added).T
        path, width = _widest_path(room, source, sink)
        if width <= 0.0:
            break
        amount = min(amount, width)
        for g, h in path:
            off = min(amount, down[g, h] - taken[g, h])
            taken[g, h] += off
            added[h, g] += amount - off
        excess[source] -= amount
        excess[sink] += amount
    return taken, added


def _widest_path(room: np.ndarray, source: int, sink: int) -> tuple[list[tuple[int, int]], float]:
    """The path whose narrowest edge is widest, and how wide that is."""
    width, before = np.zeros(len(room)), np.full(len(room), -1)
    width[source] = np.inf
    left = np.ones(len(room), dtype=bool)
    while left[sink]:
        g = int(np.argmax(np.where(left, width, -1.0)))
        left[g] = False
        through = np.minimum(width[g], room[g])
        wider = left & (through > width)
        width[wider], before[wider] = through[wider], g
    path = [sink]
    while path[-1] != source and before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    return list(zip(path[:0:-1], path[-2::-1], strict=True)), float(width[sink])
