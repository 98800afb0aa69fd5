"""
Which rows hold the boundary?
=============================

Support vectors are the rows on or inside the margin. A larger C makes fewer of them, and a more crooked
boundary.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from maxmargin import KernelSVC
from maxmargin.displays import MarginDisplay

X, y = make_moons(150, noise=0.25, random_state=1)
fig, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, C in zip(axes, (0.1, 10, 1000)):
    model = KernelSVC(C=C, gamma=1.0).fit(X, y)
    MarginDisplay.from_estimator(model, X, y, ax=ax)
    ax.get_legend().remove()  # it would take half of the width
    ax.set_title(f"C = {C:g}: {model.n_support_} support vectors")
plt.show()
