"""The protocol of decoders: what they learn from, their scores and their probabilities."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..codes import Code

__all__ = ["Decoder", "LearnsFrom", "ProbabilityDecoder"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
LearnsFrom = Literal["nothing", "outputs", "out-of-fold"]


@runtime_checkable
class Decoder(Protocol):
    """Turns column outputs ``F`` of shape (n_samples, n_columns) into scores (n_samples, n_classes).

    ``fit`` learns from outputs and labels ``0 .. n_classes-1`` and returns the fitted decoder; decoders with
    nothing to learn return themselves. ``learns_from`` declares which outputs ``fit`` needs: those for the
    training rows themselves, or for rows that the columns were not trained on.

    Examples
    --------
    >>> from maxmargin.decoders import Decoder, Votes
    >>> isinstance(Votes(), Decoder)
    True
    """

    learns_from: ClassVar[LearnsFrom]

    @property
    def name(self) -> str:
        """The name in ``DECODERS``."""

    def fit(self, F: FloatArray, y: IntArray, code: Code, sample_weight: FloatArray | None = None) -> Decoder:
        """The decoder learned from these outputs."""

    def scores(self, F: FloatArray, code: Code) -> FloatArray:
        """One score per class; ``predict`` takes the largest."""


class ProbabilityDecoder(Decoder, Protocol):
    """A decoder whose scores come with probabilities."""

    def probabilities(self, F: FloatArray, code: Code) -> FloatArray:
        """(n_samples, n_classes): rows sum to 1, and their argmax is that of the scores."""
