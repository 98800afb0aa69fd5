"""Solutions along a grid of regularisation, each starting from the one before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ..data import check_grid, checked_input
from ..methods.budget import SparseKernelClassifier, with_alpha
from ..methods.budget_regression import SparseKernelRegressor
from ..methods.kernel_svm import KernelSVC
from ..methods.kernel_svr import KernelSVR
from ..solving import Deadline

__all__ = ["RegularizationPath", "along", "beside", "parameter_of", "path", "start_in_search", "start_of"]


@dataclass(frozen=True)
class RegularizationPath:
    """Models for several values of C or alpha, in the order in which the values were given.

    Attributes
    ----------
    parameter : str
        The parameter's name: "C", "alpha", or that of a pipeline step, such as "kernelsvc__C".
    values : ndarray of shape (n_values,)
    estimators : list of fitted estimators
    objectives : ndarray of shape (n_values,)
    dual_gaps : ndarray of shape (n_values,)
        Relative gaps; nan, like the other numbers, where an estimator does not report them.
    seconds : ndarray of shape (n_values,)
    kernel_values : ndarray of shape (n_values,)
        Kernel values computed for each model, beyond those left by earlier ones.
    start : {"kernel-rows", "warm-start", "support-vectors", "cold"}
        What each model inherits from the one before: coefficients and kernel rows; coefficients; the support
        vectors, chosen with the estimator's own alpha; or nothing.
    """

    parameter: str
    values: np.ndarray
    estimators: list[Any]
    objectives: np.ndarray
    dual_gaps: np.ndarray
    seconds: np.ndarray
    kernel_values: np.ndarray
    start: str


def path(
    estimator: Any, X: Any, y: Any, *, Cs: Any = None, alphas: Any = None, sample_weight: Any = None
) -> RegularizationPath:
    """Fit an estimator for several values of C, or of alpha, from strong to weak regularisation.

    Parameters
    ----------
    estimator : estimator with a parameter C or alpha, or a pipeline or another estimator around one
        It is cloned, not fitted or changed.
    X, y, sample_weight
        As for its ``fit``.
    Cs, alphas : array-like of shape (n_values,)
        Give exactly one of the two.

    Returns
    -------
    RegularizationPath

    Notes
    -----
    :class:`KernelSVC` and :class:`KernelSVR` (without ``nu`` and ``quantiles``) carry coefficients and kernel
    rows along. :class:`SparseKernelClassifier` finds its
    support vectors once, with its own alpha, and refits their coefficients for each value of the grid; to
    choose them again for every alpha, fit separately. Other estimators start from the last model if they have
    ``warm_start``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from maxmargin import KernelSVC, path
    >>> found = path(KernelSVC(), *load_breast_cancer(return_X_y=True), Cs=[0.1, 1, 10])
    >>> found.start, [model.C for model in found.estimators], bool((found.dual_gaps < 1e-6).all())
    ('kernel-rows', [0.1, 1.0, 10.0], True)
    """
    if (Cs is None) == (alphas is None):
        raise ValueError(f"give exactly one of Cs and alphas; got Cs={Cs!r} and alphas={alphas!r}.")
    short, values = ("C", check_grid("Cs", Cs)) if alphas is None else ("alpha", check_grid("alphas", alphas))
    name = parameter_of(estimator, short)
    if name is None:
        raise ValueError(f"{estimator!r} has no parameter {short} for a path to follow.")
    X, order = checked_input(X), np.argsort(values if short == "C" else -values, kind="stable")
    models: list[Any] = [None] * len(values)
    numbers = np.full((4, len(values)), np.nan)
    before, how = 0.0, start_of(estimator, name)
    for k, (model, seconds) in zip(order, along(estimator, name, values[order], X, y, sample_weight, how)):
        models[k] = deepcopy(model) if how == "warm-start" else model  # the next fit must not change this one
        last = final_estimator(model)
        counted = _kernel_values(last)
        numbers[:, k] = getattr(last, "objective_", np.nan), gap_of(model), seconds, counted - before
        before = counted if how == "kernel-rows" else 0.0
    names = ("objectives", "dual_gaps", "seconds", "kernel_values")
    told = dict(zip(names, numbers, strict=True))
    return RegularizationPath(name, values, models, **told, start=how)


def _kernel_values(model: Any) -> float:
    histories = getattr(model, "history_", None)
    return float(sum(history[-1].kernel_values for history in histories)) if histories else np.nan


def final_estimator(model: Any) -> Any:
    """The last step of a pipeline, or the estimator itself."""
    return final_estimator(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def gap_of(model: Any) -> float:
    """The relative duality gap; nan for a model that has none."""
    return float(getattr(final_estimator(model), "dual_gap_", np.nan))


def parameter_of(estimator: Any, short: str) -> str | None:
    """The name of the parameter ``short`` of an estimator or, failing that, of the one inside it."""
    names = [name for name in estimator.get_params() if name.split("__")[-1] == short]
    least = min((name.count("__") for name in names), default=0)
    nearest = [name for name in names if name.count("__") == least]
    if len(nearest) > 1:
        raise ValueError(f"{estimator!r} has several parameters {short}: {sorted(nearest)}.")
    return nearest[0] if nearest else None


def beside(name: str, other: str) -> str:
    """The name of another parameter of the same part."""
    return "__".join([*name.split("__")[:-1], other])


def start_of(estimator: Any, name: str) -> str:
    """What each model of the path inherits from the one before; see :class:`RegularizationPath`."""
    one_problem = isinstance(estimator, KernelSVR) and estimator.nu is None and estimator.quantiles is None
    if (isinstance(estimator, KernelSVC) or one_problem) and name == "C":
        return "kernel-rows"
    if isinstance(estimator, SparseKernelClassifier) and name == "alpha" and estimator.refit is not None:
        return "support-vectors"
    if beside(name, "warm_start") in estimator.get_params() and _is_kept(estimator, name):
        return "warm-start"
    return "cold"


def start_in_search(estimator: Any, name: str) -> str:
    """The same for a search, whose scores are to be those of separate fits.

    A convex problem has the same solution wherever its solver starts. The support vectors of a budgeted model
    depend on the start, so they are chosen anew for every point.
    """
    chooses = isinstance(final_estimator(estimator), SparseKernelClassifier | SparseKernelRegressor)
    return "cold" if chooses else start_of(estimator, name)


def _is_kept(estimator: Any, name: str) -> bool:
    """Whether the part with this parameter survives to the next fit; most meta-estimators clone it."""
    return "__" not in name or (
        isinstance(estimator, Pipeline) and _is_kept(estimator[-1], name.partition("__")[2])
    )


def along(
    estimator: Any,
    name: str,
    values: np.ndarray,
    X: Any,
    y: Any,
    sample_weight: Any,
    how: str,
) -> Iterator[tuple[Any, float]]:
    """Yield a fitted model for each value, and its seconds; the next step may change the model.

    ``how`` is what ``start_of`` returns. Inside another deadline every value has an equal share of the time.
    """
    whole = Deadline(np.inf)
    if how == "kernel-rows":
        for model in estimator.path(X, y, values, sample_weight):
            yield model, sum(history[-1].seconds for history in model.history_)
    elif how == "support-vectors":
        begun = time.perf_counter()
        with whole.nested(0.5):
            grown = fitted(clone(estimator), X, y, sample_weight)
        for k, value in enumerate(values):
            with whole.nested(1.0 / (len(values) - k)):
                model = with_alpha(grown, float(value))
            yield model, time.perf_counter() - begun
            begun = time.perf_counter()
    else:
        model = clone(estimator)
        if how == "warm-start":
            model.set_params(**{beside(name, "warm_start"): True})
        for k, value in enumerate(values):
            begun = time.perf_counter()
            with whole.nested(1.0 / (len(values) - k)):
                fitted(model.set_params(**{name: float(value)}), X, y, sample_weight)
            yield model, time.perf_counter() - begun
            if how == "cold":
                model = clone(estimator)


def fitted(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """``estimator.fit``, with weights for the last step of a pipeline."""
    if sample_weight is None:
        return estimator.fit(X, y)
    if get_config()["enable_metadata_routing"]:  # then the pipeline routes the weights
        return estimator.fit(X, y, sample_weight=sample_weight)
    prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    return estimator.fit(X, y, **{f"{prefix}sample_weight": sample_weight})
