"""Look up a kernel by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from .algebra import Kernel
from .compiled import RBF, Exponential, Gamma, Laplacian, Linear, Polynomial, Sigmoid
from .given import FromFunction, Precomputed

__all__ = ["kernel_from_name"]

_BY_NAME: dict[str, type[Kernel]] = {
    k.name: k for k in (Exponential, Laplacian, Linear, Polynomial, Precomputed, RBF, Sigmoid)
}
_ALIASES = {"poly": "polynomial"}  # scikit-learn's spelling


def kernel_from_name(
    kernel: Any, *, gamma: Gamma | None = None, degree: float | None = None, coef0: float | None = None
) -> Kernel:
    """A kernel from its name, a callable ``k(X, Z) -> matrix``, or a kernel.

    ``gamma``, ``degree`` and ``coef0`` are passed to kernels that take them; None keeps the kernel's default.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name, a kernel, or a function of two sequences.
    gamma, degree, coef0 : float, optional
        Parameters of a kernel given by name.

    Examples
    --------
    >>> from maxmargin.kernels import kernel_from_name
    >>> kernel_from_name("rbf", gamma=0.5)
    RBF(gamma=0.5)
    """
    if isinstance(kernel, Kernel):
        return kernel
    name = _ALIASES.get(kernel, kernel) if isinstance(kernel, str) else None
    if name in _BY_NAME:
        cls = _BY_NAME[name]
        known = {f.name for f in fields(cls)}  # type: ignore[arg-type]
        given = {"gamma": gamma, "degree": degree, "coef0": coef0}
        return cls(**{key: value for key, value in given.items() if key in known and value is not None})
    if callable(kernel) and not isinstance(kernel, type):
        return FromFunction(kernel)
    raise ValueError(f"kernel must be a Kernel, a callable or one of {sorted(_BY_NAME)}; got {kernel!r}.")
