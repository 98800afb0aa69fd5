"""Processes killed (SIGKILL) while they save a model: the old file or the new one is there, whole.

python tests/soak/killed_while_saving.py [n_kills]
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

ONE_THREAD = {"MAXMARGIN_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def killed(n_kills: int) -> Counter[str]:
    """Fork a process that saves two models in turn, kill it at some moment, look at the file; many times."""
    from maxmargin import LinearSVC, io

    rng, folder = np.random.default_rng(0), Path(tempfile.mkdtemp())
    path, wide = folder / "model.mm", rng.standard_normal((20, 100_000))
    models = [LinearSVC(C=C, n_jobs=1).fit(wide, np.arange(20) % 2) for C in (0.01, 1.0)]
    prints = [io.fingerprint(model) for model in models]
    io.save(models[0], path)
    counts: Counter[str] = Counter()
    for _ in range(n_kills):
        before = io.fingerprint(io.load(path))
        child = os.fork()
        if child == 0:
            for k in range(1_000_000):
                io.save(models[(prints.index(before) + k + 1) % 2], path)
        deadline = time.perf_counter() + 5.0
        while not any(folder.glob(".*.part")) and time.perf_counter() < deadline:
            pass  # until the child writes
        time.sleep(float(rng.exponential(0.003)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        after = io.fingerprint(io.load(path))
        assert after in prints, "a file that is neither the old nor the new one"
        left = list(folder.glob(".*.part"))
        counts["another file than before" if after != before else "the same file as before"] += 1
        counts["killed while writing (a .part was left)"] += len(left)
        for part in left:
            part.unlink()
    path.unlink()
    folder.rmdir()
    return counts


def run(n_kills: int) -> str:
    """The same in a process with one thread, so that a fork takes all of it."""
    call = [sys.executable, __file__, "--here", str(n_kills)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD)
    assert done.returncode == 0, done.stderr
    return done.stdout


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        for what, count in sorted(killed(int(sys.argv[2])).items()):
            print(f"{count:6} {what}")
    else:
        print(run(int(sys.argv[1]) if len(sys.argv) > 1 else 200), end="")
