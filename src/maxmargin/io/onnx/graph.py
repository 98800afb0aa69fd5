"""A graph of ONNX operators under construction: constants, nodes, names."""

from __future__ import annotations

from typing import Any

import numpy as np

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
        """The name of what an operator makes of values; a number among them becomes a constant."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        output = name or f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, names, [output], **attributes))
        return output

    def total(self, value: str, axis: int, keepdims: bool = True) -> str:
        """The sum over an axis."""
        axes = self.constant([axis], np.int64)
        return self.add("ReduceSum", value, axes, keepdims=int(keepdims))

    def largest(self, value: str, axis: int) -> str:
        """The maximum over an axis, which stays."""
        return self.add("ReduceMax", value, self.constant([axis], np.int64), keepdims=1)

    def columns(self, value: str, chosen: Any) -> str:
        """Some columns of a matrix."""
        return self.add("Gather", value, self.constant(chosen, np.int64), axis=1)

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
