"""Two rings as a table, and a training whose source never ends."""

import numpy as np


def rings(n: int = 600, seed: int = 0) -> tuple[dict, np.ndarray]:
    """Two rings that no line separates, one number with gaps, one column of words with a say."""
    rng = np.random.default_rng(seed)
    angle, inner = rng.uniform(0, 2 * np.pi, n), rng.random(n) < 0.4
    radius = np.where(inner, 1.0, 3.0) + 0.2 * rng.normal(size=n)
    table = {
        "east": (1000.0 + radius * np.cos(angle)).tolist(),
        "north": [None if u < 0.02 else v for u, v in zip(rng.random(n), radius * np.sin(angle))],
        "hint": [("yes" if (i ^ (u < 0.1)) else "no") for i, u in zip(inner, rng.random(n))],
    }
    return table, np.where(inner, "in", "out")


def codes_of(y: np.ndarray) -> tuple[list, np.ndarray]:
    labels, codes = np.unique(y, return_inverse=True)
    return labels.tolist(), codes


RISING = """
import resource
import numpy as np
from maxmargin.io.readers.table import Block
from maxmargin.training.from_file import train

class Drawn:
    name, columns, n_features, target = "drawn", None, 30, "y"

    def __init__(self, n_blocks):
        self.n_blocks = n_blocks

    def blocks(self, n_rows=8192):
        rng = np.random.default_rng(0)
        for k in range(self.n_blocks):
            X = rng.normal(size=(8192, 30))
            yield Block(X, np.where(X[:, 0] > 0, "a", "b"), 8192 * k, 8192)

    def options(self):
        return {}

for n_blocks in (10, 10, 50):
    trained = train(Drawn(n_blocks), model="least-squares", refit=False, memory_mb=64)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, trained.record["data"]["n_rows_kept"])
"""
