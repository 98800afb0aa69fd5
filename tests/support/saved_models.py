"""Fitted models of every kind, small and quick, for the tests of model files and the soak."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

import maxmargin as mm
from maxmargin import codes, decoders, kernels
from maxmargin.table.preparation import TablePreparation

WORDS = np.array(["setosa", "versicolor", "virginica"])


@functools.cache
def data(n_classes: int = 3, dtype: str = "float64", layout: str = "dense") -> tuple[Any, np.ndarray]:
    """Every second row of iris, zeros included so that CSR has something to leave out."""
    X, y = load_iris(return_X_y=True)
    X, y = np.round(X[::2] - 2.0, 1).astype(dtype), y[::2]
    X[np.abs(X) < 0.5] = 0.0
    X, y = X[y < n_classes], y[y < n_classes]
    return (X if layout == "dense" else sparse.csr_array(X)), y


def table() -> dict[str, Any]:
    """The rows as named columns: three of numbers, one with gaps, and one of words."""
    X, y = data()
    words = np.array(["red", "green", "blue", "grey"], dtype=object)[np.arange(len(y)) * (y + 1) % 4]
    gaps = np.where(np.arange(len(y)) % 7 == 0, np.nan, X[:, 3])
    return {"a": X[:, 0], "b": X[:, 1], "colour": words, "c": X[:, 2], "gaps": gaps}


def quiet(make: Callable[[], Any]) -> Any:
    """The model that ``make`` fits, whatever warnings there are on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make()


def stream(model: Any, n_classes: int = 3) -> Any:
    """A model in the middle of a stream."""
    X, y = data(n_classes)
    classes = np.arange(n_classes)
    return model.partial_fit(X[::3], y[::3], classes=classes).partial_fit(X[1::3], y[1::3])


EVERY: dict[str, Callable[[], Any]] = {  # one of each public estimator, with its default code
    "AllPairsSVC": lambda: mm.AllPairsSVC(),
    "AutoSVC": lambda: mm.AutoSVC(random_state=0),
    "BudgetPerceptron": lambda: mm.BudgetPerceptron(10, random_state=0),
    "CalibratedSVC": lambda: mm.CalibratedSVC(cv=3),
    "KernelEigenMap": lambda: mm.KernelEigenMap(5, random_state=0),
    "KernelMatchingPursuit": lambda: mm.KernelMatchingPursuit(8, random_state=0),
    "KernelPegasos": lambda: mm.KernelPegasos(random_state=0),
    "KernelPerceptron": lambda: mm.KernelPerceptron(random_state=0),
    "KernelSVC": lambda: mm.KernelSVC(),
    "KernelSVR": lambda: mm.KernelSVR(),
    "LaSVM": lambda: mm.LaSVM(random_state=0),
    "LagrangianSVC": lambda: mm.LagrangianSVC(),
    "LeastSquaresClassifier": lambda: mm.LeastSquaresClassifier(),
    "LinearProgramSVC": lambda: mm.LinearProgramSVC(),
    "LinearSVC": lambda: mm.LinearSVC(),
    "LinearSVR": lambda: mm.LinearSVR(),
    "OneClassSVM": lambda: mm.OneClassSVM(),
    "OutputCodeClassifier": lambda: mm.OutputCodeClassifier(mm.LinearSVC(), code="one-vs-one"),
    "PathCV": lambda: mm.PathCV(mm.LinearSVC(), Cs=[0.1, 1.0], cv=3),
    "SparseKernelClassifier": lambda: mm.SparseKernelClassifier(8, random_state=0),
    "SparseKernelRegressor": lambda: mm.SparseKernelRegressor(8, random_state=0),
    "TopKSVC": lambda: mm.TopKSVC(k=1),
}


