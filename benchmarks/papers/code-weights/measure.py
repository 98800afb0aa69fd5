"""Fits every decoder to the same outputs of the same columns, fold by fold."""

import sys
import time
from dataclasses import dataclass

from columns import accuracy, fold_outputs
from joblib import Memory, Parallel, delayed
from methods import METHODS

from maxmargin.decoders import DECODERS


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    sets: tuple = ("Glass", "Zoo", "Yeast")
    repetitions: tuple = (0, 1, 2, 3, 4)
    n_folds: int = 5  # of five
    costs: tuple = (0.1, 1.0, 10.0)
    shares: tuple = (10, 20, 40)  # of outliers, percent
    contaminated: str = "Yeast"
    n_jobs: int = 2


FULL = Plan()
QUICK = Plan(
    ("Glass", "Zoo"), repetitions=(0,), n_folds=2, costs=(1.0,), shares=(20,), contaminated="Glass", n_jobs=1
)


def measure(plan, keep, folder=None):
    """A record for each set, share of outliers, fold and decoder.

    Outputs of the columns are kept in ``folder`` and taken from there: a decoder is then tried in minutes.
    """
    jobs = [
        (plan, folder, name, repetition, fold)
        for name in plan.sets
        for repetition in plan.repetitions
        for fold in range(plan.n_folds)
    ]
    records = []
    done = Parallel(n_jobs=plan.n_jobs, return_as="generator", batch_size=1)(
        delayed(_fold)(*job) for job in jobs
    )
    for (*_, name, repetition, fold), some in zip(jobs, done):
        records += some
        keep(records)
        if fold == plan.n_folds - 1:
            print(f"{name}: repetition {repetition + 1}", file=sys.stderr, flush=True)


def _fold(plan, folder, name, repetition, fold):
    shares = plan.shares if name == plan.contaminated else ()
    kept = Memory(folder, verbose=0).cache(fold_outputs)
    return [
        {"set": name, "repetition": repetition, "fold": fold, **_record(label, method, outputs)}
        for outputs in kept(name, repetition, fold, plan.costs, shares)
        for label, method in METHODS.items()
    ]


def _record(label, method, outputs):
    F, code = outputs.F[method.fitted_to], outputs.code
    start = time.perf_counter()
    decoder = DECODERS[method.decoder].fit(F, outputs.y, code)
    return {
        "seconds": time.perf_counter() - start,
        "outliers": outputs.outliers,
        "share": outputs.share,
        "method": label,
        "n_train": len(outputs.y),
        "n_columns": code.n_columns,
        "C": outputs.C,
        "accuracy": accuracy(decoder, outputs.F_test, code, outputs.y_test),
        "training_accuracy": accuracy(decoder, F, code, outputs.y),
        "column_seconds": outputs.seconds,
    }
