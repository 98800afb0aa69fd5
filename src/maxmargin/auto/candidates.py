"""Candidates: which models are compared, on which grids, and which of two is the simpler one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..methods.budget import SparseKernelClassifier
from ..methods.kernel_svm import KernelSVC
from ..methods.linear import LinearSVC
from .column_groups import ColumnGroups

__all__ = ["CODES", "Candidate", "Trial", "candidates_for", "first_grid", "larger", "neighbourhood"]

CODES = ("one-vs-one", "one-vs-rest")
CS = 10.0 ** np.arange(-1.0, 2.0)
LARGE_CS = 10.0 ** np.arange(2.0, 4.0)  # where the largest of CS is promising
LINEAR_CS = 10.0 ** np.arange(-3.0, 2.0)
GAMMA_FACTORS = {
    "rbf": 4.0 ** np.arange(-2.0, 2.0),
    "exponential": 4.0 ** np.arange(-3.0, 1.0),
    "laplacian": 4.0 ** np.arange(-3.0, 1.0),
}
COMPARED_CACHE_MB = 1000.0  # of each exact fit that is compared, whatever memory is free
SMOOTHNESS = ("linear", "rbf", "exponential", "laplacian")  # from smooth to rough


class GrownKernelClassifier(SparseKernelClassifier):
    """A budgeted model without swaps: they take most of a small fit, and change little between candidates."""

    _swaps = False


@dataclass(frozen=True)
class Candidate:
    """A family of models: a kernel, a reduction to two classes, a scaling of the columns.

    ``budget`` is the limit on support vectors, or None for an exact fit; ``loss`` is None for the default.
    ``groups`` are groups of columns with a kernel each.
    """

    kernel: str
    code: str
    view: str
    budget: int | None = None
    n_classes: int = 3
    loss: str | None = None
    groups: ColumnGroups | None = None

    @property
    def is_linear(self) -> bool:
        """Whether it is a hyperplane in the columns themselves."""
        return self.kernel == "linear"

    def __str__(self) -> str:
        kind = "linear" if self.is_linear else f"{self.kernel} kernel"
        limit = "" if self.budget is None else f" with {self.budget} support vectors"
        bent = ", bent columns" if self.view == "bent" else ""
        code = "" if self.n_classes == 2 else f", {self.code}"
        loss = "" if self.loss is None else f", {self.loss} loss"
        groups = "" if self.groups is None else f", summed over groups of columns with weights {self.groups}"
        return f"{kind}{limit}{code}{bent}{loss}{groups}"

    def estimator(self, gamma: float | None, value: float | None, final: bool = True, **common: Any) -> Any:
        """The model at a point of the grid, not fitted; ``value`` is C, or alpha of a budgeted model.

        ``final`` is False for a model that is only compared with others: its bits may not depend on
        the memory that is free.
        """
        if self.is_linear:
            return LinearSVC(1.0 if value is None else value, loss="squared-hinge", code=self.code, **common)
        kernel: dict[str, Any] = {"kernel": self.kernel, "gamma": gamma, "code": self.code}
        if self.groups is not None and gamma is not None:
            kernel = {"kernel": self.groups.kernel(self.kernel, gamma), "code": self.code}
        if self.loss is not None:
            kernel["loss"] = self.loss
        if self.budget is None:
            cache: dict[str, Any] = {} if final else {"cache_mb": COMPARED_CACHE_MB}
            return KernelSVC(1.0 if value is None else value, **kernel, **cache, **common)
        alpha = "auto" if value is None else value
        budgeted = SparseKernelClassifier if final else GrownKernelClassifier
        return budgeted(self.budget, alpha=alpha, **kernel, **common)


@dataclass
class Trial:
    """A point of a candidate's grid, and how it did on held-out rows.

    ``scores`` are the decision values of the rows of the stage by models that were not trained on them, nan
    where a row was not held out yet. ``n_support`` and ``gap`` are the largest of the folds.
    """

    candidate: Candidate
    gamma: float | None
    value: float | None
    scores: np.ndarray = field(default_factory=lambda: np.zeros(0))
    n_support: int = 0
    gap: float = 0.0

    @property
    def roughness(self) -> tuple[float, ...]:
        """What simple models have less of: a rough kernel, support vectors, a narrow kernel, a large C."""
        kernel = SMOOTHNESS.index(self.candidate.kernel)
        return kernel, 0.0 if self.gamma is None else self.gamma, 0.0 if self.value is None else self.value


def candidates_for(views: list[str], n_classes: int, budget: int | None) -> list[Candidate]:
    """All candidates for a table, smooth ones first; hyperplanes have no support vectors to limit."""
    codes = CODES[1:] if n_classes == 2 else CODES
    linear = [Candidate("linear", CODES[1], view, None, n_classes) for view in views]
    kernels = [
        Candidate(kernel, code, view, budget, n_classes)
        for kernel in GAMMA_FACTORS
        for view in views
        for code in codes
    ]
    return linear + kernels if budget is None else kernels


def first_grid(candidate: Candidate, medians: dict[str, dict[str, float]]) -> list[list[Trial]]:
    """The trials of a candidate, those of one gamma together; ``medians`` are gammas by view and kernel."""
    if candidate.is_linear:
        return [[Trial(candidate, None, float(C)) for C in LINEAR_CS]]
    gammas = medians[candidate.view][candidate.kernel] * GAMMA_FACTORS[candidate.kernel]
    values = [float(C) for C in CS] if candidate.budget is None else [None]
    return [[Trial(candidate, float(gamma), value) for value in values] for gamma in gammas]


def larger(trial: Trial) -> list[Trial]:
    """The same point with larger values of C."""
    return [Trial(trial.candidate, trial.gamma, float(C)) for C in LARGE_CS]


def neighbourhood(trials: list[Trial], means: np.ndarray, n_candidates: int) -> list[list[Trial]]:
    """Points around the best trial of each of the best candidates, finer than the first grid."""
    best: dict[Candidate, Trial] = {}
    for k in np.argsort(means, kind="stable"):
        best.setdefault(trials[k].candidate, trials[k])
    groups = []
    for candidate, trial in list(best.items())[:n_candidates]:
        values = [None] if trial.value is None else [trial.value / 3.0, trial.value, 3.0 * trial.value]
        gammas = [None] if trial.gamma is None else [trial.gamma / 2.0, trial.gamma, 2.0 * trial.gamma]
        groups += [[Trial(candidate, gamma, value) for value in values] for gamma in gammas]
    return groups
