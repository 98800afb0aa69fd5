"""One cell of the kernel SVM's table, in its own process: one measured fit, as one line of JSON.

    python benchmarks/svm_worker.py maxmargin letter float32
    .venv-thunder/bin/python benchmarks/svm_worker.py thundersvm letter float32 --rows 1500

Only the method's own library is imported, so that a peer can run in an environment without maxmargin.
"""

import argparse
import json
import time
import warnings

import numpy as np
from clock import timed
from memory import peak_mb, reset_peak, resident_mb
from scipy import sparse
from svm_certificate import certificate
from svm_methods import METHODS
from svm_problems import PROBLEMS

SLOW_SECONDS = 10.0  # a prediction that takes longer is measured once
SHORT_SECONDS = 0.5
REST_SECONDS = 0.05
WARM_UP_ROWS = 300  # rows of a first fit, which loads libraries and starts threads


def megabytes(X):
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    return sum(part.nbytes for part in parts) / (1 << 20)


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def bare_products(X, Z):
    """A function that multiplies all rows of X by those of Z and keeps nothing."""
    X, Z = dense(X), dense(Z)
    step = max(1, (1 << 24) // len(Z))
    out = np.empty((min(step, len(X)), len(Z)), dtype=X.dtype)

    def products():
        for start in range(0, len(X), step):
            some = X[start : start + step]
            np.matmul(some, Z.T, out=out[: len(some)])

    return products


def values_per_second(X):
    """How many products of two rows of X BLAS computes in a second, undisturbed."""
    X = dense(X[:8192])
    products = bare_products(X, X[:2048])
    # The fastest run: a disturbed one would flatter us.
    seconds = min(rested(products) for _ in range(6))
    return len(X) * len(X[:2048]) / seconds


def fitted(method, problem, X, y):
    """A fitted model, and the time and memory of its fit."""
    labels = method.labels(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method.make(problem.C, problem.gamma).fit(X[:WARM_UP_ROWS], labels[:WARM_UP_ROWS])
        model = method.make(problem.C, problem.gamma)
        reset_peak()
        before = resident_mb()
        seconds, _ = timed(lambda: model.fit(X, labels))
    peak = peak_mb()
    took = {"fit_seconds": seconds, "peak_mb": peak, "fit_mb": peak - before, "input_mb": megabytes(X)}
    return model, took


def predicted(model, X, y, bare=None):
    """Seconds of a prediction, of bare products in turn with it, and the accuracy.

    Ours is a median, the bare products' a minimum: a disturbed run of those would flatter us.
    """
    first, answers = timed(lambda: model.predict(X))
    facts = {"predict_seconds": first, "accuracy": 100.0 * float(np.mean(answers == y))}
    if first <= SLOW_SECONDS:
        functions = [lambda: model.predict(X), *([bare] if bare else [])]
        n_runs = 5 if first < SHORT_SECONDS else 3
        turns = np.array([[rested(function) for function in functions] for _ in range(n_runs)])
        facts["predict_seconds"] = float(np.median(turns[:, 0]))
        if bare:
            facts["bare_predict_seconds"] = float(turns[:, 1].min())
    return facts


def rested(function):
    """Seconds of a function, after a pause in which earlier threads go to sleep."""
    time.sleep(REST_SECONDS)
    return timed(function)[0]


def our_facts(model, X, fit_seconds):
    """Values that only our model reports: its gap, its cache, and the bare products of its fit."""
    values = sum(checks[-1].kernel_values for checks in model.history_)
    bare_seconds = values / values_per_second(X)
    return {
        "kernel_values": int(values),
        "bare_fit_seconds": bare_seconds,
        "bare_share": 100.0 * bare_seconds / fit_seconds,
        "claimed_gap": float(model.dual_gap_),
        "cache_mb": getattr(model, "cache_mb_", None),
    }


def cell(name, data, dtype, n_rows=None, n_test=None, certify=True):
    """Everything about one fit."""
    method, problem = METHODS[name], PROBLEMS[data]
    X, y, X_test, y_test = problem.data(dtype, n_rows, n_test)
    X, X_test = method.rows(X), method.rows(X_test)
    model, took = fitted(method, problem, X, y)
    columns = method.columns(model, y)
    facts = {"method": name, "data": data, "dtype": dtype, "n": X.shape[0], "d": X.shape[1], **took}
    facts["status"] = str(getattr(model, "status_", ""))
    bare = None
    if name == "maxmargin":
        facts |= our_facts(model, X, took["fit_seconds"])
        bare = bare_products(X_test, model.support_vectors_)
    facts |= predicted(model, X_test, y_test, bare)
    if certify:
        facts |= certificate(X, y, columns, problem.C, problem.gamma)
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("data", choices=PROBLEMS)
    parser.add_argument("dtype", choices=["float32", "float64"])
    parser.add_argument("--rows", type=int, help="fit only this many of the first rows")
    parser.add_argument("--test-rows", type=int, help="predict only this many of the first rows")
    parser.add_argument("--no-certificate", action="store_true", help="times and memory only")
    given = parser.parse_args()
    facts = cell(given.method, given.data, given.dtype, given.rows, given.test_rows, not given.no_certificate)
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
