"""``AutoSVC`` against ``SVC()``, grid search, gradient boosting and logistic regression on about 30 tables.

Five outer folds, or one split (the table's own test part where it has one) above 5,000 training rows; all
methods have the same folds. Grid search: ``make_pipeline(StandardScaler(), GridSearchCV(SVC(), 5 x 5))`` over
C = 0.1 .. 1,000 and gamma = 1/100 .. 100 times 1/n_features; above 5,000 training rows it chooses on a
stratified sample of 5,000 and refits on all. Categories are one-hot for the peers. Seconds are processor
seconds. Where AutoSVC accepts a learned metric, it is fitted without one too, so that the metric's gain on
test rows and its cost are known.

    python benchmarks/tables.py --methods "SVC()" "grid search" --tables heart zoo --folds 0 1

measures missing cells only and keeps them in ``build/tables.json``: records of the others need no second run
when AutoSVC changes (``--again AutoSVC``). First folds come first, so that ``--seconds 1800``, after which no
cell begins, leaves few folds of every table; what is missing, and
what was not measured again, is listed.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from clock import row, score
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tables_sets import BUNDLED, FEW_ROWS_A_CLASS, LARGE, SMALL, coded, is_there, n_splits, split

from maxmargin import AutoSVC

TITLE = "Tables: which model, and why"
LIMIT_SECONDS = 3600
METHODS = ("AutoSVC", "SVC()", "grid search", "gradient boosting", "logistic regression")
MAX_GRID_ROWS = 5000
ACCEPTED = "metric is accepted"


def cells(suite):
    """One cell for each table, fold and method."""
    if suite == "quick":
        return [f"{name} {fold} {method}" for name in BUNDLED for fold in range(2) for method in METHODS]
    if suite != "hard":
        return []
    there = [name for name in (*SMALL, *LARGE) if is_there(name)]
    return [f"{name} {fold} {m}" for name in there for fold in range(n_splits(name)) for m in METHODS]


def measure(cell, quick):
    """Accuracy and processor seconds of one method on one split of one table."""
    name, fold, method = cell.split(" ", 2)
    X, y, X_test, y_test = split(name, int(fold))
    if method != "AutoSVC":
        X, X_test = coded(X, X_test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun, wall = time.process_time(), time.perf_counter()
        model = fitted(method, X, y)
        seconds, wall = time.process_time() - begun, time.perf_counter() - wall
        right = model.predict(X_test) == y_test
    record = {"accuracy": 100.0 * float(right.mean()), "seconds": seconds, "wall": wall, "n_rows": len(y)}
    if method != "AutoSVC":
        return record
    if ACCEPTED not in model.choice_:
        return record | told(model)
    return record | told(model) | {"without metric": without_metric(X, y, X_test, y_test)}


def without_metric(X, y, X_test, y_test):
    """The same for AutoSVC without a metric."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.process_time()
        model = AutoSVC(learn_metric=None, random_state=0).fit(X, y)
        seconds = time.process_time() - begun
    return {"accuracy": 100.0 * float((model.predict(X_test) == y_test).mean()), "seconds": seconds}


def told(model):
    """What AutoSVC says about its choice."""
    gap, tol = float(model.dual_gap_), float(model.estimator_.tol)
    return {"choice": model.choice_, "status": model.status_, "gap": gap, "certified": gap <= tol}


def fitted(method, X, y):
    """The fitted model of a method."""
    if method == "AutoSVC":
        return AutoSVC(random_state=0).fit(X, y)
    if method == "SVC()":
        return SVC().fit(X, y)
    if method == "gradient boosting":
        return HistGradientBoostingClassifier(random_state=0).fit(X, y)
    if method == "logistic regression":
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
    return grid_search(X, y)


def grid_search(X, y):
    """The grid search; its folds are scikit-learn's, which a class with fewer rows than folds makes warn."""
    grid = {"C": 10.0 ** np.arange(-1, 4), "gamma": 10.0 ** np.arange(-2.0, 3.0) / X.shape[1]}
    X_some, y_some = X, y
    if len(y) > MAX_GRID_ROWS:
        X_some, _, y_some, _ = train_test_split(X, y, train_size=MAX_GRID_ROWS, stratify=y, random_state=0)
    search = make_pipeline(StandardScaler(), GridSearchCV(SVC(), grid)).fit(X_some, y_some)
    if len(y) <= MAX_GRID_ROWS:
        return search
    return make_pipeline(StandardScaler(), SVC(**search[-1].best_params_)).fit(X, y)


