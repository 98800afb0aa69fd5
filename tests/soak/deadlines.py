"""Time limits on 60,000 rows: how far every public estimator runs past ``max_seconds``.

Each fit is a forked process. A row of the table has the seconds of the whole fit, its status or error, and
whether it ended within 20 % or 0.5 s of its limit, whichever is larger. With ``--clock cpu`` the limit counts
the processor time of one thread, which is what a machine without other work would show.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import maxmargin as mm

CASES = {
    "LinearSVC": lambda s: mm.LinearSVC(tol=1e-9, max_seconds=s),
    "LinearSVC squared-hinge": lambda s: mm.LinearSVC(loss="squared-hinge", tol=1e-12, max_seconds=s),
    "LinearSVC dual-cd": lambda s: mm.LinearSVC(C=100.0, solver="dual-cd", tol=1e-9, max_seconds=s),
    "KernelSVC": lambda s: mm.KernelSVC(C=10.0, max_seconds=s),
    "KernelSVC one-vs-one": lambda s: mm.KernelSVC(C=10.0, code="one-vs-one", max_seconds=s),
    "KernelSVC probabilistic": lambda s: mm.KernelSVC(decoder="probabilistic", max_seconds=s),
    "CalibratedSVC": lambda s: mm.CalibratedSVC(mm.KernelSVC(max_seconds=s)),
    "LaSVM": lambda s: mm.LaSVM(max_seconds=s),
    "LaSVM gradient": lambda s: mm.LaSVM(C=10.0, selection="gradient", max_seconds=s),
    "TopKSVC": lambda s: mm.TopKSVC(k=2, tol=1e-9, max_seconds=s),
    "TopKSVC rbf": lambda s: mm.TopKSVC(k=2, kernel="rbf", max_seconds=s),
    "TopKSVC rbf averaging": lambda s: mm.TopKSVC(
        k=2, kernel="rbf", solver="frank-wolfe", averaging=True, max_seconds=s
    ),
    "LagrangianSVC": lambda s: mm.LagrangianSVC(tol=1e-12, max_seconds=s),
    "LagrangianSVC kernel_gap": lambda s: mm.LagrangianSVC(kernel="rbf", kernel_gap=True, max_seconds=s),
    "LagrangianSVC 5000": lambda s: mm.LagrangianSVC(kernel="rbf", n_components=5000, max_seconds=s),
    "LeastSquares": lambda s: mm.LeastSquaresClassifier(max_seconds=s),
    "LeastSquares lasso": lambda s: mm.LeastSquaresClassifier(penalty="lasso", tol=1e-12, max_seconds=s),
    "LinearProgramSVC": lambda s: mm.LinearProgramSVC(max_seconds=s),
    "LinearProgramSVC rbf": lambda s: mm.LinearProgramSVC(kernel="rbf", max_seconds=s),
    "LinearProgramSVC joint": lambda s: mm.LinearProgramSVC(multi_class="joint", max_seconds=s),
    "LinearProgramSVC eigen": lambda s: mm.LinearProgramSVC(kernel="rbf", features="eigen", max_seconds=s),
    "AllPairsSVC 3000 rows": lambda s: mm.AllPairsSVC(tol=1e-9, max_seconds=s),
    "Budget": lambda s: mm.SparseKernelClassifier(2000, max_seconds=s),
    "Budget moved": lambda s: mm.SparseKernelClassifier(500, move_centers=True, max_seconds=s),
    "Budget as_published": lambda s: mm.SparseKernelClassifier.as_published(1000, max_seconds=s),
    "KernelMatchingPursuit": lambda s: mm.KernelMatchingPursuit(max_seconds=s),
    "KernelMatchingPursuit all": lambda s: mm.KernelMatchingPursuit(n_candidates=None, max_seconds=s),
    "KernelPerceptron": lambda s: mm.KernelPerceptron(max_iter=1000, max_seconds=s),
    "BudgetPerceptron": lambda s: mm.BudgetPerceptron(1000, max_iter=1000, max_seconds=s),
    "KernelPegasos": lambda s: mm.KernelPegasos(max_iter=1000, max_seconds=s),
    "OutputCodeClassifier": lambda s: mm.OutputCodeClassifier(mm.KernelSVC(max_seconds=s)),
    "KernelEigenMap": lambda s: mm.KernelEigenMap(5000, max_seconds=s),
    "PathCV": lambda s: mm.PathCV(mm.KernelSVC(), max_seconds=s),
    "PathCV linear": lambda s: mm.PathCV(mm.LinearSVC(), max_seconds=s),
    "PathCV budget": lambda s: mm.PathCV(mm.SparseKernelClassifier(500), max_seconds=s),
    "AutoSVC": lambda s: mm.AutoSVC(max_seconds=s),
    "AutoSVC 3000 rows": lambda s: mm.AutoSVC(max_seconds=s),
    "AutoSVC budget": lambda s: mm.AutoSVC(max_seconds=s, budget=500),
    "Budget ramp": lambda s: mm.SparseKernelClassifier(1000, loss="ramp", max_seconds=s),
    "Budget log": lambda s: mm.SparseKernelClassifier(3000, loss="log", max_seconds=s),
    "KernelSVC ramp": lambda s: mm.KernelSVC(loss="ramp", max_seconds=s),
    "KernelSVC nu": lambda s: mm.KernelSVC(nu=0.3, max_seconds=s),
    "KernelSVC C=1e4": lambda s: mm.KernelSVC(C=1e4, gamma=0.05, max_seconds=s),
    "KernelSVC 100 classes": lambda s: mm.KernelSVC(max_seconds=s),
    "LinearSVC one-vs-one": lambda s: mm.LinearSVC(code="one-vs-one", tol=1e-12, max_seconds=s),
    "LinearSVC wide": lambda s: mm.LinearSVC(loss="squared-hinge", tol=1e-12, max_seconds=s),
    "OneClassSVM": lambda s: mm.OneClassSVM(0.3, max_seconds=s),
    "Numbers KernelSVR": lambda s: mm.KernelSVR(C=10.0, max_seconds=s),
    "Numbers KernelSVR nu": lambda s: mm.KernelSVR(nu=0.3, max_seconds=s),
    "Numbers KernelSVR quantiles": lambda s: mm.KernelSVR(
        loss="pinball", quantiles=(0.1, 0.5, 0.9), max_seconds=s
    ),
    "Numbers LinearSVR": lambda s: mm.LinearSVR(C=100.0, tol=1e-12, max_seconds=s),
    "Numbers LinearSVR dual-cd": lambda s: mm.LinearSVR(solver="dual-cd", tol=1e-12, max_seconds=s),
    "Numbers budget": lambda s: mm.SparseKernelRegressor(2000, max_seconds=s),
    "Numbers budget pinball": lambda s: mm.SparseKernelRegressor(1000, loss="pinball", max_seconds=s),
    "Numbers PathCV": lambda s: mm.PathCV(mm.KernelSVR(), max_seconds=s),
    "fit_blocks": lambda s: InBlocks(mm.SparseKernelClassifier(1000, max_seconds=s), 10),
    "fit_blocks one block": lambda s: InBlocks(mm.SparseKernelClassifier(3000, max_seconds=s), 1),
    "fit_blocks slow source": lambda s: InBlocks(mm.SparseKernelClassifier(100, max_seconds=s), 300, 0.1),
    "Dask": lambda s: InDask(s),
}
MAX_ROWS = {"AllPairsSVC 3000 rows": 3000, "AutoSVC 3000 rows": 3000}
OTHER_ROWS = {  # rows and labels made of those that all have
    "KernelSVC 100 classes": lambda X, y: (X, np.arange(len(y)) % 100),
    "LinearSVC wide": lambda X, y: (np.tile(X[:1500], (1, 200)), y[:1500]),
}
KILLED_AFTER = {"wall": 6.0, "cpu": 30.0}  # times the limit
CHARACTERS_OF_ERRORS = 60


class InBlocks:
    """A model that is fitted to rows in blocks, whose source sleeps before each of them."""

    def __init__(self, model: Any, n_blocks: int, pause: float = 0.0) -> None:
        self.model, self.n_blocks, self.pause = model, n_blocks, pause

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        """Fit to all blocks."""

        def blocks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for some in np.array_split(np.arange(len(y)), self.n_blocks):
                time.sleep(self.pause)
                yield X[some], y[some]

        return self.model.fit_blocks(blocks)


class InDask:
    """The Dask estimator on a cluster of threads, which starts before the clock does."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def start(self) -> None:
        """Start the cluster."""
        from distributed import Client

        self.client = Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        """Fit to ten partitions."""
        import dask.array as da

        n, model = len(y) // 10, mm.dask.DaskSparseKernelClassifier(1000, max_seconds=self.seconds)
        model.client = self.client
        return model.fit(da.from_array(X, chunks=(n, X.shape[1])), da.from_array(y, chunks=n))


