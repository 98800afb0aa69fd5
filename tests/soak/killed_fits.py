"""Fits that are killed with SIGKILL at random moments, and gone on with until they end: the same bits.

Each attempt is a forked process, so that a kill costs no new start of Python. After the last kill an attempt
may run to its end; every model that ends is compared with that of a fit that nobody disturbed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

from sklearn.datasets import load_digits

import maxmargin as mm
from maxmargin.checkpoints import record as fit_record
from maxmargin.checkpoints.checkpoint import Checkpoint
from maxmargin.io import fingerprint

DIGITS = load_digits(return_X_y=True)
MODELS = {
    "linear": lambda: mm.LinearSVC(C=0.1, solver="dual-cd", tol=1e-4, random_state=0, n_jobs=2),
    "folds": lambda: mm.KernelSVC(C=10.0, decoder="probabilistic", tol=1e-6, random_state=0, n_jobs=2),
    "budget": lambda: mm.SparseKernelClassifier(budget=150, random_state=0),
    "published": lambda: mm.SparseKernelClassifier.as_published(budget=100, random_state=0),
    "calibrated": lambda: mm.CalibratedSVC(mm.KernelSVC(C=10.0, tol=1e-8, random_state=0), n_jobs=2),
    "regression": lambda: mm.KernelSVR(C=10.0, tol=1e-8),
    "quantiles": lambda: mm.KernelSVR(loss="pinball", quantiles=(0.1, 0.5, 0.9), n_jobs=2),
    "linear regression": lambda: mm.LinearSVR(solver="dual-cd", tol=1e-6, random_state=0),
    "budget regression": lambda: mm.SparseKernelRegressor(150, random_state=0),
    "novelty": lambda: mm.OneClassSVM(0.3, tol=1e-8),
}


def fit(name: str, checkpoint: Checkpoint | None) -> str:
    """The fingerprint of the fitted model."""
    warnings.simplefilter("ignore")
    X, y = DIGITS
    model = MODELS[name]()
    if checkpoint is not None:
        model.set_checkpoint(checkpoint)
    return fingerprint(model.fit(X / 16.0, y))


def attempt(name: str, checkpoint: Checkpoint | None, seconds: float | None) -> str:
    """Fit in a process of its own, killed after so many seconds; its fingerprint, or "" if it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        found = "failed"
        try:
            found = fit(name, checkpoint)
        finally:  # whatever happens, this process goes no further
            os.write(writing, found.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        if seconds is not None:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)  # a fit that has ended by now is still waited for
        found = answer.read()
    os.waitpid(child, 0)
    return found


def soak(name: str, n_kills: int, longest: float, folder: Path, dice: random.Random) -> bool:
    """Kill fits of one model so many times; whether every one that ended had the bits it should have."""
    clock = time.perf_counter()
    expected = attempt(name, None, None)
    clock = time.perf_counter() - clock
    checkpoint = Checkpoint(folder / f"{name}.checkpoint", every_seconds=0.0, resume=True)
    n_killed, n_resumed, endings = 0, 0, []
    while expected != "failed" and (n_killed < n_kills or not endings):
        n_resumed += checkpoint.exists()
        found = attempt(name, checkpoint, dice.uniform(0.0, longest * clock) if n_killed < n_kills else None)
        n_killed += not found
        if found:
            endings.append(found)
            if n_killed < n_kills:
                checkpoint.remove()  # from the beginning again
        if found == "failed":
            break
    right = sum(found == expected for found in endings)
    print(
        f"  {name}: {n_killed} kills, {n_resumed} starts from a file; of {len(endings)} fits that ended "
        f"{right} have the bits of one that nobody disturbed",
        flush=True,
    )
    return 0 < right == len(endings)


def main() -> int:
    """0 if all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="of each model")
    parser.add_argument("--longest", type=float, default=0.8, help="time until a kill, in undisturbed fits")
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    # as much time for writing as for the fit, so that kills often meet a write
    fit_record.MAX_WRITE_TIME_SHARE = 1.0
    for make in MODELS.values():
        make()  # imports what it needs, for all processes
    with tempfile.TemporaryDirectory() as folder:
        well = [soak(name, given.kills, given.longest, Path(folder), dice) for name in given.models]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
