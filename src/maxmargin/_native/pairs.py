"""Steps for all pairs of classes at once."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from .. import _core

__all__ = [
    "pairs_step",
    "pairs_sweep",
]


def pairs_step(t: NDArray[Any], u: float, p: NDArray[Any]) -> None:
    """Into p the minimiser of ``(sum p)^2 / 2 + ||p||^2 / 2 - t'p`` over ``0 <= p <= u``, started from p."""
    _core.pairs_step(t, u, p)


def pairs_sweep(problem: Any, state: Any, weight: float, order: NDArray[Any], cancel: NDArray[Any]) -> None:
    """Exact steps for one sample's pairs after the other of an ``AllPairsProblem``; ``state`` is changed.

    ``state.outputs`` is ``(K B)'`` and ``state.bias`` the multipliers plus ``weight`` times the equations'
    residuals.
    """
    _core.pairs_sweep(
        problem.K, problem.labels, problem.cost, weight, state.a, state.outputs, state.bias, order, cancel
    )
