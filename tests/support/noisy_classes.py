"""Small data of several classes that overlap, a quick classifier for it, and a code for the peer."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

LOGISTIC = LogisticRegression(solver="liblinear", tol=1e-8, random_state=0)  # one thread: small and quick


def noisy(n=240, n_classes=4, seed=0):
    return make_classification(
        n, 8, n_informative=6, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )


class Dictated(np.random.RandomState):
    """Draws from which the peer makes this code."""

    def __init__(self, matrix):
        super().__init__(0)
        self.matrix = matrix

    def uniform(self, size):
        return (self.matrix + 1) / 2.0
