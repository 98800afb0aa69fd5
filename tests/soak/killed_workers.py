"""Fits on a cluster whose workers are killed with signal 9 in the middle of passes: no hang, the same bits.

    python tests/soak/killed_workers.py [--kills 200]

Each fit loses up to three workers at random moments. A fit that ends in an error that names a block, because
three deaths in a row met it, is counted and is not a failure. Another model is one, and so is a fit that is
left without workers: the cluster is that of ``maxmargin train --workers``, which replaces workers that Dask
gives up.
"""

import argparse
import os
import random
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np

from maxmargin.clusters import connected
from maxmargin.dask import DaskLinearSVC, DaskSparseKernelClassifier

KILLS_PER_FIT = 3


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 10)).astype(np.float32)
    return X, (np.abs(X[:, 0]) + X[:, 1] * X[:, 2] > 0.8).astype(int)


def killer(cluster, draw, stop, killed):
    """Ends a worker now and then, until it has ended enough of them for one fit."""
    for _ in range(KILLS_PER_FIT):
        if stop.wait(draw.uniform(0.1, 1.5)):
            return
        alive = [worker.pid for worker in list(cluster.workers.values()) if getattr(worker, "pid", None)]
        if alive:
            try:
                os.kill(draw.choice(alive), signal.SIGKILL)
                killed.append(time.monotonic())
            except ProcessLookupError:
                pass


def model_of(number):
    if number % 2:
        return DaskLinearSVC(random_state=0, n_jobs=1)
    return DaskSparseKernelClassifier(20, alpha=1e-4, random_state=0, n_jobs=1)


def bits(model):
    return b"".join(
        getattr(model, name).tobytes() for name in ("coef_", "dual_coef_") if hasattr(model, name)
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    wanted, killed, named, n_fits = parser.parse_args().kills, [], 0, 0
    draw, (X, y) = random.Random(0), rows()
    dask.config.set({"distributed.scheduler.allowed-failures": 10})
    with connected(None, 2) as client:
        there = da.from_array(X, chunks=(4000, -1)), da.from_array(y, chunks=4000)
        right = [bits(model_of(k).fit(*there, sample_rows=2000)) for k in range(2)]
        while len(killed) < wanted:
            stop = threading.Event()
            thread = threading.Thread(target=killer, args=(client.cluster, draw, stop, killed))
            thread.start()
            try:
                found = bits(model_of(n_fits).fit(*there, sample_rows=2000))
                assert found == right[n_fits % 2], f"fit {n_fits}: another model after {len(killed)} kills"
            except RuntimeError as error:
                if "ends every worker" not in str(error):
                    raise
                named += 1
            finally:
                stop.set()
                thread.join()
            n_fits += 1
            client.wait_for_workers(1)
            print(f"{n_fits} fits, {len(killed)} kills, {named} ended by naming a block", flush=True)


if __name__ == "__main__":
    main()
