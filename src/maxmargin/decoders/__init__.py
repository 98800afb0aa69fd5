"""Decoders: from the outputs of a code's columns to one score per class, and to probabilities.

``protocol`` says what a decoder is, ``fixed`` has those with nothing to learn, ``probabilities`` those with
calibrated columns, ``weighted`` and ``prior`` those with learned weights; ``registry`` finds one by name. A
decoder declares what it learns from: a classifier's ``fit`` solves the columns first, then passes it their
outputs, on the training rows or out of fold. Until then a fixed decoder takes its place.
"""

from .coupling import has_all_pairs
from .explanation import Explanation, explanations
from .fixed import Hamming, LossBased, Margins, Votes
from .learned_weights import DecoderReport
from .prior import PriorDecoder
from .probabilities import CoupledPairs, Coupling, Probabilistic
from .protocol import Decoder, LearnsFrom, ProbabilityDecoder
from .registry import (
    DECODERS,
    FIXED,
    decision_values,
    decoder_from_name,
    gives_probabilities,
    predicted_classes,
    scores_are_outputs,
)
from .weighted import LinearProgramDecoder, WeightedDecoder

__all__ = [
    "DECODERS",
    "FIXED",
    "CoupledPairs",
    "Coupling",
    "Decoder",
    "DecoderReport",
    "Explanation",
    "Hamming",
    "LearnsFrom",
    "LinearProgramDecoder",
    "LossBased",
    "Margins",
    "PriorDecoder",
    "Probabilistic",
    "ProbabilityDecoder",
    "Votes",
    "WeightedDecoder",
    "decision_values",
    "decoder_from_name",
    "explanations",
    "gives_probabilities",
    "has_all_pairs",
    "predicted_classes",
    "scores_are_outputs",
]
