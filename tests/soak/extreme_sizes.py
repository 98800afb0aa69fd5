"""10^5 classes and 10^6 columns: a result or a refusal, in bounded memory and time.

    python tests/soak/extreme_sizes.py [--cases wide-csr ...] [--only LinearSVC ...]

Every trial is a process with 6 GiB of address space and a limit on processor time. A process that ends by a
signal (out of memory, out of time, a crash) or in a traceback is wrong.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from scipy import sparse

MEMORY, PROCESSOR_SECONDS, FIT_SECONDS = 6 << 30, 180, 20.0
N_CLASSES, N_COLUMNS = 100_000, 1_000_000
CASES = ("classes", "wide", "wide-csr")
COMMANDS = ("wide.csv", "wide.npz", "wide-csr.npz", "wide.svm", "classes.csv", "classes-stream.csv")


def rows(case: str) -> tuple[object, np.ndarray]:
    """The rows of a case, and their labels."""
    rng = np.random.default_rng(0)
    if case == "classes":
        return rng.standard_normal((N_CLASSES, 5)).astype(np.float32), np.arange(N_CLASSES)
    if case == "wide":
        return rng.standard_normal((60, N_COLUMNS)).astype(np.float32), np.arange(60) % 3
    index = np.sort(rng.integers(0, N_COLUMNS, (200, 100)), axis=1).ravel()
    X = sparse.csr_array(
        (rng.standard_normal(index.size), index, np.arange(0, index.size + 1, 100)), (200, N_COLUMNS)
    )
    X.sum_duplicates()
    return X, np.arange(200) % 3


def fit(case: str, name: str) -> str:
    """What became of an estimator on the rows of a case."""
    import maxmargin as mm

    X, y = rows(case)
    made = {
        "OutputCodeClassifier": lambda: mm.OutputCodeClassifier(mm.LinearSVC()),
        "PathCV": lambda: mm.PathCV(mm.LinearSVC(), Cs=[0.1, 1.0], cv=3),
    }.get(name, getattr(mm, name))
    model = made()
    if "max_seconds" in model.get_params(deep=False):
        model.set_params(max_seconds=FIT_SECONDS)
    try:
        model.fit(X, y)
        answer = (model.predict if hasattr(model, "predict") else model.transform)(X[:20])
    except (ValueError, MemoryError, TimeoutError) as error:
        return f"refused: {type(error).__name__}" if str(error) else "refused without a word"
    return f"fitted, {len(answer)} answers"


def write(folder: Path, name: str) -> list[str]:
    """A data file, and the arguments that train on it."""
    case, path = name.partition(".")[0].removesuffix("-stream"), folder / name
    X, y = rows(case)
    if case == "wide":
        X, y = X[:5], y[:5] % 2
    if path.suffix == ".npz" and sparse.issparse(X):
        np.savez(path, X_data=X.data, X_indices=X.indices, X_indptr=X.indptr, X_shape=X.shape, y=y)
    elif path.suffix == ".npz":
        np.savez(path, X=X, y=y)
    elif path.suffix == ".svm":
        path.write_text("".join(f"{k} {k + 1}:2 {N_COLUMNS}:1\n" for k in y), encoding="ascii")
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(",".join([*(f"x{j}" for j in range(X.shape[1])), "y"]) + "\n")
            for row, label in zip(X, y):
                file.write(",".join([*(f"{v:.3g}" for v in row), f"k{label}"]) + "\n")
    options = ["--stream", "--budget", "5"] if "stream" in name else ["--model", "linear"]
    target = [] if path.suffix in (".npz", ".svm") else ["--target", "y"]
    return [
        "train",
        str(path),
        *target,
        *options,
        "--out",
        str(folder / "m.mm"),
        "--set",
        f"max_seconds={FIT_SECONDS}",
    ]


def limit() -> None:
    """Of the process that a trial is."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))


def trial(call: list[str]) -> tuple[str, bool]:
    """What a process ended with, and whether that is as it should be."""
    done = subprocess.run(
        [sys.executable, *call], capture_output=True, text=True, check=False, preexec_fn=limit
    )
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines() or [""]
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}", False
    well = "Traceback" not in done.stderr and (done.returncode == 0 or done.stderr.strip() != "")
    return lines[-1] if "--fit" in call or done.returncode else "trained", well


def main() -> int:
    """0 if all is well."""
    from maxmargin import __all__ as names

    estimators = [name for name in names if name[0].isupper() and name not in ("Code", "Checkpoint")]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="*", default=[*CASES, *COMMANDS], choices=[*CASES, *COMMANDS])
    parser.add_argument("--only", nargs="*", default=estimators)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    for case in given.cases:
        with tempfile.TemporaryDirectory() as folder:
            for name in given.only if case in CASES else ["train"]:
                if case in CASES:
                    call = [__file__, "--fit", case, name]
                else:
                    call = ["-m", "maxmargin", *write(Path(folder), case)]
                what, well = trial(call)
                counts["a result or a refusal" if well else "wrong"] += 1
                print(f"  {case}, {name}: {what[:160]}", flush=True)
    print(f"  {counts.total()} trials: {dict(counts)}")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fit"]:
        warnings.simplefilter("ignore")
        print(fit(*sys.argv[2:4]))
    else:
        sys.exit(main())
