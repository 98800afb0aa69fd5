"""
Which labels are wrong?
=======================

One label in ten is flipped. ``suspects`` ranks the rows by how strongly fits without them contradict their
label, so that somebody can look at the first hundred instead of at all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from maxmargin import KernelSVC

X, y = load_digits(return_X_y=True)
X, y = X[:1000] / 16, y[:1000] % 2
wrong = np.random.default_rng(0).random(len(y)) < 0.1
suspects = KernelSVC(C=10, loss="ramp").suspects(X, np.where(wrong, 1 - y, y))

found = np.cumsum(wrong[suspects])
print(f"{found[99]} of the first 100 suspects are wrong; {wrong.sum()} labels are")
fig, ax = plt.subplots()
ax.plot(np.arange(1, len(y) + 1), found, label="in the order of suspicion")
ax.plot([0, len(y)], [0, wrong.sum()], "--", label="in random order")
ax.set(xlabel="rows looked at", ylabel="wrong labels found")
ax.legend()
plt.show()
