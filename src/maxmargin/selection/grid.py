"""The grid of a search over regularisation and bandwidth, and the rules that choose a point of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import ParameterGrid

from ..data import check_grid
from ..kernels import kernel_from_name
from .regularization_path import beside, parameter_of

__all__ = ["RULES", "Grid", "chosen_point", "grid_for", "has_open_bandwidth", "ranks"]

LAMBDAS = np.geomspace(1e-5, 1e2, 8)  # in (1/n) sum loss + lambda/2 ||f||^2
GAMMA_FACTORS = 4.0 ** np.arange(-2, 3)  # times the median heuristic's gamma
KERNELS_WITHOUT_GAMMA = ("linear", "precomputed")
KERNELS_WITH_BANDWIDTH = ("exponential", "laplacian", "rbf")
RULES = ("best", "one-standard-error")


@dataclass(frozen=True)
class Grid:
    """``name`` takes ``values``, from strong to weak regularisation; ``gamma_name``, if any, ``gammas``.

    ``epsilon_name``, if any, takes ``epsilons`` at each gamma; a gamma with an epsilon counts as a gamma.
    ``points`` are in the order of scikit-learn's ``ParameterGrid``; ``place[g, v]`` is where the g-th gamma
    with the v-th value stands among them.
    """

    name: str
    values: np.ndarray
    gamma_name: str | None
    gammas: np.ndarray
    epsilon_name: str | None = None
    epsilons: np.ndarray = field(default_factory=lambda: np.zeros(0))
    points: list[dict[str, float]] = field(init=False)
    place: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        """Compute the points and the position of each."""
        axes = {self.name: self.values.tolist()}
        if self.gamma_name is not None:
            axes[self.gamma_name] = self.gammas.tolist()
        if self.epsilon_name is not None:
            axes[self.epsilon_name] = self.epsilons.tolist()
        points = list(ParameterGrid(axes))
        at = {tuple(point.values()): k for k, point in enumerate(points)}
        keys = list(points[0])
        place = [
            [at[tuple(self.point(g, v)[key] for key in keys)] for v in range(len(self.values))]
            for g in range(self.n_gammas)
        ]
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "place", np.array(place))

    @property
    def n_gammas(self) -> int:
        """The number of kernels in the grid, times that of the epsilons."""
        return (1 if self.gamma_name is None else len(self.gammas)) * self.n_epsilons

    @property
    def n_epsilons(self) -> int:
        """The number of losses in the grid."""
        return 1 if self.epsilon_name is None else len(self.epsilons)

    def point(self, g: int, v: int) -> dict[str, float]:
        """The parameters of a point."""
        return {self.name: float(self.values[v]), **self.at_gamma(g)}

    def at_gamma(self, g: int) -> dict[str, float]:
        """The parameters that all points of one gamma share."""
        shared = (
            {} if self.gamma_name is None else {self.gamma_name: float(self.gammas[g // self.n_epsilons])}
        )
        if self.epsilon_name is not None:
            shared[self.epsilon_name] = float(self.epsilons[g % self.n_epsilons])
        return shared


def has_open_bandwidth(estimator: Any) -> bool:
    """Whether the estimator has a kernel with a bandwidth, and a gamma that was left at its default."""
    own = estimator.get_params(deep=False)
    if "gamma" not in own or own.get("kernel") not in KERNELS_WITH_BANDWIDTH:
        return False
    default = signature(type(estimator).__init__).parameters["gamma"].default
    return isinstance(own["gamma"], str) and own["gamma"] == default


def grid_for(
    estimator: Any,
    Cs: Any,
    alphas: Any,
    gammas: Any,
    total: float,
    median: float | None,
    epsilons: Any = None,
) -> Grid:
    """The given grid, with defaults in place of None; ``total`` is the weight of all rows.

    ``median`` is the median of one over the squared distances, or None where the default grid has no gammas.
    """
    if Cs is not None and alphas is not None:
        raise ValueError("give either Cs or alphas, not both; an estimator has only one of these parameters.")
    kinds = [kind for kind, given in (("C", Cs), ("alpha", alphas)) if given is not None] or ["C", "alpha"]
    names = {kind: name for kind in kinds if (name := parameter_of(estimator, kind)) is not None}
    if not names:
        raise ValueError(f"{estimator!r} has no parameter {' or '.join(kinds)} to search over.")
    kind, name = next(iter(names.items()))
    _check_is_used(estimator, name)
    if kind == "C":
        values = 1.0 / (LAMBDAS * total) if Cs is None else check_grid("Cs", Cs)
    else:
        values = LAMBDAS if alphas is None else check_grid("alphas", alphas)
    values = np.unique(values) if kind == "C" else np.unique(values)[::-1]
    return Grid(
        name, values, *_gamma_axis(estimator, name, gammas, median), *_epsilon_axis(estimator, epsilons)
    )


def _check_is_used(estimator: Any, name: str) -> None:
    """Raise if the C of this name is one that nu replaces: that of a classifier."""
    nu = estimator.get_params().get(beside(name, "nu"))
    if nu is not None and beside(name, "epsilon") not in estimator.get_params():
        raise ValueError(f"with nu={nu!r} the estimator does not use C. Set nu to None to search over C.")


def _epsilon_axis(estimator: Any, epsilons: Any) -> tuple[str | None, np.ndarray]:
    """The name and the values of epsilon; none, unless they are given."""
    if epsilons is None:
        return None, np.zeros(0)
    name = parameter_of(estimator, "epsilon")
    if name is None:
        raise ValueError(f"epsilons are given, but {estimator!r} has no parameter epsilon.")
    own = estimator.get_params()
    loss, nu = own.get(beside(name, "loss"), "epsilon-insensitive"), own.get(beside(name, "nu"))
    if "epsilon" not in str(loss) or nu is not None:
        given = f"loss={loss!r}" if nu is None else f"nu={nu!r}"
        raise ValueError(
            f"epsilons are given, but with {given} the estimator does not use epsilon. Leave epsilons out, "
            "or set loss='epsilon-insensitive' and nu=None."
        )
    return name, np.unique(check_grid("epsilons", epsilons, zero=True))


def _gamma_axis(
    estimator: Any, regularised: str, gammas: Any, median: float | None
) -> tuple[str | None, np.ndarray]:
    """The name and the values of gamma; by default that of the part with the parameter ``regularised``."""
    if isinstance(gammas, str):
        if gammas != "fixed":
            raise ValueError(f"gammas must be a list of numbers > 0, None or 'fixed'; got {gammas!r}.")
        return None, np.zeros(0)
    if gammas is None:
        if median is None:
            return None, np.zeros(0)
        kernel = kernel_from_name(estimator.get_params()[beside(regularised, "kernel")])
        return beside(regularised, "gamma"), kernel.from_squares(median * GAMMA_FACTORS)  # type: ignore[attr-defined]
    name = parameter_of(estimator, "gamma")
    if name is None:
        raise ValueError(f"gammas are given, but {estimator!r} has no parameter gamma.")
    kernel = estimator.get_params().get(beside(name, "kernel"))
    if callable(kernel) or (isinstance(kernel, str) and kernel in KERNELS_WITHOUT_GAMMA):
        raise ValueError(
            f"gammas are given, but the kernel {kernel!r} takes no gamma from the estimator. Leave gammas "
            "out, or give the kernel by name, such as 'rbf'."
        )
    return name, np.unique(check_grid("gammas", gammas))


def ranks(means: np.ndarray) -> np.ndarray:
    """1 for the largest mean, equal ranks for equal means; points without a mean come last."""
    known = np.isfinite(means)
    worst = means[known].min() - 1.0 if known.any() else 0.0
    return rankdata(-np.where(known, means, worst), method="min").astype(np.int32)


def chosen_point(grid: Grid, scores: np.ndarray, rule: str) -> int:
    """The point with the largest mean score, the first of several; or the one-standard-error rule's choice.

    That rule takes the most regularised point with the best point's gamma and epsilon whose mean is within
    one standard error of the best mean. Points that were not scored on every fold are not chosen.
    """
    means = scores.mean(axis=1)
    if not np.isfinite(means).any():
        raise ValueError(
            "no point of the grid has a finite score on every fold. A score such as R^2 needs at least two "
            "rows in each: take fewer folds, or another score."
        )
    best = int(np.nanargmax(means))
    if rule == "best" or scores.shape[1] < 2:
        return best
    least = means[best] - scores[best].std(ddof=1) / np.sqrt(scores.shape[1])
    row = next(row for row in grid.place if best in row)
    return int(next(point for point in row if means[point] >= least))
