"""Fits every code to every set: parameters by a rule that never sees a test row, then errors, bounds, time.

The rule: of at most 1,200 of the rows to learn from two thirds to learn and one third to judge by, the best
accuracy over the grid of costs, of equally good costs the smallest; for each code and each fold. gamma is
chosen in the same way with one-vs-one, as a multiple of the median heuristic's, and is the same for all
codes.
"""

import functools
import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np
from many_classes import FILES, folds, official, outputs
from sklearn.exceptions import ConvergenceWarning
from split_set import split

from maxmargin import KernelSVC, LinearSVC
from maxmargin.codes import code_from_name
from maxmargin.decoders import DECODERS

CODES = ("one-vs-one", "one-vs-rest", "exhaustive", "designed")
COSTS = {"kernel": (0.1, 1.0, 10.0, 100.0), "linear": (0.1, 1.0, 10.0)}
WIDTHS = (0.5, 2.0, 8.0)
MOST_EXHAUSTIVE = 10  # classes
OWN_TEST_ROWS = ("letter", "USPS")


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    sets: tuple
    linear: tuple  # the sets that have linear columns too
    n_folds: int = 5  # of five
    n_choose: int = 1_200
    n_costs: int = 4


FULL = Plan(tuple(FILES), ("Glass", "Zoo", "Yeast"))
QUICK = Plan(("Glass", "Zoo"), ("Glass",), n_folds=1, n_costs=2)


def measure(plan, keep):
    """A record for each set, kind of column, code and fold; ``keep`` gets all of them after each."""
    records = []
    for name in plan.sets:
        for fold, data in enumerate(_parts(name, plan)):
            chosen = split(data, plan.n_choose)
            gamma = _gamma(chosen, plan)
            for columns in ("kernel", "linear") if name in plan.linear else ("kernel",):
                for code in CODES:
                    if code == "exhaustive" and len(np.unique(data.y)) > MOST_EXHAUSTIVE:
                        continue
                    record = _record(columns, code, gamma, data, chosen, plan)
                    records.append({"set": name, "fold": fold, **record})
                    _say(records[-1])
                    keep(records)


def _parts(name, plan):
    if name in OWN_TEST_ROWS:
        return [official(name)]
    return folds(name, repetition=0)[: plan.n_folds]


@functools.cache
def _code(name, n_classes):
    return code_from_name(name, n_classes, 0)


def _model(columns, code, C, gamma):
    if columns == "linear":
        return LinearSVC(C, code=code, random_state=0)
    return KernelSVC(C, gamma=gamma, code=code)


def _gamma(chosen, plan):
    median = KernelSVC(gamma="median", random_state=0, max_iter=1)
    base = _fitted(median, chosen).gamma_
    tried = [(w * base, C) for w in WIDTHS for C in COSTS["kernel"][-plan.n_costs :]]
    return tried[_best([KernelSVC(C, gamma=gamma) for gamma, C in tried], chosen)][0]


def _best(models, chosen):
    """The first of the most accurate."""
    accuracies = [(_fitted(model, chosen).predict(chosen.X_test) == chosen.y_test).mean() for model in models]
    return int(np.argmax(accuracies))


def _fitted(model, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status is in the records
        return model.fit(data.X, data.y)


def _record(columns, code, gamma, data, chosen, plan):
    costs = COSTS[columns][-plan.n_costs :]
    some, used = (_code(code, len(np.unique(part.y))) for part in (chosen, data))
    C = costs[_best([_model(columns, some, C, gamma) for C in costs], chosen)]
    start = time.perf_counter()
    model = _fitted(_model(columns, used, C, gamma), data)
    seconds = time.perf_counter() - start
    F, F_test = outputs(model, data.X), outputs(model, data.X_test)
    bound, targets = used.training_error_bound(F, data.y), used.targets(data.y)
    return {
        "columns": columns,
        "method": code,
        "n_train": len(data.y),
        "n_columns": used.n_columns,
        "distance": used.minimum_distance,
        "C": C,
        "gamma": gamma if columns == "kernel" else None,
        "accuracy": 100.0 - _error(model.decoder_, F_test, used, data.y_test),
        "hamming": 100.0 - _error(DECODERS["hamming"], F_test, used, data.y_test),
        "training_error": _error(DECODERS["hamming"], F, used, data.y),
        "wrong_outputs": 100.0 * float((np.sign(F) != targets)[targets != 0].mean()),
        "printed": 100.0 * bound.printed,
        "refined": 100.0 * bound.refined,
        "seconds": seconds,
        "status": model.status_,
    }


def _error(decoder, F, code, labels):
    return 100.0 * float((np.argmax(decoder.scores(F, code), axis=1) != labels).mean())


def _say(r):
    print(
        f"{r['set']:7s} {r['columns']:6s} {r['method']:11s} fold {r['fold']} C = {r['C']:<5g} "
        f"{r['accuracy']:6.2f} % {r['seconds']:7.2f} s  {r['status']}",
        file=sys.stderr,
        flush=True,
    )
