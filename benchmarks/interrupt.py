"""How soon Ctrl-C ends a fit: SIGINT from another process at a random moment of a running fit."""

import random
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np

MAX_MEDIAN_SECONDS, MAX_SECONDS = 0.2, 1.0
CASES = {  # solver, classes, rows, features, dtype
    "newton, 10 classes": ("newton", 10, 20_000, 500, "float32"),
    "newton, 4 classes, 1,500 features": ("newton", 4, 30_000, 1_500, "float64"),
    "newton, 2 classes, wide": ("newton", 2, 2_500, 8_000, "float32"),
    "dual-cd, 2 classes": ("dual-cd", 2, 20_000, 500, "float32"),
    "Lagrangian, linear, 2 classes": ("lagrangian", 2, 200_000, 100, "float64"),
    "Lagrangian, rbf, 10 classes": ("rbf", 10, 3_500, 50, "float64"),
    "kernel, 2 classes": ("kernel", 2, 60_000, 100, "float32"),
    "kernel, 10 classes": ("kernel", 10, 60_000, 100, "float32"),
    "program, 2 classes": ("program", 2, 20_000, 300, "float64"),
    "program, 4 classes": ("program", 4, 20_000, 300, "float32"),
}

QUICK_CASES = ("dual-cd, 2 classes", "kernel, 2 classes")


def child(name, tries):
    """Fit repeatedly and report each start, until every fit has been interrupted."""
    from maxmargin import KernelSVC, LagrangianSVC, LinearProgramSVC, LinearSVC

    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a background job may have been told to ignore it
    solver, n_classes, n, d, dtype = CASES[name]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(dtype)
    y = rng.integers(0, n_classes, size=n)
    if solver in (
        "lagrangian",
        "rbf",
    ):  # of labels that follow nothing all rows are support vectors, in two steps
        y = np.argmax(X[:, :n_classes] + rng.standard_normal((n, n_classes)), axis=1)
    for _ in range(tries):
        print("fitting", flush=True)
        try:
            endless = {"C": 100.0, "tol": 1e-300, "max_iter": 10**9, "n_jobs": 2}
            others = {
                "kernel": KernelSVC,
                "program": LinearProgramSVC,
                "lagrangian": partial(LagrangianSVC, solver="lagrangian"),
                "rbf": partial(LagrangianSVC, solver="lagrangian", kernel="rbf"),
            }
            model = others[solver](**endless) if solver in others else LinearSVC(solver=solver, **endless)
            model.fit(X, y)
            print("finished", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)


def delays(name, tries):
    """Seconds from the signal to the end of the fit, for each attempt."""
    command = [sys.executable, __file__, name, str(tries)]
    pause, seconds = random.Random(0), []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(tries):
            assert process.stdout.readline() == "fitting\n"
            time.sleep(pause.uniform(0.05, 1.0))
            sent = time.perf_counter()
            process.send_signal(signal.SIGINT)
            answer = process.stdout.readline()
            seconds.append(time.perf_counter() - sent)
            assert answer == "interrupted\n", f"the fit was not interrupted but {answer!r}"
    return np.array(seconds)


def run(repeats=5, quick=False):
    rows = []
    for name in QUICK_CASES if quick else CASES:
        seconds = delays(name, 1 if quick else max(20, repeats))
        for what, value, limit in (
            ("median", float(np.median(seconds)), MAX_MEDIAN_SECONDS),
            ("worst", float(seconds.max()), MAX_SECONDS),
        ):
            rows.append(
                {
                    "name": f"Ctrl-C, {name}, {what} of {len(seconds)}",
                    "ours": value,
                    "peer": "limit",
                    "peers": limit,
                    "unit": " s",
                    "ratio": round(value / limit, 3),
                    "target": "<= 1",
                    "met": bool(value <= limit),
                }
            )
    return rows


if __name__ == "__main__":
    child(sys.argv[1], int(sys.argv[2]))
