"""A distribution whose Bayes error is known: points of a square, a disc inside, labels turned over by chance.

X is uniform on [-1, 1]^2. The label is +1 inside a disc that takes a share AREA of the square and -1 outside,
and is turned over with probability NOISE. So the Bayes error is NOISE, and that of any classifier is NOISE
plus 1 - 2 NOISE times the share of the square where it differs from the disc: no test labels are needed.
"""

import numpy as np

NAME = "disc"  # the set of these records
NOISE = 0.15
AREA = 0.18
N_GRID = 70  # to a side


def draw(n, seed):
    """Rows and labels."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    return X, np.where(_inside(X) ^ (rng.random(n) < NOISE), 1, -1)


def error(model):
    """The probability that a fitted model errs, up to the fineness of a grid."""
    side = (np.arange(N_GRID) + 0.5) * 2.0 / N_GRID - 1.0
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    differs = (model.predict(points) > 0) != _inside(points)
    return NOISE + (1.0 - 2.0 * NOISE) * float(differs.mean())


def record(columns, method, fold, n, **known):
    """A record of the run; what does not apply stays empty."""
    return {"set": NAME, "columns": columns, "method": method, "fold": fold, "n_train": n} | known


def _inside(X):
    return (X**2).sum(axis=1) < 4.0 * AREA / np.pi
