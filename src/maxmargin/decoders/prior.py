"""A convex decoder on real-valued outputs: Crammer and Singer's hinge, with the code as a prior."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._native import one_blas_thread
from ..codes import Code
from ..data import canonical
from ..solving import Stop
from .learned_weights import (
    DecoderReport,
    LabelledOutputs,
    LearnedWeights,
    check_learning,
    judging_folds,
    labelled_outputs,
    sample_focus,
    tied_or_wrong,
    warn_unless_converged,
)
from .margin_sums import checked_outputs, code_product, margin_sums, ordered_by_margins
from .prior_program import PriorProgram, prior_weights
from .protocol import LearnsFrom

__all__ = ["PriorDecoder"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
NUS = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)  # of equally good ones the first
MOST_JUDGED = 3000  # rows on which nus are compared
SMALLEST = 1e-140  # divisor of outputs, which leaves weights finite
LARGEST = 1e150  # outputs beyond are scored as this large


@dataclass(frozen=True, eq=False, kw_only=True)
class PriorDecoder(LearnedWeights):
    """The class with the largest ``v_p'f``, for outputs f divided by their mean sizes and learned v.

    ``min_V nu/2 ||V - V0||^2 + sum_i c_i max(0, max_{p != y_i} 1 - (v_{y_i} - v_p)'f_i)``, where V is 0
    where the code is, and V0 is the code with each row divided by its number of columns. ``c_i`` is the
    sample weight times ``omega_i``, divided by the sum of these products over the rows: the loss is a mean,
    and a nu means the same with a focus as without. Equal scores go to the larger sum of margins. It is
    made for outputs of rows that the columns were not trained on. See ``docs/theory/decoding-weights.md``.

    Parameters
    ----------
    focus : None or "support-vectors"
        As in :class:`WeightedDecoder`.
    nu : "auto" or float > 0
        The strength of the prior. ``"auto"``: of 1e-4, 1e-3, ..., 10 the one with the fewest errors in three
        folds of the rows (a fixed sample of 3,000 where there are more), of equal ones the largest.
    floor : float >= 0
        The least ``omega_i`` of a focus.
    tol : float > 0
        The relative duality gap at which learning ends.
    max_iter, max_seconds : int, float
        Bounds of the work; a fit that reaches one warns, and keeps the best weights seen.

    Attributes
    ----------
    weights : ndarray of shape (n_classes, n_columns), or None before fit
        V, divided by the mean sizes of the outputs.
    report : DecoderReport, or None before fit
    """

    focus: str | None = None
    nu: float | str = "auto"
    floor: float = 0.0
    tol: float = 1e-3
    max_iter: int = 500
    max_seconds: float = 3600.0
    weights: FloatArray | None = None
    report: DecoderReport | None = None
    name: str = field(default="prior", init=False)
    learns_from: ClassVar[LearnsFrom] = "out-of-fold"

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Self:
        """Learn from outputs for rows that the columns were not trained on."""
        self._check()
        data = labelled_outputs(F, y, code, sample_weight)
        with one_blas_thread():
            scaled, scale = _scaled(data, self.focus, self.floor)
            V, report = self._learn(scaled, len(data.F))
        errors = [data.error(replace(self, weights=W / scale)) for W in (scaled.V0, V)]
        report = replace(report, error_before=errors[0], error_after=errors[1])
        warn_unless_converged(self, report)
        return replace(self, weights=data.in_given_order(V / scale), report=report)

    def _check(self) -> None:
        check_learning(self, "nu")

    def _learn(self, scaled: _Scaled, n_rows: int) -> tuple[FloatArray, DecoderReport]:
        nu = _chosen_nu(scaled) if isinstance(self.nu, str) else float(self.nu)
        stop = Stop(tol=self.tol, max_iter=self.max_iter, max_seconds=self.max_seconds)
        program = scaled.program(nu)
        state, status, history = prior_weights(program, stop=stop)
        last = history[-1]
        return state.V, DecoderReport(
            status=str(status),
            n_iter=last.n_iter,
            n_constraints=last.n_support,
            n_pairs=n_rows * (len(scaled.V0) - 1),
            loss_before=history[0].primal,
            loss_after=last.primal,
            bound=last.dual,
            chosen=nu,
            focused=scaled.focused,
        )

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """``v_p'f`` of each class, equal ones told apart by their sums of margins."""
        F, W = checked_outputs(F, code), self._learned()
        S = code_product(np.clip(F, -LARGEST, LARGEST), W)
        return ordered_by_margins(S, S.copy(), margin_sums(F, code))


@dataclass(frozen=True)
class _Scaled:
    """Different (outputs, label) with their weights and costs; outputs of mean size 1 in each column."""

    F: FloatArray
    labels: IntArray
    weight: FloatArray
    cost: FloatArray
    V0: FloatArray
    support: NDArray[np.bool_]
    focused: bool

    def take(self, which: IntArray) -> _Scaled:
        """Some of them."""
        some = {name: getattr(self, name)[which] for name in ("F", "labels", "weight", "cost")}
        return replace(self, **some)

    def program(self, nu: float) -> PriorProgram:
        """The problem with that nu."""
        return PriorProgram(self.F, self.labels, self.cost / self.cost.sum(), self.V0, self.support, nu)


def _scaled(data: LabelledOutputs, focus: str | None, floor: float) -> tuple[_Scaled, FloatArray]:
    rows = canonical(np.ascontiguousarray(data.F), data.labels, data.weight)
    F, labels, weight = data.F[rows.rows.index], rows.labels, rows.weight
    omega = np.ones(len(F)) if focus is None else sample_focus(F, labels, data.code, floor)
    focused = focus is not None and bool(omega.any())
    cost = weight * omega if omega.any() else weight
    scale = (weight / weight.sum()) @ np.abs(F)
    scale = np.where(scale > 0.0, np.maximum(scale, SMALLEST), 1.0)
    support = data.code.matrix != 0
    V0 = data.code.matrix / support.sum(axis=1, keepdims=True)
    return _Scaled(F / scale, labels, weight, cost, V0, support, focused), scale


def _by_value(scaled: _Scaled) -> IntArray:
    """At most ``MOST_JUDGED`` rows, class by class and by the size of their outputs.

    Outputs of foreign classifiers for weights and for repetitions differ in their last digits. A hash of them
    would deal the rows to other folds; their order stays.
    """
    order = np.lexsort((*scaled.F.T[::-1], scaled.labels))
    return order[:: max(1, -(-len(order) // MOST_JUDGED))]


def _chosen_nu(scaled: _Scaled) -> float:
    """The nu with the fewest errors on rows left out."""
    parts = judging_folds(scaled.take(_by_value(scaled)), MOST_JUDGED)
    states: list[Any] = [None] * len(parts)
    errors = []
    for nu in NUS:
        errors.append(0.0)
        for k, (train, test) in enumerate(parts):
            stop = Stop(tol=0.01, max_iter=200)
            states[k], _, _ = prior_weights(train.program(nu), stop=stop, state=states[k])
            errors[-1] += float(test.weight @ tied_or_wrong(test.F @ states[k].V.T, test.labels))
        if errors[-1] == 0.0:  # no other has fewer
            break
    return NUS[int(np.argmin(errors))]