def special() -> dict[str, Callable[[], Any]]:
    """Fitted models with everything that an estimator may hold beside arrays."""
    X, y = data()
    two = data(2)
    matrix = np.array([[1, -1, 0, 1], [-1, 1, 1, 1], [0, -1, -1, -1]])
    svc, svm = mm.KernelSVC, mm.LinearSVC
    rbf = kernels.RBF(0.3)
    return {
        "sum of kernels": lambda: svc(kernel=0.7 * rbf + 0.1 * kernels.Linear() * kernels.Sigmoid(0.1)).fit(
            X, y
        ),
        "polynomial": lambda: svc(kernel="polynomial", degree=2, coef0=1.0).fit(X, y),
        "laplacian median": lambda: svc(kernel="laplacian", gamma="median", random_state=3).fit(X, y),
        "exponential median": lambda: svc(kernel="exponential", gamma="median").fit(X, y),
        "exponential budget": lambda: mm.SparseKernelClassifier(6, kernel="exponential").fit(X, y),
        "ramp": lambda: svc(loss="ramp").fit(X, y),
        "regression precomputed": lambda: mm.KernelSVR(kernel="precomputed").fit(X @ X.T, y),
        "nu": lambda: svc(nu=0.3).fit(X, y),
        "nu regression": lambda: mm.KernelSVR(nu=0.4).fit(X, y),
        "quantiles": lambda: mm.KernelSVR(loss="pinball", quantiles=(0.1, 0.5)).fit(X, y).calibrate(X, y),
        "budget regression": lambda: (
            mm.SparseKernelRegressor(8, loss="huber", random_state=0).fit(X, y).calibrate(X, y)
        ),
        "linear quantile": lambda: mm.LinearSVR(loss="pinball", quantile=0.7).fit(X, y).calibrate(X, y),
        "scaled regression": lambda: make_pipeline(StandardScaler(), mm.KernelSVR(loss="huber")).fit(X, y),
        "ramp budget": lambda: mm.SparseKernelClassifier(6, loss="ramp", random_state=0).fit(X, y),
        "precomputed": lambda: svc(kernel="precomputed").fit(X @ X.T, y),
        "code": lambda: svc(code=codes.Code(matrix, "mine"), decoder="log").fit(X, y),
        "many columns": lambda: svc(code="exhaustive", decoder=decoders.LossBased()).fit(X, y),
        "hamming": lambda: svm(code="one-vs-one", decoder="hamming").fit(X, y),
        "weighted": lambda: svm(code="one-vs-one", decoder="weighted").fit(X, y),
        "weighted focus": lambda: svc(decoder="weighted-support-vectors").fit(X, y),
        "prior": lambda: svm(decoder="prior").fit(X, y),
        "probabilistic": lambda: svm(decoder="probabilistic").fit(X, y),
        "coupling": lambda: svc(decoder="coupling").fit(X, y),
        "probabilistic two": lambda: svm(decoder="probabilistic").fit(*two),
        "isotonic": lambda: mm.CalibratedSVC(method="isotonic", cv=3).fit(X, y),
        "isotonic two": lambda: mm.CalibratedSVC(svc(C=2.0), method="isotonic", cv=3).fit(*two),
        "calibrated rest": lambda: mm.CalibratedSVC(svc(code="one-vs-rest"), cv=3).fit(X, y),
        "sparse hinge": lambda: mm.SparseKernelClassifier(
            8, loss="squared-hinge", validation_fraction=0.2, random_state=0
        ).fit(X, y),
        "sparse log": lambda: mm.SparseKernelClassifier(8, loss="log", random_state=0).fit(X, y),
        "published": lambda: mm.SparseKernelClassifier.as_published(8, random_state=0).fit(X, y),
        "lagrangian kernel": lambda: mm.LagrangianSVC(kernel="rbf", warm_start=True).fit(X, y),
        "lagrangian eigen": lambda: mm.LagrangianSVC(kernel="rbf", n_components=6, kernel_gap=True).fit(X, y),
        "program columns": lambda: mm.LinearProgramSVC(kernel="rbf", warm_start=True).fit(X, y),
        "program eigen": lambda: mm.LinearProgramSVC(kernel="rbf", features="eigen", n_components=6).fit(
            X, y
        ),
        "program joint": lambda: mm.LinearProgramSVC(multi_class="joint").fit(*two),
        "program joint kernel": lambda: mm.LinearProgramSVC(multi_class="joint", kernel="rbf").fit(X, y),
        "squares lasso": lambda: mm.LeastSquaresClassifier(penalty="lasso").fit(X, y),
        "squares none": lambda: mm.LeastSquaresClassifier(penalty=None, code="one-vs-one").fit(X, y),
        "top-k kernel": lambda: mm.TopKSVC(k=2, kernel="rbf", warm_start=True).fit(X, y),
        "weights": lambda: svm(class_weight={0: 1.0, 1: 2.0, 2: 0.5}).fit(X, y),
        "words": lambda: svc().fit(X, WORDS[y]),
        "objects": lambda: svc(class_weight={"setosa": 2.0}).fit(X, WORDS[y].astype(object)),
        "booleans": lambda: svc().fit(two[0], two[1] == 1),
        "real labels": lambda: svc().fit(X, y.astype(np.float64)),
        "perceptron stream": lambda: stream(mm.KernelPerceptron(random_state=0)),
        "pegasos stream": lambda: stream(mm.KernelPegasos(random_state=0)),
        "budget stream": lambda: stream(mm.SparseKernelClassifier(8, random_state=0)),
        "published stream": lambda: stream(
            mm.SparseKernelClassifier.as_published(8, alpha=0.01, random_state=0)
        ),
        "columns of machines": lambda: mm.OutputCodeClassifier(
            mm.KernelSVC(class_weight="balanced"), code="one-vs-rest", decoder="prior", cv=3
        ).fit(X, y),
        "columns of budgets": lambda: mm.OutputCodeClassifier(mm.SparseKernelClassifier(6)).fit(X, y),
        "columns of pipelines": lambda: mm.OutputCodeClassifier(make_pipeline(StandardScaler(), svm())).fit(
            X, y
        ),
        "columns of tables": lambda: mm.OutputCodeClassifier(make_pipeline(TablePreparation(), svm())).fit(
            X, y
        ),
        "search over kernels": lambda: mm.PathCV(svc(), Cs=[1.0, 10.0], gammas=[0.1, 1.0], cv=3).fit(X, y),
        "search without refit": lambda: mm.PathCV(svm(), Cs=[1.0, 10.0], cv=3, refit=False).fit(X, y),
        "landmarks": lambda: mm.KernelEigenMap(4, landmarks=X[:9], method="landmarks").fit(X),
        "eigen precomputed": lambda: mm.KernelEigenMap(4, kernel="precomputed").fit(X @ X.T),
        "scaled": lambda: make_pipeline(StandardScaler(), svc()).fit(X, y),
        "scalers": lambda: make_pipeline(
            SimpleImputer(), MinMaxScaler(), RobustScaler(), MaxAbsScaler(), Normalizer(), svm()
        ).fit(X, WORDS[y]),
        "features": lambda: make_pipeline(mm.KernelEigenMap(6, gamma=0.1), svm()).fit(X, y),
        "passed through": lambda: Pipeline([("nothing", "passthrough"), ("model", svm())]).fit(X, y),
        "table": lambda: Pipeline(
            [("table", TablePreparation()), ("model", mm.SparseKernelClassifier(8))]
        ).fit(table(), WORDS[y]),
        "numbers": lambda: Pipeline([("table", TablePreparation(dtype="float64")), ("model", svc())]).fit(
            X, y
        ),
        "sparse table": lambda: Pipeline([("table", TablePreparation()), ("model", svm())]).fit(
            data(3, "float64", "csr")[0], y
        ),
        "sparse scaled": lambda: make_pipeline(StandardScaler(with_mean=False), svm()).fit(
            data(3, "float32", "csr")[0], y
        ),
    }
