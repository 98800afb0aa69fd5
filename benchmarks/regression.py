"""KernelSVR, LinearSVR and OneClassSVM beside scikit-learn's estimators: the same problems, in turn.

A fit counts only if its objective is at most 1e-3 above the peer's; LIBLINEAR ends after 1,000 epochs.
SparseKernelRegressor stands beside ridge regression on as many Nystroem features, with a search over gamma
and alpha: its error must be no higher.
"""

import warnings

import numpy as np
from clock import row, turns
from datasets import covtype, letter
from scipy import sparse
from sklearn import svm
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from maxmargin import KernelSVR, LinearSVR, OneClassSVM, SparseKernelRegressor
from maxmargin.kernels import median_gamma

TITLE = "Kernel regression and novelty"
LIMIT_SECONDS = 600
MAX_OBJECTIVE_RATIO = 1.0 + 1e-3
REGRESSIONS = {
    "friedman 200": 1.0,
    "friedman 1,000": 1.0,
    "friedman 20,000": 10.0,
    "letter 16,000": 10.0,
    "covtype elevation 20,000": 10.0,
}
NOVELTIES = {"novelty 20,000 x 2": 20.0}
BUDGETS = {"budget friedman 2,000": 1.0, "budget covtype elevation 400,000": 2.0}
N_TEST = 20_000  # rows that errors are measured on, at most half of all
LINEAR = {"linear 1,000,000 x 50": 1.0, "linear text 100,000 x 50,000": 1.0}
WORDS_PER_TEXT = 60


def problem(cell, quick):
    """X, y, and the parameters of both; None without the data set."""
    if cell.startswith("linear"):
        return *(texts if "text" in cell else dense_rows)(quick), {"C": 1.0, "epsilon": 0.1}
    if cell.startswith("novelty"):
        X = np.random.default_rng(0).normal(size=(1000 if quick else 20_000, 2))
        return X, None, {"nu": 0.05, "gamma": 0.5}
    if cell.startswith("friedman"):
        n = int(cell.split()[1].replace(",", ""))
        X, y = make_friedman1(n, 10, noise=1.0, random_state=0)
        return X, y, {"C": 10.0, "epsilon": 0.5, "gamma": 0.5}
    found = letter() if cell.startswith("letter") else covtype(20_000)
    if found is None:
        return None
    X = np.asarray(found[0], dtype=np.float64)
    if cell.startswith("letter"):
        return X, found[1].astype(np.float64), {"C": 10.0, "epsilon": 0.5, "gamma": 0.2}
    return np.ascontiguousarray(X[:, 1:]), X[:, 0].copy(), {"C": 1.0, "epsilon": 0.1, "gamma": 0.05}


