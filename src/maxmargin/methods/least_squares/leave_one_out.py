"""Leave-one-out scores of ridge, exactly and without refits.

A row's output from a fit without it follows from its residual r and its leverage h: y - r / (1 - h). A row of
weight s counts as s rows, of which one is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...base import FitInput
from ...data import canonical
from ...decoders import decision_values, predicted_classes
from ...solving import SolverResult
from .columns import SquaresAtCost, SquaresResult
from .system import CholeskySystem, Unleveraged

if TYPE_CHECKING:
    from .estimator import LeastSquaresClassifier

MAX_LOO_ERROR = 1e-3  # relative error above which a leave-one-out output is withheld


@dataclass(frozen=True)
class SquaresInput(FitInput):
    """What a fit starts from, and the sample weights as given, without class weights."""

    sample_weight: np.ndarray

    def units(self, n_classes: int) -> np.ndarray:
        """The weight of one row of each class: its class weight."""
        unit = np.ones(n_classes)
        for label in range(n_classes):
            rows = np.flatnonzero((self.labels == label) & (self.weight > 0.0))
            unit[label] = self.weight[rows[0]] / self.sample_weight[rows[0]]
        return unit

    def places(self) -> np.ndarray:
        """For every given row its place among the canonical ones, -1 for a row of weight 0."""
        X, n_threads = self.data.rows.X, self.data.rows.n_threads
        apart = canonical(X, self.labels, self.weight, merge_duplicates=False, n_threads=n_threads).rows.index
        place = np.full(len(self.labels), -1)
        place[apart] = np.cumsum(np.isin(apart, self.data.rows.index)) - 1
        return place


@dataclass(frozen=True)
class LeaveOneOut:
    """What the leave-one-out outputs of columns on the same rows have in common."""

    problems: SquaresAtCost
    system: CholeskySystem
    unleveraged: Unleveraged

    @classmethod
    def of(cls, problems: SquaresAtCost) -> LeaveOneOut | None:
        """From the problems' factorisation, or None where nothing was factorised.

        The rows' coefficients are the unknowns of the system wherever ridge may interpolate: at one row, with
        an intercept, or none more than features.
        """
        data, system = problems.data, problems.system
        if problems.penalty != "ridge" or not isinstance(system, CholeskySystem):
            return None
        interpolates = len(data.rows) <= data.rows.n_features + data.free
        if system.wide != interpolates:
            system = CholeskySystem(data, 1.0, wide=True)
        return cls(problems, system, system.unleveraged())

    def outputs(self, result: SolverResult, y: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Each row's output without a part of its weight; NaN where rounding leaves too few digits."""
        system, data = self.system, self.problems.data
        assert result.dual_coef is not None
        r = result.dual_coef / data.cost
        if system is not self.problems.system:
            r = system.solve(data.root * data.centred(y)) / data.root
        r = data.centred(r)
        size = np.linalg.norm(data.root * r / system.scale) if system.wide else np.abs(y) + np.abs(y - r)
        rest = (1.0 - part) + part * self.unleveraged.rest
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = r / rest
            error = (size * self.unleveraged.residual + np.abs(apart) * part * self.unleveraged.blur) / rest
        known = (rest > 0.0) & (error <= MAX_LOO_ERROR * np.maximum(1.0, np.abs(apart)))
        return np.asarray(np.where(known, y - apart, np.nan))


def leave_one_out(
    model: LeastSquaresClassifier, results: Sequence[SquaresResult], fit: SquaresInput
) -> tuple[np.ndarray, float] | None:
    """Scores of all given rows, each without one unit of its weight, and their error; None where unknown."""
    different = {id(result.problems): result.problems for result in results}
    shared = {
        key: None if problems is None else LeaveOneOut.of(problems) for key, problems in different.items()
    }
    if any(own is None for own in shared.values()):
        return None
    data, place = fit.data, fit.places()
    part = np.minimum(1.0, fit.units(len(model.classes_))[data.labels] / data.weight)
    outputs = model._column_outputs(data.rows.X)
    for column, result in enumerate(results):
        which, targets = model.code_.column(data.labels, column)
        plain, own = outputs[data.rows.index, column], shared[id(result.problems)]
        assert own is not None
        plain[which] = own.outputs(result, targets, part[which])
        outputs[:, column] = np.where(place >= 0, plain[place], outputs[:, column])
    withheld = np.isnan(outputs).any(axis=1)
    scores = decision_values(np.nan_to_num(outputs), model.code_, model.decoder_)
    wrong, counted = predicted_classes(scores) != fit.labels, fit.weight > 0.0
    scores[withheld] = np.nan
    error = float(fit.sample_weight[counted & wrong].sum() / fit.sample_weight[counted].sum())
    return scores, np.nan if withheld.any() else error
