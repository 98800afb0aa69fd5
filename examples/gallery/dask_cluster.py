"""
How do I train on a Dask cluster?
=================================

Workers compute passes over the partitions that they hold. The sums are added in a fixed tree, so the model
has the same bits for any number of workers.
"""

import dask.array as da
import matplotlib.pyplot as plt
from distributed import Client

from maxmargin.dask import DaskSparseKernelClassifier

with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    X = da.random.default_rng(0).normal(size=(12_000, 2), chunks=(3_000, 2)).persist()
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = DaskSparseKernelClassifier(budget=20, random_state=0).fit(X, y, sample_rows=2_000)
    print(f"{model.n_rows_:,} rows in {model.n_passes_} passes, gap {model.dual_gap_:.0e}")
    local = model.to_local()
    rows, labels = X[:1500].compute(), y[:1500].compute()

fig, ax = plt.subplots()
ax.scatter(*rows.T, c=local.predict(rows), s=6, cmap="coolwarm")
ax.plot(*local.support_vectors_.T, "k*", label="support vectors")
ax.set_title(f"predicted by the local copy, accuracy {local.score(rows, labels):.3f}")
ax.legend()
plt.show()
