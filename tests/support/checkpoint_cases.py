"""Fits of every estimator that take several certificates, and the comparison of what they have fitted."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

import maxmargin as mm
from maxmargin.codes import Code
from maxmargin.solving import Histories
from maxmargin.solving.result import Check

WORK = ("seconds", "kernel_values", "hit_rate")  # what was done for it, not what was found

CASES: dict[str, Any] = {
    "linear-newton": lambda: mm.LinearSVC(C=3.0, solver="newton", tol=1e-3),
    "linear-dual-cd": lambda: mm.LinearSVC(solver="dual-cd", tol=1e-3, decoder="weighted"),
    "linear-log": lambda: mm.LinearSVC(loss="log", tol=1e-8),
    "linear-truncated": lambda: mm.LinearSVC(loss="squared-hinge", solver="truncated-newton", tol=1e-8),
    "kernel": lambda: mm.KernelSVC(C=10.0, code="one-vs-one", tol=1e-6),
    "kernel-learns": lambda: mm.KernelSVC(C=10.0, decoder="probabilistic", tol=1e-6, cache_mb=1.0),
    "kernel-ramp": lambda: mm.KernelSVC(C=10.0, loss="ramp", tol=1e-6),
    "margin": lambda: mm.KernelSVC(nu=0.3, tol=1e-6, cache_mb=0.2),
    "small-margin": lambda: mm.KernelSVC(nu=0.3, tol=1e-6),
    "regression": lambda: mm.KernelSVR(C=10.0, epsilon=0.05, tol=1e-9, cache_mb=0.2),
    "quantiles": lambda: mm.KernelSVR(loss="pinball", quantiles=(0.2, 0.8), tol=1e-9, cache_mb=0.2),
    "tube": lambda: mm.KernelSVR(C=10.0, nu=0.4, tol=1e-6, cache_mb=0.2),
    "small-tube": lambda: mm.KernelSVR(C=10.0, nu=0.4, tol=1e-6),
    "linear-regression": lambda: mm.LinearSVR(C=10.0, epsilon=0.05, tol=1e-9),
    "linear-regression-dual-cd": lambda: mm.LinearSVR(solver="dual-cd", tol=1e-4, random_state=0),
    "novelty": lambda: mm.OneClassSVM(0.2, tol=1e-9, cache_mb=0.2),
    "budget-regression": lambda: mm.SparseKernelRegressor(budget=10),
    "budget-quantile": lambda: mm.SparseKernelRegressor(budget=10, loss="pinball", quantile=0.8),
    "budget-ramp": lambda: mm.SparseKernelClassifier(budget=10, loss="ramp"),
    "budget": lambda: mm.SparseKernelClassifier(budget=10),
    "budget-hinge": lambda: mm.SparseKernelClassifier(
        budget=6, loss="hinge", move_centers=True, validation_fraction=0.2
    ),
    "budget-published": lambda: mm.SparseKernelClassifier.as_published(budget=8),
    "top-k": lambda: mm.TopKSVC(k=2, alpha=1e-3, tol=1e-6),
    "top-k-kernel": lambda: mm.TopKSVC(k=2, kernel="rbf", alpha=1e-3, solver="frank-wolfe", max_iter=60),
    "all-pairs": lambda: mm.AllPairsSVC(C=10.0, tol=1e-5),
    "lagrangian": lambda: mm.LagrangianSVC(solver="lagrangian", tol=1e-7),
    "lagrangian-kernel": lambda: mm.LagrangianSVC(kernel="rbf", solver="newton", C=10.0, tol=1e-10),
    "linear-program": lambda: mm.LinearProgramSVC(C=1.0),
    "linear-program-joint": lambda: mm.LinearProgramSVC(C=1.0, multi_class="joint"),
    "ridge": lambda: mm.LeastSquaresClassifier(),
    "lasso": lambda: mm.LeastSquaresClassifier(penalty="lasso", C=0.5, tol=1e-9),
    "lasvm": lambda: mm.LaSVM(C=10.0, tol=1e-5),
    "perceptron": lambda: mm.KernelPerceptron(max_iter=6),
    "pegasos": lambda: mm.KernelPegasos(max_iter=6),
    "matching-pursuit": lambda: mm.KernelMatchingPursuit(budget=12, n_candidates=30),
    "calibrated": lambda: mm.CalibratedSVC(mm.KernelSVC(C=10.0, tol=1e-6, random_state=0), cv=3),
    "output-code": lambda: mm.OutputCodeClassifier(
        mm.KernelSVC(C=10.0), code="one-vs-one", decoder="weighted"
    ),
}


def problem(dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that overlap."""
    X, y = make_classification(
        240, 8, n_informative=5, n_classes=3, class_sep=0.7, flip_y=0.1, random_state=1
    )
    return X.astype(dtype), y


def fitted(value: Any) -> Any:
    """All that a model has, as something that ``==`` compares bit for bit."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Check):
        return tuple(fitted(v) for k, v in dataclasses.asdict(value).items() if k not in WORK)
    if isinstance(value, dict):
        return {k: fitted(v) for k, v in value.items()}
    if isinstance(value, Code):
        return value.name, fitted(value.matrix)
    if isinstance(value, list | tuple | np.ndarray | Histories):
        return [fitted(v) for v in value]
    if isinstance(value, float):
        return value.hex()
    if hasattr(value, "__dict__") and not callable(value):
        left = ("_functions", "_checkpoint", "_training")
        return type(value).__name__, {k: fitted(v) for k, v in vars(value).items() if k not in left}
    return value
