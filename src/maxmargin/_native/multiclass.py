"""Multiclass steps: the top-k hinge, the pairs of the all-pairs M-SVM, and sums over a code matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .arguments import NEVER, as_matrix, as_real
from .blas import one_blas_thread

__all__ = [
    "are_ordered",
    "code_sums",
    "pair_sums",
    "pairs_step",
    "pairs_sweep",
    "topk_look",
    "topk_project",
    "topk_prox",
    "topk_sweep",
    "topk_tile",
]


def topk_project(a: NDArray[Any], k: int, include: bool = True, rho: float = 1.0) -> NDArray[Any]:
    """The u that minimises ``||u||^2 / 2 + rho (sum u)^2 / 2 - a'u`` over the domain of the top-k hinge.

    That is ``u >= 0, sum u <= 1, u_j <= min(1/k, sum u / kappa)``, where kappa is k - 1, or k if the true
    class is left out.
    """
    a = np.ascontiguousarray(a)
    u = np.empty_like(a)
    _core.topk_project(a, k, include, rho, u)
    return u


def _blocks(problem: Any, state: Any, method: str) -> tuple[Any, ...]:
    loss = problem.loss
    return (
        problem.labels,
        problem.cost,
        problem.sqnorms,
        loss.k,
        loss.true_class == "include",
        problem.constant,
        state.passed_over,
        method,
        state.A,
        state.gaps,
        state.moved,
    )


def topk_sweep(
    problem: Any, state: Any, method: str, order: NDArray[Any], cancel: NDArray[Any] = NEVER
) -> None:
    """One step for each sample of ``order`` of a linear ``TopKProblem``; ``state`` is changed in place.

    ``method`` is "exact" or "frank-wolfe". ``state.gaps`` receives each sample's contribution to the duality
    gap, and ``state.moved`` whether its step changed anything.
    """
    with one_blas_thread():
        _core.topk_sweep(
            as_matrix(problem.data.X),
            problem.data.index,
            *_blocks(problem, state, method),
            state.W,
            state.offset,
            order,
            cancel,
        )


def topk_look(problem: Any, state: Any, cancel: NDArray[Any] = NEVER) -> None:
    """Write the gaps of all samples of a linear ``TopKProblem`` at the current W to ``state.gaps``."""
    labels, cost, sqnorms, k, include, constant, _, _, *arrays = _blocks(problem, state, "exact")
    with one_blas_thread():
        _core.topk_look(
            as_matrix(problem.data.X),
            problem.data.index,
            *(labels, cost, sqnorms, k, include, constant, *arrays),
            state.W,
            state.offset,
            problem.data.n_threads,
            cancel,
        )


def topk_prox(
    problem: Any, centre: NDArray[Any], Z: NDArray[Any], tau: float, cancel: NDArray[Any] = NEVER
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """For each sample the a that maximises ``a_y - <a, z> - tau/2 ||a - centre||^2`` over its domain.

    Returns A, the maxima, and how A changes with Z: entries marked 1 change by the same amount minus their
    mean, entries marked 2 keep the proportions given by the domain's cone, other entries do not change.
    """
    A, value, faces = np.empty(Z.shape), np.empty(len(Z)), np.empty(Z.shape, dtype=np.uint8)
    include, n_threads = problem.loss.true_class == "include", problem.data.n_threads
    _core.topk_prox(
        problem.labels, problem.loss.k, include, centre, Z, tau, A, value, faces, n_threads, cancel
    )
    return A, value, faces


def topk_tile(
    problem: Any,
    state: Any,
    method: str,
    which: NDArray[Any],
    products: tuple[NDArray[Any], NDArray[Any]],
    n_passes: int = 1,
) -> NDArray[Any]:
    """Steps for the samples of a tile; ``products`` are their Gram matrix G, constant included, and scores Z.

    Z is overwritten. Returns the change of their coefficients c_i a_i.
    """
    change = np.zeros((len(which), problem.n_classes))
    _core.topk_tile(*_blocks(problem, state, method), which, *products, change, n_passes)
    return change


def pairs_step(t: NDArray[Any], u: float, p: NDArray[Any]) -> None:
    """Minimise ``(sum p)^2 / 2 + ||p||^2 / 2 - t'p`` over ``0 <= p <= u`` in place, starting from p."""
    _core.pairs_step(t, u, p)


def pairs_sweep(problem: Any, state: Any, weight: float, order: NDArray[Any], cancel: NDArray[Any]) -> None:
    """Exact steps for the pairs of an ``AllPairsProblem``, sample by sample; ``state`` is changed in place.

    ``state.outputs`` is ``(K B)'`` and ``state.bias`` the multipliers plus ``weight`` times the equations'
    residuals.
    """
    _core.pairs_sweep(
        problem.K, problem.labels, problem.cost, weight, state.a, state.outputs, state.bias, order, cancel
    )


def code_sums(F: NDArray[Any], matrix: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """``F @ matrix.T`` as a sum of two doubles, and ``sign(F) @ matrix.T``, for entries -1, 0 and +1."""
    F, matrix = as_real("F", F, np.float64), np.ascontiguousarray(matrix, dtype=np.int8)
    if F.ndim != 2 or matrix.ndim != 2 or F.shape[1] != matrix.shape[1]:
        raise ValueError(
            f"F and the code must have the same number of columns; got shapes {F.shape} and {matrix.shape}."
        )
    high, low, votes = (np.empty((F.shape[0], matrix.shape[0])) for _ in range(3))
    _core.code_sums(F, matrix, high, low, votes)
    return high, low, votes


def pair_sums(F: NDArray[Any], n_classes: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """``code_sums`` for the code of all pairs (0, 1), (0, 2), ..., (1, 2), ..., without its matrix."""
    F, n_columns = as_real("F", F, np.float64), n_classes * (n_classes - 1) // 2
    if F.ndim != 2 or F.shape[1] != n_columns:
        raise ValueError(f"F must have {n_columns} columns, one for each pair; got shape {F.shape}.")
    high, low, votes = (np.empty((F.shape[0], n_classes)) for _ in range(3))
    _core.pair_sums(F, high, low, votes)
    return high, low, votes


def are_ordered(scores: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Whether each row of scores is without ties and in the order of (first, second); nearly all rows are."""
    keys = [np.ascontiguousarray(key, dtype=np.float64) for key in (scores, first, second)]
    out = np.empty(len(keys[0]), dtype=np.bool_)
    _core.are_ordered(*keys, out.view(np.uint8))
    return out
