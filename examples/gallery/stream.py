"""
Can it learn from rows that come once?
======================================

``partial_fit`` takes batches, keeps a bounded sample of all rows so far, and refits its support vectors
after each batch: the budget holds at every moment.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from maxmargin import SparseKernelClassifier

X, y = load_digits(return_X_y=True)
X = X / 16
order = np.random.default_rng(0).permutation(1400)
model = SparseKernelClassifier(30, alpha=1e-3, random_state=0)
seen, scores = [], []
for batch in np.array_split(order, 7):
    model.partial_fit(X[batch], y[batch], classes=range(10))
    seen.append(len(batch) + (seen[-1] if seen else 0))
    scores.append(model.score(X[1400:], y[1400:]))
print(f"{model.n_support_} support vectors after {seen[-1]} rows")

fig, ax = plt.subplots()
ax.plot(seen, scores, "o-")
ax.set(xlabel="rows seen", ylabel="accuracy on other rows")
plt.show()