# ---- from records to lines ----


def by_table(records):
    """{table: {method: list of records, one a fold}} of the tables whose every method was measured."""
    found = {}
    for cell, record in records.items():
        name, fold, method = cell.split(" ", 2)
        found.setdefault(name, {}).setdefault(method, {})[int(fold)] = record
    out = {}
    for name, methods in found.items():
        folds = sorted(set.intersection(*(set(methods.get(m, {})) for m in METHODS)))
        if folds:
            out[name] = {m: [methods[m][fold] for fold in folds] for m in METHODS}
    return out


def missing(records, names):
    """What each table lacks: its file, or records of some methods in folds that are then not compared."""
    found = {}
    for name in names:
        if not is_there(name):
            found[name] = "its file"
            continue
        lacks = [
            [method for method in METHODS if f"{name} {fold} {method}" not in records]
            for fold in range(n_splits(name))
        ]
        if all(len(methods) == len(METHODS) for methods in lacks):
            found[name] = "all"
        elif any(lacks):
            found[name] = "; ".join(
                f"fold {fold}: {'all' if len(methods) == len(METHODS) else ', '.join(methods)}"
                for fold, methods in enumerate(lacks)
                if methods
            )
    return found


def mean(records, key="accuracy"):
    """The mean over folds."""
    return float(np.mean([record[key] for record in records]))


def behind(ours, theirs):
    """Points behind a peer, and the standard error of the paired fold differences (of one split: 0)."""
    gaps = np.array([b["accuracy"] - a["accuracy"] for a, b in zip(ours, theirs)])
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
    return float(gaps.mean()), float(error)


def losses_to(sets, peer):
    """Tables where AutoSVC is behind by more than a point and more than two standard errors."""
    found = {name: behind(methods["AutoSVC"], methods[peer]) for name, methods in sets.items()}
    return {name: points for name, (points, error) in found.items() if points > max(1.0, 2.0 * error)}


def mean_ranks(sets):
    """The mean rank of each method over the tables, 1 for the most accurate."""
    ranks = [rankdata([-mean(methods[m]) for m in METHODS]) for methods in sets.values()]
    return dict(zip(METHODS, np.mean(ranks, axis=0).tolist()))


def metric_rows(sets):
    """The share of fits that accept a metric, and what it gains on test rows and costs there."""
    every = [record for methods in sets.values() for record in methods["AutoSVC"]]
    pairs = {}
    for name, methods in sets.items():
        with_one = [record for record in methods["AutoSVC"] if "without metric" in record]
        if with_one:
            pairs[name] = [(record, record["without metric"]) for record in with_one]
    if not pairs:
        return []
    share = 100.0 * sum(map(len, pairs.values())) / len(every)
    gains = [  # over all folds of a table: where no metric is accepted, it changes nothing
        sum(a["accuracy"] - b["accuracy"] for a, b in found) / len(sets[name]["AutoSVC"])
        for name, found in pairs.items()
    ]
    cost = np.mean([a["seconds"] / b["seconds"] for found in pairs.values() for a, b in found])
    where = f"{len(pairs)} tables with a metric in {share:.0f}% of all fits"
    return [
        score(f"{where}: mean gain", float(np.mean(gains)), "none", 0, 0),
        score(f"{where}: largest loss", max(0.0, -float(min(gains))), "limit", 0.5, 0.5, at_most=True),
        score(f"{where}: time of a fit", float(cost), "without", 1, 5, at_most=True, unit=" times"),
    ]


