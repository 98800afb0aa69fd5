"""Fits at a limit of memory: each ends with a model or with MemoryError, and then leaves nothing behind.

    python tests/soak/memory_limits.py [--few] [--only NAME ...]

A process for each estimator and limit (``RLIMIT_AS``, so many MB above what the process has already) fits,
and after a ``MemoryError`` checks that the estimator is not fitted, that no thread and no file is left, and
that the same estimator fits once the limit is lifted. Processes are forked, so that each takes a moment.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from support.saved_models import EVERY

import maxmargin as mm

MEGABYTES = (0, 1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256, 512, 1024)
FEW = (1, 24)
WELL = ("fits", "MemoryError", "TimeoutError")
FEW_NAMES = ("KernelSVC", "KernelEigenMap", "LinearSVC", "LagrangianSVC, rbf", "LinearProgramSVC")
N_ROWS = 4000
FIT_SECONDS = {"AutoSVC": 20.0, "PathCV": 20.0, "search over kernels": 20.0}
DEFAULT_FIT_SECONDS = 2.0
MAX_SECONDS = 120
OTHERS: dict[str, Callable[[], Any]] = {
    "LinearSVC, squared hinge": lambda: mm.LinearSVC(loss="squared-hinge"),
    "KernelSVC of one column": lambda: mm.KernelSVC(code="one-vs-rest", n_jobs=2),
    "LagrangianSVC, rbf": lambda: mm.LagrangianSVC(kernel="rbf"),
    "LinearProgramSVC, rbf": lambda: mm.LinearProgramSVC(kernel="rbf"),
    "LeastSquaresClassifier, lasso": lambda: mm.LeastSquaresClassifier(penalty="lasso"),
    "KernelSVR, quantiles": lambda: mm.KernelSVR(loss="pinball", quantiles=(0.1, 0.5, 0.9)),
    "LinearSVR, dual-cd": lambda: mm.LinearSVR(solver="dual-cd"),
    "SparseKernelRegressor, pinball": lambda: mm.SparseKernelRegressor(100, loss="pinball"),
    "TopKSVC, rbf": lambda: mm.TopKSVC(k=1, kernel="rbf"),
    "search over kernels": lambda: mm.PathCV(mm.KernelSVC(), Cs=[1.0, 10.0], gammas=[0.1, 0.2], cv=2),
}


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes, not quite separable."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 30))
    return X, (X[:, 0] + 0.5 * X[:, 1] * X[:, 2] > 0.3).astype(int) + (X[:, 3] > 1)


def limit_to(n_bytes: int) -> None:
    """Limit the address space to what there is and so many bytes more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + n_bytes, hard))


def is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def left_behind(model: Any, folder: str) -> str:
    """What a failed fit has left; empty for nothing."""
    until = time.monotonic() + 5.0  # a cancelled timer takes a moment to end
    while threading.active_count() > 1 and time.monotonic() < until:
        time.sleep(0.01)
    found = [
        *(["is fitted"] if is_fitted(model) else []),
        *(f"thread {thread.name}" for thread in threading.enumerate()[1:]),
        *(f"file {name}" for name in os.listdir(folder)),
    ]
    return ", ".join(found)


def outcome(name: str, megabytes: int, n: int, folder: str) -> str:
    """What became of a fit at a limit."""
    (X, y), model = rows(n), (EVERY | OTHERS)[name]()
    if hasattr(model, "max_seconds"):
        model.set_params(max_seconds=FIT_SECONDS.get(name, DEFAULT_FIT_SECONDS))
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit_to(megabytes << 20)
    try:
        model.fit(X, y)
    except MemoryError:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        left = left_behind(model, folder)
        if not left:
            model.fit(X[:60], y[:60])
        return f"MemoryError, left: {left}" if left else "MemoryError"
    except TimeoutError:  # of a machine with other work
        left = left_behind(model, folder)
        return f"TimeoutError, left: {left}" if left else "TimeoutError"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "fits"


def tried(name: str, megabytes: int, n: int) -> str:
    """The outcome in a process of its own."""
    reader, writer = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            tempfile.tempdir = folder
            signal.alarm(MAX_SECONDS)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                os.write(writer, outcome(name, megabytes, n, folder).encode()[:300])
            except BaseException as error:
                os.write(writer, f"afterwards {type(error).__name__}: {error}".encode()[:300])
            os._exit(0)
        os.close(writer)
        _, status = os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as answer:
        said = answer.read().decode()
    return said or f"ended by {os.waitstatus_to_exitcode(status)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", action="store_true", help="a few estimators and limits")
    parser.add_argument("--only", nargs="*", default=[*EVERY, *OTHERS], help="kinds of fit, by name")
    given = parser.parse_args()
    few = given.few
    warnings.simplefilter("ignore")
    X, y = rows(60)
    for make in (EVERY | OTHERS).values():  # imports and buffers of BLAS are not part of a fit
        make().fit(X, y)
    found: dict[tuple[str, int], str] = {}
    for name in FEW_NAMES if few else given.only:
        each = {
            (name, megabytes): tried(name, megabytes, N_ROWS) for megabytes in (FEW if few else MEGABYTES)
        }
        print(f"  {name}: {dict(Counter(each.values()))}", flush=True)
        found |= each
    for what, count in Counter(found.values()).most_common():
        print(f"{count:6}  {what}")
    wrong = {case: what for case, what in found.items() if what not in WELL}
    for (name, megabytes), what in wrong.items():
        print(f"{name}, {megabytes} MB: {what}")
    whole = few or len(given.only) == len(EVERY | OTHERS)
    return int(bool(wrong) or (whole and "MemoryError" not in found.values()))


if __name__ == "__main__":
    sys.exit(main())
