"""
Is the right class among the first five?
========================================

With fifty classes a short list that contains the right one may be all that is needed. ``TopKSVC(k=5)`` is
trained for the list, ``TopKSVC(k=1)`` for the first place.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import TopKSVC

rng = np.random.default_rng(0)
centres = rng.normal(size=(50, 10))
y = np.repeat(np.arange(50), 40)
X = centres[y] + 1.1 * rng.normal(size=(len(y), 10))
train = rng.random(len(y)) < 0.5
ks = range(1, 11)
fig, ax = plt.subplots()
for trained_for in (1, 5):
    model = TopKSVC(k=trained_for, alpha=1e-3).fit(X[train], y[train])
    shares = [model.score(X[~train], y[~train], k=k) for k in ks]
    ax.plot(ks, shares, "o-", label=f"trained for k = {trained_for}")
    print(f"k = {trained_for}: gap {model.dual_gap_:.0e}")
ax.set(xlabel="length of the list", ylabel="share of lists with the right class")
ax.legend()
plt.show()