def rows(records):
    """The targets."""
    sets = by_table(records)
    if not sets:
        return []
    n, ours = len(sets), np.mean([mean(s["AutoSVC"]) for s in sets.values()])
    lines = []
    for peer in ("SVC()", "grid search"):
        theirs = np.mean([mean(s[peer]) for s in sets.values()])
        lost = losses_to(sets, peer)
        lines.append(score(f"{n} tables: mean accuracy", ours, peer, theirs, theirs))
        name = f"{n} tables: behind by more than 1 point and 2 standard errors"
        lines.append(score(name, len(lost), peer, 0, 0, at_most=True, unit=""))
    seconds = [np.mean([mean(s[m], "seconds") for s in sets.values()]) for m in ("AutoSVC", "grid search")]
    lines.append(row(f"{n} tables: mean time", seconds[0], "grid search", seconds[1], 1.0))
    ranks = mean_ranks(sets)
    best = min(rank for method, rank in ranks.items() if method != "AutoSVC")
    lines.append(
        score(f"{n} tables: mean rank", ranks["AutoSVC"], "best peer", best, best, at_most=True, unit="")
    )
    fits = [record for methods in sets.values() for record in methods["AutoSVC"]]
    certified = 100.0 * np.mean([record["certified"] for record in fits])
    lines.append(score(f"{n} tables: certified fits", certified, "all", 100, 100))
    slowest = max(record["wall"] for record in fits)
    lines.append(score(f"{n} tables: slowest fit", slowest, "limit", 66, 66, at_most=True, unit=" s"))
    lines += metric_rows(sets)
    for name in FEW_ROWS_A_CLASS:
        if name in sets:
            a, b = mean(sets[name]["AutoSVC"]), mean(sets[name]["SVC()"])
            lines.append(score(f"{name}: accuracy", a, "SVC()", b, b))
    return lines


def tables(records):
    """Accuracy and seconds of every method on every table, and the choices."""
    accuracy, choices = [], []
    for name, methods in by_table(records).items():
        line = {"table": name, "folds": len(methods["AutoSVC"])}
        line |= {m: f"{mean(methods[m]):.2f}" for m in METHODS}
        line |= {f"s, {m}": f"{mean(methods[m], 'seconds'):.1f}" for m in ("AutoSVC", "grid search")}
        accuracy.append(line)
        choices.append({"table": name, "choice (first fold)": methods["AutoSVC"][0]["choice"]})
    ranks = mean_ranks(by_table(records)) if accuracy else {}
    if ranks:
        accuracy.append({"table": "mean rank", "folds": ""} | {m: f"{r:.2f}" for m, r in ranks.items()})
    bundled = all(cell.split(" ", 1)[0] in BUNDLED for cell in records)
    lacks = missing(records, BUNDLED if bundled else (*SMALL, *LARGE))
    absent = [{"table": name, "not measured": what} for name, what in lacks.items()]
    return {"Accuracy on test rows": accuracy, "What was chosen": choices, "Not measured": absent}


def collect(file, wanted, again=(), seconds=np.inf):
    """Records of the wanted cells, measured where the file has none or ``again`` has their method.

    Each is written at once, and replaces an older one only then. None begins after so many seconds; cells
    that keep their old record so are returned too.
    """
    begun = time.monotonic()
    records = json.loads(file.read_text()) if file.is_file() else {}
    dropped = {cell for cell in wanted if cell.endswith(tuple(f" {method}" for method in again))}
    file.parent.mkdir(parents=True, exist_ok=True)
    for cell in wanted:
        if (cell not in records or cell in dropped) and time.monotonic() - begun < seconds:
            records[cell] = measure(cell, quick=False)
            whole = file.with_name(f"{file.name}.part")
            whole.write_text(json.dumps(records))
            whole.replace(file)  # a process that ends while it writes loses nothing
            dropped.discard(cell)
            print(cell, f"{records[cell]['accuracy']:.2f}", f"{records[cell]['seconds']:.2f} s", flush=True)
    return records, [cell for cell in wanted if cell in dropped and cell in records]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--tables", nargs="+", default=(*SMALL, *LARGE))
    parser.add_argument("--folds", nargs="+", type=int, default=range(5))
    parser.add_argument("--again", nargs="+", default=(), help="methods that are measured again")
    parser.add_argument("--seconds", type=float, default=np.inf, help="no cell begins after that")
    parser.add_argument("--records", type=Path, default=Path("build/tables.json"))
    chosen = parser.parse_args()
    there = [name for name in chosen.tables if is_there(name)]
    cells_wanted = [
        f"{name} {fold} {method}"
        for fold in chosen.folds
        for name in there
        if fold < n_splits(name)
        for method in chosen.methods
    ]
    found, old = collect(chosen.records, cells_wanted, chosen.again, chosen.seconds)
    for lines in tables(found).values():
        for line in lines:
            print(line)
    for line in rows(found):
        print(line["name"], line["ours"], line["peer"], line["peers"], line["target"], line["met"])
    for cell in old:
        print(f"not measured again, with its old record: {cell}")
