"""
How wide is the noise, and where?
=================================

Five quantiles fitted over the same kernel rows show a noise that grows with x. Intervals calibrated on
held-out rows contain a new target with the probability that they promise.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import KernelSVR

rng = np.random.default_rng(0)
X = rng.uniform(0, 1, size=(900, 1))
y = np.sin(6 * X[:, 0]) + (0.05 + 0.5 * X[:, 0] ** 2) * rng.normal(size=900)
quantiles = (0.05, 0.25, 0.5, 0.75, 0.95)
model = KernelSVR(loss="pinball", quantiles=quantiles, gamma=10).fit(X[:400], y[:400])
model.calibrate(X[400:600], y[400:600])
covered = model.predict_interval(X[600:], coverage=0.9)
share = ((covered[:, 0] <= y[600:]) & (y[600:] <= covered[:, 1])).mean()
print(f"gap {model.dual_gap_:.0e}, sorted in {model.crossed_:.1%} of the rows, covered {share:.1%}")

grid = np.linspace(0, 1, 200)[:, None]
fan, interval = model.predict(grid), model.predict_interval(grid, coverage=0.9)
fig, ax = plt.subplots()
ax.plot(X[:400, 0], y[:400], ".", color="0.7", markersize=3)
ax.fill_between(grid[:, 0], fan[:, 0], fan[:, 4], alpha=0.2, color="C0", label="5 % to 95 %")
ax.fill_between(grid[:, 0], fan[:, 1], fan[:, 3], alpha=0.4, color="C0", label="25 % to 75 %")
ax.plot(grid[:, 0], fan[:, 2], "C0", label="median")
ax.plot(grid[:, 0], interval, "C1--", label="interval of 90 %")
handles, names = ax.get_legend_handles_labels()
unique = dict(zip(names, handles, strict=True))
ax.legend(unique.values(), unique.keys())
plt.show()
