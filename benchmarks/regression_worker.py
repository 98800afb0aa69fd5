"""One cell of the table of regression and novelty, in its own process: lines of JSON, each with more facts.

    python benchmarks/regression_worker.py scikit-learn "friedman 20,000" [--quick]

A process that is stopped has printed what it knew: the time of its fit comes before prediction and objective.
"""

import argparse
import json
import warnings

import numpy as np
from clock import timed
from datasets import covtype, letter, mnist
from scipy import sparse
from sklearn import svm
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from maxmargin import KernelSVR, LinearSVR, OneClassSVM, SparseKernelRegressor
from maxmargin.kernels import RBF, median_gamma

N_TEST = 20_000  # rows to predict, and to measure errors on
N_QUICK, QUICK_BUDGET = 500, 20
WORDS_PER_TEXT = 60
ROWS_AT_ONCE = 1024
BUDGETS = {"budget friedman": 50, "budget covtype": 500}


def problem(cell, quick):
    """X, y, rows and targets to test on, and the parameters of both; None without the data set."""
    n, n_test = (N_QUICK, N_QUICK) if quick else (rows_of(cell), N_TEST)
    if cell.startswith("linear"):
        X, y = (texts if "text" in cell else dense_rows)(n, quick)
        return X, y, X[:n_test], y[:n_test], {"C": 1.0, "epsilon": 0.1}
    if cell.startswith("novelty"):
        return novelty(cell, n, n_test)
    if "friedman" in cell:
        n_test = min(n_test, n)
        X, y = make_friedman1(n + n_test, 10, noise=1.0, random_state=0)
        return X[:n], y[:n], X[n:], y[n:], {"C": 10.0, "epsilon": 0.5, "gamma": 0.5}
    found = letter() if cell.startswith("letter") else covtype(n)
    if found is None:
        return None
    X, y, X_test, y_test = (np.asarray(part, dtype=np.float64) for part in found)
    X, y, X_test, y_test = X[:n], y[:n], X_test[:n_test], y_test[:n_test]
    if cell.startswith("letter"):
        return X, y, X_test, y_test, {"C": 10.0, "epsilon": 0.5, "gamma": 0.2}
    own, test = (np.ascontiguousarray(part[:, 1:]) for part in (X, X_test))
    return own, X[:, 0].copy(), test, X_test[:, 0].copy(), {"C": 1.0, "epsilon": 0.1, "gamma": 0.05}


def rows_of(cell):
    """The first number in the name."""
    return int(next(word for word in cell.split() if word[0].isdigit()).replace(",", ""))


def novelty(cell, n, n_test):
    """Normal rows, or digits."""
    if not cell.endswith("784"):
        X = np.random.default_rng(0).normal(size=(n + n_test, 2))
        return X[:n], None, X[n:], None, {"nu": 0.05, "gamma": 0.5}
    found = mnist(n)
    if found is None:
        return None
    X = found[0].astype(np.float64)
    return X, None, X[:n_test], None, {"nu": 0.05, "gamma": 1.0 / (784 * float(X.var()))}


def dense_rows(n, quick):
    """A linear function of 50 features with heavy-tailed noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 50))
    return X, X @ rng.normal(size=50) + 1.0 + rng.standard_t(3, size=len(X))


def texts(n, quick):
    """Rows of norm 1 with few of many words, whose frequencies fall as those of a language do."""
    rng, d = np.random.default_rng(0), 1000 if quick else 50_000
    share = np.arange(1.0, d + 1.0) ** -0.9
    words = rng.choice(d, size=n * WORDS_PER_TEXT, p=share / share.sum())
    places = np.repeat(np.arange(n), WORDS_PER_TEXT)
    counts = sparse.csr_matrix((np.ones(len(words)), (places, words)), shape=(n, d))
    counts.data = 1.0 + np.log(counts.data)
    X = sparse.csr_matrix(sparse.diags_array(1.0 / sparse.linalg.norm(counts, axis=1)) @ counts)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # all that LIBLINEAR takes
    return X, 5.0 * (X @ (rng.normal(size=d) * (rng.random(d) < 0.1))) + 0.3 * rng.normal(size=n)


def estimator(method, cell, parameters, X, quick=False):
    """An unfitted one of a method; the import of Intel's fails where it is not installed."""
    if cell.startswith("budget"):
        return budgeted(method, cell, X, quick)
    if cell.startswith("linear"):
        return {"maxmargin": LinearSVR(penalize_intercept=True), "scikit-learn": svm.LinearSVR()}[
            method
        ].set_params(**parameters)
    ours, name = (OneClassSVM, "OneClassSVM") if cell.startswith("novelty") else (KernelSVR, "SVR")
    if method == "maxmargin":
        return ours(**parameters)
    if method == "intelex":
        from sklearnex import svm as intel

        return getattr(intel, name)(cache_size=1000, **parameters)
    return getattr(svm, name)(cache_size=1000, **parameters)


