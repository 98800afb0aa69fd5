"""Safe zip and npy files: our own archives byte for byte, anyone's npz, written as a whole or not at all."""

from .archive import ModelFormatError, archive_digest, read_archive, read_header, write_archive
from .npz import NpzError, NpzFile
from .whole_file import check_writable, whole_file

__all__ = [
    "ModelFormatError",
    "NpzError",
    "NpzFile",
    "archive_digest",
    "check_writable",
    "read_archive",
    "read_header",
    "whole_file",
    "write_archive",
]
