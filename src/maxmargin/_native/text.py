"""Readers of text files, one parser for each file, fed piece by piece."""

from __future__ import annotations

from .. import _core

__all__ = [
    "CsvParser",
    "LibsvmParser",
    "csv_first_row",
]

# They check the arrays that they fill.
CsvParser, LibsvmParser, csv_first_row = _core.CsvParser, _core.LibsvmParser, _core.csv_first_row
