"""The SVMs that are compared: how each is made, and how its coefficients are read.

Each has its own stopping rule: scikit-learn, Intel's version of it and ThunderSVM stop at a violation of
1e-3, their default; ours stops at a duality gap of 1e-3. The objective is measured in one way for all.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Columns:
    """The binary problems of a fitted model: rows used, their coefficients, and each class's targets."""

    support: np.ndarray
    coef: np.ndarray
    code: np.ndarray


@dataclass(frozen=True)
class Method:
    """``make(C, gamma)`` gives an estimator; ``columns(model, y)`` reads it once it is fitted."""

    make: Callable
    columns: Callable
    rows: Callable = lambda X: X  # as the method takes them
    labels: Callable = lambda X, y: y


def our_columns(model, y):
    return Columns(model.support_, model.dual_coef_, model.code_.matrix)


def one_vs_one(model, y):
    """LIBSVM's layout: row j of a support vector of class i is its pair with class j, or j + 1 from i on.

    Which of two classes is +1 shows in the sign of the coefficients, and differs between libraries. So does
    the order of classes, in which the support vectors are: by name, or by first appearance.
    """
    support, dual_coef = np.asarray(model.support_), model.dual_coef_
    if sparse.issparse(dual_coef):
        dual_coef = dual_coef.toarray()
    label = np.unique(y, return_inverse=True)[1][support]
    order = label[np.sort(np.unique(label, return_index=True)[1])]
    coef, code = [], []
    for i, first in enumerate(order):
        for j, second in enumerate(order[i + 1 :], start=i + 1):
            column = np.where(label == first, dual_coef[j - 1], 0.0)
            column += np.where(label == second, dual_coef[i], 0.0)
            sign = 1 if column[label == first].sum() >= 0 else -1
            targets = np.zeros(len(order), dtype=np.int8)
            targets[[first, second]] = sign, -sign
            coef.append(column)
            code.append(targets)
    return Columns(support, np.array(coef), np.array(code).T)


def ours(C, gamma):
    from maxmargin import KernelSVC

    return KernelSVC(C, gamma=gamma, code="one-vs-one", tol=1e-3, n_jobs=2)


def scikit_learn(C, gamma):
    from sklearn.svm import SVC

    return SVC(C=C, gamma=gamma, cache_size=2000)


def intelex(C, gamma):
    from sklearnex.svm import SVC

    return SVC(C=C, gamma=gamma)


def thundersvm(C, gamma):
    from thundersvm import SVC

    return SVC(kernel="rbf", C=C, gamma=gamma)


def thunder_rows(X):
    return sparse.csr_matrix(X) if sparse.issparse(X) else X


def thunder_labels(X, y):
    """Labels as the bits of floats: for sparse rows ThunderSVM's wheel reads integer labels as floats."""
    return y.astype(np.float32).view(np.int32) if sparse.issparse(X) else y


METHODS = {
    "maxmargin": Method(ours, our_columns),
    "scikit-learn": Method(scikit_learn, one_vs_one),
    "intelex": Method(intelex, one_vs_one),
    "thundersvm": Method(thundersvm, one_vs_one, thunder_rows, thunder_labels),
}
