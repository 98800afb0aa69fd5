"""Fits to all rows in passes over blocks: passes, memory, accuracy, and a Dask cluster beside threads.

Rows are distinct: each block is drawn from its own number. A fit runs in a process of its own, which reports
its peak resident memory. Beside it stands the fit of the same model to a sample of the rows. The cluster
has two single-threaded workers on this machine, and reads the same blocks again in every pass; processor time
is compared, of all processes.
"""

import json
import pickle
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from clock import score

TITLE = "All rows, in passes over blocks"
LIMIT_SECONDS = 1800
N_COLUMNS, BLOCK_ROWS = 30, 50_000
MAX_PASSES, MAX_MIB, MAX_WORKER_MIB, MAX_DASK_RATIO = 10, 512.0, 400.0, 1.4
MAX_RECEIVED = 16


def block(number, n_rows=BLOCK_ROWS):
    """Rows of two classes with a curved boundary and a tenth of wrong labels."""
    rng = np.random.default_rng([7, number])
    X = rng.standard_normal((n_rows, N_COLUMNS), dtype=np.float32)
    clear = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] > 0
    return X, clear ^ (rng.random(n_rows) < 0.1)


def fitted(n_rows, budget, way):
    """A fit by this way: threads, a Dask cluster, or on a sample alone; what it took and reached."""
    from maxmargin import SparseKernelClassifier

    size = min(BLOCK_ROWS, max(n_rows // 8, 1))
    numbers = range(-(-n_rows // size))
    model = SparseKernelClassifier(budget, random_state=0)
    start, worker, others, received = time.perf_counter(), None, 0.0, 0
    if way == "sample":
        parts = [block(i, size) for i in numbers[: max(1, len(numbers) // 4)]]
        model.fit(np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts]))
    elif way == "threads":
        model.fit_blocks(lambda: (block(i, size) for i in numbers))
    else:
        model, worker, others, received = on_cluster(budget, size, numbers)
    seconds = time.perf_counter() - start
    X, y = block(10**6, 50_000)
    return {
        "seconds": seconds,
        "processor": time.process_time() + others,
        "received": received,
        "accuracy": 100 * float(np.mean(model.predict(X) == y)),
        "passes": getattr(model, "n_passes_", 0),
        "gap": model.dual_gap_,
        "coef": float(np.abs(model.dual_coef_).sum()),
        "peak": peak(),
        "worker": worker,
    }


def on_cluster(budget, size, numbers):
    import dask.array as da
    from dask.delayed import delayed
    from distributed import Client, LocalCluster

    from maxmargin.clusters import DaskPasses
    from maxmargin.dask import DaskSparseKernelClassifier

    sizes, plain = [], DaskPasses._result

    def noted(self, total):
        found = plain(self, total)
        if hasattr(found, "gradients"):  # of Newton's passes, not those that draw a sample
            sizes.append(len(pickle.dumps(found)))
        return found

    DaskPasses._result = noted
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        parts = [delayed(block, nout=2, pure=False)(i, size) for i in numbers]
        X = da.concatenate([da.from_delayed(x, (size, N_COLUMNS), np.float32) for x, _ in parts])
        y = da.concatenate([da.from_delayed(t, (size,), bool) for _, t in parts])
        model = DaskSparseKernelClassifier(budget, random_state=0).fit(X, y)
        seconds = sum(client.run(time.process_time).values())
        return model.to_local(), max(client.run(peak).values()), seconds, max(sizes)


def peak():
    """Peak resident memory of this process, in MiB."""
    status = Path("/proc/self/status")
    if status.exists():
        words = status.read_text().split()
        return int(words[words.index("VmHWM:") + 1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)


def cells(suite):
    if suite == "quick":
        return ["2,000 rows, 10 support vectors"]
    if suite == "bench":
        return ["1,000,000 rows, 100 support vectors", "1,000,000 rows, 500 support vectors"]
    return (
        ["4,000,000 rows, 500 support vectors", "16,000,000 rows, 500 support vectors"]
        if suite == "large"
        else []
    )


def measure(cell, quick):
    n_rows, budget = (int(word.replace(",", "")) for word in (cell.split()[0], cell.split()[2]))
    ways = ["threads"] if quick or n_rows > 4_000_000 else ["threads", "dask", "sample"]
    return {way: in_a_process(n_rows, budget, way) for way in ways}


def in_a_process(n_rows, budget, way):
    command = [sys.executable, __file__, str(n_rows), str(budget), way]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def rows(records):
    found = []
    for cell, record in records.items():
        here, small = record["threads"], cell.startswith("2,000 ")
        limit = None if small else MAX_MIB
        name = f"{cell}: passes to gap {here['gap']:.0e}"
        found.append(score(name, here["passes"], "", None, MAX_PASSES, at_most=True, unit=""))
        name = f"{cell}: peak memory"
        found.append(score(name, here["peak"], "", None, limit, at_most=True, unit=" MiB"))
        if "dask" in record:
            there = record["dask"]
            ratio = there["processor"] / here["processor"]
            same = "same" if there["coef"] == here["coef"] else "other"
            name = (
                f"{cell}: processor time of Dask with two workers against two threads, start-up included, "
                f"{same} coefficients"
            )
            found.append(score(name, ratio, "", None, MAX_DASK_RATIO, at_most=True, unit=" times"))
            name = f"{cell}: peak memory of a worker that reads again"
            found.append(score(name, there["worker"], "", None, MAX_WORKER_MIB, at_most=True, unit=" MiB"))
            n_columns_squared = int(cell.split()[2].replace(",", "")) ** 2
            name = f"{cell}: bytes to the client a pass, for each entry of the Hessian"
            share = there["received"] / n_columns_squared
            found.append(score(name, share, "", None, MAX_RECEIVED, at_most=True, unit=" bytes"))
        if "sample" in record:
            gain = here["accuracy"] - record["sample"]["accuracy"]
            name = f"{cell}: points gained over a fit in memory to a quarter of the rows"
            found.append(score(name, gain, "", None, -0.1, unit=" points"))
    return found


if __name__ == "__main__":
    print(json.dumps(fitted(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
