"""Safe zip and npy: a header and arrays, whole files or none."""

from .archive import (
    ModelFormatError,
    archive_digest,
    read_archive,
    read_header,
    write_archive,
)
from .npz import NpzError, NpzFile
from .whole_file import whole_file

__all__ = [
    "ModelFormatError",
    "NpzError",
    "NpzFile",
    "archive_digest",
    "read_archive",
    "read_header",
    "whole_file",
    "write_archive",
]