def made(n: int, d: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Ten overlapping classes in float32, one label in ten wrong."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, n)
    X = rng.normal(size=(10, d))[y] + 2.0 * rng.normal(size=(n, d))
    wrong = rng.random(n) < 0.1
    y[wrong] = rng.integers(0, 10, int(wrong.sum()))
    return X.astype(np.float32), y


def ended(name: str, X: np.ndarray, y: np.ndarray, seconds: float) -> str:
    """The status of a fit with that limit, or its error; a model that cannot predict is an error."""
    warnings.simplefilter("ignore")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        given = CASES[name](seconds)
        if isinstance(given, InDask):
            given.start()
        start = time.perf_counter()
        try:
            model = given.fit(X, y)
            status = str(getattr(model, "status_", "fitted"))
        except TimeoutError as error:
            model, status = None, f"TimeoutError: {error}"
        took = time.perf_counter() - start
    if hasattr(model, "predict"):
        assert len(model.predict(X[:100])) == 100
    if status == "time_limit" and not any("time_limit" in str(w.message) for w in seen):
        status = "time_limit without a warning"
    return f"{took:.3f} {status}"


def measured(name: str, X: np.ndarray, y: np.ndarray, seconds: float, most: float) -> str:
    """``ended`` in a process of its own, killed after ``most`` seconds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer = "nan crashed"
        try:
            answer = ended(name, X, y, seconds)
        except Exception as error:
            answer = f"nan {type(error).__name__}: {error}"
        finally:
            os.write(writing, answer.encode())
            os._exit(0)
    os.close(writing)
    signal.alarm(int(most) + 5)
    try:
        with os.fdopen(reading) as answer:
            return answer.read()
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        return f"inf killed after {most:g} s"
    finally:
        signal.alarm(0)
        os.waitpid(child, 0)


def _raise(*_: object) -> None:
    raise TimeoutError


def main() -> int:
    """Print the table; 1 if a fit ran too long, had another error or did not warn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _raise)
    if options.clock == "cpu":
        os.environ["OMP_NUM_THREADS"] = "1"
        time.perf_counter = time.process_time
    for make in CASES.values():
        make(1.0)  # imports what it needs, for all processes
    X, y = made(options.rows)
    most = KILLED_AFTER[options.clock] * options.seconds
    allowed, n_bad = options.seconds + max(0.5, 0.2 * options.seconds), 0
    print(f"{options.rows} rows, max_seconds={options.seconds:g}, allowed {allowed:g} s", flush=True)
    for name in (name for name in CASES if options.only in name):
        n = min(MAX_ROWS.get(name, len(X)), len(X))
        rows, labels = OTHER_ROWS.get(name, lambda X, y: (X, y))(X[:n], y[:n])
        if name.startswith("Numbers"):
            labels = labels + np.abs(rows[:, 0])
        took, _, status = measured(name, rows, labels, options.seconds, most).partition(" ")
        bad = not float(took) <= allowed or "without a warning" in status
        n_bad += bad
        print(f"{name:28} {took:>8} {'LATE' if bad else 'ok':4} {status[:CHARACTERS_OF_ERRORS]}", flush=True)
    print(f"{n_bad} too late")
    return int(n_bad > 0)


if __name__ == "__main__":
    sys.exit(main())
