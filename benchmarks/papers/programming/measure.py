"""Fits every method to every set: the cost by a rule that never sees a test row, then accuracy and time.

The rule: two thirds of a sample of the training rows to learn from, one third to judge by, the best accuracy
over the method's grid of costs, and of equally good costs the smallest. gamma is chosen in the same way with
the kernel SVM, as a multiple of the median heuristic's, and is the same for all methods with a kernel. A
cost chosen on m rows is used as it is on n rows, as is usual, but for the linear program on eigen features of
two classes: there it is C m / n, the same balance of norm and mean loss. With a fixed C its non-zero weights
grow with n, and the time with them; columns of one-vs-one see few rows each.
"""

import sys
import time
import warnings
from dataclasses import dataclass

from methods import AT_ONCE, METHODS, REFERENCE, WIDTHS, sizes
from sets import load
from sklearn.exceptions import ConvergenceWarning
from split_set import split

from maxmargin import KernelSVC


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    sets: tuple
    n_train: int | None
    n_test: int | None
    n_choose: int  # rows that costs are chosen on
    n_at_once: int  # rows for the methods that solve for all classes at once
    at_once: tuple  # the sets for them
    n_components: int
    n_costs: int | None  # of a grid, the middle ones
    max_seconds: float  # for one fit


FULL = Plan(
    ("USPS", "SMS", "Adult", "letter"), None, None, 1_200, 2_000, ("USPS", "letter"), 500, None, 600.0
)
QUICK = Plan(("Adult", "USPS"), 240, 500, 240, 100, ("USPS",), 40, 2, 30.0)


def measure(plan, keep, methods=None):
    """A record for each set and method, or some methods; ``keep`` is called with all of them after each."""
    records = []
    for name in plan.sets:
        data = load(name, plan.n_train, plan.n_test)
        chosen = split(data, plan.n_choose)
        gamma = _gamma(chosen, plan)
        groups = [(METHODS, data)]
        if name in plan.at_once:
            groups.append((AT_ONCE, data.first(plan.n_at_once)))
        for group, part in groups:
            for method in group:
                if methods is not None and method.name not in methods:
                    continue
                records.append({"set": name, **_record(method, part, chosen, gamma, plan)})
                _say(records[-1])
                keep(records)
    return records


def _record(method, data, chosen, gamma, plan):
    costs = _some(method.costs, plan.n_costs)
    C = _cost(method, costs, chosen, gamma, plan) if len(costs) > 1 else costs[0]
    if method.per_row and len(set(data.y)) == 2:
        C *= min(1.0, len(chosen.y) / len(data.y))
    model = method.make(C, gamma, plan.n_components)
    accuracy, seconds = _judge(model, data, plan)
    n_support, n_features = sizes(model, len(data.y))
    return {
        "group": method.group,
        "method": method.name,
        "n_train": len(data.y),
        "C": C,
        "gamma": gamma if method.nonlinear else None,
        "accuracy": accuracy,
        "seconds": seconds,
        "n_support": n_support,
        "n_features": n_features,
        "gap": model.dual_gap_,
        "status": model.status_,
    }


def _some(grid, n):
    if n is None or len(grid) <= n:
        return grid
    first = (len(grid) - n + 1) // 2
    return grid[first : first + n]


def _gamma(chosen, plan):
    median = KernelSVC(gamma="median", random_state=0, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        base = median.fit(chosen.X, chosen.y).gamma_
    widths, costs = _some(WIDTHS, plan.n_costs), _some(REFERENCE.costs, plan.n_costs)
    tried = [(w, C) for w in widths for C in costs]
    scores = [_judge(REFERENCE.make(C, w * base, 0), chosen, plan)[0] for w, C in tried]
    return float(tried[max(range(len(tried)), key=lambda k: (scores[k], -k))][0] * base)


def _cost(method, costs, chosen, gamma, plan):
    scores = [_judge(method.make(C, gamma, plan.n_components), chosen, plan)[0] for C in costs]
    return costs[max(range(len(costs)), key=lambda k: (scores[k], -k))]


def _judge(model, data, plan):
    """Accuracy in percent, and the seconds of the fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status is in the table
        start = time.perf_counter()
        model.set_params(max_seconds=plan.max_seconds).fit(data.X, data.y)
        seconds = time.perf_counter() - start
    return 100.0 * float((model.predict(data.X_test) == data.y_test).mean()), seconds


def _say(record):
    print(
        f"{record['set']:7s} {record['method']:24s} C = {record['C']:<6g} {record['accuracy']:6.2f} % "
        f"{record['seconds']:7.2f} s  {record['status']}",
        file=sys.stderr,
        flush=True,
    )
