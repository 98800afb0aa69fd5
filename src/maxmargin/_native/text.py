"""Parsers of CSV and LIBSVM text: one object for each file, fed piece by piece."""

from __future__ import annotations

from .. import _core

__all__ = ["CsvParser", "LibsvmParser", "csv_first_row"]

# Classes of the core: they take bytes, and check dtype and length of the arrays that they fill.
CsvParser, LibsvmParser, csv_first_row = _core.CsvParser, _core.LibsvmParser, _core.csv_first_row
