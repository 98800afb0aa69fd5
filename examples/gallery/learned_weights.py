"""
Are all columns of a code worth the same?
=========================================

A decoder can learn how far to trust each column, from fits that left the row out. ``"prior"`` keeps the
weights near 1 where the rows are few.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from maxmargin import LinearSVC

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = X[:600, 20:44] / 16, X[600:, 20:44] / 16, y[:600], y[600:]
scores = {}
for decoder in ("hamming", "hinge", "weighted", "prior"):
    model = LinearSVC(C=1.0, code="sparse-random", decoder=decoder, random_state=0).fit(X, y)
    scores[decoder] = model.score(X_test, y_test)
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
bars = ax.barh(list(scores), list(scores.values()))
ax.bar_label(bars, fmt="{:.1%}")
ax.set(xlabel="accuracy on new rows, three rows of pixels only", xlim=(0, 1))
plt.show()
