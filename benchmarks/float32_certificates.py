"""What certificates for float32 rows cost: processor time of a KernelSVC fit, in turn with another package's.

    MAXMARGIN_OLD=/path/to/an/older/src python benchmarks/run.py float32_certificates
    python benchmarks/float32_certificates.py mnist 10          # one fit by the package that is imported

Without MAXMARGIN_OLD the peer is this package with its certificates left as float32 rounded them.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from clock import row, tell
from svm_problems import PROBLEMS

MAX_COST = 1.05  # of the peer's processor time
CASES = [("mnist", 10.0), ("a9a", 1.0), ("a9a", 10.0), ("a9a-csr", 1.0), ("covtype", 10.0)]
QUICK_CASES, QUICK_ROWS = [("a9a", 1.0)], 1200


def synthetic(n):
    """Rows with noisy labels, where the data are missing or a run is quick."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20)).astype(np.float32)
    return X, (X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * rng.normal(size=n) > 0.0).astype(int)


def rounded_certificates():
    """Make the package trust kernel values as float32 rounded them."""
    from maxmargin.methods.kernel_svm import solve

    solve.Solve.certify = lambda self: self.sets.certify()


def fit(name, C, n_rows):
    """Processor seconds, gap, status and certificates of one fit, as JSON."""
    from maxmargin import KernelSVC

    problem = PROBLEMS[name]
    real = problem.is_there and n_rows is None
    X, y = problem.data("float32", None)[:2] if real else synthetic(n_rows or 5000)
    warnings.simplefilter("ignore")
    KernelSVC(n_jobs=1).fit(*synthetic(300))
    start = time.process_time()
    model = KernelSVC(C=C, gamma=problem.gamma, n_jobs=1).fit(X, y)
    seconds = time.process_time() - start
    n_checks = sum(len(checks) for checks in model.history_)
    print(json.dumps([seconds, model.dual_gap_, model.status_, n_checks]))


def process_of(name, C, n_rows, peer):
    """One fit in a process of its own; the peer's if ``peer``."""
    environment, old = dict(os.environ), os.environ.get("MAXMARGIN_OLD")
    arguments = [name, str(C), str(n_rows or 0)]
    if peer and old:
        environment["PYTHONPATH"] = old
    elif peer:
        arguments.append("--rounded")
    command = [sys.executable, str(Path(__file__)), *arguments]
    return json.loads(subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE).stdout)


def run(repeats, quick):
    rows, n_rows = [], QUICK_ROWS if quick else None
    peer = "older package" if os.environ.get("MAXMARGIN_OLD") else "certificates in float32"
    for name, C in QUICK_CASES if quick else CASES:
        runs = [
            (process_of(name, C, n_rows, False), process_of(name, C, n_rows, True)) for _ in range(repeats)
        ]
        ours, peers = (float(np.median([run[side][0] for run in runs])) for side in (0, 1))
        gap, status = runs[0][0][1:3]
        title = f"KernelSVC, {name}, float32, C = {C:g}: {status}, gap {gap:.1e}"
        rows += tell([row(title, ours, peer, peers, MAX_COST, at_most=True)])
    return rows


if __name__ == "__main__":
    if "--rounded" in sys.argv:
        rounded_certificates()
    name, C, *more = (argument for argument in sys.argv[1:] if argument != "--rounded")
    fit(name, float(C), int(more[0]) or None if more else None)
