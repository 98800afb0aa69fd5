"""
Can a code correct the mistakes of its columns?
===============================================

Each column of a code is a two-class problem. If the rows of the code are far apart, some columns may err
and the decoder still finds the class: here single columns err on up to a fifth of the rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from maxmargin import LinearSVC
from maxmargin.displays import CodeDisplay

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = X[:1200] / 16, X[1200:] / 16, y[:1200], y[1200:]
for code in ("one-vs-rest", "one-vs-one", "designed"):
    model = LinearSVC(C=0.1, code=code, random_state=0).fit(X, y)
    print(f"{code}: {model.code_.matrix.shape[1]} columns, accuracy {model.score(X_test, y_test):.3f}")
CodeDisplay.from_estimator(model, X_test, y_test)
plt.show()
