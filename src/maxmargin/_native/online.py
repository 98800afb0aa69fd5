"""Methods that see one row after the other: kernel perceptrons and their kin, and LaSVM."""

from __future__ import annotations

from .. import _core

__all__ = [
    "lasvm_block",
    "lasvm_reprocess",
    "online_block",
]

# Shapes and numbers are checked there; arrays are taken as they are, since most of them are changed in place.
online_block, lasvm_block, lasvm_reprocess = _core.online_block, _core.lasvm_block, _core.lasvm_reprocess
