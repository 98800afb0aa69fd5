"""
Which C and which gamma?
========================

``PathCV`` cross-validates the whole grid with shared kernel values and warm starts. The star is the
smallest error, the diamond the smoothest model within one standard error of it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from maxmargin import KernelSVC, PathCV
from maxmargin.displays import CVPathDisplay

X, y = make_moons(200, noise=0.3, random_state=0)
search = PathCV(KernelSVC(), Cs=np.geomspace(1e-2, 1e4, 7), gammas=[0.1, 1, 10]).fit(X, y)
print(search.best_params_, f"error {1 - search.best_score_:.3f}")
CVPathDisplay.from_estimator(search)
plt.show()
