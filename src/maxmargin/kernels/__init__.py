"""Kernels: immutable objects that compute kernel matrices, with sums, products and multiples of kernels."""

from .algebra import Kernel, Product, Scaled, Sum
from .bandwidth import _SquaredDistance, depends_on_data, median_gamma
from .compiled import RBF, Exponential, Laplacian, Linear, Polynomial, Sigmoid, _OfDistance
from .data import KernelData, join_points, n_points, points_of
from .given import FromFunction, Precomputed
from .gradient import average_outer_product, check_gradient, gradient_blocks
from .names import kernel_from_name
from .on_columns import OnColumns

__all__ = [
    "RBF",
    "Exponential",
    "FromFunction",
    "Kernel",
    "KernelData",
    "Laplacian",
    "Linear",
    "OnColumns",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "_OfDistance",
    "_SquaredDistance",
    "average_outer_product",
    "check_gradient",
    "depends_on_data",
    "gradient_blocks",
    "join_points",
    "kernel_from_name",
    "median_gamma",
    "n_points",
    "points_of",
]
