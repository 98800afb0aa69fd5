"""Error tends to the Bayes error where lambda_n -> 0 and n lambda_n -> infinity; what happens otherwise.

The kernel SVM of the notes, ``min (1/n) sum_i hinge(y_i f(x_i)) + lambda_n ||f||^2``, but with an intercept;
so C = 1 / (2 lambda_n n). The kernel is Laplacian: k(x, x) = 1, it is universal on the square and, unlike a
Gaussian one of fixed width, it bends to single labels, so that a lambda_n that is too small does harm at
sizes that one can compute.
"""

import itertools
import statistics
import sys
import time

import disc
from verdict import verdict

from maxmargin import KernelSVC

COLUMNS = "consistency"
GAMMA = 2.0
SCHEDULES = {
    "n^-1/2": lambda n: 0.004 * (n / 100) ** -0.5,
    "n^-3/4": lambda n: 0.004 * (n / 100) ** -0.75,
    "constant": lambda n: 0.008,
    "n^-2": lambda n: 0.0004 * (n / 100) ** -2.0,
    "n^-1": lambda n: 0.0004 * (n / 100) ** -1.0,
}
CONDITIONS = {
    "n^-1/2": "both conditions hold",
    "n^-3/4": "both conditions hold",
    "constant": "lambda_n does not tend to 0",
    "n^-2": "n lambda_n tends to 0",
    "n^-1": "n lambda_n is constant",
}
SIZES = (100, 400, 1600, 6400)
SEEDS = range(5)


def measure(quick):
    """A record for each schedule, size and seed."""
    sizes, seeds = (SIZES[:2], SEEDS[:2]) if quick else (SIZES, SEEDS)
    for n in sizes:
        for schedule, lambda_of in SCHEDULES.items():
            yield from (_record(schedule, lambda_of(n), n, seed) for seed in seeds)


def _record(schedule, lambda_n, n, seed):
    C = 1.0 / (2.0 * lambda_n * n)
    X, y = disc.draw(n, seed)
    start = time.perf_counter()
    model = KernelSVC(C, kernel="laplacian", gamma=GAMMA, tol=1e-3).fit(X, y)
    seconds = time.perf_counter() - start
    error = disc.error(model)
    print(f"{schedule:9s} n = {n:<5d} seed {seed}: {error:.4f}, {seconds:.2f} s", file=sys.stderr, flush=True)
    known = {"C": C, "gamma": GAMMA, "accuracy": 100.0 - 100.0 * error, "status": model.status_}
    return disc.record(COLUMNS, schedule, seed, n, seconds=seconds, **known)


def summary(records):
    """For each schedule and size mean and deviation of the error over the seeds, in percent."""
    together = {}
    for r in records:
        if r["set"] == disc.NAME and r["columns"] == COLUMNS:
            together.setdefault((r["method"], r["n_train"]), []).append(100.0 - r["accuracy"])
    return {key: (statistics.mean(some), statistics.stdev(some)) for key, some in together.items()}


def margins(means):
    """What the theorem says and what other schedules do, in points: not negative where it is so."""
    sizes = sorted({n for _, n in means})
    errors = {schedule: [means[schedule, n][0] for n in sizes] for schedule in SCHEDULES}
    falls = {name: min(a - b for a, b in itertools.pairwise(errors[name])) for name in ("n^-1/2", "n^-3/4")}
    above = {name: errors[name][-1] - errors["n^-1/2"][-1] for name in ("constant", "n^-2")}
    return {f"{name}: the error falls with every size": margin for name, margin in falls.items()} | {
        f"{name}: the error ends above that of n^-1/2": margin for name, margin in above.items()
    }


def lines(means):
    """The section of the report."""
    sizes = sorted({n for _, n in means})
    yield from ("", "## Consistency", "")
    yield (
        f"Errors in percent of a kernel SVM on a distribution with Bayes error {100.0 * disc.NOISE:g}, means "
        "over seeds (± their deviation)."
    )
    yield from ("", "![Error against the number of rows](consistency.png)", "")
    yield "| lambda_n | | " + " | ".join(f"n = {n}" for n in sizes) + " |"
    yield "|---" * (2 + len(sizes)) + "|"
    for schedule, condition in CONDITIONS.items():
        cells = (means[schedule, n] for n in sizes)
        yield f"| {schedule} | {condition} | " + " | ".join(f"{m:.2f} ± {s:.2f}" for m, s in cells) + " |"
    yield ""
    for text, margin in margins(means).items():
        yield f"- {text}: {verdict(margin)}"
