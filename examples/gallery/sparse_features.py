"""
Which features can be left out altogether?
==========================================

The 1-norm makes most weights exactly 0. ``LinearProgramSVC`` solves that problem as a linear program,
certified, and a path over C shows in which order features come in.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from maxmargin import LinearProgramSVC

data = load_breast_cancer()
X, y = StandardScaler().fit_transform(data.data), data.target
costs = np.geomspace(0.005, 1.0, 12)
model = LinearProgramSVC(warm_start=True)
weights = [model.set_params(C=C).fit(X, y).coef_[0].copy() for C in costs]
print(f"C = {costs[3]:.3f} needs {np.count_nonzero(weights[3])} of {X.shape[1]} features")

fig, ax = plt.subplots()
ax.plot(costs, weights)
ax.set(xscale="log", xlabel="C", ylabel="weight of each feature")
plt.show()
