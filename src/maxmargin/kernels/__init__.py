"""Kernels: frozen descriptions that compute their own matrices, and sums, products and multiples of them."""

from .algebra import Kernel, Product, Scaled, Sum
from .compiled import RBF, Laplacian, Linear, Polynomial, Sigmoid
from .given import FromFunction, Precomputed
from .names import kernel_from_name

__all__ = [
    "RBF",
    "FromFunction",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "kernel_from_name",
]
