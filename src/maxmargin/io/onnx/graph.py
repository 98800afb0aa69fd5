"""A graph of ONNX operators under construction: constants, nodes, names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ... import kernels

OPSET = 18
IR_VERSION = 9


class Graph:
    """Nodes in the order in which they are added; every value is known by its name."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError:
            raise ImportError("to_onnx needs the package onnx; pip install 'maxmargin[onnx]'.") from None
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """An array, or a number, that belongs to the model."""
        array = np.asarray(value, dtype=dtype)
        name = f"c{len(self.constants)}"
        if array.dtype.kind in "UO":
            helper, kind = self.onnx.helper, self.onnx.TensorProto.STRING
            words = [str(word).encode() for word in array]
            self.constants.append(helper.make_tensor(name, kind, array.shape, words))
        else:
            self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: Any, name: str | None = None, **attributes: Any) -> str:
        """Add an operator on values and return the name of its result; numbers become constants."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        output = name or f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, names, [output], **attributes))
        return output

    def total(self, value: str, axis: int, keepdims: bool = True) -> str:
        """The sum over an axis."""
        axes = self.constant([axis], np.int64)
        return self.add("ReduceSum", value, axes, keepdims=int(keepdims))

    def largest(self, value: str, axis: int) -> str:
        """The maximum over an axis, which is kept with length 1."""
        return self.add("ReduceMax", value, self.constant([axis], np.int64), keepdims=1)

    def columns(self, value: str, chosen: Any) -> str:
        """Some columns of a matrix."""
        return self.add("Gather", value, self.constant(chosen, np.int64), axis=1)

    def ascending(self, value: str, n_columns: int) -> str:
        """The columns sorted in each row."""
        output = f"v{len(self.nodes)}"
        names = [value, self.constant([n_columns], np.int64)]
        ends = [output, f"{output}_places"]
        self.nodes.append(self.onnx.helper.make_node("TopK", names, ends, axis=1, largest=0, sorted=1))
        return output

    def cast(self, value: str, dtype: Any) -> str:
        """The values in another type."""
        return self.add("Cast", value, to=self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def model(self, inputs: list[Any], outputs: list[Any], about: str) -> Any:
        """The finished model, checked by onnx."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "maxmargin", inputs, outputs, self.constants)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="maxmargin",
            doc_string=about,
        )
        self.onnx.checker.check_model(model)
        return model


def column_outputs(graph: Graph, model: Any, X: str) -> str:
    """The outputs (n_samples, n_columns) of a fitted classifier with a code, or of a machine without."""
    if hasattr(model, "support_vectors_") and getattr(model, "space_", "kernel") != "linear":
        outputs = expansion(graph, model.kernel_, X, model.support_vectors_, model.dual_coef_.T)
    else:
        outputs = graph.add("MatMul", X, graph.constant(np.atleast_2d(model.coef_).T))
    outputs = graph.add("Add", outputs, model.intercept_)
    if (
        hasattr(model, "code_") and len(model.intercept_) > model.code_.n_columns
    ):  # a joint program of two classes
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
    """``K(X, Z)``; raises ``ValueError`` for kernels without a formula."""
    if isinstance(kernel, kernels.Sum | kernels.Product):
        parts = [kernel_matrix(graph, part, X, Z) for part in (kernel.left, kernel.right)]
        return graph.add("Add" if isinstance(kernel, kernels.Sum) else "Mul", *parts)
    if isinstance(kernel, kernels.OnColumns):
        own = list(kernel.columns)
        return kernel_matrix(graph, kernel.kernel, graph.columns(X, own), Z[:, own])
    if isinstance(kernel, kernels.Scaled):
        if isinstance(kernel.kernel, kernels.Linear):
            return _linear(graph, kernel, X, kernel.factor * Z)
        return graph.add("Mul", kernel_matrix(graph, kernel.kernel, X, Z), kernel.factor)
    if type(kernel) not in _FORMULAS:
        raise ValueError(
            f"the kernel {kernel!r} cannot be written with ONNX operators; use linear, polynomial, "
            "rbf, sigmoid, laplacian, exponential, precomputed, or a sum, product or multiple of these, also "
            "of some columns each."
        )
    return _FORMULAS[type(kernel)](graph, kernel, X, Z)


def _linear(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    """Factors go into Z: onnxruntime fuses a product with a later factor and rounds that to single."""
    return graph.add("MatMul", X, graph.constant(Z.T))


def _affine(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    return graph.add("Add", _linear(graph, kernel, X, kernel.gamma * Z), kernel.coef0)


def _polynomial(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    return graph.add("Pow", _affine(graph, kernel, X, Z), float(kernel.degree))


def _sigmoid(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    return graph.add("Tanh", _affine(graph, kernel, X, Z))


def _rbf(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    """``||x - z||^2 = ||x||^2 - 2 <x, z> + ||z||^2``, centred at the points' mean to lose the least."""
    center = Z.mean(axis=0)
    X, Z = graph.add("Sub", X, center), Z - center
    squares = graph.total(graph.add("Mul", X, X), 1)
    distances = graph.add("Sub", squares, graph.add("Mul", _linear(graph, kernel, X, Z), 2.0))
    distances = graph.add("Max", graph.add("Add", distances, (Z**2).sum(axis=1)), 0.0)
    return graph.add("Exp", graph.add("Mul", distances, -kernel.gamma))


def _differences(graph: Graph, X: str, Z: np.ndarray) -> str:
    rows = graph.add("Unsqueeze", X, graph.constant([1], np.int64))
    return graph.add("Sub", rows, Z[None])


def _exponential(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    """From differences of the features: the root of an expanded square would lose half the digits."""
    differences = _differences(graph, X, Z)
    squares = graph.total(graph.add("Mul", differences, differences), 2, keepdims=False)
    return graph.add("Exp", graph.add("Mul", graph.add("Sqrt", squares), -kernel.gamma))


def _laplacian(graph: Graph, kernel: Any, X: str, Z: np.ndarray) -> str:
    distances = graph.total(graph.add("Abs", _differences(graph, X, Z)), 2, keepdims=False)
    return graph.add("Exp", graph.add("Mul", distances, -kernel.gamma))


_FORMULAS: dict[type, Callable[[Graph, Any, str, np.ndarray], str]] = {
    kernels.Linear: _linear,
    kernels.Polynomial: _polynomial,
    kernels.RBF: _rbf,
    kernels.Sigmoid: _sigmoid,
    kernels.Laplacian: _laplacian,
    kernels.Exponential: _exponential,
}
