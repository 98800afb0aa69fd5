"""PathCV(KernelSVC()) beside GridSearchCV(SVC()): 6 values of C, 3 of gamma, 5 folds, 1,000 to 10,000 rows.

One thread or process each, without the last refit. ``best`` is the best mean accuracy over the grid.
"""

import os

import numpy as np
from alpha_rule_sets import whole
from clock import row, turns
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from maxmargin import KernelSVC, PathCV
from maxmargin.kernels.bandwidth import median_gamma

TITLE = "Searches by PathCV, 1,000 to 10,000 rows"
LIMIT_SECONDS = 1200
TABLES = {"german": 1000, "segment": 2310, "spambase": 4597, "optdigits": 5620, "magic": 10_000}
SYNTHETIC = {"1,000 x 20, 2 classes": (1000, 20, 2), "4,500 x 36, 6 classes": (4500, 36, 6)}
TARGET = 8


def cells(suite):
    if suite == "quick":
        return ["quick"]
    if suite != "bench":
        return []
    return [*SYNTHETIC, *(TABLES if "MAXMARGIN_DATA" in os.environ else ())]


def load(cell):
    if cell in TABLES:
        X, y = whole(cell)
        some = np.random.default_rng(0).permutation(len(y))[: TABLES[cell]]
        X, y = X[some], y[some]
    else:
        n, d, n_classes = SYNTHETIC.get(cell, (150, 6, 2))
        shape = {"n_informative": d // 3, "n_redundant": d // 5, "class_sep": 1.3, "random_state": 0}
        X, y = make_classification(n, d, n_classes=n_classes, **shape)
    return StandardScaler().fit_transform(X), y


def measure(cell, quick):
    X, y = load(cell)
    Cs = np.geomspace(0.1, 1000, 2 if quick else 6)
    gammas = median_gamma(X) * 4.0 ** (np.arange(1 if quick else 3) - 1)
    cv, found = StratifiedKFold(2 if quick else 5), {}

    def search(name):
        if name == "ours":
            model = PathCV(KernelSVC(), Cs=Cs, gammas=gammas, cv=cv, n_jobs=1, refit=False)
        else:
            model = GridSearchCV(SVC(), {"C": Cs, "gamma": gammas}, cv=cv, n_jobs=1, refit=False)
        found[name] = 100.0 * float(model.fit(X, y).best_score_)

    record = turns({name: lambda name=name: search(name) for name in ("ours", "peer")})
    return record | {"shape": list(X.shape), "best": found, "n_classes": len(np.unique(y))}


def rows(records):
    lines = []
    for cell, r in records.items():
        n, d = r["shape"]
        name = cell if cell in SYNTHETIC else f"{cell}, {n:,} x {d}, {r['n_classes']} classes"
        best = " and ".join(f"{value:.2f}" for value in r["best"].values())
        name += f": best mean accuracy {best} %"
        lines.append(row(name, r["ours"]["seconds"], "GridSearchCV(SVC)", r["peer"]["seconds"], TARGET))
    return lines
