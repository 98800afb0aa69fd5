"""
What is unlike the training rows?
=================================

A one-class SVM learns where rows of two moons lie, without labels. The share nu of the training rows may be
outside; of rows drawn from the whole square most are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from maxmargin import OneClassSVM

X, _ = make_moons(600, noise=0.08, random_state=0)
usual, _ = make_moons(400, noise=0.08, random_state=1)
novel = np.random.default_rng(0).uniform((-1.6, -1.1), (2.6, 1.6), size=(200, 2))
model = OneClassSVM(nu=0.05, gamma=8).fit(X)
outside = [(model.predict(rows) == -1).mean() for rows in (X, usual, novel)]
told = "training {:.1%}, new {:.1%}, any {:.1%}".format(*outside)
print(f"gap {model.dual_gap_:.0e}; outside: {told}")

x, y = np.meshgrid(np.linspace(-1.6, 2.6, 200), np.linspace(-1.1, 1.6, 200))
scores = model.decision_function(np.c_[x.ravel(), y.ravel()]).reshape(x.shape)
fig, ax = plt.subplots()
ax.contourf(x, y, scores, levels=[0, scores.max()], colors=["C0"], alpha=0.2)
ax.contour(x, y, scores, levels=[0], colors="C0")
ax.plot(*usual.T, ".", color="0.5", markersize=4, label="rows like those of training")
flagged = model.predict(novel) == -1
ax.plot(*novel[flagged].T, "C1x", markersize=5, label="found to be novel")
ax.plot(*novel[~flagged].T, "C2+", markersize=6, label="novel, but inside")
ax.legend(fontsize="small")
plt.show()
