"""Export of fitted models to ONNX."""

from .export import to_onnx

__all__ = ["to_onnx"]
