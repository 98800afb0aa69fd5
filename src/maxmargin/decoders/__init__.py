"""Decoders: from the outputs of a code's columns to one score per class, and to probabilities."""

from .registry import (
    DECODERS,
    FIXED,
    Decoder,
    Hamming,
    LearnsFrom,
    LossBased,
    Margins,
    Votes,
    decision_values,
    decoder_from_name,
    predicted_classes,
)

__all__ = [
    "DECODERS",
    "FIXED",
    "Decoder",
    "Hamming",
    "LearnsFrom",
    "LossBased",
    "Margins",
    "Votes",
    "decision_values",
    "decoder_from_name",
    "predicted_classes",
]
