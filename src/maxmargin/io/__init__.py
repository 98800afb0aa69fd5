"""Data files in, model files in and out. Names are imported when they are first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .archive import ModelFormatError
    from .joined import read_all
    from .model_files import fingerprint, load, read_record, save
    from .onnx_export import to_onnx
    from .opened import DEFAULT_MISSING, open_source
    from .table import Block, Column, DataFormatError, Source, Words

_MODULES = {
    "Block": "table",
    "Column": "table",
    "DEFAULT_MISSING": "opened",
    "DataFormatError": "table",
    "ModelFormatError": "archive",
    "Source": "table",
    "Words": "table",
    "fingerprint": "model_files",
    "load": "model_files",
    "open_source": "opened",
    "read_all": "joined",
    "read_record": "model_files",
    "save": "model_files",
    "to_onnx": "onnx_export",
}

__all__ = [
    "DEFAULT_MISSING",
    "Block",
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


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
