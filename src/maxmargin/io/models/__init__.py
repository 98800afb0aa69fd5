"""Model files: a tree of values, checked when it is written and when it is read.

What a file holds of each class is in tables (``estimators``, ``parts``), under the names of ``names``: an
attribute that is in no table is an error at ``save``. ``save`` decodes what it has encoded before it writes.
"""

from .files import fingerprint, load, read_record, save

__all__ = ["fingerprint", "load", "read_record", "save"]
