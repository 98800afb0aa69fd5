"""
Which columns does the model depend on?
=======================================

The average squared gradient of the model's outputs, column by column: it needs no permutations and is exact
for every kernel.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import KernelSVC
from maxmargin.displays import ImportanceDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), KernelSVC(C=1.0)).fit(X, y)
ImportanceDisplay.from_estimator(model, X)
plt.show()
