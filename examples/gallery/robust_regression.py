"""
Which loss ignores outliers?
============================

A sum of sines, one target in ten far off. The epsilon-insensitive and the Huber loss grow linearly, so that
outliers pull a little; the squared loss follows them.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import KernelSVR
from maxmargin.displays import ResidualDisplay

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 10, size=(400, 1)), axis=0)
true = np.sin(X[:, 0]) + 0.5 * np.sin(3 * X[:, 0])
y = true + 0.1 * rng.normal(size=400)
wrong = rng.random(400) < 0.1
y[wrong] += rng.uniform(3, 8, size=wrong.sum())

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(X[:, 0], y, ".", color="0.7", markersize=3)
losses = {"epsilon-insensitive": {"epsilon": 0.1}, "huber": {"delta": 0.2}, "squared-epsilon-insensitive": {}}
for loss, more in losses.items():
    model = KernelSVR(C=10, loss=loss, gamma=1, **more).fit(X, y)
    error = np.abs(model.predict(X) - true).mean()
    print(f"{loss}: off by {error:.3f} on average, gap {model.dual_gap_:.0e}")
    left.plot(X[:, 0], model.predict(X), label=f"{loss}: {error:.2f}")
left.plot(X[:, 0], true, "k--", linewidth=1, label="the sum of sines")
left.legend(fontsize="small")

robust = KernelSVR(C=10, epsilon=0.1, gamma=1).fit(X, y)
ResidualDisplay.from_estimator(robust, X, y, ax=right)
plt.show()
