"""All decoders by name, and what scores mean: decision values and predicted classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import Code
from ..losses import LOSSES
from .fixed import Hamming, LossBased, Margins, Votes
from .margin_sums import checked_outputs
from .prior import PriorDecoder
from .probabilities import Coupling, Probabilistic
from .protocol import Decoder
from .weighted import LinearProgramDecoder

__all__ = [
    "DECODERS",
    "decision_values",
    "decoder_from_name",
    "gives_probabilities",
    "predicted_classes",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@np.errstate(under="ignore")
def decision_values(F: FloatArray, code: Code, decoder: Decoder) -> FloatArray:
    """What ``decision_function`` returns: scores, or (n,) values for class 1 if the code has one column."""
    if code.n_classes == 2 and code.n_columns == 1:
        return checked_outputs(F, code)[:, 0] * code.matrix[1, 0]
    return decoder.scores(F, code)


def predicted_classes(decision: FloatArray) -> IntArray:
    """The class with the largest decision value; with two classes, the second if the value is positive."""
    if decision.ndim == 1:
        return (decision > 0).astype(np.intp)
    return np.argmax(decision, axis=1)


FIXED: list[Decoder] = [Margins(), Votes(), Hamming(), *(LossBased(loss) for loss in LOSSES.values())]
LEARNED: list[Decoder] = [
    Probabilistic(),
    Coupling(),
    LinearProgramDecoder(),
    LinearProgramDecoder(focus="support-vectors"),
    PriorDecoder(),
]
DECODERS: dict[str, Decoder] = {decoder.name: decoder for decoder in FIXED + LEARNED}


def gives_probabilities(decoder: Any) -> bool:
    """Whether the decoder, or the one of that name, has probabilities."""
    known = DECODERS.get(decoder) if isinstance(decoder, str) else decoder
    return hasattr(known, "probabilities")


def scores_are_outputs(code: Code, decoder: Decoder) -> bool:
    """Whether each score of a class is the output of one column, or two classes have one column.

    Parameters
    ----------
    code : Code
        The code of the columns.
    decoder : Decoder
        The decoder of their outputs.

    Examples
    --------
    >>> from maxmargin.codes import one_vs_rest
    >>> from maxmargin.decoders import decoder_from_name, scores_are_outputs
    >>> code = one_vs_rest(3)
    >>> scores_are_outputs(code, decoder_from_name("margins", code))
    True
    """
    return code.n_columns == 1 or (code.name == "one-vs-rest" and decoder.name == "margins")


def decoder_from_name(decoder: str | Decoder, code: Code) -> Decoder:
    """The decoder of that name; a ``Decoder`` is returned as it is.

    ``"auto"`` is ``"margins"`` for one-vs-rest, ``"votes"`` for one-vs-one, ``"hinge"`` for any other code.
    Raises if the decoder cannot work with the code.

    Parameters
    ----------
    decoder : str or Decoder
        A name in ``DECODERS``, "auto", or the decoder itself.
    code : Code
        What it decodes.

    Examples
    --------
    >>> from maxmargin.codes import one_vs_one
    >>> from maxmargin.decoders import decoder_from_name
    >>> decoder_from_name("auto", one_vs_one(4))
    Votes(name='votes')
    """
    if isinstance(decoder, str) and decoder == "auto":
        decoder = {"one-vs-rest": "margins", "one-vs-one": "votes"}.get(code.name, "hinge")
    if isinstance(decoder, str) and decoder in DECODERS:
        decoder = DECODERS[decoder]
    if not isinstance(decoder, Decoder) or isinstance(decoder, type):  # a class has the members too
        names = ["auto", *sorted(DECODERS)]
        raise ValueError(f"decoder must be a Decoder or one of {names}; got {decoder!r}.")
    if isinstance(decoder, Coupling):
        decoder.check(code)
    return decoder
