"""KernelSVC against scikit-learn, scikit-learn-intelex and ThunderSVM: time, memory and objective.

Every fit runs in its own process (``svm_worker.py``), so that its peak memory can be measured and it can be
stopped. Methods take turns; one whose fit takes over twenty seconds runs once. All run on the same two cores.
A fit counts as faster only where its dual objective is at least the peer's, less 1e-4 of it. A peer whose
process is not done after 150 s is stopped, and its row is a lower bound.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import svm_worker
from clock import row, score
from harness.machine import THUNDER
from svm_problems import PROBLEMS

TITLE = "The exact kernel SVM"
WORKER = Path(svm_worker.__file__)
N_CORES = 2
LIMIT_SECONDS = 3600
MAX_SECONDS = {"maxmargin": 900}  # of one process
MAX_PEER_SECONDS = 150
IN_README = ("letter", "covtype", "mnist")
MAX_CELL_SHARE = 1 / 7  # of a cell's time in a short run, for one process of a peer
MAX_SECONDS_TO_REPEAT = 20.0
MAX_TURNS = 3
DUAL_SLACK = 1e-4
MAX_IMBALANCE = 1e-6  # |y'a| / sum(a) that rounding explains: without y'a = 0 a dual objective bounds nothing
N_QUICK_TEST = 500
QUICK_ROWS = {"letter": 1500, "a9a": 1000, "a9a-csr": 1000, "mnist": 600}
TITLES = {
    "maxmargin": "KernelSVC",
    "scikit-learn": "scikit-learn SVC",
    "intelex": "scikit-learn-intelex SVC",
    "thundersvm": "ThunderSVM",
}


def interpreter(method):
    return THUNDER if method == "thundersvm" else Path(sys.executable)


def two_cores():
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CORES])


def cell(method, data, dtype, options):
    """The measurements of the worker, or the reason under ``failure``."""
    share = MAX_CELL_SHARE * float(os.environ.get("BENCH_CELL_SECONDS", "inf"))
    limit = MAX_SECONDS.get(method, min(MAX_PEER_SECONDS, share))
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(N_CORES))
    command = [interpreter(method), WORKER, method, data, dtype, *options]
    facts = {"method": method, "data": data, "dtype": dtype}
    if not command[0].exists():
        return facts | {"failure": "no environment"}
    try:
        done = subprocess.run(
            list(map(str, command)),
            capture_output=True,
            text=True,
            timeout=limit,
            env=os.environ | threads,
            preexec_fn=two_cores,
        )
    except subprocess.TimeoutExpired:
        return facts | {"failure": f"over {limit:.0f} s", "limit": limit}
    answers = [line for line in done.stdout.splitlines() if line.startswith('{"method"')]
    if done.returncode or not answers:
        return facts | {"failure": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}
    return facts | json.loads(answers[-1])


def methods(data, quick):
    """The cells of a data set. scikit-learn always computes in float64, ThunderSVM in float32."""
    dtypes = PROBLEMS[data].dtypes[:1] if quick else PROBLEMS[data].dtypes
    same = ["maxmargin", *(["intelex"] if find_spec("sklearnex") or not quick else [])]
    cells = [(method, dtype) for dtype in dtypes for method in same]
    cells += [("scikit-learn", "float64"), *([] if quick else [("thundersvm", "float32")])]
    wanted = os.environ.get("SVM_METHODS", " ".join(TITLES)).split()
    dtypes = os.environ.get("SVM_DTYPES", "float32 float64").split()
    return [(method, dtype) for method, dtype in cells if method in wanted and dtype in dtypes]


def here(method, data, dtype, n_rows):
    """A cell in this process; saves the seconds of imports where ratios mean little."""
    try:
        return svm_worker.cell(method, data, dtype, n_rows, N_QUICK_TEST)
    except ImportError as missing:
        return {"method": method, "data": data, "dtype": dtype, "failure": str(missing)}


def quickly(data, alone):
    """One run of each method on few rows, optionally the first in its own process."""
    n_rows, cells = QUICK_ROWS[data], {}
    for method, dtype in methods(data, quick=True):
        if alone and not cells:
            facts = cell(method, data, dtype, ["--rows", str(n_rows), "--test-rows", str(N_QUICK_TEST)])
        else:
            facts = here(method, data, dtype, n_rows)
        cells[method, dtype] = middle([facts])
    return cells


def measured(data, n_rounds):
    """The medians of each method and dtype; constant values come from the first round.

    A failed method has no further turn.
    """
    turns = {key: [] for key in methods(data, quick=False)}
    for number in range(n_rounds):
        for (method, dtype), records in turns.items():
            if records and records[0].get("fit_seconds", np.inf) > MAX_SECONDS_TO_REPEAT:
                continue
            records.append(cell(method, data, dtype, ["--no-certificate"] if number else []))
            print(json.dumps(records[-1]), file=sys.stderr, flush=True)
    return {key: middle(records) for key, records in turns.items()}


def middle(records):
    """The first record, with medians of the varying values and the number of records."""
    kept = [record for record in records if "failure" not in record] or records
    varying = [key for key in kept[0] if key.endswith(("_seconds", "_mb", "bare_share"))]
    varying = [key for key in varying if all(record.get(key) is not None for record in kept)]
    return (
        kept[0]
        | {key: float(np.median([record[key] for record in kept])) for key in varying}
        | {"runs": len(kept)}
    )


def against(name, ours, peer, fit_target, predict_target):
    """Rows of one comparison. If the peer was stopped, its time limit stands for its time."""
    title = f"{TITLES[peer['method']]}, {peer['dtype']}"
    if "failure" in peer:
        if "limit" not in peer:
            return []
        line = row(f"{name}: fit", ours["fit_seconds"], f"{title}, not finished", peer["limit"], fit_target)
        return [line | {"met": line["met"] or None}]  # its time exceeds the limit by an unknown amount
    least = peer["dual"] - DUAL_SLACK * abs(peer["dual"])
    reached = ours["dual"] >= least and ours["imbalance"] <= MAX_IMBALANCE
    fit = row(f"{name}: fit", ours["fit_seconds"], title, peer["fit_seconds"], fit_target)
    return [
        fit | {"met": None if fit["met"] is None else fit["met"] and reached},
        score(f"{name}: dual objective", ours["dual"], title, peer["dual"], fit_target and least, unit=""),
        row(f"{name}: predict", ours["predict_seconds"], title, peer["predict_seconds"], predict_target),
    ]


def by_itself(name, ours, problem, quick):
    """Rows that compare a fit with the bare products it needs, and with its memory limit."""
    rows = []
    if "bare_predict_seconds" in ours:
        bare = ours["bare_predict_seconds"]
        target = None if quick else 1.3
        rows.append(
            row(f"{name}: predict", ours["predict_seconds"], "bare products", bare, target, at_most=True)
        )
    target = None if quick else problem.least_share
    values = f"{ours['kernel_values'] / 1e6:,.0f} million kernel values"
    rows.append(score(f"{name}: bare products' share of the fit", ours["bare_share"], values, None, target))
    if ours["cache_mb"] is not None:
        asked = ours["input_mb"] + ours["cache_mb"]
        used, target = ours["input_mb"] + ours["fit_mb"], None if quick else 1.1 * asked
        peer = "input + cache"
        rows.append(score(f"{name}: memory", used, peer, asked, target, at_most=True, unit=" MB"))
    return rows


def lighter(name, ours, peer, quick):
    """The row that compares the memory of two fits beyond their input."""
    if "fit_mb" not in peer:
        return []
    mb, most = peer["fit_mb"], None if quick else peer["fit_mb"]
    title = f"{TITLES[peer['method']]}, {peer['dtype']}"
    return [score(f"{name}: memory of the fit", ours["fit_mb"], title, mb, most, at_most=True, unit=" MB")]


def compared(data, cells, quick):
    """The rows of a data set."""
    problem, rows = PROBLEMS[data], []
    for (method, dtype), ours in cells.items():
        if method != "maxmargin":
            continue
        name = f"{data}, {dtype}"
        if "failure" in ours:
            rows.append(
                score(f"{name}: {ours['failure']}", None, "", None) | {"met": None if quick else False}
            )
            continue
        targets = {
            ("scikit-learn", "float64"): (problem.against_sklearn, 20.0),
            ("intelex", dtype): (problem.against_intelex, 1.5),
            ("thundersvm", "float32"): (1.0, 1.0),
        }
        for key, pair in targets.items():
            if key in cells:
                rows += against(name, ours, cells[key], *((None, None) if quick else pair))
        rows += by_itself(name, ours, problem, quick)
        rows += lighter(name, ours, cells.get(("intelex", dtype), {}), quick)
    return rows


def line(facts):
    """One line of the wide table."""
    start = {"data": facts["data"], "method": TITLES[facts["method"]], "dtype": facts["dtype"]}
    if "failure" in facts:
        return start | {"fit": facts["failure"]}
    return start | {
        "fit": f"{facts['fit_seconds']:.3g} s",
        "predict": f"{facts['predict_seconds']:.3g} s",
        "support vectors": f"{facts['support_vectors']:,}",
        "dual objective": f"{facts['dual']:.7g}",
        "largest gap": f"{facts['gap']:.1e}",
        "y'a": f"{facts['imbalance']:.0e}",
        "accuracy": f"{facts['accuracy']:.2f} %",
        "peak memory": f"{facts['peak_mb']:,.0f} MB",
        "of the fit": f"{facts['fit_mb']:,.0f} MB",
        "runs": facts["runs"],
        "status": facts["status"],
    }


def cells(suite):
    """Data sets that are there, those of the project's README first."""
    names = {"quick": QUICK_ROWS, "bench": dict.fromkeys((*IN_README, *PROBLEMS))}.get(suite, ())
    return [data for data in names if PROBLEMS[data].is_there]


def measure(data, quick):
    """The facts of every method; letter's quick variant tries the process of its own, too."""
    found = quickly(data, alone=data == "letter") if quick else measured(data, MAX_TURNS)
    return {"quick": quick, "methods": list(found.values())}


def rows(records):
    lines = []
    for data, record in records.items():
        found = {(facts["method"], facts["dtype"]): facts for facts in record["methods"]}
        lines += compared(data, found, record["quick"])
    return lines


def tables(records):
    return {"Kernel SVMs": [line(facts) for record in records.values() for facts in record["methods"]]}
