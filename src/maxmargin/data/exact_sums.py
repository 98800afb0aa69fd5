"""Sums of products with twice the digits of a double, each product as two exact parts (Dekker 1971)."""

from __future__ import annotations

import math

import numpy as np


def sum_of_products(u: np.ndarray, v: np.ndarray, *others: float) -> float:
    """``sum_i u_i v_i`` plus the others, rounded once."""
    product, error = _product(u, v)
    return math.fsum([*others, *product, *error])


def precise_product(X: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``X V`` as the sum of two matrices, a rounded one and its error (Ogita, Rump & Oishi 2005, Dot2)."""
    total, error = np.zeros((len(X), V.shape[1])), np.zeros((len(X), V.shape[1]))
    for column, row in zip(X.T, V):
        product, lost = _product(column[:, None], row)
        before, total = total, total + product
        added = total - before
        error += lost + ((before - (total - added)) + (product - added))
    return total, error


def _product(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``u v``, rounded, and what rounding lost."""
    product = u * v
    (u_high, u_low), (v_high, v_low) = _halves(u), _halves(v)
    return product, ((u_high * v_high - product) + u_high * v_low + u_low * v_high) + u_low * v_low


def _halves(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two parts of at most 26 bits each that add up to u."""
    large = 134217729.0 * u  # 2^27 + 1
    high = large - (large - u)
    return high, u - high
