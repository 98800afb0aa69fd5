"""
How large can the error on new rows be?
=======================================

Bounds hold with probability 95 %, estimates have no guarantee. Rows that took part in no choice give the
bound to quote; those that need no such rows are mostly too large to be of use.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import KernelSVC, bounds

rng = np.random.default_rng(0)
X = 4 * rng.random((1500, 2))
y = np.floor(X).sum(axis=1).astype(int) % 2  # a checkerboard
model = KernelSVC(C=0.1, gamma=2.0).fit(X[:1000], y[:1000])
report = bounds.report(model, X[:1000], y[:1000], X_test=X[1000:], y_test=y[1000:])

names = ["hold-out", "span", "xi-alpha", "support-vectors", "pac-bayes", "margin"]
values = [min(getattr(report[name], "value", 1.0), 1.0) for name in names]
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh(names[::-1], values[::-1])
ax.axvline(0.5, color="k", linestyle="--", label="as good as a coin")
ax.set(xlabel="bound or estimate of the error; 1 where it says nothing")
ax.legend()
plt.show()
