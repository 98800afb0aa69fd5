"""
How few support vectors are enough?
===================================

One fit of ``SparseKernelClassifier`` gives a model for every smaller budget. Rows that were never trained
on score each of them, and ``choose_budget`` takes the smallest that is within one point of the best.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from maxmargin import SparseKernelClassifier
from maxmargin.displays import BudgetPathDisplay

X, y = load_digits(return_X_y=True)
X = X / 16
model = SparseKernelClassifier(budget=60, validation_fraction=0.3, random_state=0).fit(X, y)
exact = SVC(C=10).fit(X, y)
enough = model.choose_budget(tolerance=0.01)
print(f"{enough} support vectors are enough; the exact SVM has {exact.n_support_.sum()}")

BudgetPathDisplay.from_estimator(model, tolerance=0.01, name="digits")
plt.show()
