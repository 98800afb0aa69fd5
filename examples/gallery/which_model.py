"""
Which kernel, without trying them all by hand?
==============================================

``AutoSVC`` compares kernels, their parameters and scalings on held-out rows and fits the simplest of the
best. The table of candidates shows what it saw.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from maxmargin import AutoSVC

X, y = load_wine(return_X_y=True)
model = AutoSVC(random_state=0).fit(X, y)
print(model.choice_)

table = model.candidates_
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.barh(table["candidate"], [100 * loss for loss in table["loss"]])
ax.set(xlabel="error on held-out rows, percent")
plt.show()
