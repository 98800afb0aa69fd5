"""Decoding weights learned by a linear program: each class weights the columns' signs."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._native import one_blas_thread
from ..codes import Code
from ..data import check_number
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
from .prior import PriorDecoder
from .protocol import LearnsFrom
from .weighted_program import WeightsProgram, column_accuracy, learn_weights

__all__ = ["LinearProgramDecoder", "WeightedDecoder"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
MARGIN_CANDIDATES = (0.3, 0.2, 0.1, 0.05)  # the first of equally good ones is chosen
MAX_COMPARED_PATTERNS = 1500  # patterns on which margins are compared
SCORE_DECIMALS = 12  # scores that agree to so many decimals are equal


def WeightedDecoder(*, method: str = "lp", **parameters: Any) -> LinearProgramDecoder | PriorDecoder:
    """A decoder that learns a weight for each class and column, by linear programming or with a prior.

    Parameters
    ----------
    method : "lp" or "prior"
        ``"lp"`` gives a :class:`LinearProgramDecoder`, ``"prior"`` a :class:`PriorDecoder`.
    **parameters
        The parameters of that class. With ``"prior"``, those of ``"lp"`` are accepted at their defaults.

    Returns
    -------
    LinearProgramDecoder or PriorDecoder

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.decoders import WeightedDecoder
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(code="exhaustive", decoder=WeightedDecoder(), random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """
    if method != "prior":
        return LinearProgramDecoder(method=method, **parameters)
    known = [f.name for f in fields(PriorDecoder) if f.init and f.name not in ("weights", "report")]
    defaults: dict[str, Any] = {f.name: f.default for f in fields(LinearProgramDecoder)}
    other = {name: value for name, value in parameters.items() if name not in known}
    unknown = [k for k, value in other.items() if k not in defaults or not np.array_equal(value, defaults[k])]
    if unknown:
        raise TypeError(
            f"WeightedDecoder(method='prior') gives a PriorDecoder, which takes {', '.join(known)}; got "
            f"{', '.join(unknown)}. Leave that out, or use method='lp'."
        )
    return PriorDecoder(**{name: value for name, value in parameters.items() if name in known})


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearProgramDecoder(LearnedWeights):
    """The class with the largest ``s_p = sum_q w_pq c_pq h_q``, for signs h of the outputs and learned w.

    ``min_w sum_i omega_i sum_{p != y_i} max(0, margin - s_{y_i}(h_i) + s_p(h_i))`` over weights ``w_p >= 0``
    that sum to 1 and are 0 where ``c_pq = 0``. An output of 0 has h = 0 and votes for neither side. Ties go
    to the larger sum of margins. See ``docs/theory/decoding-weights.md``.

    Parameters
    ----------
    focus : None or "support-vectors"
        None: ``omega_i = 1``. ``"support-vectors"``: only samples count that some column puts on the wrong
        side, less than one from its boundary (see ``sample_focus``). If there are none, all count equally.
    method : "lp"
        ``WeightedDecoder(method="prior")`` gives a :class:`PriorDecoder` instead.
    margin : "auto" or float > 0
        ``"auto"``: whichever of 0.05, 0.1, 0.2 and 0.3 makes the fewest errors in three-fold cross-validation
        on the training rows' sign patterns (a fixed sample of 1,500 if there are more); the largest of
        equally good ones.
    floor : float >= 0
        The smallest ``omega_i`` with a focus.
    epsilon : float > 0
        Constraints violated by at most this much stay out of the program.
    tol : float > 0
        The relative duality gap at which learning stops.
    max_iter, max_seconds : int, float
        Limits; a fit that reaches one warns and keeps the best weights found.

    Attributes
    ----------
    weights : ndarray of shape (n_classes, n_columns), or None before fit
    report : DecoderReport, or None before fit

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.decoders import LinearProgramDecoder
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(code="exhaustive", decoder=LinearProgramDecoder(), random_state=0).fit(X, y)
    >>> model.decoder_.weights.shape
    (3, 3)
    """

    focus: str | None = None
    method: str = "lp"
    margin: float | str = "auto"
    floor: float = 0.0
    epsilon: float = 1e-9
    tol: float = 1e-3
    max_iter: int = 200
    max_seconds: float = 3600.0
    weights: FloatArray | None = None
    report: DecoderReport | None = None
    learns_from: ClassVar[LearnsFrom] = "outputs"

    @property
    def name(self) -> str:
        """``"weighted"`` or ``"weighted-support-vectors"``."""
        return "weighted" if self.focus is None else f"weighted-{self.focus}"

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Self:
        """Learn from the columns' outputs on the training rows."""
        self._check()
        data = labelled_outputs(F, y, code, sample_weight)
        with one_blas_thread(), Deadline(self.max_seconds) as deadline:
            patterns = _patterns(data, self.focus, self.floor)
            W, report = self._learn(patterns, deadline)
        errors = [data.error(replace(self, weights=V)) for V in (patterns.start(), W)]
        report = replace(report, error_before=errors[0], error_after=errors[1])
        warn_unless_converged(self, report)
        return replace(self, weights=data.in_given_order(W), report=report)

    def _check(self) -> None:
        if self.method != "lp":
            raise ValueError(
                f"method must be 'lp' or 'prior'; got {self.method!r}. For 'prior', construct "
                "WeightedDecoder(method='prior') or a PriorDecoder."
            )
        check_learning(self, "margin")
        check_number("epsilon", self.epsilon, above=0.0)

    def _learn(self, patterns: _Patterns, deadline: Deadline) -> tuple[FloatArray, DecoderReport]:
        margin = (
            _chosen_margin(patterns, self.epsilon, deadline)
            if isinstance(self.margin, str)
            else float(self.margin)
        )
        start, program = patterns.start(), patterns.program(margin)
        stop = Stop(tol=self.tol, max_iter=self.max_iter, deadline=deadline)
        state, status, history = learn_weights(program, start, epsilon=self.epsilon, stop=stop)
        last = history[-1]
        return state.W, DecoderReport(
            status=str(status),
            n_iter=last.n_iter,
            n_constraints=len(state.pairs),
            n_pairs=patterns.n_rows * (len(patterns.matrix) - 1),
            loss_before=history[0].primal,
            loss_after=last.primal,
            bound=last.dual,
            chosen=margin,
            focused=patterns.focused,
        )

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """``s_p`` of each class; the sums of margins break ties."""
        F, W = checked_outputs(F, code), self._learned()
        S = np.round(code_product(np.sign(F), W * code.matrix), SCORE_DECIMALS)
        return ordered_by_margins(S, S.copy(), margin_sums(F, code))


@dataclass(frozen=True)
class _Patterns:
    """Distinct (signs, label) pairs, with the sums of their rows' weights and of weights times omega."""

    H: FloatArray
    labels: IntArray
    weight: FloatArray
    cost: FloatArray
    matrix: FloatArray
    n_rows: int
    focused: bool

    def take(self, which: IntArray) -> _Patterns:
        """A subset of the patterns."""
        some = {name: getattr(self, name)[which] for name in ("H", "labels", "weight", "cost")}
        return replace(self, **some)

    def program(self, margin: float) -> WeightsProgram:
        """The linear program with that margin."""
        return WeightsProgram(self.H, self.labels, self.cost / self.cost.sum(), self.matrix, margin)

    def start(self) -> FloatArray:
        """Initial weights: the columns' accuracies."""
        return column_accuracy(self.H, self.labels, self.weight, self.matrix)

    def error(self, W: FloatArray) -> float:
        """The weighted fraction of rows decoded wrongly or by a tie."""
        S = np.round(self.H @ (self.matrix * W).T, SCORE_DECIMALS)
        return float(self.weight @ tied_or_wrong(S, self.labels) / self.weight.sum())


def _patterns(data: LabelledOutputs, focus: str | None, floor: float) -> _Patterns:
    H = np.sign(data.F).astype(np.int8)
    omega = np.ones(len(H)) if focus is None else sample_focus(data.F, data.labels, data.code, floor)
    focused = focus is not None and bool(omega.any())
    if not omega.any():
        omega = np.ones(len(H))
    label = data.labels.astype(">u4").view(np.uint8).reshape(len(H), 4)
    keys = np.ascontiguousarray(np.hstack([label, (H + 1).view(np.uint8)]))
    _, first, group = np.unique(
        keys.view(f"V{keys.shape[1]}").ravel(), return_index=True, return_inverse=True
    )
    order = np.random.default_rng(0).permutation(len(first))  # any first few are a sample
    weight = np.bincount(group, weights=data.weight)[order].astype(np.float64)
    cost = np.bincount(group, weights=data.weight * omega)[order].astype(np.float64)
    matrix = data.code.matrix.astype(np.float64)
    first = first[order]
    return _Patterns(H[first].astype(np.float64), data.labels[first], weight, cost, matrix, len(H), focused)


def _chosen_margin(patterns: _Patterns, epsilon: float, deadline: Deadline) -> float:
    """The margin with the fewest errors on held-out patterns."""
    errors = np.zeros(len(MARGIN_CANDIDATES))
    for train, test in comparison_folds(patterns, MAX_COMPARED_PATTERNS):
        for j, margin in enumerate(MARGIN_CANDIDATES):
            stop = Stop(tol=0.01, max_iter=50, deadline=deadline)
            state, _, _ = learn_weights(train.program(margin), train.start(), epsilon=epsilon, stop=stop)
            errors[j] += test.error(state.W) * test.weight.sum()
    return MARGIN_CANDIDATES[int(np.argmin(errors))]
