"""Data files: CSV, LIBSVM text, Parquet and npz, read in blocks of rows."""

from .chosen import chosen
from .errors import DataFormatError
from .open import DEFAULT_MISSING, open_source
from .several import SeveralFiles, file_parts
from .table import BLOCK_ROWS, Block, Column, Kind, Source, Words, join, read_all

__all__ = [
    "BLOCK_ROWS",
    "DEFAULT_MISSING",
    "Block",
    "Column",
    "DataFormatError",
    "Kind",
    "SeveralFiles",
    "Source",
    "Words",
    "chosen",
    "file_parts",
    "join",
    "open_source",
    "read_all",
]
