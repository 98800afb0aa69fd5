"""OutputCodeClassifier around an SVM, against scikit-learn's around its own, on one code matrix.

Letter with a dense random code of 60 columns, which is drawn before the clock starts. Both have two workers:
ours uses threads in one fit, scikit-learn's processes with a column each. A second row has our estimator
around scikit-learn's SVC, with a clone for each column as for any other classifier.
"""

import numpy as np
from clock import percent, row, score, tell, timed
from datasets import letter
from sklearn.multiclass import OutputCodeClassifier as PeerClassifier
from sklearn.svm import SVC

from maxmargin import KernelSVC, OutputCodeClassifier
from maxmargin.codes import Code

C, GAMMA, TARGET = 10.0, 0.1, 3.0


class Dictated(np.random.RandomState):
    """A random state whose draws reproduce a given code in the peer's own construction."""

    def __init__(self, matrix):
        super().__init__(0)
        self.matrix = matrix

    def uniform(self, size):
        """The code, scaled to values above one half for +1 and below it for -1."""
        assert size == self.matrix.shape
        return (self.matrix + 1) / 2.0


def peer(code, n_jobs):
    columns_per_class = (code.n_columns + 0.5) / code.n_classes
    return PeerClassifier(
        SVC(C=C, gamma=GAMMA), code_size=columns_per_class, random_state=Dictated(code.matrix), n_jobs=n_jobs
    )


def ours(code, n_jobs, estimator):
    return OutputCodeClassifier(estimator, code=code, n_jobs=n_jobs)


def run(repeats, quick):
    data = letter()
    if data is None:
        return []
    X, y, X_test, y_test = data
    code = Code.dense_random(26, 6 if quick else 60, random_state=0)
    if quick:
        X, y, X_test, y_test = X[:800], y[:800], X_test[:400], y_test[:400]
    n_jobs = 1 if quick else 2  # processes take seconds to start
    models = [
        ours(code, n_jobs, KernelSVC(C, gamma=GAMMA)),
        peer(code, n_jobs),
        ours(code, n_jobs, SVC(C=C, gamma=GAMMA)),
    ]
    fits = [(model, []) for model in models]
    for _ in range(1 if quick else min(repeats, 3)):
        for model, seconds in fits:
            seconds.append(timed(lambda model=model: model.fit(X, y))[0])
    (model, own), (other, others), (clones, by_clones) = fits
    matrix = np.where(other.code_book_ == 1, 1, -1)
    assert (matrix == code.matrix).all()
    assert (clones.code_.matrix == code.matrix).all()
    name = f"output code, letter, {code.n_columns} columns"
    peers = "scikit-learn OutputCodeClassifier(SVC())"
    lines = [
        row(name, np.median(own), peers, np.median(others), TARGET),
        row(f"{name}, clones of scikit-learn's SVC", np.median(by_clones), peers, np.median(others)),
        score(f"{name}: accuracy", percent(model, X_test, y_test), peers, percent(other, X_test, y_test)),
    ]
    return tell(lines)
