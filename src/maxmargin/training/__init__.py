"""From a data file to a model."""

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from .from_file import train
    from .held_out import HeldOut, mixed
    from .models import (
        DEFAULT_MODEL,
        MODELS,
        named_estimator,
        parameters_from_text,
    )
    from .record import digest_of, is_training_file, plain

__all__ = [
    "DEFAULT_MODEL",
    "MODELS",
    "HeldOut",
    "digest_of",
    "is_training_file",
    "mixed",
    "named_estimator",
    "parameters_from_text",
    "plain",
    "train",
]

__getattr__ = lazy(
    __name__,
    {
        "held_out": ["HeldOut", "mixed"],
        "models": ["DEFAULT_MODEL", "MODELS", "named_estimator", "parameters_from_text"],
        "record": ["digest_of", "is_training_file", "plain"],
        "from_file": ["train"],
    },
)
