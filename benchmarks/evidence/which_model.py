"""Small tables, three of five folds: ``AutoSVC`` beside its peers, by the benchmark ``tables``."""

import numpy as np
import tables

SETS = (
    *("australian", "bands", "eleven_classes", "german", "glass", "heart", "ionosphere", "led7digit"),
    *("mammographic", "movement_libras", "pima", "sonar", "tic-tac-toe", "wdbc", "zoo"),
)
N_FOLDS, TIMED = 3, ("AutoSVC", "grid search")


def measure():
    """Columns and lines."""
    cells = [
        f"{name} {fold} {method}" for name in SETS for fold in range(N_FOLDS) for method in tables.METHODS
    ]
    found = tables.by_table({cell: tables.measure(cell, quick=False) for cell in cells})
    lines = []
    for name, methods in found.items():
        accuracies = [f"{tables.mean(methods[m]):.1f}" for m in tables.METHODS]
        lines.append([name, *accuracies, *(f"{tables.mean(methods[m], 'seconds'):.1f}" for m in TIMED)])
    means = np.mean([[tables.mean(ms[m]) for m in tables.METHODS] for ms in found.values()], axis=0)
    seconds = [np.mean([tables.mean(ms[m], "seconds") for ms in found.values()]) for m in TIMED]
    ranks = tables.mean_ranks(found)
    lines.append(["mean", *(f"{value:.1f}" for value in (*means, *seconds))])
    lines.append(["mean rank", *(f"{ranks[m]:.2f}" for m in tables.METHODS), "", ""])
    return ["table", *tables.METHODS, *(f"s, {method}" for method in TIMED)], lines
