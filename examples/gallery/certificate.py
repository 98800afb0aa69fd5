"""
What does a certificate say?
============================

A dual value is a lower bound on the minimum, whatever the solver did. So the minimum lies between the two
lines, and the model may be stopped as soon as they are close enough.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from maxmargin import LinearSVC

X, y = make_classification(2000, 40, n_informative=10, flip_y=0.1, random_state=0)
model = LinearSVC(C=0.1, solver="dual-cd", tol=1e-3, random_state=0).fit(X, y)
checks = model.history_[0]
print(f"{model.status_}: at most {model.dual_gap_:.1e} above the minimum, relative to it")

epochs = [check.n_iter for check in checks]
fig, ax = plt.subplots()
ax.plot(epochs, [check.primal for check in checks], "o-", label="primal: the objective reached")
ax.plot(epochs, [check.dual for check in checks], "s-", label="dual: no model is below this")
ax.fill_between(epochs, [c.dual for c in checks], [c.primal for c in checks], alpha=0.2)
ax.set(xlabel="epochs", ylabel="objective", xscale="log")
ax.legend()
plt.show()
