"""Data files in, model files in and out. Names are imported when they are first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .archive import ModelFormatError
    from .model_files import fingerprint, load, read_record, save

_MODULES = {
    "ModelFormatError": "archive",
    "fingerprint": "model_files",
    "load": "model_files",
    "read_record": "model_files",
    "save": "model_files",
}

__all__ = ["ModelFormatError", "fingerprint", "load", "read_record", "save"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