def budgeted(method, cell, X, quick):
    """Ours, ridge regression on as many Nystroem features with a search, or boosted trees."""
    budget = QUICK_BUDGET if quick else next(b for start, b in BUDGETS.items() if cell.startswith(start))
    if method == "maxmargin":
        return SparseKernelRegressor(budget, random_state=0)
    if method == "boosting":
        return HistGradientBoostingRegressor(max_iter=5 if quick else 100, random_state=0)
    gamma = median_gamma(X[:1000], rng=0)
    features = make_pipeline(
        Nystroem(n_components=budget, random_state=0), RidgeCV(alphas=np.geomspace(1e-6, 1.0, 7))
    )
    return GridSearchCV(features, {"nystroem__gamma": [gamma / 4.0, gamma, 4.0 * gamma]}, cv=3)


def outputs(model, X, parameters):
    """The outputs of a kernel expansion, of any library, some rows at a time."""
    Z, a, kernel = np.asarray(model.support_vectors_), model.dual_coef_[0], RBF(parameters["gamma"])
    parts = [kernel(X[i : i + ROWS_AT_ONCE], Z) @ a for i in range(0, len(X), ROWS_AT_ONCE)]
    return np.concatenate(parts) + model.intercept_[0]


def objective(model, X, y, parameters):
    """The primal value of a fitted peer."""
    if isinstance(model, svm.LinearSVR):
        norm, f = model.coef_ @ model.coef_ + model.intercept_[0] ** 2, model.predict(X)
        loss = np.maximum(0.0, np.abs(y - f) - parameters["epsilon"]).sum()
        return 0.5 * norm + parameters["C"] * loss
    f = outputs(model, X, parameters)
    a, own = model.dual_coef_[0], f[model.support_] - model.intercept_[0]
    if y is None:
        nu_n, rho = parameters["nu"] * len(X), -model.intercept_[0]
        return (0.5 * a @ own / nu_n + np.maximum(0.0, -f).sum() / nu_n - rho) / nu_n
    return 0.5 * a @ own + parameters["C"] * np.maximum(0.0, np.abs(y - f) - parameters["epsilon"]).sum()


def facts(method, cell, quick, tell=lambda known: None):
    """What is measured of a fit; ``tell`` gets what is known so far."""
    found = problem(cell, quick)
    if found is None:
        return {"failure": "no data"}
    X, y, X_test, y_test, parameters = found
    try:
        model = estimator(method, cell, parameters, X, quick)
    except ImportError as missing:
        return {"failure": str(missing)}
    known = {"shape": list(X.shape), "fit_seconds": timed(lambda: model.fit(X, y))[0]}
    tell(known)
    known["predict_seconds"], predicted = timed(lambda: model.predict(X_test))
    if y is not None:
        known["error"] = float(np.sqrt(np.mean((predicted - y_test) ** 2)))
    tell(known)
    if method == "maxmargin":
        return known | {"objective": float(model.objective_), "n_support": int(model.n_support_)}
    if not cell.startswith("budget"):
        known["objective"] = float(objective(model, X, y, parameters))
    return known


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("method")
    parser.add_argument("cell")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(
        json.dumps(
            facts(given.method, given.cell, given.quick, lambda known: print(json.dumps(known), flush=True))
        )
    )


if __name__ == "__main__":
    main()
