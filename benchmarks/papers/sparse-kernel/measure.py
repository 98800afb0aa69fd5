"""The experiment: alpha by held-out rows, then accuracy on the test set over repetitions."""

import sys
import time
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from methods import METHODS
from sets import FILES, split, task

FIRST_TUNING_SEED = 1000  # the repetitions are 0, 1, 2, ...


@dataclass(frozen=True)
class Plan:
    """How much of it to run."""

    quick: bool
    budgets: tuple
    few_budgets: tuple  # for the slow methods
    tuned_at: int  # the budget that alpha is chosen for
    n_tuning: int  # shuffles that it is chosen on
    n_repetitions: int
    n_jobs: int = 2

    def budgets_of(self, method):
        """No limit is a budget of 0."""
        if method.group == "unbudgeted":
            return (0,)
        return self.few_budgets if method.slow else self.budgets


FULL = Plan(False, (8, 16, 32, 64, 128, 256), (16, 64), tuned_at=64, n_tuning=2, n_repetitions=5)
# A small run in one process: a second one takes longer to start than what it would save.
QUICK = Plan(True, (8, 32), (8, 32), tuned_at=32, n_tuning=1, n_repetitions=1, n_jobs=1)


def measure(plan):
    """One record for each task, method, budget and seed."""
    pairs = [(name, method) for name in reversed(FILES) for method in METHODS]
    tuned = [pair for pair in pairs if pair[1].strengths]
    chosen = dict(_parallel(_tune, [(plan, *pair) for pair in tuned], plan.n_jobs))
    jobs = [
        (plan, name, method, chosen.get((name, method.group, method.name), 0.0), seed)
        for name, method in sorted(pairs, key=lambda pair: not pair[1].slow)
        for seed in range(plan.n_repetitions)
    ]
    return [record for records in _parallel(_repeat, jobs, plan.n_jobs) for record in records]


def _tune(plan, name, method):
    """The strength with the best accuracy on a tenth of the training set, the strongest of equals.

    One with which the method diverges comes last: its model is a point that the paper's method passes by.
    """
    strengths = method.strengths[:: 2 if plan.quick else 1]
    n_splits = 1 if method.group == "unbudgeted" else plan.n_tuning
    scores = np.zeros(len(strengths))
    for seed in range(FIRST_TUNING_SEED, FIRST_TUNING_SEED + n_splits):
        part = split(name, seed, plan.quick)
        for k, strength in enumerate(strengths):
            model = method.fit(part, plan.tuned_at, strength, seed)
            scores[k] += model.score(part.X_test, part.y_test) - (model.status_ == "diverged")
    return (name, method.group, method.name), strengths[int(np.argmax(scores))]


def _repeat(plan, name, method, strength, seed):
    whole, records = task(name, seed, plan.quick), []
    start = time.perf_counter()
    for budget, model in method.models(whole, plan.budgets_of(method), strength, seed):
        records.append(
            {
                "set": name,
                "group": method.group,
                "method": method.name,
                "budget": budget,
                "seed": seed,
                "n_support": model.n_support_,
                "accuracy": 100.0 * model.score(whole.X_test, whole.y_test),
                "strength": strength,
                "seconds": time.perf_counter() - start,
            }
        )
        start = time.perf_counter()
    return records


def _parallel(function, jobs, n_jobs):
    results = []
    for result in Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(
        delayed(function)(*job) for job in jobs
    ):
        results.append(result)
        if len(results) % 20 == 0 or len(results) == len(jobs):
            print(f"{function.__name__[1:]}: {len(results)} of {len(jobs)}", file=sys.stderr, flush=True)
    return results
