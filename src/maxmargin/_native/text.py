"""Parsers of CSV and LIBSVM text: one object per file, fed piece by piece."""

from __future__ import annotations

from .. import _core

__all__ = ["CsvParser", "LibsvmParser", "csv_first_row"]

# Re-exported from the core; they accept bytes, and check dtype and length of the arrays they fill.
CsvParser, LibsvmParser, csv_first_row = _core.CsvParser, _core.LibsvmParser, _core.csv_first_row
