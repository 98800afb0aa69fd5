"""Measures errors, gaps and the rate; every record is kept as soon as there is one.

Errors: alpha of each k by a rule that sees no test row, of at most 1,200 of the rows to learn from two thirds
to learn and one third to judge by: the least top-k error, for the k that is trained, of equal ones the
largest alpha. Gaps: C = 1 on at most 2,000 rows; a fit of so many epochs for each point, but block QP is one
run. Rate: Frank-Wolfe from several seeds, and the optimum.
"""

import sys
from dataclasses import dataclass

import numpy as np
from records import record
from split_set import Set, split
from top_k_references import block_programs, fitted, moment
from top_k_sets import FILES, N_SPLITS, load

KS = (1, 3, 5)
ALPHAS = (1e-2, 1e-3, 1e-4)
LAPIN = "Lapin's domain"
METHODS = {  # of the package
    "dual ascent": {"solver": "auto"},
    "Frank-Wolfe": {"solver": "frank-wolfe"},
    LAPIN: {"solver": "auto", "true_class": "exclude"},
}
GAP_K = 3


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    sets: tuple
    n_splits: int = 3
    n_rows: int | None = None
    n_choose: int = 1_200
    choose_tol: float = 1e-2  # of the fits that choose alpha: on few rows they must be exact
    gap_rows: int = 2_000
    epochs: tuple = (1, 2, 4, 8, 16, 32, 64, 128)
    least: float = 1e-5  # relative gap where curves end
    limit: float = 60.0  # seconds of a fit
    stalls: tuple = ((3, 0.1), (3, 1.0), (3, 10.0), (5, 1.0))  # k and C
    seeds: int = 5
    costs: tuple = (0.1, 1.0, 10.0)  # of the rate


FULL = Plan(tuple(FILES))
QUICK = Plan(
    ("letter", "flowers"),
    n_splits=1,
    n_rows=150,
    choose_tol=1e-4,
    gap_rows=150,
    epochs=(1, 4, 16),
    least=1e-3,
    limit=5.0,
    stalls=((3, 1.0),),
    seeds=2,
    costs=(1.0,),
)


def measure(plan, parts, keep):
    """All records of some sets and some of the parts "errors", "gap", "rate"."""
    records = []
    for part in parts:
        for name in plan.sets if part != "rate" else ("flowers",):
            for one in PARTS[part](name, plan):
                records.append(one)
                print({k: v for k, v in one.items() if v is not None}, file=sys.stderr, flush=True)
                keep(records)


def _errors(name, plan):
    for number in range(min(plan.n_splits, N_SPLITS[name])):
        data = Set(*load(name, number)).first(plan.n_rows)
        chosen = split(data, plan.n_choose)
        for k in KS:
            alpha = _alpha(chosen, k, plan)
            model, seconds = _fitted(data, k, alpha, 1e-3, plan)
            yield record(
                *("errors", name, f"top-{k} SVM", k),
                C=1.0 / (alpha * len(data.y)),
                seed=number,
                n_train=len(data.y),
                **{
                    column: 100.0 * model.score(data.X_test, data.y_test, k=top)
                    for column, top in (("accuracy", 1), ("top_3", 3), ("top_5", 5))
                },
                seconds=seconds,
                own_gap=model.dual_gap_,
            )


def _fitted(data, k, alpha, tol, plan):
    return fitted(data.X, data.y, k, 1.0 / (alpha * len(data.y)), tol=tol, limit=plan.limit)


def _alpha(chosen, k, plan):
    models = [_fitted(chosen, k, alpha, plan.choose_tol, plan)[0] for alpha in ALPHAS]
    scores = [model.score(chosen.X_test, chosen.y_test, k=k) for model in models]
    return ALPHAS[int(np.argmax(scores))]


def _gaps(name, plan):
    X, y = _rows(name, plan)
    for method, how in METHODS.items():
        for epochs in plan.epochs:
            found = moment(X, y, GAP_K, 1.0, **how, tol=plan.least, epochs=epochs, limit=plan.limit)
            yield _gap(name, method, GAP_K, 1.0, len(y), found)
            if found.own_gap <= plan.least or found.epochs < epochs:
                break
    for found in block_programs(X, y, GAP_K, 1.0, tol=1e-3, epochs=plan.epochs[-1], limit=plan.limit / 2):
        yield _gap(name, "block QP", GAP_K, 1.0, len(y), found)
    for k, C in plan.stalls:
        for method, loss in (("stall", "exclude"), ("optimum", "include")):
            found = moment(X, y, k, C, true_class=loss, tol=1e-4, limit=plan.limit)
            yield _gap(name, method, k, C, len(y), found)


def _rows(name, plan):
    X, y = load(name)[:2]
    n = min(plan.gap_rows, len(y))
    return X[:n], y[:n]


def _gap(name, method, k, C, n, found):
    return record(
        *("gap", name, method, k),
        C=C,
        seed=0,
        epochs=found.epochs,
        n_train=n,
        seconds=found.seconds,
        primal=found.primal,
        dual=found.dual,
        own_gap=found.own_gap,
    )


def _rate(name, plan):
    X, y = _rows(name, plan)
    for C in plan.costs:
        best = moment(X, y, GAP_K, C, tol=1e-5, limit=plan.limit)
        yield _gap(name, "optimum", GAP_K, C, len(y), best) | {"kind": "rate"}
        for seed in range(plan.seeds):
            for epochs in plan.epochs[:6]:
                found = moment(X, y, GAP_K, C, solver="frank-wolfe", tol=1e-9, epochs=epochs, seed=seed)
                line = _gap(name, "Frank-Wolfe", GAP_K, C, len(y), found)
                yield line | {"kind": "rate", "seed": seed}


PARTS = {"errors": _errors, "gap": _gaps, "rate": _rate}
