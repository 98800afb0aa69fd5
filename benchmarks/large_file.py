"""``maxmargin train`` on files of any length: the share of the solver in the time, and the memory.

Each training runs in its own process, whose peak resident memory the system reports. Run as a script
(``python benchmarks/large_file.py --gb 10``), it writes a file of that size and trains on it in both ways.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from clock import score, tell

SOLVER_SHARE, MAX_MB = 70.0, 1024.0
N_COLUMNS, PIECE = 30, 20_000
BYTES_PER_ROW = 243  # approximately
OPTIONS_BY_METHOD = {"a sample": (), "a stream": ("--stream",)}


def write_csv(path, n_rows):
    """Two classes with a curved boundary; the same lines are repeated with labels in another order."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((PIECE, N_COLUMNS))
    lines = [",".join(f"{v:.5f}" for v in values) for values in X]
    clear = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] > 0
    with path.open("w") as file:
        file.write(",".join([*(f"x{j}" for j in range(N_COLUMNS)), "y"]) + "\n")
        for start in range(0, n_rows, PIECE):
            n = min(PIECE, n_rows - start)
            labels = clear ^ (rng.random(PIECE) < 0.1)
            file.writelines(f"{lines[i]},{'yes' if labels[i] else 'no'}\n" for i in range(n))
    return path


def trained(path, *options):
    """The record of a training in its own process, its seconds, and its peak memory in MiB."""
    command = [sys.executable, "-c", CHILD, "train", str(path), "--target", "y", "--model", "sparse-kernel"]
    command += ["--json", "--quiet", "--out", str(path.with_suffix(".mm")), *map(str, options)]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    document, peak = done.stdout.rsplit("\n", 2)[:2]
    return json.loads(document), seconds, int(peak) / (1 << 20 if sys.platform == "darwin" else 1 << 10)


# The peak covers the whole life of a process, so the child reports its own: after a fork, some systems would
# start it at the parent's.
CHILD = """
import resource, sys
from maxmargin.cli import main
code = main(sys.argv[1:])
status = open("/proc/self/status").read().split() if sys.platform == "linux" else []
peak = status[status.index("VmHWM:") + 1] if status else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak)
sys.exit(code)
"""


def measured(path, n_rows, recipe, quick=False):
    """Rows about both methods on one file."""
    rows = []
    size = path.stat().st_size / 2**30
    for way, options in OPTIONS_BY_METHOD.items():
        record, seconds, peak = trained(path, *recipe, *options)
        kept, right = record["data"]["n_rows_kept"], 100 * record["validation"]["accuracy"]
        used = f"{kept:,} rows kept, " if not options else ""
        name = f"maxmargin train by {way}, {n_rows:,} x {N_COLUMNS} CSV of {size:.2g} GiB"
        label = f"{name} ({used}{seconds:.0f} s, {right:.2f} % correct): peak"
        rows.append(score(label, peak, "", None, None if quick else MAX_MB, at_most=True, unit=" MiB"))
    return tell(rows)


def solver_share(path, n_rows, recipe, quick):
    """The solver's share of the whole time of a training process, start-up and reading included."""
    record, seconds, _ = trained(path, *recipe)
    share = 100 * record["seconds"]["solver"] / seconds
    name = f"maxmargin train, {n_rows:,} x {N_COLUMNS} CSV: time in the solver, of {seconds:.1f} s"
    return tell([score(name, share, "", None, None if quick else SOLVER_SHARE)])


def run(repeats, quick):
    n_rows, recipe = (2_000, ("--budget", 10)) if quick else (1_000_000, ())
    with tempfile.TemporaryDirectory() as folder:
        path = write_csv(Path(folder) / "rows.csv", n_rows)
        share = solver_share(path, n_rows, recipe, quick)
        if not quick:
            path, n_rows = write_csv(path, 4 * n_rows), 4 * n_rows
        return share + measured(path, n_rows, recipe, quick)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gb", type=float, default=1.0, help="size of the file, in GB")
    parser.add_argument("--folder", type=Path, help="folder for the file; a temporary one by default")
    parser.add_argument("--options", nargs=argparse.REMAINDER, default=[], help="further, for train")
    given = parser.parse_args()
    n_rows = max(PIECE, int(given.gb * 1e9 / BYTES_PER_ROW))
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = write_csv(Path(folder) / "rows.csv", n_rows)
        for line in measured(path, n_rows, tuple(given.options)):
            print(f"{line['name']} {line['ours']:.0f}{line['unit']} (target {line['target']}: {line['met']})")


if __name__ == "__main__":
    main()
