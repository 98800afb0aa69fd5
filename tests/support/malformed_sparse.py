"""Sparse matrices that SciPy accepts although their parts do not belong together, and all that takes one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC as OtherLinearSVC

import maxmargin as mm
from maxmargin import bounds, kernels
from maxmargin.evaluation.evaluate import evaluate_rows
from support.saved_models import EVERY, data, quiet


def rows(dtype: Any = np.float64) -> tuple[sparse.csr_array, np.ndarray]:
    """A sound matrix of our own, and labels."""
    X, y = data()
    return sparse.csr_array(X.astype(dtype)), y


# ---- malformations: each changes a matrix in place ----


def _set(name: str, place: Any, value: Any) -> Callable[[Any], None]:
    def change(X: Any) -> None:
        part = getattr(X, name).copy()
        part[place] = value(X) if callable(value) else value
        setattr(X, name, part)

    return change


def _narrow(X: Any) -> None:
    n, d = X.shape
    X._shape = (n - 1, d) if X.format == "csc" else (n, d - 1)


def _shorten(*names: str) -> Callable[[Any], None]:
    def change(X: Any) -> None:
        for name in names:
            setattr(X, name, getattr(X, name)[:-1].copy())

    return change


COMPRESSED: dict[str, Callable[[Any], None]] = {
    "an index of 2^30": _set("indices", 7, 1 << 30),
    "an index of -1": _set("indices", 7, -1),
    "an index beyond the columns": _set("indices", 7, lambda X: max(X.shape)),
    "a shape narrower than the indices": _narrow,
    "an indptr that falls": _set("indptr", 2, 1 << 20),
    "an indptr beyond the values": _set("indptr", -1, lambda X: X.nnz + 1000),
    "a negative indptr": _set("indptr", 1, -5),
    "an indptr that begins at 3": _set("indptr", 0, 3),
    "too few indptr": _shorten("indptr"),
    "too few indices": _shorten("indices"),
    "too few values": _shorten("data"),
    "real indices": lambda X: setattr(X, "indices", X.indices.astype(np.float64)),
}


def _coordinate(axis: int, value: Any) -> Callable[[Any], None]:
    def change(X: Any) -> None:
        coords = [numbers.copy() for numbers in X.coords]
        coords[axis][7] = value(X) if callable(value) else value
        X.coords = tuple(coords)

    return change


COORDINATES: dict[str, Callable[[Any], None]] = {
    "an index of 2^30": _coordinate(1, 1 << 30),
    "an index of -1": _coordinate(1, -1),
    "an index beyond the columns": _coordinate(1, lambda X: X.shape[1]),
    "an index beyond the rows": _coordinate(0, lambda X: X.shape[0]),
    "a shape narrower than the indices": _narrow,
    "too few values": _shorten("data"),
    "too few indices": lambda X: setattr(X, "coords", (X.coords[0], X.coords[1][:-1].copy())),
}


def _wide_indices(X: Any) -> Any:
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unsorted(X: Any) -> Any:
    """The same CSR matrix with the entries of each row in descending order."""
    order = np.concatenate([np.arange(b, a, -1) - 1 for a, b in zip(X.indptr, X.indptr[1:])])
    return type(X)((X.data[order], X.indices[order], X.indptr.copy()), shape=X.shape)


def doubled(X: Any) -> Any:
    """The same CSR matrix with every entry stored as two halves."""
    parts = (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr)
    return type(X)(parts, shape=X.shape)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "csr": lambda X: X.copy(),
    "csr_matrix": lambda X: sparse.csr_matrix(X),
    "csr of float32": lambda X: X.astype(np.float32),
    "csr of integers": lambda X: (10 * X).astype(np.int64),
    "csr of 64-bit indices": lambda X: _wide_indices(X.copy()),
    "unsorted csr": unsorted,
    "csr with duplicates": doubled,
    "csc": lambda X: X.tocsc(),
    "coo": lambda X: X.tocoo(),
}


def malformed() -> Iterator[tuple[str, str]]:
    """Every layout with everything that can be wrong with it."""
    for layout in LAYOUTS:
        for fault in COORDINATES if layout == "coo" else COMPRESSED:
            yield layout, fault


def matrix(layout: str, fault: str) -> Any:
    """A malformed matrix."""
    X = LAYOUTS[layout](rows()[0])
    (COORDINATES if layout == "coo" else COMPRESSED)[fault](X)
    return X


# ---- whatever takes a matrix ----


@functools.cache
def fitted(name: str) -> Any:
    """A model fitted to the sound matrix."""
    return quiet(lambda: {**EVERY, **OTHERS}[name]().fit(*rows()))


@functools.cache
def calibrated(name: str) -> Any:
    """A regressor with intervals."""
    return quiet(lambda: {**EVERY, **OTHERS}[name]().fit(*rows()).calibrate(*rows()))


OTHERS: dict[str, Callable[[], Any]] = {
    "columns of a peer": lambda: mm.OutputCodeClassifier(OtherLinearSVC(), code="one-vs-rest"),
    "search over a pipeline": lambda: mm.PathCV(
        make_pipeline(MaxAbsScaler(), mm.LinearSVC()), Cs=[0.1, 1.0], cv=3
    ),
    "kernel function": lambda: mm.KernelSVC(kernel=lambda X, Z: (X @ Z.T).toarray()),
    "sum of kernels": lambda: mm.KernelSVC(kernel=kernels.RBF(0.5) * kernels.Linear()),
    "TablePreparation": lambda: mm.table.TablePreparation(),
    "search over a regressor": lambda: mm.PathCV(mm.LinearSVR(), Cs=[0.1, 1.0], cv=3),
    "quantiles": lambda: mm.KernelSVR(loss="pinball", quantiles=(0.1, 0.9)),
}
CONFORMAL = ("KernelSVR", "LinearSVR", "SparseKernelRegressor", "quantiles")
STREAMED = ("KernelPerceptron", "KernelPegasos", "BudgetPerceptron", "SparseKernelClassifier")
KERNELS = {
    "rbf": kernels.RBF(0.5),
    "sum": kernels.RBF(0.5) + kernels.Linear(),
    "product": kernels.RBF(0.5) * kernels.Polynomial(2, 0.1),
    "function": kernels.FromFunction(lambda X, Z: (X @ Z.T).toarray()),
}


def uses() -> dict[str, Callable[[Any, np.ndarray], Any]]:
    """Calls with a matrix and labels, by name: fits, predictions and functions."""
    found: dict[str, Callable[[Any, np.ndarray], Any]] = {}
    for name, make in {**EVERY, **OTHERS}.items():
        found[f"{name}.fit"] = lambda X, y, make=make: make().fit(X, y)
        answer = "transform" if name in ("KernelEigenMap", "TablePreparation") else "predict"
        found[f"{name}.{answer}"] = lambda X, y, name=name, answer=answer: getattr(fitted(name), answer)(X)
    for name in CONFORMAL:
        found[f"{name}.calibrate"] = lambda X, y, name=name: fitted(name).calibrate(X, y)
        found[f"{name}.predict_interval"] = lambda X, y, name=name: calibrated(name).predict_interval(X)
        found[f"{name}.score"] = lambda X, y, name=name: fitted(name).score(X, y)
    for name in STREAMED:
        found[f"{name}.partial_fit"] = lambda X, y, name=name: EVERY[name]().partial_fit(
            X, y, classes=[0, 1, 2]
        )
    Z = rows()[0]
    for name, kernel in KERNELS.items():
        found[f"{name} kernel"] = lambda X, y, kernel=kernel: kernel(X)
        found[f"{name} kernel to others"] = lambda X, y, kernel=kernel: kernel(Z, X)
        found[f"{name} kernel, matmul"] = lambda X, y, kernel=kernel: kernel.matmul(X, Z, np.ones(Z.shape[0]))
        found[f"{name} kernel, diagonal"] = lambda X, y, kernel=kernel: kernel.diagonal(X)
    return found | {
        "landmarks": lambda X, y: mm.KernelEigenMap(3, landmarks=X).fit(Z),
        "median_gamma": lambda X, y: kernels.median_gamma(X),
        "path": lambda X, y: mm.path(mm.LinearSVC(), X, y, Cs=[1.0]),
        "path of a regressor": lambda X, y: mm.path(mm.KernelSVR(), X, y, Cs=[1.0]),
        "KernelSVR.path": lambda X, y: mm.KernelSVR().path(X, y, Cs=[1.0]),
        "outlier scores": lambda X, y: fitted("OneClassSVM").score_samples(X),
        "outlier decisions": lambda X, y: fitted("OneClassSVM").decision_function(X),
        "fit_predict": lambda X, y: mm.OneClassSVM().fit_predict(X),
        "evaluate_rows": lambda X, y: evaluate_rows(fitted("LinearSVC"), X, y),
        "rademacher_monte_carlo": lambda X, y: bounds.rademacher_monte_carlo(kernels.RBF(0.5), X),
        "bounds.report": lambda X, y: bounds.report(fitted("KernelSVC"), X, y),
        "explain": lambda X, y: fitted("KernelSVC").explain(X),
        "score": lambda X, y: fitted("PathCV").score(X, y),
        "fit_blocks": lambda X, y: EVERY["SparseKernelClassifier"]().fit_blocks([(X, y)]),
        "fit_blocks, a later block": lambda X, y: EVERY["SparseKernelClassifier"]().fit_blocks(
            [(Z, y), (X, y)]
        ),
        "importance": lambda X, y: mm.importance(fitted("KernelSVC"), X),
        "importance of AutoSVC": lambda X, y: mm.importance(fitted("AutoSVC"), X),
        "suspects": lambda X, y: mm.KernelSVC(loss="ramp").suspects(X, y),
    }


def snapshot(X: Any) -> dict[str, Any]:
    """Everything that a matrix holds, to be compared after a call; SciPy's flags count as well."""
    held = dict(vars(X))
    for axis, numbers in enumerate(held.pop("coords", ())):
        held[f"coords[{axis}]"] = numbers
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in held.items()}


def same(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether two snapshots are equal, dtypes included."""
    return before.keys() == after.keys() and all(
        np.array_equal(value, after[name]) and getattr(value, "dtype", 0) == getattr(after[name], "dtype", 0)
        for name, value in before.items()
    )
