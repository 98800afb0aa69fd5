"""Data files in; model files in and out; checkpoints. Names are imported when they are first used."""

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from ..archive import ModelFormatError
    from ..checkpoints import Checkpoint, CheckpointError
    from .models import fingerprint, load, read_record, save
    from .onnx import to_onnx
    from .readers import DEFAULT_MISSING, Block, Column, DataFormatError, Source, Words, open_source, read_all

__all__ = [
    "DEFAULT_MISSING",
    "Block",
    "Checkpoint",
    "CheckpointError",
    "Column",
    "DataFormatError",
    "ModelFormatError",
    "Source",
    "Words",
    "fingerprint",
    "load",
    "open_source",
    "read_all",
    "read_record",
    "save",
    "to_onnx",
]

__getattr__ = lazy(
    __name__,
    {
        ".archive": ["ModelFormatError"],
        ".checkpoints": ["Checkpoint", "CheckpointError"],
        "models": ["fingerprint", "load", "read_record", "save"],
        "onnx": ["to_onnx"],
        "readers": [
            "DEFAULT_MISSING",
            "Block",
            "Column",
            "DataFormatError",
            "Source",
            "Words",
            "open_source",
            "read_all",
        ],
    },
)
