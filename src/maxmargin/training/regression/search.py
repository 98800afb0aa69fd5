"""The choice of kernel, C, gamma and epsilon of a regressor on rows held out of the training rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ...data import key_of, mixed

__all__ = ["RegressionSearch", "target_unit"]

COSTS = (0.3, 3.0, 30.0, 300.0)  # C, for targets of unit spread and kernels with k(x, x) = 1
GAMMAS = (1 / 16, 1 / 4, 1.0, 4.0)  # times 1 / (columns * variance)
EPSILONS = (0.1, 0.001, 0.01, 0.03, 0.3)  # for targets of unit spread; the first while the others are chosen
HUBER_DELTA = 1.345  # in units of the spread: 95 % efficient for normal noise
MAX_FIT_ROWS, MAX_HELD_ROWS = 1500, 1500  # of a single split
MAX_FOLD_ROWS = 1000  # up to so many rows every row is held out once
N_FOLDS = 5
CANDIDATE_SHARE = 0.2  # of the time, that one candidate may take
NORMAL_QUARTILES = 1.349  # their distance for the standard normal distribution

Make = Callable[[Mapping[str, Any]], Any]


def target_unit(y: np.ndarray) -> float:
    """The spread of targets: the deviation of a normal variable with the same quartiles, or their own."""
    low, high = np.percentile(y, [25, 75])
    for unit in ((high - low) / NORMAL_QUARTILES, np.abs(y - np.median(y)).mean()):
        if np.isfinite(unit) and unit > 0.0:
            return float(unit)
    return 1.0


@dataclass
class RegressionSearch:
    """Chooses what was not given.

    A kernel, C and gamma are chosen for one epsilon, then epsilon for these. Up to 1,000 rows there are five
    folds; of more rows 1,500 are fitted to and 1,500 others are held out. The loss is the absolute error, or
    that of the model if it is squared or pinball.

    Parameters
    ----------
    make : callable
        From parameters to a regressor.
    given : mapping
        Parameters that are not chosen.
    seed : int
        Decides about the folds.
    seconds : float
        No candidate is begun after this time, and none takes more than a fifth of it.
    watch : callable, optional
        Told how many candidates are done, and of how many.
    """

    make: Make
    given: Mapping[str, Any]
    seed: int
    seconds: float
    watch: Callable[[int, int], None] = lambda done, total: None
    candidates: list[dict[str, Any]] = field(init=False, default_factory=list)
    text: str = field(init=False, default="")

    def run(self, X: Any, y: np.ndarray) -> dict[str, Any]:
        """The chosen parameters; ``candidates`` and ``text`` say what over what."""
        self.start = time.perf_counter()
        X = _in_doubles(X)
        self.unit, self.scale = target_unit(y), _gamma_scale(X)
        self.splits, self.how = _splits(len(y), self.seed)
        grid = self._grid(X)
        last = self._epsilons()
        self.total = len(grid) + len(last)
        if self.total == 1:
            self.text = _words(grid[0])
            return grid[0]
        best = self._best(X, y, grid)
        if last and self.splits:
            best = self._best(X, y, [best | {"epsilon": epsilon} for epsilon in last])
        self.text = self._text(best)
        return best

    def _grid(self, X: Any) -> list[dict[str, Any]]:
        """Candidates for a kernel, C and gamma, those with small C first."""
        kernels = [self.given["kernel"]] if "kernel" in self.given else ["rbf", "linear"]
        start = self._start_epsilon()
        found = []
        for kernel in kernels:
            gammas: list[Any] = [None]
            if "gamma" not in self.given and kernel != "linear":
                gammas = [self.scale * factor for factor in GAMMAS]
            size = _mean_square(X) if kernel == "linear" else 1.0
            costs: list[Any] = (
                [self._cost_unit * c / size for c in COSTS] if "C" not in self.given else [None]
            )
            for cost in costs:
                for gamma in gammas:
                    values = {"kernel": kernel, "C": cost, "gamma": gamma}
                    free = {k: v for k, v in values.items() if v is not None and k not in self.given}
                    found.append({**free, **start})
        return found

    @property
    def _loss(self) -> str:
        return str(self.given.get("loss", "epsilon-insensitive")).replace("_", "-")

    @property
    def _cost_unit(self) -> float:
        """Losses that grow linearly are in units of y, and C is in its inverse's place."""
        return self.unit if self._loss in ("epsilon-insensitive", "pinball") else 1.0

    def _start_epsilon(self) -> dict[str, Any]:
        if self._loss == "huber" and "delta" not in self.given:
            return {"delta": HUBER_DELTA * self.unit}
        return {"epsilon": EPSILONS[0] * self.unit} if self._chooses_epsilon else {}

    @property
    def _chooses_epsilon(self) -> bool:
        return "epsilon-insensitive" in self._loss and not self.given.keys() & {"epsilon", "nu"}

    def _epsilons(self) -> list[float]:
        return [self.unit * factor for factor in EPSILONS[1:]] if self._chooses_epsilon else []

    def _best(self, X: Any, y: np.ndarray, grid: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The candidate with the smallest held-out loss, of equals the first."""
        if not self.splits:
            return grid[min(len(GAMMAS) + 2, len(grid) - 1)]
        for candidate in grid:
            if self.candidates and time.perf_counter() - self.start > self.seconds:
                break
            self.candidates.append(candidate | self._held_out_loss(X, y, candidate))
            self.watch(len(self.candidates), self.total)
        best = min(self.candidates, key=lambda each: each["loss"])
        return {name: value for name, value in best.items() if name not in ("loss", "error")}

    def _held_out_loss(self, X: Any, y: np.ndarray, candidate: Mapping[str, Any]) -> dict[str, float]:
        left = max(self.seconds - (time.perf_counter() - self.start), 0.05 * self.seconds)
        left = min(left, CANDIDATE_SHARE * self.seconds)
        losses = []
        for fitted, held in self.splits:
            model = self.make({**self.given, **candidate, "max_seconds": left / len(self.splits)})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model.fit(X[fitted], y[fitted])
                except TimeoutError:
                    return {"loss": float("inf"), "error": float("nan")}
            losses.append(self._losses(y[held], np.asarray(model.predict(X[held]))))
        every = np.concatenate(losses)
        return {"loss": float(every.mean()), "error": float(every.std() / np.sqrt(len(every)))}

    def _losses(self, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """That of each row; of several quantiles their mean."""
        r = y[:, None] - predicted.reshape(len(y), -1)
        if self._loss == "pinball":
            given = self.given.get("quantiles")
            q = np.asarray(self.given.get("quantile", 0.5) if given is None else given, dtype=np.float64)
            return np.asarray(np.maximum(q * r, (q - 1.0) * r).mean(axis=1))
        return np.asarray((r**2 if self._loss.startswith("squared") else np.abs(r)).mean(axis=1))

    def _text(self, best: Mapping[str, Any]) -> str:
        """What was chosen, over how many others."""
        words = _words(best)
        if not self.candidates:
            return f"{words}: too few rows to compare candidates"
        names = {"pinball": "pinball losses"}.get(self._loss, "absolute errors")
        names = "squared errors" if self._loss.startswith("squared") else names
        found = min(self.candidates, key=lambda each: each["loss"])
        n = len(self.candidates)
        cut = "" if n >= self.total else f" (of {self.total}, for lack of time; raise max_seconds)"
        return (
            f"{words}: the smallest of {n} held-out {names}{cut}, {found['loss']:.4g} "
            f"(standard error {found['error']:.2g}), {self.how}"
        )


def _words(parameters: Mapping[str, Any]) -> str:
    said = [f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in parameters.items()]
    return ", ".join(said)


def _splits(n: int, seed: int) -> tuple[list[tuple[np.ndarray, np.ndarray]], str]:
    """Pairs of rows to fit to and rows held out; none of fewer than three rows."""
    if n < 3:
        return [], ""
    order = np.argsort(mixed(np.arange(n, dtype=np.uint64), key_of(f"{seed} folds")), kind="stable")
    if n > MAX_FOLD_ROWS:
        n_held = min(MAX_HELD_ROWS, n // 4)
        held, fitted = order[:n_held], order[n_held : n_held + MAX_FIT_ROWS]
        return [(np.sort(fitted), np.sort(held))], f"on {len(held):,} rows, fitted to {len(fitted):,} others"
    folds = np.array_split(order, min(N_FOLDS, n))
    pairs = [(np.sort(np.setdiff1d(order, fold)), np.sort(fold)) for fold in folds]
    return pairs, f"in {len(folds)} folds of {n:,} rows"


def _in_doubles(X: Any) -> Any:
    """Few rows of fewer columns as float64.

    Their linear kernel is singular, and with float32's rounding the finish of a small fit takes hundreds of
    steps: ten times as long for 100 rows.
    """
    few = not sparse.issparse(X) and X.shape[1] < X.shape[0] <= MAX_FOLD_ROWS
    return X.astype(np.float64, copy=False) if few else X


def _mean_square(X: Any) -> float:
    """The mean of ``|x_i|^2``."""
    values: Any = getattr(X, "data", X) if sparse.issparse(X) else X
    return float(np.vdot(values, values).real / max(X.shape[0], 1)) or 1.0


def _gamma_scale(X: Any) -> float:
    """``1 / (columns * variance of all entries)``."""
    n_entries = X.shape[0] * X.shape[1]
    mean = float(X.sum(dtype=np.float64)) / n_entries
    variance = _mean_square(X) / X.shape[1] - mean**2
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0