def dense_rows(quick):
    """A linear function of 50 features with heavy-tailed noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000 if quick else 1_000_000, 50))
    return X, X @ rng.normal(size=50) + 1.0 + rng.standard_t(3, size=len(X))


def texts(quick):
    """Rows of norm 1 with few of many words, whose frequencies fall as those of a language do."""
    rng, (n, d) = np.random.default_rng(0), (500, 1000) if quick else (100_000, 50_000)
    share = np.arange(1.0, d + 1.0) ** -0.9
    words = rng.choice(d, size=n * WORDS_PER_TEXT, p=share / share.sum())
    places = np.repeat(np.arange(n), WORDS_PER_TEXT)
    counts = sparse.csr_matrix((np.ones(len(words)), (places, words)), shape=(n, d))
    counts.data = 1.0 + np.log(counts.data)
    X = sparse.csr_matrix(sparse.diags_array(1.0 / sparse.linalg.norm(counts, axis=1)) @ counts)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # all that LIBLINEAR takes
    return X, 5.0 * (X @ (rng.normal(size=d) * (rng.random(d) < 0.1))) + 0.3 * rng.normal(size=n)


def objective(model, X, y, parameters):
    """The primal value of a fitted peer."""
    if isinstance(model, svm.LinearSVR):
        norm = model.coef_ @ model.coef_ + model.intercept_[0] ** 2
        return (
            0.5 * norm
            + parameters["C"] * np.maximum(0.0, np.abs(y - model.predict(X)) - parameters["epsilon"]).sum()
        )
    f = model.decision_function(X) if y is None else model.predict(X)
    a, own = model.dual_coef_[0], f[model.support_] - model.intercept_[0]
    if y is None:
        nu_n = parameters["nu"] * len(X)
        rho = -model.intercept_[0]
        return (0.5 * a @ own / nu_n + np.maximum(0.0, -f).sum() / nu_n - rho) / nu_n
    return 0.5 * a @ own + parameters["C"] * np.maximum(0.0, np.abs(y - f) - parameters["epsilon"]).sum()


def budget_problem(cell):
    """Rows to train on, rows to test on, and the budget; None without the data set."""
    n = int(cell.split()[-1].replace(",", ""))
    if "friedman" in cell:
        X, y = make_friedman1(2 * n, 10, noise=1.0, random_state=0)
        return X[:n], y[:n], X[n:], y[n:], 50
    found = covtype(n)
    if found is None:
        return None
    X, X_test = (np.asarray(part, dtype=np.float64) for part in (found[0], found[2][:N_TEST]))
    own, test = (np.ascontiguousarray(part[:, 1:]) for part in (X, X_test))
    return own, X[:, 0].copy(), test, X_test[:, 0].copy(), 500


def measure_budget(cell):
    found = budget_problem(cell)
    if found is None:
        return {"missing": True}
    X, y, X_test, y_test, budget = found
    gamma = median_gamma(X[:1000], rng=0)
    features = make_pipeline(
        Nystroem(n_components=budget, random_state=0), RidgeCV(alphas=np.geomspace(1e-6, 1.0, 7))
    )
    theirs = GridSearchCV(features, {"nystroem__gamma": [gamma / 4.0, gamma, 4.0 * gamma]}, cv=3)
    mine = SparseKernelRegressor(budget, random_state=0)
    record = turns({"ours": lambda: mine.fit(X, y), "peer": lambda: theirs.fit(X, y)})
    errors = {
        name: float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)))
        for name, model in (("error", mine), ("peer_error", theirs))
    }
    return record | errors | {"shape": list(X.shape), "n_support": int(mine.n_support_)}


def cells(suite):
    names = [*REGRESSIONS, *NOVELTIES, *LINEAR, *BUDGETS]
    quick = ["friedman 200", "novelty 20,000 x 2", *LINEAR, "budget friedman 2,000"]
    return quick if suite == "quick" else names if suite == "bench" else []


def models(cell, parameters):
    """Ours and the peer's."""
    if cell.startswith("linear"):
        return LinearSVR(penalize_intercept=True, **parameters), svm.LinearSVR(**parameters)
    ours, peer = (OneClassSVM, svm.OneClassSVM) if cell.startswith("novelty") else (KernelSVR, svm.SVR)
    return ours(**parameters), peer(cache_size=1000, **parameters)


def measure(cell, quick):
    if cell in BUDGETS:
        return measure_budget(cell)
    found = problem(cell, quick)
    if found is None:
        return {"missing": True}
    X, y, parameters = found
    mine, theirs = models(cell, parameters)
    small = {"least_seconds": 0.02} if X.shape[0] <= 1000 else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        record = turns({"ours": lambda: mine.fit(X, y), "peer": lambda: theirs.fit(X, y)}, **small)
    values = {
        "objective": float(mine.objective_),
        "peer_objective": float(objective(theirs, X, y, parameters)),
    }
    return record | values | {"shape": list(X.shape), "n_support": int(mine.n_support_)}


def rows(records):
    lines = []
    for cell, r in records.items():
        if "missing" in r:
            continue
        target = (REGRESSIONS | NOVELTIES | LINEAR | BUDGETS)[cell]
        name = f"{cell} ({r['shape'][0]:,} x {r['shape'][1]})"
        line = row(name, r["ours"]["seconds"], "scikit-learn", r["peer"]["seconds"], target)
        if cell in BUDGETS:
            line["met"] = line["met"] and r["error"] <= r["peer_error"]
            lines.append(line)
            continue
        excess = r["objective"] - r["peer_objective"]
        line["met"] = line["met"] and excess <= (MAX_OBJECTIVE_RATIO - 1.0) * abs(r["peer_objective"])
        lines.append(line)
    return lines
