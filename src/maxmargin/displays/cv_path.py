"""Cross-validated error along a grid of C or alpha, a line for each gamma."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..selection import Grid, chosen_point
from .canvas import class_colours, legend, new_axes, ordered_colours

__all__ = ["CVPathDisplay"]

ACCURACIES = (None, "accuracy", "balanced_accuracy")
MAX_BANDS = 2
MAX_NAMED = 8


class CVPathDisplay:
    """Cross-validated error against C, alpha or lambda; U-shaped if the grid is wide enough.

    Create it with :meth:`from_estimator` or :meth:`from_cv_results`.

    Parameters
    ----------
    grid : maxmargin.selection.Grid
        Values of the parameter and, if there is one, of gamma.
    scores : ndarray of shape (n_points, n_folds)
        Scores of the points of ``grid``; larger is better, nan where a point was eliminated.
    chosen : int or None
        The point chosen by the search.
    score_name : str or None
        None if scores are accuracies; the error is then drawn.
    total_weight : float or None
        If given, C is drawn as ``lambda = 1 / (C total_weight)``.

    Attributes
    ----------
    ax_, figure_
    lines_ : list of Line2D
        One for each gamma.
    bands_ : list of collections
        One standard error over the folds to both sides, for every line if there are one or two, else for the
        best one.
    marks_ : dict of Line2D
        "best", "one-standard-error", "chosen": points that coincide are marked once, under the first name.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC, PathCV
    >>> from maxmargin.displays import CVPathDisplay
    >>> search = PathCV(LinearSVC(), Cs=[0.1, 1.0, 10.0], cv=3).fit(*load_iris(return_X_y=True))
    >>> CVPathDisplay.from_estimator(search).ax_.get_xscale()
    'log'
    """

    def __init__(
        self,
        *,
        grid: Grid,
        scores: np.ndarray,
        chosen: int | None = None,
        score_name: str | None = None,
        total_weight: float | None = None,
    ) -> None:
        self.grid = grid
        self.scores = scores
        self.chosen = chosen
        self.score_name = score_name
        self.total_weight = total_weight

    @classmethod
    def from_estimator(cls, search: Any, *, total_weight: float | None = None, ax: Any = None) -> Self:
        """Draw a fitted search.

        Parameters
        ----------
        search : PathCV, or GridSearchCV over C or alpha with or without gamma
        total_weight : float, optional
            The number of rows, or their total weight: C is then drawn as the lambda of ``(1/n) sum loss +
            lambda/2 ||f||^2``; with 1, as the lambda of ``sum loss + lambda/2 ||f||^2``.
        ax : matplotlib axes, optional

        Returns
        -------
        CVPathDisplay
        """
        check_is_fitted(search, "cv_results_")
        scoring = search.scoring
        name = None if scoring in ACCURACIES else scoring if isinstance(scoring, str) else "score"
        return cls.from_cv_results(
            search.cv_results_,
            chosen=getattr(search, "best_index_", None),
            score_name=name,
            total_weight=total_weight,
            ax=ax,
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict[str, Any],
        *,
        chosen: int | None = None,
        score_name: str | None = None,
        total_weight: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the table of a search.

        Parameters
        ----------
        cv_results : dict
            ``cv_results_`` of :class:`maxmargin.PathCV` or of scikit-learn's ``GridSearchCV``.
        chosen : int, optional
            A row of the table to mark.
        score_name : str, optional
            Name of the score; without it scores are accuracies, and the error is drawn.
        total_weight, ax
            As for :meth:`from_estimator`.

        Returns
        -------
        CVPathDisplay
        """
        grid, places = _grid_of(cv_results["params"])
        folds = sorted(
            name for name in cv_results if name.startswith("split") and name.endswith("_test_score")
        )
        if not folds:
            raise ValueError(
                "CVPathDisplay needs the scores of single folds, split0_test_score and so on; a search with "
                "several metrics stores them under other names."
            )
        table = np.column_stack([np.asarray(cv_results[name], dtype=np.float64) for name in folds])
        scores = np.full((len(grid.points), len(folds)), np.nan)
        scores[places] = table
        display = cls(
            grid=grid,
            scores=scores,
            chosen=None if chosen is None else int(places[chosen]),
            score_name=score_name,
            total_weight=total_weight,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        CVPathDisplay
        """
        (ax,) = new_axes("CVPathDisplay.plot", ax, figsize=(6.4, 4.4))
        self.ax_, self.figure_ = ax, ax.figure
        best = chosen_point(self.grid, self.scores, "best")
        self.lines_: list[Any] = []
        self.bands_: list[Any] = []
        n = self.grid.n_gammas
        for g, colour in enumerate(ordered_colours(n) if n > 1 else class_colours(n)):
            self._line(g, colour, best)
        self._marks(best)
        ax.set(xscale="log", xlabel=self._x_label(), ylabel=self._y_label())
        ax.grid(alpha=0.25)
        legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
        return self

    def _line(self, g: int, colour: Any, best: int) -> None:
        points = self.grid.place[g]
        is_best = best in points
        x, y = self._x(self.grid.values), self._y(points)
        line = {"lw": 2.2 if is_best else 1.2, "ms": 4.0, "zorder": 3 if is_best else 2}
        self.lines_ += self.ax_.plot(x, y, "o-", color=colour, label=self._line_name(g, is_best), **line)
        if self.scores.shape[1] > 1 and (is_best or self.grid.n_gammas <= MAX_BANDS):
            error = self._standard_error(points)
            name = "± one standard error" if is_best else None
            band = self.ax_.fill_between(x, y - error, y + error, color=colour, alpha=0.18, lw=0, label=name)
            self.bands_.append(band)

    def _line_name(self, g: int, is_best: bool) -> str | None:
        n = self.grid.n_gammas
        if self.grid.gamma_name is None:
            return None if self.score_name is None else self.score_name
        named = n <= MAX_NAMED or is_best or g in (0, n - 1)
        return f"{self.grid.gamma_name} = {self.grid.gammas[g]:.3g}" if named else None

    def _marks(self, best: int) -> None:
        points = {"best": best}
        if self.grid.name.split("__")[-1] in ("C", "alpha") and self.scores.shape[1] > 1:
            points["one-standard-error"] = chosen_point(self.grid, self.scores, "one-standard-error")
            limit = self._y(best) + self._sign() * self._standard_error(best)
            name = f"{self._extreme()} {'+' if self._sign() > 0.0 else '−'} one standard error"
            self.ax_.axhline(float(limit), color="black", lw=0.9, ls=":", label=name)
        if self.chosen is not None:
            points["chosen"] = self.chosen
        looks = {"best": ("*", 15.0), "one-standard-error": ("D", 8.0), "chosen": ("o", 11.0)}
        self.marks_: dict[str, Any] = {}
        for kind, point in points.items():
            if any(points[other] == point for other in self.marks_):
                continue
            marker, size = looks[kind]
            (self.marks_[kind],) = self.ax_.plot(
                [self._x(self.grid.points[point][self.grid.name])],
                [self._y(point)],
                marker,
                ms=size,
                color="#d55e00",
                mec="white",
                zorder=4,
                label=self._mark_name(kind, point),
            )

    def _mark_name(self, kind: str, point: int) -> str:
        said = {"best": self._extreme(), "one-standard-error": "one-standard-error rule", "chosen": "chosen"}[
            kind
        ]
        chosen = " (chosen)" if point == self.chosen and kind != "chosen" else ""
        value = self._x(self.grid.points[point][self.grid.name])
        return f"{said}{chosen}: {self._x_name()} = {value:.3g}"

    # ---- quantities drawn ----

    def _x(self, values: Any) -> Any:
        return 1.0 / (values * self.total_weight) if self._in_lambda() else values

    def _in_lambda(self) -> bool:
        return self.total_weight is not None and self.grid.name.split("__")[-1] == "C"

    def _x_name(self) -> str:
        return "lambda" if self._in_lambda() else self.grid.name.split("__")[-1]

    def _x_label(self) -> str:
        name = self._x_name()
        strong = {"C": "less", "alpha": "more", "lambda": "more"}.get(name)
        return name if strong is None else f"{name} ({strong} regularisation to the right)"

    def _y(self, points: Any) -> Any:
        means = self.scores[points].mean(axis=-1)
        return 1.0 - means if self.score_name is None else means

    def _y_label(self) -> str:
        what = "error rate" if self.score_name is None else self.score_name
        return f"{what}, mean over {self.scores.shape[1]} folds"

    def _sign(self) -> float:
        return 1.0 if self.score_name is None else -1.0

    def _extreme(self) -> str:
        return "smallest error" if self.score_name is None else "best score"

    def _standard_error(self, points: Any) -> Any:
        return self.scores[points].std(axis=-1, ddof=1) / np.sqrt(self.scores.shape[1])


def _grid_of(params: list[dict[str, Any]]) -> tuple[Grid, np.ndarray]:
    """The grid of these points, and the position of each in it."""
    seen = {name: {point[name] for point in params} for name in params[0]}
    names = [name for name in seen if len(seen[name]) > 1] or list(seen)[:1]
    gamma = next((name for name in names if name.split("__")[-1] == "gamma"), None)
    others = [name for name in names if name != gamma]
    if not others and gamma is not None:
        others, gamma = [gamma], None
    if len(others) != 1 or not all(isinstance(v, int | float | np.number) for n in names for v in seen[n]):
        raise ValueError(
            f"CVPathDisplay draws one parameter and, optionally, gamma, both numeric; got {names}."
        )
    values = np.array(sorted(seen[others[0]]), dtype=np.float64)
    values = values[::-1] if others[0].split("__")[-1] == "alpha" else values  # from strong to weak
    gammas = np.zeros(0) if gamma is None else np.array(sorted(seen[gamma]), dtype=np.float64)
    grid = Grid(others[0], values, gamma, gammas)
    at = {_key(point, grid): k for k, point in enumerate(grid.points)}
    return grid, np.array([at[_key(point, grid)] for point in params])


def _key(point: dict[str, Any], grid: Grid) -> tuple[float, ...]:
    names = [grid.name] if grid.gamma_name is None else [grid.name, grid.gamma_name]
    return tuple(float(point[name]) for name in names)
