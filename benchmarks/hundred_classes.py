"""KernelSVC beside scikit-learn's SVC where there are many classes: time, memory, pickle and model file.

Each fit runs in a process of its own, so that its peak memory is known; the two take turns. The columns of
one-vs-one are hundreds of thousands of small problems, so what surrounds a problem counts, and so does how
their coefficients are stored. Here too are nearly separable classes of very different sizes.
"""

import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from clock import row, score, tell
from sklearn.svm import SVC
from small_sets import MIN_DUAL_SHARE, dual_of_ours, dual_of_peer
from small_tables import leaves, many_classes, nearly_separable

from maxmargin import KernelSVC, io

TITLE = "Many classes"
SPEED_RATIO, SIZE_RATIO = 1.5, 1.5
N_PREDICTED = 200
CASES = {  # what makes the rows and labels, and C
    "leaves100, 1,280 x 192, 100 classes": (lambda: leaves() and leaves()[:2], 1.0),
    "240 classes x 15 rows, 784 features": (lambda: many_classes(240, 15, 784), 10.0),
    "1,000 classes x 10 rows, 64 features": (lambda: many_classes(1000, 10, 64), 1.0),
    "45,000 x 9, 7 nearly separable classes": (lambda: nearly_separable(45_000), 1.0),
}
QUICK = {"30 classes x 6 rows, 8 features": (lambda: many_classes(30, 6, 8), 1.0)}


def measure_one(method, name):
    """Print the seconds, processor seconds, sizes and dual objective of one fit."""
    make, C = (CASES | QUICK)[name]
    X, y = make()
    model = KernelSVC(C=C) if method == "maxmargin" else SVC(C=C)
    model.fit(*many_classes(3, 5, 4))  # imports and threads
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, start_cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model.predict(X[:N_PREDICTED])
    predicted = time.perf_counter() - start
    n_pickle = n_file = len(pickle.dumps(model))
    if method == "maxmargin":
        with tempfile.TemporaryDirectory() as folder:
            io.save(model, Path(folder) / "m.mm")
            n_file = (Path(folder) / "m.mm").stat().st_size
    dual = dual_of_ours(model) if method == "maxmargin" else dual_of_peer(model, X, y)
    found = {"seconds": seconds, "cpu": cpu, "memory": 1024 * (peak - before), "predicted": predicted}
    print(json.dumps(found | {"pickle": n_pickle, "file": n_file, "dual": float(dual)}))


def in_process(method, name):
    command = [sys.executable, __file__, method, name]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return json.loads(done.stdout.splitlines()[-1])


def medians(name, repeats):
    """The medians of both methods, which take turns."""
    runs = {"maxmargin": [], "scikit-learn": []}
    for _ in range(repeats):
        for method, found in runs.items():
            found.append(in_process(method, name))
    return [
        {key: float(np.median([one[key] for one in found])) for key in found[0]} for found in runs.values()
    ]


def lines_of(name, repeats):
    ours, peer = medians(name, repeats)
    fit = row(f"KernelSVC.fit, {name}", ours["seconds"], "SVC", peer["seconds"], SPEED_RATIO)
    fit["met"] = fit["met"] and ours["dual"] >= MIN_DUAL_SHARE * max(ours["dual"], peer["dual"])
    lines = [
        fit,
        row(f"the same, processor time, {name}", ours["cpu"], "SVC", peer["cpu"]),
        row(f"predict of {N_PREDICTED} rows, {name}", ours["predicted"], "SVC", peer["predicted"]),
    ]
    for what, title in (("memory", "memory of the fit"), ("pickle", "pickle"), ("file", "model file")):
        other = "SVC's pickle" if what == "file" else "SVC"
        lines.append(
            score(
                f"{title}, {name}",
                ours[what] / 1e6,
                other,
                peer[what] / 1e6,
                SIZE_RATIO * peer[what] / 1e6,
                at_most=True,
                unit=" MB",
            )
        )
    return tell(lines)


def cells(suite):
    if suite == "quick":
        return list(QUICK)
    there = [name for name, (make, _) in CASES.items() if "leaves" not in name or leaves() is not None]
    return there if suite == "bench" else []


def measure(cell, quick):
    return {"rows": lines_of(cell, 1 if quick else 3)}


def rows(records):
    return [line for record in records.values() for line in record["rows"]]


if __name__ == "__main__":
    measure_one(*sys.argv[1:])
