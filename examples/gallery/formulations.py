"""
What do the formulations do with the same points?
=================================================

Least squares, the lasso, the hinge with and without a penalty, the squared hinge: one set of points, six
boundaries.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LagrangianSVC, LeastSquaresClassifier, LinearProgramSVC, LinearSVC
from maxmargin.displays import MarginDisplay

rng = np.random.default_rng(3)
y = np.repeat([-1, 1], 40)
X = rng.normal(size=(80, 2)) + np.outer(y, [1.0, 0.4])
models = {
    "least squares": LeastSquaresClassifier(penalty=None),
    "lasso": LeastSquaresClassifier(0.025, penalty="lasso"),
    "hinge, no penalty": LinearProgramSVC(penalty=None),
    "SVM": LinearSVC(0.05),
    "L1 SVM": LinearProgramSVC(0.05),
    "Lagrangian SVM": LagrangianSVC(0.05),
}
fig, axes = plt.subplots(2, 3, figsize=(11, 7), layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items()):
    MarginDisplay.from_estimator(model.fit(X, y), X, y, ax=ax)
    ax.get_legend().remove()  # it would take half of the width
    ax.set_title(f"{name}: w = {np.round(model.coef_.ravel(), 2)}")
plt.show()
