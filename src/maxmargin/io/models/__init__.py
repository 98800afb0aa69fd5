"""Model files: a tree of values, checked as it is written and as it is read."""

from .files import (
    fingerprint,
    load,
    read_record,
    save,
)

__all__ = [
    "fingerprint",
    "load",
    "read_record",
    "save",
]
