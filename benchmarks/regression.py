"""KernelSVR, LinearSVR and OneClassSVM beside scikit-learn's and Intel's estimators: the same problems.

A fit counts only if its objective is at most 1e-3 above the peer's; LIBLINEAR ends after 1,000 epochs.
SparseKernelRegressor stands beside ridge regression on as many Nystroem features, with a search over gamma
and alpha, whose error must be no lower; boosted trees are reported beside. Small sets are fitted in turn in
one process, large ones in a process each; a peer that is not done after its limit is stopped, and its row is
a lower bound.
"""

import json
import os
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import regression_worker as worker
from clock import row, score, turns
from sklearn.exceptions import ConvergenceWarning

TITLE = "Kernel regression and novelty"
LIMIT_SECONDS = 600
MAX_PEER_SECONDS = 200
MAX_CELL_SHARE = 1 / 4  # of a cell's time, for one process of a peer
MAX_OBJECTIVE_EXCESS = 1e-3
SMALL = {"friedman 200": 1.0, "friedman 1,000": 1.0}
EXACT = {"scikit-learn": (10.0, 20.0), "intelex": (2.0, 1.5)}
TARGETS = {  # how many times as fast as each peer: fit, predict
    **{
        cell: {"scikit-learn": (10.0, 20.0), "intelex": (2.0, 1.5)}
        for cell in (
            "friedman 20,000",
            "letter 16,000",
            "covtype 20,000 elevation",
            "covtype 50,000 elevation",
        )
    },
    **{cell: {"scikit-learn": (20.0, None)} for cell in ("novelty 100,000 x 2", "novelty 60,000 x 784")},
    **{
        cell: {"scikit-learn": (1.0, None)}
        for cell in ("linear 1,000,000 x 50", "linear text 100,000 x 50,000")
    },
    "budget friedman 2,000": {"Nystroem": (1.0, None), "boosting": (None, None)},
    "budget covtype 400,000 elevation": {"Nystroem": (2.0, None), "boosting": (None, None)},
}


def cells(suite):
    return [*SMALL, *TARGETS] if suite in ("quick", "bench") else []


def in_turn(cell):
    """Fits of a small set in one process."""
    X, y, _, _, parameters = worker.problem(cell, False)
    both = {name: worker.estimator(name, cell, parameters, X) for name in ("maxmargin", "scikit-learn")}
    fits = {name: (lambda model=model: model.fit(X, y)) for name, model in both.items()}
    seconds = {name: took["seconds"] for name, took in turns(fits, least_seconds=0.02).items()}
    mine, theirs = both.values()
    values = {"maxmargin": mine.objective_, "scikit-learn": worker.objective(theirs, X, y, parameters)}
    return {
        name: {"fit_seconds": seconds[name], "objective": float(values[name]), "shape": list(X.shape)}
        for name in both
    }


def process(method, cell):
    """The facts of a process; if it was stopped, what it had told, and its limit."""
    within = float(os.environ.get("BENCH_CELL_SECONDS", LIMIT_SECONDS))
    limit = min(MAX_PEER_SECONDS, MAX_CELL_SHARE * within)
    command = [sys.executable, worker.__file__, method, cell]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, cwd=Path(__file__).parent
        )
        told, stopped = done.stdout, {}
    except subprocess.TimeoutExpired as late:
        told, stopped = (late.stdout or b"").decode(), {"limit": limit}
    lines = [line for line in told.splitlines() if line.startswith("{")]
    if lines or stopped:
        return (json.loads(lines[-1]) if lines else {}) | stopped
    return {"failure": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}


def measure(cell, quick):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if cell in SMALL:
            return in_turn(cell)
        methods = ["maxmargin", *(m for m in TARGETS[cell] if m != "intelex" or find_spec("sklearnex"))]
        return {m: worker.facts(m, cell, True) if quick else process(m, cell) for m in methods}


def time_row(name, kind, ours, peer, record, target):
    """One line, or none; the limit of a peer that was stopped stands for its time."""
    if f"{kind}_seconds" not in record and "limit" not in record:
        return []
    if f"{kind}_seconds" in record:
        return [row(f"{name}: {kind}", ours[f"{kind}_seconds"], peer, record[f"{kind}_seconds"], target)]
    if kind == "predict":  # the limit was that of the fit and the prediction
        return []
    line = row(f"{name}: fit", ours["fit_seconds"], f"{peer}, not finished", record["limit"], target)
    return [line | {"met": line["met"] or None}]  # its time exceeds the limit by an unknown amount


def compared(cell, ours, peer, record):
    """The lines of one peer."""
    name = f"{cell} ({ours['shape'][0]:,} x {ours['shape'][1]})"
    fit_target, predict_target = TARGETS[cell][peer] if cell in TARGETS else (SMALL[cell], None)
    fits = time_row(name, "fit", ours, peer, record, fit_target)
    if fits and fits[0]["met"] and not is_as_good(ours, record):
        fits[0]["met"] = False
    lines = fits + ([] if cell in SMALL else time_row(name, "predict", ours, peer, record, predict_target))
    if cell.startswith("budget") and "error" in record:
        most = record["error"] if fit_target is not None else None
        lines.append(
            score(f"{name}: RMSE", ours["error"], peer, record["error"], most, at_most=True, unit="")
        )
    return lines


def is_as_good(ours, record):
    """Whether the objective is at most a little above the peer's; a peer that was stopped has none."""
    if "objective" not in record:
        return True
    excess = ours["objective"] - record["objective"]
    return bool(excess <= MAX_OBJECTIVE_EXCESS * abs(record["objective"]))


def rows(records):
    lines = []
    for cell, record in records.items():
        ours = record["maxmargin"]
        if ours.get("failure") == "no data":
            continue
        if "fit_seconds" not in ours:
            lines.append(
                score(f"{cell}: {ours.get('failure', 'not finished')}", None, "", None) | {"met": False}
            )
            continue
        for peer in record:
            if peer != "maxmargin" and "failure" not in record[peer]:
                lines += compared(cell, ours, peer, record[peer])
    return lines
