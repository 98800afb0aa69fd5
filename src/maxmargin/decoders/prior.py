"""A convex decoder on real-valued outputs: Crammer and Singer's hinge, with the code as a prior."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._native import one_blas_thread
from ..codes import Code
from ..data import canonical
from ..solving import Deadline, Stop
from .learned_weights import (
    DecoderReport,
    LabelledOutputs,
    LearnedWeights,
    check_learning,
    comparison_folds,
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
NU_CANDIDATES = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)  # the first of equally good ones is chosen
MAX_COMPARED_ROWS = 3000  # rows on which values of nu are compared
MIN_OUTPUT_SCALE = 1e-140  # outputs are divided by at least this, so that weights stay finite
MAX_SCORED_OUTPUT = 1e150  # larger outputs are clipped


@dataclass(frozen=True, eq=False, kw_only=True)
class PriorDecoder(LearnedWeights):
    """The class with the largest ``v_p'f``, for scaled outputs f and learned v.

    Each column's outputs are divided by their mean absolute value. The weights solve

    ``min_V nu/2 ||V - V0||^2 + sum_i c_i max(0, max_{p != y_i} 1 - (v_{y_i} - v_p)'f_i)``, where V is 0
    where the code is, and V0 is the code with each row divided by its number of columns. ``c_i`` is the
    sample weight times ``omega_i``, divided by the sum of these products over the rows: the loss is a mean,
    so a nu means the same with and without a focus. Ties go to the larger sum of margins. Fit it to outputs
    for rows that the columns were not trained on. See ``docs/theory/decoding-weights.md``.

    Parameters
    ----------
    focus : None or "support-vectors"
        As in :class:`LinearProgramDecoder`.
    nu : "auto" or float > 0
        The strength of the prior. ``"auto"``: whichever of 1e-4, 1e-3, ..., 10 makes the fewest errors in
        three-fold cross-validation on the rows (a fixed sample of 3,000 if there are more); the largest of
        equally good ones.
    floor : float >= 0
        The smallest ``omega_i`` with a focus.
    tol : float > 0
        The relative duality gap at which learning stops.
    max_iter, max_seconds : int, float
        Limits; a fit that reaches one warns and keeps the best weights found.

    Attributes
    ----------
    weights : ndarray of shape (n_classes, n_columns), or None before fit
        V, divided by the mean absolute outputs of the columns.
    report : DecoderReport, or None before fit

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.decoders import PriorDecoder
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(code="exhaustive", decoder=PriorDecoder(), random_state=0).fit(X, y)
    >>> model.decoder_.weights.shape
    (3, 3)
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
        with one_blas_thread(), Deadline(self.max_seconds) as deadline:
            scaled, scale = _scaled(data, self.focus, self.floor)
            V, report = self._learn(scaled, len(data.F), deadline)
        errors = [data.error(replace(self, weights=W / scale)) for W in (scaled.V0, V)]
        report = replace(report, error_before=errors[0], error_after=errors[1])
        warn_unless_converged(self, report)
        return replace(self, weights=data.in_given_order(V / scale), report=report)

    def _check(self) -> None:
        check_learning(self, "nu")

    def _learn(self, scaled: _Scaled, n_rows: int, deadline: Deadline) -> tuple[FloatArray, DecoderReport]:
        nu = _chosen_nu(scaled, deadline) if isinstance(self.nu, str) else float(self.nu)
        stop = Stop(tol=self.tol, max_iter=self.max_iter, deadline=deadline)
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
        """``v_p'f`` of each class; the sums of margins break ties."""
        F, W = checked_outputs(F, code), self._learned()
        S = code_product(np.clip(F, -MAX_SCORED_OUTPUT, MAX_SCORED_OUTPUT), W)
        return ordered_by_margins(S, S.copy(), margin_sums(F, code))


@dataclass(frozen=True)
class _Scaled:
    """Distinct (outputs, label) pairs with weights and costs; columns have mean absolute value 1."""

    F: FloatArray
    labels: IntArray
    weight: FloatArray
    cost: FloatArray
    V0: FloatArray
    support: NDArray[np.bool_]
    focused: bool

    def take(self, which: IntArray) -> _Scaled:
        """A subset of the rows."""
        some = {name: getattr(self, name)[which] for name in ("F", "labels", "weight", "cost")}
        return replace(self, **some)

    def program(self, nu: float) -> PriorProgram:
        """The problem for this nu."""
        return PriorProgram(self.F, self.labels, self.cost / self.cost.sum(), self.V0, self.support, nu)


def _scaled(data: LabelledOutputs, focus: str | None, floor: float) -> tuple[_Scaled, FloatArray]:
    rows = canonical(np.ascontiguousarray(data.F), data.labels, data.weight)
    F, labels, weight = data.F[rows.rows.index], rows.labels, rows.weight
    omega = np.ones(len(F)) if focus is None else sample_focus(F, labels, data.code, floor)
    focused = focus is not None and bool(omega.any())
    cost = weight * omega if omega.any() else weight
    scale = (weight / weight.sum()) @ np.abs(F)
    scale = np.where(scale > 0.0, np.maximum(scale, MIN_OUTPUT_SCALE), 1.0)
    support = data.code.matrix != 0
    V0 = data.code.matrix / support.sum(axis=1, keepdims=True)
    return _Scaled(F / scale, labels, weight, cost, V0, support, focused), scale


def _by_value(scaled: _Scaled) -> IntArray:
    """At most ``MAX_COMPARED_ROWS`` rows, ordered by class and outputs.

    With classifiers from other libraries, the outputs of weighted and of repeated rows differ in the last
    digits. A hash of the outputs would then assign rows to different folds; their order does not change.
    """
    order = np.lexsort((*scaled.F.T[::-1], scaled.labels))
    return order[:: max(1, -(-len(order) // MAX_COMPARED_ROWS))]


def _chosen_nu(scaled: _Scaled, deadline: Deadline) -> float:
    """The nu with the fewest errors on held-out rows."""
    parts = comparison_folds(scaled.take(_by_value(scaled)), MAX_COMPARED_ROWS)
    states: list[Any] = [None] * len(parts)
    errors = []
    for nu in NU_CANDIDATES:
        errors.append(0.0)
        for k, (train, test) in enumerate(parts):
            stop = Stop(tol=0.01, max_iter=200, deadline=deadline)
            states[k], _, _ = prior_weights(train.program(nu), stop=stop, state=states[k])
            errors[-1] += float(test.weight @ tied_or_wrong(test.F @ states[k].V.T, test.labels))
        if errors[-1] == 0.0:  # none can have fewer
            break
    return NU_CANDIDATES[int(np.argmin(errors))]
