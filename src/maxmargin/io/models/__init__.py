"""Model files: a tree of values, checked as it is written and as it is read.

What a file stores of each class is in tables, not in ``__dict__``: an attribute that no table has is an
error at ``save``. ``save`` makes the model again from its own values before it writes.
"""

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
