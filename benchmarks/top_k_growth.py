"""What an epoch of the top-k SVM costs as samples, features and classes grow by a factor of 16 each.

The data are synthetic with random labels, so that every sample moves in every epoch. Seconds are processor
time on one thread for epochs 2 to 4: the time of 4 epochs minus that of 1.
"""

import numpy as np
from clock import score, tell
from top_k_references import fitted

FULL_SIZES = {"samples": 1_000, "features": 64, "classes": 16}
QUICK_SIZES = {"samples": 256, "features": 16, "classes": 8}
FACTORS = (1, 4, 16)
MAX_EXPONENT = 1.1  # 1 plus what a logarithm adds over this range


def epoch_seconds(samples, features, classes, solver, repeats):
    """Seconds of an epoch: the median over repeats."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(samples, features)) / np.sqrt(features)
    y = rng.permutation(np.arange(samples) % classes)

    def seconds(epochs):
        return fitted(X, y, 3, 1.0, solver=solver, tol=1e-12, epochs=epochs)[1]

    seconds(1)
    return max(float(np.median([seconds(4) - seconds(1) for _ in range(repeats)])) / 3.0, 1e-6)


def run(repeats=3, quick=False):
    """The exponent between the ends, for both kinds of step."""
    base, rows, tables = QUICK_SIZES if quick else FULL_SIZES, [], {}
    for solver in ("dual-ascent", "frank-wolfe"):
        for what in base:
            sizes = [base[what] * factor for factor in FACTORS]
            seconds = [
                epoch_seconds(**{**base, what: size}, solver=solver, repeats=repeats) for size in sizes
            ]
            exponent = np.log(seconds[-1] / seconds[0]) / np.log(FACTORS[-1])
            label = f"{solver}: exponent of an epoch's cost in the number of {what}"
            rows += tell([score(label, float(exponent), "linear", 1.0, MAX_EXPONENT, at_most=True, unit="")])
            tables.setdefault("Seconds of an epoch", []).extend(
                {"solver": solver, "grows": what, "size": size, "seconds": f"{s:.3g}"}
                for size, s in zip(sizes, seconds)
            )
    return rows, tables
