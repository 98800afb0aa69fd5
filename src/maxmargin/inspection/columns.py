"""The importance of columns, for models, searches and pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..base import importances_at

__all__ = ["importance"]


def importance(model: Any, X: Any) -> np.ndarray:
    """Shares of the columns of X in what a model's outputs depend on.

    With f_t the outputs of the model, the importance of column k is proportional to

        var(x_k) (1/n) sum_i sum_t (df_t / dx_k (x_i))^2,

    the average squared gradient over the rows, in units in which the column has variance 1. It is an exact
    formula, not a sample of predictions; it measures how much the outputs change with a column while the
    others stay, and correlated columns share what they have in common.

    Parameters
    ----------
    model : fitted estimator, search or pipeline
        A linear model, or a kernel model with a linear, polynomial, rbf, sigmoid, laplacian or exponential
        kernel, or a sum, product or multiple of these. The steps of a pipeline before it must give one column
        for each of theirs (scalers), or be a ``TablePreparation``, whose indicators are summed over the
        column that they belong to.
    X : rows as ``predict`` takes them
        At most 2,000 of them are used, evenly spaced.

    Returns
    -------
    ndarray of shape (n_features_in_,)
        Shares that sum to 1; all 0 where the outputs are constant.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import KernelSVC, importance
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> shares = importance(KernelSVC(C=10).fit(X, X[:, 1] > 0), X)
    >>> int(shares.argmax())
    1
    """
    check_is_fitted(model)
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, Pipeline):
        return _through_steps(model, X)
    if hasattr(model, "_importance_at"):  # an AutoSVC prepares its columns itself
        return np.asarray(model._importance_at(X))
    if hasattr(model, "calibrator_") and hasattr(model, "estimator_"):  # a CalibratedSVC
        model = model.estimator_
    if hasattr(model, "estimators_") and hasattr(model, "code_"):  # an OutputCodeClassifier
        fitted = [column for column in model.estimators_ if column is not None]
        return np.mean([importance(column, X) for column in fitted], axis=0)
    if not hasattr(model, "_column_outputs"):
        raise ValueError(
            f"importance needs a fitted estimator of maxmargin, alone or at the end of a pipeline; got "
            f"{type(model).__name__}. sklearn.inspection.permutation_importance takes any model."
        )
    return importances_at(model, model._validated(X))


def _through_steps(pipeline: Pipeline, X: Any) -> np.ndarray:
    """The importance of the columns that a pipeline takes."""
    source: np.ndarray | None = None  # the column of X that each present column comes from
    n = None
    for _, step in pipeline.steps[:-1]:
        if step is None or step == "passthrough":
            continue
        if not isinstance(step, OneToOneFeatureMixin) and not hasattr(step, "sources_"):
            raise ValueError(
                f"the step {type(step).__name__} mixes columns, so those before it have no importance of "
                "their own. importance(pipeline[-1], pipeline[:-1].transform(X)) is that of those after it."
            )
        own = getattr(step, "sources_", None)
        if own is not None:
            n = step.n_features_in_ if n is None else n
            source = own if source is None else source[own]
        X = step.transform(X)
    shares = importance(pipeline.steps[-1][1], X)
    return shares if source is None else np.bincount(source, weights=shares, minlength=n or 0)
