"""The report of a fitted model: all bounds and estimates that apply, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import Any

import numpy as np

from .code_combination import combined_margin_bound, summed_bound
from .column_flags import column_flags, column_shares, combined_shares
from .column_view import ColumnView, column_view, labelled
from .hold_out import hold_out_bound
from .kinds import Bound, DoesNotApply, Entry, Estimate, Inapplicable, bound_of_terms, check_delta
from .margin import hinge_bound, margin_bound, scaled_margin_bound
from .pac_bayes import gibbs_bound, pac_bayes_bound
from .rademacher import ball_complexity, complexity_estimate
from .stability import stability_bound

__all__ = ["Report", "report"]

MAX_DRAWN_ROWS = 5_000  # with more rows, no random signs are drawn


@dataclass(frozen=True)
class Report:
    """Bounds and estimates for a fitted model, by name: ``report["hold-out"].value``.

    Each bound alone holds with probability ``1 - delta``; several hold together with a lower probability.

    Attributes
    ----------
    entries : dict of str to Bound, Estimate or Inapplicable
    training_error, majority_error : float
    n_samples : int
        The number of observations.
    delta : float
    columns : tuple of dict
        For several columns of outputs, the entries of each column. They bound the share of all observations
        that belong to its classes and get a wrong output, with probability ``1 - delta / n_columns``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import KernelSVC, bounds
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = bounds.report(KernelSVC(gamma=1.0).fit(X, X[:, 0] > 0), X, X[:, 0] > 0)
    >>> found.n_samples, found["margin"].vacuous
    (60, True)
    """

    entries: dict[str, Entry]
    training_error: float
    majority_error: float
    n_samples: int
    delta: float
    columns: tuple[dict[str, Entry], ...] = ()

    def __getitem__(self, name: str) -> Entry:
        if name not in self.entries:
            raise KeyError(f"there is no {name!r}; the entries are {list(self.entries)}.")
        return self.entries[name]

    def __str__(self) -> str:
        head = (
            f"{self.n_samples} observations, training error {self.training_error:.4g}, majority-class error "
            f"{self.majority_error:.4g}; each bound alone holds with probability {1 - self.delta:g}"
        )
        lines = [head, f"{'':24}{'value':>9}   informative      terms"]
        shown = [entry for entry in self.entries.values() if not isinstance(entry, Inapplicable)]
        lines += [_line(entry) for entry in shown]
        reasons: dict[str, list[str]] = {}
        for entry in self.entries.values():
            if isinstance(entry, Inapplicable):
                reasons.setdefault(entry.reason, []).append(entry.name)
        lines += [f"not {', '.join(names)}: {reason}" for reason, names in reasons.items()]
        notes = dict.fromkeys(note for entry in shown for note in entry.notes)
        return "\n".join(lines + [f"note: {note}" for note in notes])

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        head = "".join(f"<th>{name}</th>" for name in ("", "value", "informative", "of", "remarks"))
        rows = [_cells(entry) for entry in self.entries.values()]
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
        )
        caption = escape(str(self).split("\n", 1)[0])
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table>"


def _cells(entry: Entry) -> tuple[str, ...]:
    """A line of the table."""
    if isinstance(entry, Inapplicable):
        return entry.name, "", "does not apply", "", entry.reason
    sign = "≤" if isinstance(entry, Bound) else "≈"
    flag = "" if "Rademacher" in entry.of else "no" if entry.vacuous else "yes"
    return entry.name, f"{sign} {entry.value:.4f}", flag, entry.of, "; ".join(entry.notes)


def _line(entry: Bound | Estimate) -> str:
    sign = "<=" if isinstance(entry, Bound) else " ~"
    terms = list(entry.terms.items())
    shown = ", ".join(f"{term} {value:.4g}" for term, value in terms[:4]) + (
        ", ..." if len(terms) > 4 else ""
    )
    about = "" if entry.of in ("error", "leave-one-out error") else f" [{entry.of}]"
    flag = "-" if "Rademacher" in entry.of else "no" if entry.vacuous else "yes"
    return f"{entry.name:22}{sign}{entry.value:9.4f}   {flag:14}   {shown}{about}"


def report(
    model: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.05,
    sample_weight: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    max_norm: float | None = None,
) -> Report:
    """All bounds and estimates that apply to a fitted model, and why the others do not.

    Parameters
    ----------
    model : fitted classifier of maxmargin
        With ``coef_``, or ``dual_coef_`` and a kernel.
    X, y, sample_weight
        The training data. Weights must be whole numbers: how often each row was observed.
    delta : float, default=0.05
        The probability with which each bound may fail.
    X_test, y_test : optional
        Held-out rows: they must not have been used to choose anything about the model.
    max_norm : float, optional
        An upper bound on ``sqrt(k(x, x))`` over all possible rows; for the linear kernel, on their norms. It
        is 1 for RBF, Laplacian and exponential kernels.

    Returns
    -------
    Report

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from maxmargin import KernelSVC, bounds
    >>> X, y = make_classification(400, random_state=0)
    >>> model = KernelSVC(C=0.1, gamma=0.05).fit(X[:200], y[:200])
    >>> found = bounds.report(model, X[:200], y[:200], X_test=X[200:], y_test=y[200:])
    >>> found["hold-out"].vacuous, found["margin"].vacuous
    (False, True)
    """
    check_delta(delta)
    view = column_view(model, X, y, sample_weight)
    n_columns = view.outputs.shape[1]
    columns = [_column_bounds(view, t, delta / n_columns, max_norm) for t in range(n_columns)]
    flags = [column_flags(view, t) for t in range(n_columns)]
    two_classes = len(view.model.classes_) == 2
    if two_classes:
        entries = columns[0] | column_shares(view, 0, flags[0]) | _complexities(view)
    else:
        entries = _combined(view, columns, delta) | combined_shares(view, flags)
    entries = _held_out(view, X_test, y_test, delta) | entries | _training(view) | _exact(model, view)
    per_column = [own | column_shares(view, t, flags[t]) for t, own in enumerate(columns)]
    error = float(np.average(_predicted(view) != view.labels, weights=view.counts))
    return Report(
        entries,
        error,
        view.majority_error,
        view.n_samples,
        delta,
        () if two_classes else tuple(per_column),
    )


def _predicted(view: ColumnView) -> np.ndarray:
    predicted = view.model.predict(view.kernel.X)[view.kernel.index]
    return np.searchsorted(view.model.classes_, predicted)


def _tried(name: str, make: Callable[[], Bound | Estimate], notes: tuple[str, ...] = ()) -> Entry:
    """The entry, or the reason why it does not apply."""
    try:
        entry = make()
    except DoesNotApply as reason:
        return Inapplicable(name, str(reason))
    return replace(entry, name=name, notes=(*entry.notes, *notes))


def _column_bounds(view: ColumnView, t: int, delta: float, max_norm: float | None) -> dict[str, Entry]:
    """The bounds of one column."""

    def stability() -> Bound:
        sample, loss, largest = view.sample(t), view.svm_loss(), view.max_norm(max_norm)
        if isinstance(view.model.class_weight, str):
            raise DoesNotApply("balanced class weights depend on every row.")
        slope = 1.0 if loss == "hinge" else 1.0 + largest * view.radius()
        cost = float(view.cost(t).max())
        return stability_bound(sample, cost, largest, delta, slope=slope, excess=view.excess(t))

    makers: dict[str, Callable[[], Bound]] = {
        "pac-bayes": lambda: pac_bayes_bound(view.sample(t), delta),
        "pac-bayes-gibbs": lambda: gibbs_bound(view.sample(t), delta),
        "margin-scaled": lambda: scaled_margin_bound(view.sample(t), delta),
        "margin": lambda: margin_bound(view.sample(t), delta),
        "margin-a-priori": lambda: margin_bound(view.sample(t), delta, radius=view.radius()),
        "hinge": lambda: hinge_bound(view.sample(t), view.max_norm(max_norm), delta),
        "stability": stability,
    }
    return {name: _tried(name, make, view.notes()) for name, make in makers.items()}


def _combined(view: ColumnView, columns: list[dict[str, Entry]], delta: float) -> dict[str, Entry]:
    """The bounds of the decoded class."""

    def summed(name: str) -> Bound:
        bounds = [column[name] for column in columns]
        for entry in bounds:
            if isinstance(entry, Inapplicable):
                raise DoesNotApply(entry.reason)
        return summed_bound(view, bounds)  # type: ignore[arg-type]

    makers: dict[str, Callable[[], Bound]] = {
        "margin": lambda: combined_margin_bound(view, delta),
        "margin-a-priori": lambda: combined_margin_bound(view, delta, view.radius()),
    }
    for name in ("pac-bayes", "margin-scaled", "hinge", "stability"):
        makers[name] = partial(summed, name)
    return {name: _tried(name, makers[name], view.notes()) for name in columns[0] if name in makers}


def _held_out(view: ColumnView, X: Any, y: Any, delta: float) -> dict[str, Entry]:
    """The bound from held-out rows."""
    if (X is None) != (y is None):
        raise ValueError("X_test and y_test must be given together, or not at all.")
    if X is None:
        return {"hold-out": Inapplicable("hold-out", "no X_test and y_test were given.")}
    X, labels, _ = labelled(view.model, X, y, None, "weights")
    n_errors = int((view.model.predict(X) != view.model.classes_[labels]).sum())
    return {"hold-out": hold_out_bound(n_errors, len(labels), delta, majority_error=view.majority_error)}


def _training(view: ColumnView) -> dict[str, Entry]:
    """Bounds on the training error of Hamming decoding; the bound for finite classes never applies."""
    code = view.model.code_
    entries: dict[str, Entry] = {
        "finite-class": Inapplicable("finite-class", "the function class of this model is not finite.")
    }
    if code.n_classes == 2:
        reason = "there is only one column, and its error is the training error."
        return entries | {name: Inapplicable(name, reason) for name in ("ecoc-printed", "ecoc-refined")}
    found = code.training_error_bound(view.outputs, view.labels, view.counts)
    errors = 2.0 / code.minimum_distance * found.column_errors
    parts = {
        "ecoc-printed": {f"column {t}": float(error) for t, error in enumerate(errors)},
        "ecoc-refined": {"wrong outputs": found.refined},
    }
    of = "training error of Hamming decoding"
    for name, terms in parts.items():
        entries[name] = bound_of_terms(name, terms, 0.0, view.majority_error, of=of)
    return entries


def _exact(model: Any, view: ColumnView) -> dict[str, Entry]:
    """The exact leave-one-out error, where the model has it."""
    value = getattr(model, "loo_error_", None)
    if value is None or not np.isfinite(value):
        return {}
    return {"leave-one-out": Estimate(float(value), {}, False, view.majority_error, "leave-one-out")}


def _complexities(view: ColumnView) -> dict[str, Entry]:
    """The Rademacher complexity of the ball of radius ||f||, from the diagonal and by random signs."""
    rows, of = view.rows(0), "empirical Rademacher complexity"

    def from_diagonal() -> Estimate:
        sample = view.sample(0)
        value = ball_complexity(sample.trace, sample.norm, sample.n_samples)
        return Estimate(value, {"trace": sample.trace, "norm": sample.norm}, of=f"upper bound on {of}")

    def from_draws() -> Estimate:
        if len(rows) > MAX_DRAWN_ROWS:
            raise DoesNotApply(f"there are more than {MAX_DRAWN_ROWS} rows; see rademacher_monte_carlo.")
        some = view.kernel.take(rows)
        return complexity_estimate(some, view.counts[rows], view.sample(0).norm, constant=view.constant)

    makers = {"rademacher": from_diagonal, "rademacher-monte-carlo": from_draws}
    return {name: _tried(name, make) for name, make in makers.items()}
