"""Losses of the margin ``m = y f(x)``: value, slope and conjugate.

``cpp/maxmargin/solvers/losses.hpp`` is the compiled twin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

__all__ = [
    "LOSSES",
    "Hinge",
    "Log",
    "Loss",
    "Perceptron",
    "Ramp",
    "SmoothLoss",
    "SmoothedHinge",
    "Squared",
    "SquaredHinge",
    "loss_from_name",
]

FloatArray = NDArray[np.float64]


@runtime_checkable
class Loss(Protocol):
    """A convex function of the margin ``m = y f(x)``, entry by entry.

    ``value(m)``; ``slope(m)``, its derivative in m (a subgradient at a kink), so that the update of f is
    ``u = -y slope(m)``; ``conjugate(u) = sup_m (u m - value(m))``, infinite outside its domain.

    Examples
    --------
    >>> from maxmargin.losses import Hinge, Loss
    >>> isinstance(Hinge(), Loss)
    True
    """

    @property
    def name(self) -> str:
        """The name in ``LOSSES``, and in C++ where a compiled twin exists."""

    def value(self, m: FloatArray) -> FloatArray:
        """The loss at each margin."""

    def slope(self, m: FloatArray) -> FloatArray:
        """The derivative of the loss at each margin."""

    def conjugate(self, u: FloatArray) -> FloatArray:
        """The convex conjugate at each slope."""


class SmoothLoss(Loss, Protocol):
    """A loss that a Newton method can minimise: its slope has a derivative almost everywhere."""

    def curvature(self, m: FloatArray) -> FloatArray:
        """The second derivative of the loss at each margin."""


@dataclass(frozen=True)
class Perceptron:
    """``max(0, -m)``.

    The slope at m = 0 is -1 although the value is 0: an undecided sample counts as an error, as in every
    perceptron. Otherwise an algorithm that starts from f = 0 could never leave it.

    Attributes
    ----------
    name : str
        The name in ``LOSSES``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import Perceptron
    >>> Perceptron().value(np.array([-2.0, 0.5, 2.0]))
    array([2., 0., 0.])
    """

    name: str = "perceptron"

    def value(self, m: FloatArray) -> FloatArray:
        """``max(0, -m)``."""
        return np.maximum(0.0, -m)

    def slope(self, m: FloatArray) -> FloatArray:
        """``-1 if m <= 0 else 0``."""
        return np.where(m <= 0.0, -1.0, 0.0)

    def conjugate(self, u: FloatArray) -> FloatArray:
        """``0`` on ``-1 <= u <= 0``."""
        return np.where((u >= -1.0) & (u <= 0.0), 0.0, np.inf)


@dataclass(frozen=True)
class Hinge:
    """``max(0, 1 - m)``.

    Attributes
    ----------
    name : str
        The name in ``LOSSES``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import Hinge
    >>> Hinge().value(np.array([-2.0, 0.5, 2.0]))
    array([3. , 0.5, 0. ])
    """

    name: str = "hinge"

    def value(self, m: FloatArray) -> FloatArray:
        """``max(0, 1 - m)``."""
        return np.maximum(0.0, 1.0 - m)

    def slope(self, m: FloatArray) -> FloatArray:
        """``-1 if m < 1 else 0``."""
        return np.where(m < 1.0, -1.0, 0.0)

    def conjugate(self, u: FloatArray) -> FloatArray:
        """``u`` on ``-1 <= u <= 0``."""
        return np.where((u >= -1.0) & (u <= 0.0), u, np.inf)

    def smoothed(self, width: float) -> SmoothedHinge:
        """The twin that Newton methods use."""
        return SmoothedHinge(width)


@dataclass(frozen=True)
class SquaredHinge:
    """``max(0, 1 - m)^2 / 2``.

    scikit-learn's ``squared_hinge`` has no 1/2, so its C corresponds to 2 C here.

    Attributes
    ----------
    name : str
        The name in ``LOSSES``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import SquaredHinge
    >>> SquaredHinge().value(np.array([-2.0, 0.5, 2.0]))
    array([4.5  , 0.125, 0.   ])
    """

    name: str = "squared-hinge"

    @np.errstate(over="ignore")
    def value(self, m: FloatArray) -> FloatArray:
        """``max(0, 1 - m)^2 / 2``."""
        h = np.maximum(0.0, 1.0 - m)
        return 0.5 * h * h

    def slope(self, m: FloatArray) -> FloatArray:
        """``-max(0, 1 - m)``."""
        return -np.maximum(0.0, 1.0 - m)

    @np.errstate(over="ignore")
    def conjugate(self, u: FloatArray) -> FloatArray:
        """``u + u^2 / 2`` on ``u <= 0``."""
        return np.where(u <= 0.0, u * (1.0 + 0.5 * u), np.inf)

    def curvature(self, m: FloatArray) -> FloatArray:
        """``1 if m < 1 else 0``."""
        return np.where(m < 1.0, 1.0, 0.0)


@dataclass(frozen=True)
class Log:
    """``log(1 + exp(-m))``, so that ``p(y = +1 | x) = 1 / (1 + exp(-f(x)))``.

    Only ``exp(-|m|)`` is computed, so nothing overflows.

    Attributes
    ----------
    name : str
        The name in ``LOSSES``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import Log
    >>> Log().value(np.array([-2.0, 0.5, 2.0])).round(3)
    array([2.127, 0.474, 0.127])
    """

    name: str = "log"

    def value(self, m: FloatArray) -> FloatArray:
        """``log(1 + exp(-m))``."""
        return np.maximum(0.0, -m) + np.log1p(np.exp(-np.abs(m)))

    def slope(self, m: FloatArray) -> FloatArray:
        """``-1 / (1 + exp(m))``."""
        e = np.exp(-np.abs(m))
        return -np.where(m > 0.0, e, 1.0) / (1.0 + e)

    def conjugate(self, u: FloatArray) -> FloatArray:
        """``p log p + (1 - p) log(1 - p)`` with ``p = -u``, on ``0 <= p <= 1``."""
        p = np.clip(-u, 0.0, 1.0)
        return np.where((u >= -1.0) & (u <= 0.0), xlogy(p, p) + xlog1py(1.0 - p, -p), np.inf)

    def curvature(self, m: FloatArray) -> FloatArray:
        """``p (1 - p)`` with ``p = 1 / (1 + exp(m))``."""
        e = np.exp(-np.abs(m))
        return e / np.square(1.0 + e)


@dataclass(frozen=True)
class Squared:
    """``(1 - m)^2 / 2 = (y - f)^2 / 2``; scikit-learn's ridge has no 1/2.

    Attributes
    ----------
    name : str
        The name in ``LOSSES``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import Squared
    >>> Squared().value(np.array([-2.0, 0.5, 2.0]))
    array([4.5  , 0.125, 0.5  ])
    """

    name: str = "squared"

    @np.errstate(over="ignore")
    def value(self, m: FloatArray) -> FloatArray:
        """``(1 - m)^2 / 2``."""
        return 0.5 * (1.0 - m) * (1.0 - m)

    def slope(self, m: FloatArray) -> FloatArray:
        """``m - 1``."""
        return m - 1.0

    @np.errstate(over="ignore")
    def conjugate(self, u: FloatArray) -> FloatArray:
        """``u + u^2 / 2``."""
        return u * (1.0 + 0.5 * u)

    def curvature(self, m: FloatArray) -> FloatArray:
        """``1``."""
        return np.ones_like(m)


@dataclass(frozen=True)
class SmoothedHinge:
    """The hinge, rounded off by a parabola over ``1 - width < m < 1``.

    It lies below the hinge by at most ``width / 2``, and tends to it as the width tends to 0. It is not in
    ``LOSSES``: Newton methods use it in place of the hinge.
    """

    width: float
    name: str = "smoothed-hinge"
    kink: ClassVar[float] = 1.0  # of the hinge

    def value(self, m: FloatArray) -> FloatArray:
        """``h^2 / (2 width)`` for ``h = max(0, 1 - m) <= width``, ``h - width / 2`` beyond."""
        h = np.maximum(0.0, 1.0 - m)
        near = np.minimum(h, self.width)
        return near * (h - 0.5 * near) / self.width

    def slope(self, m: FloatArray) -> FloatArray:
        """``-min(1, max(0, 1 - m) / width)``."""
        return -np.clip((1.0 - m) / self.width, 0.0, 1.0)

    def conjugate(self, u: FloatArray) -> FloatArray:
        """``u + width u^2 / 2`` on ``-1 <= u <= 0``."""
        return np.where((u >= -1.0) & (u <= 0.0), u * (1.0 + 0.5 * self.width * u), np.inf)

    def curvature(self, m: FloatArray) -> FloatArray:
        """``1 / width`` on the parabola, 0 elsewhere."""
        return np.where((m < 1.0) & (m > 1.0 - self.width), 1.0 / self.width, 0.0)

    def secant(self, m: FloatArray, cost: FloatArray) -> FloatArray:
        """``cost slope / (m - 1)``, which is nowhere 0 where m < 1."""
        return cost * self.slope(m) / np.minimum(m - 1.0, -1e-300)


@dataclass(frozen=True)
class Ramp:
    """``min(max(0, 1 - m), 2)``: the hinge, cut off at the margin -1.

    Bounded, so a wrong label costs no more than 2, and not convex: it is not one of ``LOSSES``. It is
    minimised by steps in which rows with a margin below -1 are set aside and the others have the hinge: the
    constant 2 majorises the loss of the rows set aside and touches it, so no step raises the objective.

    Attributes
    ----------
    name : str
        The name in ``LOSSES``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import Ramp
    >>> Ramp().value(np.array([-2.0, 0.5, 2.0]))
    array([2. , 0.5, 0. ])
    """

    name: str = "ramp"
    least: ClassVar[float] = -1.0  # the margin below which a row is set aside

    def value(self, m: FloatArray) -> FloatArray:
        """``min(max(0, 1 - m), 2)``."""
        return np.clip(1.0 - m, 0.0, 1.0 - self.least)

    def slope(self, m: FloatArray) -> FloatArray:
        """-1 between -1 and 1, else 0."""
        return np.where((m >= self.least) & (m < 1.0), -1.0, 0.0)

    def conjugate(self, u: FloatArray) -> FloatArray:
        """0 at u = 0, infinite elsewhere, because the loss is bounded."""
        return np.where(u == 0.0, 0.0, np.inf)

    def kept(self, outputs: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
        """The rows that a step does not set aside, for outputs and targets of one column or several.

        Where all rows of one sign would be set aside in a column, all of them stay.
        """
        kept = y * outputs >= self.least
        for sign in (-1.0, 1.0):
            own = y == sign
            kept = kept | (own & ~(kept & own).any(axis=0))
        return np.asarray(kept)


LOSSES: dict[str, Loss] = {
    loss.name: loss for loss in (Perceptron(), Hinge(), SquaredHinge(), Log(), Squared())
}
SKLEARN_NAMES = {"squared_hinge": "squared-hinge", "log_loss": "log", "squared_error": "squared"}


def loss_from_name(loss: str | Loss) -> Loss:
    """The loss of that name, in our spelling or scikit-learn's; a ``Loss`` is returned unchanged.

    Parameters
    ----------
    loss : str or Loss
        A name in ``LOSSES``, or the loss itself.

    Examples
    --------
    >>> from maxmargin.losses import loss_from_name
    >>> loss_from_name("hinge")
    Hinge(name='hinge')
    """
    if isinstance(loss, Loss) and not isinstance(loss, type):  # a class has the same attributes
        return loss
    if isinstance(loss, str) and (name := SKLEARN_NAMES.get(loss, loss)) in LOSSES:
        return LOSSES[name]
    if loss == "ramp":
        return Ramp()
    raise ValueError(f"loss must be a Loss or one of {sorted(LOSSES)}; got {loss!r}.")
