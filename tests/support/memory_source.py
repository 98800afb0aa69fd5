"""A source of rows that are in memory already, read in blocks of any size."""

import numpy as np

from maxmargin.io.readers.table import Block


class MemorySource:
    """X, dense or CSR, and labels as strings or numbers."""

    def __init__(self, X, y, name="memory.npz"):
        self.X, self.y, self.name = X, None if y is None else np.asarray(y), name
        self.columns, self.n_features, self.target = None, X.shape[1], None if y is None else "y"
        self.block_sizes = []

    def blocks(self, n_rows=65536):
        for first in range(0, self.X.shape[0], n_rows):
            part = self.X[first : first + n_rows]
            self.block_sizes.append(part.shape[0])
            target = None if self.y is None else self.y[first : first + n_rows]
            yield Block(part, target, first, part.shape[0])

    def options(self):
        return {"format": "npz"}
