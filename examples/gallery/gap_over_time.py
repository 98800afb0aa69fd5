"""
How fast does the gap come down?
================================

``GapDisplay`` draws the certificates of any fit: here those of the three solvers of ``LinearSVC`` on the
same problem.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from maxmargin import LinearSVC

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
fig, ax = plt.subplots()
for solver in ("newton", "dual-cd", "truncated-newton"):
    model = LinearSVC(C=1.0, loss="squared-hinge", solver=solver, tol=1e-8, random_state=0).fit(X, y)
    checks = [check for check in model.history_[0] if check.gap > 0]
    ax.plot([max(check.n_iter, 1) for check in checks], [check.gap for check in checks], "o-", label=solver)
    print(f"{solver}: {model.n_iter_} steps, gap {model.dual_gap_:.0e}")
ax.set(xscale="log", yscale="log", xlabel="steps or epochs", ylabel="relative duality gap")
ax.legend()
plt.show()
