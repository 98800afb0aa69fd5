"""Outputs of columns from ONNX operators: linear functions and kernel expansions, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ... import kernels
from .graph import Graph


def column_outputs(graph: Graph, model: Any, X: str) -> str:
    """The outputs (n_samples, n_columns) of a fitted classifier with a code."""
    if hasattr(model, "support_vectors_") and getattr(model, "space_", "kernel") != "linear":
        outputs = expansion(graph, model.kernel_, X, model.support_vectors_, model.dual_coef_.T)
    else:
        outputs = graph.add("MatMul", X, graph.constant(model.coef_.T))
    outputs = graph.add("Add", outputs, model.intercept_)
    if len(model.intercept_) > model.code_.n_columns:  # a joint program of two classes
        return graph.add("Sub", graph.columns(outputs, [1]), graph.columns(outputs, [0]))
    return outputs


def expansion(graph: Graph, kernel: Any, X: str, points: Any, coef: np.ndarray) -> str:
    """``K(X, points) @ coef``."""
    if isinstance(kernel, kernels.Precomputed):
        return graph.add("MatMul", graph.columns(X, points), graph.constant(coef))
    is_sparse = isinstance(points, sparse.csr_array | sparse.csr_matrix)
    Z = np.asarray(points.toarray() if is_sparse else points, dtype=np.float64)
    return graph.add("MatMul", kernel_matrix(graph, kernel, X, Z), graph.constant(coef))


def kernel_matrix(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    """``K(X, Z)``; a ``ValueError`` for kernels that are no formula."""
    if isinstance(kernel, kernels.Sum | kernels.Product):
        parts = [kernel_matrix(graph, part, X, Z) for part in (kernel.left, kernel.right)]
        return graph.add("Add" if isinstance(kernel, kernels.Sum) else "Mul", *parts)
    if isinstance(kernel, kernels.Scaled):
        if isinstance(kernel.kernel, kernels.Linear):
            return _linear(graph, kernel, X, kernel.factor * Z)
        return graph.add("Mul", kernel_matrix(graph, kernel.kernel, X, Z), kernel.factor)
    if type(kernel) not in _FORMULAS:
        raise ValueError(
            f"the kernel {kernel!r} cannot be written with ONNX operators; it can be linear, polynomial, "
            "rbf, sigmoid, laplacian, precomputed, or a sum, product or multiple of these."
        )
    return _FORMULAS[type(kernel)](graph, kernel, X, Z)


def _linear(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    """Factors belong into Z: onnxruntime joins a product and a factor after it, which it rounds to single."""
    return graph.add("MatMul", X, graph.constant(Z.T))


def _affine(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    return graph.add("Add", _linear(graph, kernel, X, kernel.gamma * Z), kernel.coef0)


def _polynomial(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    return graph.add("Pow", _affine(graph, kernel, X, Z), float(kernel.degree))


def _sigmoid(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    return graph.add("Tanh", _affine(graph, kernel, X, Z))


def _rbf(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    """``||x - z||^2 = ||x||^2 - 2 <x, z> + ||z||^2``, around the points' mean, where this loses least."""
    center = Z.mean(axis=0)
    X, Z = graph.add("Sub", X, center), Z - center
    squares = graph.total(graph.add("Mul", X, X), 1)
    distances = graph.add("Sub", squares, graph.add("Mul", _linear(graph, kernel, X, Z), 2.0))
    distances = graph.add("Max", graph.add("Add", distances, (Z**2).sum(axis=1)), 0.0)
    return graph.add("Exp", graph.add("Mul", distances, -kernel.gamma))


def _laplacian(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    rows = graph.add("Unsqueeze", X, graph.constant([1], np.int64))
    distances = graph.total(graph.add("Abs", graph.add("Sub", rows, Z[None])), 2, keepdims=False)
    return graph.add("Exp", graph.add("Mul", distances, -kernel.gamma))


_FORMULAS: dict[type, Callable[[Graph, Any, str, np.ndarray], str]] = {
    kernels.Linear: _linear,
    kernels.Polynomial: _polynomial,
    kernels.RBF: _rbf,
    kernels.Sigmoid: _sigmoid,
    kernels.Laplacian: _laplacian,
}
