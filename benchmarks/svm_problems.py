"""The problems of the kernel SVM's speed table: data, C and gamma, and the required speed-ups."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import datasets


@dataclass(frozen=True)
class Problem:
    """An rbf SVM; ``load()`` gives X, y, X_test, y_test, and X is divided by ``unit``."""

    file: str
    load: Callable
    gamma: float
    C: float
    dtypes: tuple[str, ...] = ("float32", "float64")  # ours and scikit-learn-intelex's
    against_sklearn: float = 20.0
    against_intelex: float = 2.0
    least_share: float | None = None  # of the bare products in the fit, in percent
    unit: float = 1.0

    @property
    def is_there(self):
        """Whether its file is in MAXMARGIN_DATA."""
        return (Path(os.environ.get("MAXMARGIN_DATA", "")) / self.file).is_file()

    def data(self, dtype, n_rows=None, n_test=None):
        """The first rows of both parts."""
        X, y, X_test, y_test = self.load()
        X, X_test = X[:n_rows].astype(dtype), X_test[:n_test].astype(dtype)
        if self.unit != 1.0:
            X /= self.unit
            X_test /= self.unit
        return X, y[:n_rows], X_test, y_test[:n_test]


def covtype_50000():
    """50,000 training rows and 20,000 test rows, which take scikit-learn minutes."""
    X, y, X_test, y_test = datasets.covtype(50_000)
    return X, y, X_test[:20_000], y_test[:20_000]


PROBLEMS = {
    "letter": Problem("letter.npz", datasets.letter, 0.1, 10.0, against_sklearn=3.0),
    "a9a": Problem("a9a.npz", datasets.adult_dense, 0.05, 1.0),
    "a9a-csr": Problem("a9a.npz", datasets.adult, 0.05, 1.0, ("float32",)),
    "mnist8": Problem(
        "mnist.npz", datasets.eight_or_not, 0.02, 10.0, against_intelex=1.5, least_share=60.0, unit=255.0
    ),
    "mnist": Problem(
        "mnist.npz", datasets.mnist_split, 0.02, 10.0, ("float32",), least_share=60.0, unit=255.0
    ),
    "covtype": Problem("covtype.npz", covtype_50000, 0.1, 10.0, ("float32",)),
}
