"""``alpha="auto"``: the one-standard-error rule against the search before it and against ``PathCV``.

Accuracy on test rows like those trained on (tables of MAXMARGIN_DATA, random splits) and unlike them (covtype
from one wilderness area to another; the speakers and writers of isolet's and usps' own test parts). Every
result is stored in results/alpha_rule.csv as it comes, so a run that was cut short resumes; delete lines to
measure them again. The search before is that of an earlier commit, whose src folder MAXMARGIN_BEFORE names;
without it the stored results are used.
"""

import csv
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import clock
import numpy as np
from alpha_rule_sets import SHIFTED, UNSHIFTED, digits_split, nearly_separable, split
from sklearn.exceptions import ConvergenceWarning

from maxmargin import PathCV, SparseKernelClassifier

SUITE = "large"  # its stored lines may come from other commits, so make bench leaves it out
RECORDS = Path(__file__).parent / "results" / "alpha_rule.csv"
COLUMNS = ("set", "method", "seed", "accuracy", "alpha", "status", "seconds")
N_SEEDS = {"before": 3, "now": 3, "PathCV": 1}
GRID = 10.0 ** -np.arange(2.0, 8.5, 0.5)  # of PathCV


def fitted(method, X, y, seed):
    """The model and the processor seconds that it took."""
    model = SparseKernelClassifier(random_state=seed, n_jobs=1)
    if method == "PathCV":
        model = PathCV(model, alphas=GRID, cv=3, n_jobs=1)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status is recorded
        model.fit(X, y)
    return model, time.process_time() - start


def measure(name, method, seed):
    """One record, by the package that this process imports."""
    X, y, X_test, y_test = split(name, seed)
    model, seconds = fitted(method, X, y, seed)
    inner = getattr(model, "best_estimator_", model)
    accuracy = f"{clock.percent(model, X_test, y_test):.3f}"
    return dict(
        zip(COLUMNS, (name, method, seed, accuracy, f"{inner.alpha_:.2e}", inner.status_, f"{seconds:.2f}"))
    )


def measured_apart(name, method, seeds):
    """The records of some seeds, by another process: the search before needs the package before."""
    source = os.environ.get("MAXMARGIN_BEFORE") if method == "before" else None
    environment = os.environ | ({"PYTHONPATH": source} if source else {})
    command = [sys.executable, __file__, name, method, *map(str, seeds)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def stored():
    if not RECORDS.is_file():
        return []
    with RECORDS.open(newline="") as file:
        return list(csv.DictReader(file))


def store(records):
    new = not RECORDS.is_file()
    with RECORDS.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(records)


def complete():
    """All records, the missing ones measured and stored set by set."""
    for name in (*SHIFTED, *UNSHIFTED):
        for method, n_seeds in N_SEEDS.items():
            known = {int(r["seed"]) for r in stored() if (r["set"], r["method"]) == (name, method)}
            missing = [seed for seed in range(n_seeds) if seed not in known]
            if missing and (method != "before" or "MAXMARGIN_BEFORE" in os.environ):
                store(measured_apart(name, method, missing))
    return stored()


def line_of(name, records):
    """The means of a set, as a line of the table."""
    line = {"set": name}
    for method in N_SEEDS:
        own = [r for r in records if (r["set"], r["method"]) == (name, method)]
        if own:
            line[method] = f"{np.mean([float(r['accuracy']) for r in own]):.2f}"
            line[f"alpha, {method}"] = " ".join(r["alpha"] for r in own)
    if "before" in line and "now" in line:
        line["gain"] = f"{float(line['now']) - float(line['before']):+.2f}"
    return line


def mean_gain(lines):
    return float(np.mean([float(line["gain"]) for line in lines if "gain" in line]))


def certified_seconds(n):
    """Processor seconds of the default fit on nearly separable rows of three columns, and its gap."""
    model, seconds = fitted("now", *nearly_separable(n), 0)
    return seconds, model


def run(repeats, quick):
    """The gains in points, with their targets, and a table of all sets; ``repeats`` is not used."""
    if quick:
        X, y, X_test, y_test = digits_split(0)
        few = np.flatnonzero(y < 2)[:100]
        found = {name: fitted(name, X[few], y[few], 0)[0] for name in ("now", "PathCV")}
        X_test, y_test = X_test[y_test < 2], y_test[y_test < 2]
        scores = [clock.percent(model, X_test, y_test) for model in found.values()]
        return [clock.score("digits, alpha by the rule", scores[0], "PathCV", scores[1])]
    records = complete()
    tables = {
        kind: [line_of(name, records) for name in names]
        for kind, names in (("Test rows unlike the training rows", SHIFTED), ("Random splits", UNSHIFTED))
    }
    shifted, unshifted = map(mean_gain, tables.values())
    seconds, model = certified_seconds(200_000)
    rows = [
        clock.score("alpha by the rule: mean gain under shift", shifted, "", None, 0.5, unit=" points"),
        clock.score("the same on random splits", unshifted, "", None, -0.2, unit=" points"),
        clock.score(
            f"200,000 nearly separable rows, gap {model.dual_gap_:.1e}, alpha {model.alpha_:.1e}",
            seconds,
            "",
            None,
            20.0,
            at_most=True,
            unit=" s",
        ),
    ]
    return rows, tables


if __name__ == "__main__":
    for seed in sys.argv[3:]:
        print(json.dumps(measure(sys.argv[1], sys.argv[2], int(seed))), flush=True)
