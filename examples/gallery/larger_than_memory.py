"""
What if the file does not fit into memory?
==========================================

``fit_blocks`` reads a source in blocks, several times: a sample gives the support vectors, all rows give
the coefficients, and the certificate holds for all of them. Here the blocks are computed when they are
asked for and never held together.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SparseKernelClassifier

N_BLOCKS, ROWS = 20, 2000


def blocks():
    """Twenty blocks, the same ones each time."""
    for seed in range(N_BLOCKS):
        X = np.random.default_rng(seed).uniform(-2, 2, size=(ROWS, 2))
        yield X, (np.sin(2 * X[:, 0]) > X[:, 1]).astype(int)


model = SparseKernelClassifier(25, random_state=0).fit_blocks(blocks, sample_rows=2000)
print(f"{model.n_rows_:,} rows in {model.n_passes_} passes, gap {model.dual_gap_:.0e}")

fig, ax = plt.subplots()
x, z = np.meshgrid(np.linspace(-2, 2, 120), np.linspace(-2, 2, 120))
scores = model.decision_function(np.c_[x.ravel(), z.ravel()]).reshape(x.shape)
ax.contourf(x, z, scores, levels=20, cmap="RdBu")
ax.plot(*model.support_vectors_.T, "k.")
ax.plot(x[0], np.sin(2 * x[0]), "k--", label="the true boundary")
ax.set(ylim=(-2, 2))
ax.legend()
plt.show()
