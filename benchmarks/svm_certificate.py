"""One certificate for every SVM: both objectives from the coefficients alone, in float64, by NumPy.

For a binary problem with y in {-1, +1}, c_i = y_i a_i and K the kernel matrix,

    dual    sum_i a_i - 1/2 c'Kc,                           0 <= a_i <= C,  y'a = 0
    primal  1/2 c'Kc + C sum_i max(0, 1 - y_i (f_i + b)),   f = Kc, b the best one

Identical rows of one label are one row here, with the sum of their a and of their C: some methods merge them.
"""

import hashlib

import numpy as np

KERNEL_VALUES_PER_BLOCK = 1 << 24  # in memory at a time


def certificate(X, y, columns, C, gamma):
    """Sums of both objectives, the largest relative gap, the largest |y'a| / sum(a), distinct rows used.

    ``columns`` has ``support``, rows of X; ``coef`` (n_columns, n_support); and ``code``
    (n_classes, n_columns), the target of each class, 0 where a class takes no part.
    """
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    labels = np.unique(y, return_inverse=True)[1]
    first, size = identical(X, labels)
    rows, where = np.unique(first[columns.support], return_inverse=True)
    total = np.zeros((len(columns.coef), len(rows)))
    np.add.at(total.T, where, columns.coef.T)
    target = columns.code[labels].T.astype(np.float64)
    a = np.clip(target[:, rows] * total, 0.0, C * size[rows])
    c = target[:, rows] * a
    f = outputs(X, X[rows], c, gamma)
    half_norm = 0.5 * np.einsum("tj,jt->t", c, f[rows])
    dual = a.sum(axis=1) - half_norm
    loss = np.array([least_hinge(*column) for column in zip(target, f.T)])
    primal = half_norm + C * loss
    used = rows[(a > 0).any(axis=0)]
    return {
        "dual": float(dual.sum()),
        "primal": float(primal.sum()),
        "gap": float(np.max((primal - dual) / np.maximum(np.abs(primal), 1e-300))),
        "imbalance": float(np.max(np.abs(c.sum(axis=1)) / np.maximum(a.sum(axis=1), 1e-300))),
        "support_vectors": len(np.unique(identical(X[used], np.zeros(len(used), dtype=int))[0])),
    }


def identical(X, labels):
    """For each row the first one with the same numbers and label, and how often it occurs."""
    seen, first = {}, np.empty(len(X), dtype=np.intp)
    for i, (row, label) in enumerate(zip(X + 0.0, labels)):  # -0.0 is 0.0
        first[i] = seen.setdefault((hashlib.blake2b(row.tobytes()).digest(), label), i)
    return first, np.bincount(first, minlength=len(X))


def outputs(X, Z, c, gamma):
    """``K(X, Z) @ c.T``, some rows at a time."""
    step, sqnorms = max(1, KERNEL_VALUES_PER_BLOCK // max(1, len(Z))), np.einsum("ij,ij->i", Z, Z)
    f = np.empty((len(X), len(c)))
    for start in range(0, len(X), step):
        some = X[start : start + step]
        K = some @ Z.T
        K *= -2.0
        K += np.einsum("ij,ij->i", some, some)[:, None]
        K += sqnorms
        np.maximum(K, 0.0, out=K)
        K *= -gamma
        f[start : start + step] = np.exp(K, out=K) @ c.T
    return f


def least_hinge(target, f):
    """``min over b of sum_i max(0, 1 - y_i (f_i + b))``.

    Its slope is minus the number of positive rows, and 1 more after each of the points ``y_i - f_i``.
    """
    y, f = target[target != 0], f[target != 0]
    n_positive = int((y > 0).sum())
    b = np.partition(y - f, n_positive - 1)[n_positive - 1]
    return float(np.maximum(0.0, 1.0 - y * (f + b)).sum())
