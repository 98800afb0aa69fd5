"""Steps of budgeted and online kernel methods: back-fitting, perceptrons, Pegasos, LaSVM."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from .. import _core

__all__ = [
    "add_support",
    "back_fit",
    "inverse_halves",
    "lasvm_block",
    "lasvm_reprocess",
    "online_block",
    "reduced_newton",
]


def add_support(j: int, y: NDArray[Any], u: NDArray[Any], problem: Any, state: Any) -> None:
    """One step of every column with y != 0, in which support vector j joins with update u.

    ``state`` (a, scale, t) is changed in place; the coefficients of column c are ``scale[c] * a[c]``.
    """
    _core.add_support(j, y, u, problem.alpha, state.a, state.scale, state.t)


def back_fit(K: NDArray[Any], targets: NDArray[Any], problem: Any, state: Any, cancel: NDArray[Any]) -> None:
    """One back-fitting update for each row of K, in order; ``state`` (a, scale, t) is changed in place.

    ``K[r, j] = k(x_r, z_j)`` for the drawn samples r, whose targets (n_drawn, n_columns) are in {-1, 0, 1},
    and the support vectors j, whose coefficients are ``scale[c] * a[c, j]`` in column c; entries of ``a``
    beyond them do not change. ``problem`` has a loss and an alpha.
    """
    _core.back_fit(K, targets, problem.loss.name, problem.alpha, state.a, state.scale, state.t, cancel)


# Re-exported from the core; the docstring of `kernel_svm` lists what the bindings check.
online_block, lasvm_block, lasvm_reprocess = _core.online_block, _core.lasvm_block, _core.lasvm_reprocess
reduced_newton, inverse_halves = _core.reduced_newton, _core.inverse_halves
