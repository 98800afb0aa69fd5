"""Data and grids for PathCV, and the scores of separate fits."""

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import get_scorer
from sklearn.preprocessing import StandardScaler

from maxmargin import (
    KernelSVC,
)

CS, GAMMAS = [0.1, 1.0, 10.0], [0.05, 0.2]
EXACT = KernelSVC(tol=1e-10)


def data(n=150, n_classes=2, seed=0, dtype=np.float64):
    X, y = make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=seed
    )
    return StandardScaler().fit_transform(X).astype(dtype), y


def honest(estimator, points, splits, X, y, weight=None, scoring="accuracy"):
    """Scores (n_points, n_folds) of a cold fit for each fold and point."""
    scorer, weight = get_scorer(scoring), np.ones(len(y)) if weight is None else weight
    return np.array(
        [
            [
                scorer(
                    clone(estimator).set_params(**point).fit(X[train], y[train], weight[train]),
                    X[test],
                    y[test],
                    sample_weight=weight[test],
                )
                for train, test in splits
            ]
            for point in points
        ]
    )


def scores_of(search):
    return np.array([search.cv_results_[f"split{k}_test_score"] for k in range(search.n_splits_)]).T
