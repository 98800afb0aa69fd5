"""``open_source``: chooses the reader of a file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from glob import has_magic
from pathlib import Path
from typing import Any

from .chosen import chosen
from .encodings import checked_encoding
from .errors import DataFormatError
from .table import Kind, Source
from .text import DataFile, Limits

DEFAULT_MISSING = (
    "",
    "?",
    "NA",
    "N/A",
    "n/a",
    "NaN",
    "nan",
    "null",
    "NULL",
    "None",
    "#N/A",
    "#NA",
    "<NA>",
    "NaT",
)
FORMATS = ("csv", "tsv", "libsvm", "parquet", "npz")
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".txt": "libsvm",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "npz",
}
_LIBSVM_LINE = re.compile(rb"^\s*[^\s:,;]+(\s+[0-9]+:[^\s:]+)+\s*(#.*)?$", re.MULTILINE)


def open_source(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    target: str | int | None = None,
    format: str | None = None,  # noqa: A002
    names: Sequence[str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    missing: Sequence[str] = DEFAULT_MISSING,
    encoding: str | None = None,
    decimal: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    n_features: int | None = None,
    zero_based: bool = False,
    data: str | None = None,
    drop: Sequence[str] = (),
    ids: Sequence[str] = (),
    max_row_bytes: int = Limits.max_row_bytes,
    max_bytes: int = Limits.max_bytes,
    max_ratio: float = Limits.max_ratio,
) -> Source:
    """Open a data file, to be read in blocks as often as needed.

    Nothing is changed silently: content that cannot be read as it stands raises a ``DataFormatError`` with
    file, line and column. Memory does not depend on the length of the file, except in ``read_all``.

    Parameters
    ----------
    path : str or path, or a list of them
        The file. Text may be compressed by gzip or bzip2. Several files with the same columns, given as a
        list or as a pattern such as ``"rows/*.parquet"``, are read one after the other: a column that is
        categorical in one of them is categorical in all, and sparse rows are as wide as the widest.
    target : str or int, optional
        The target column (CSV, Parquet), by name or by position: from 0, or from the end if negative. For
        npz, the name of its array. In LIBSVM text it is the first entry of a row. None: there is no target
        and all columns are features; for npz, "y" or "y_train" if it exists.
    format : {"csv", "tsv", "libsvm", "parquet", "npz"}, optional
        By default chosen by the file name's ending (.csv, .tsv, .libsvm, .svm, .txt, .parquet, .npz, before
        .gz or .bz2); with other endings the first line distinguishes LIBSVM text from CSV.
    names : sequence of str, optional
        Names of all columns of a CSV file; the file then has no header.
    header : bool, optional
        Whether the first row has the names; True by default unless ``names`` are given. With neither, the
        columns are named "0", "1", ...
    delimiter : str, optional
        The field separator; by default comma, semicolon or tab, guessed from the first row.
    missing : sequence of str
        Values that mark missing values in text files: NaN in a numeric column, code -1 in a categorical one.
        A label must not be missing.
    encoding : str, optional
        Of a text file, such as "latin-1", "cp1252", "shift_jis" or "utf-16"; UTF-8 by default.
    decimal : {",", "."}, optional
        The decimal sign of numbers that may have groups of three digits: with "," a CSV file may have
        "1.234,5", "1 234,5" and "1'234,5", with "." it may have "1,234.5". By default numbers have a decimal
        point and no groups.
    kinds : mapping from names to {"number", "words"}, optional
        Kinds of columns of a CSV file, numeric or categorical. Other columns are numeric if all their
        non-missing values are numbers, which takes a pass over the whole file. For LIBSVM text,
        ``{"label": "number"}``.
    n_features : int, optional
        Width of LIBSVM rows; by default the largest index of the file.
    zero_based : bool
        Whether LIBSVM indices begin with 0 instead of 1.
    data : str, optional
        The array of the features in an npz file, "X" or "X_train" by default. Sparse ones are stored in
        parts: ``X_data``, ``X_indices``, ``X_indptr``, ``X_shape``.
    drop : sequence of str
        Columns of a table that are left out.
    ids : sequence of str
        Columns that name the rows: they are not features, and blocks have them in ``carried``.
    max_row_bytes, max_bytes, max_ratio
        Limits: the longest row of a text file (64 MiB), the size of a file when decompressed (1 TiB), and
        how many times its compressed size that may be (200, from 64 MiB on).

    Returns
    -------
    Source
        ``columns``, ``n_features``, ``target``, ``blocks(n_rows)`` and ``options()``;
        ``open_source(other, **source.options())`` reads another file in the same way.

    Notes
    -----
    CSV follows RFC 4180: a field in double quotes may contain delimiters, line ends and doubled quotes.
    A first column without a name, as pandas writes, is an index and is left out.
    Blanks around unquoted fields are stripped, blank lines are skipped, lines end in \\n or
    \\r\\n, and text is UTF-8 unless ``encoding`` is given. Numbers are decimal (``-1.5e3``), read to the
    nearest double, and must be finite. Quoted fields follow the same rules for numbers and missing values.

    Examples
    --------
    >>> source = open_source("adult.data.gz", names=[*features, "income"], target="income")  # doctest: +SKIP
    >>> for block in source.blocks():  # doctest: +SKIP
    ...     block.features["age"], block.target
    """
    options = {name: value for name, value in locals().items() if name != "path"}
    _check_rules(names, missing, delimiter, n_features, drop, ids)
    check_decimal(decimal)
    if not isinstance(path, str | os.PathLike) or (has_magic(str(path)) and not Path(path).exists()):
        from .several import open_several

        return open_several(path, options)
    where = Path(path)
    file = DataFile(where, Limits(max_row_bytes, max_bytes, max_ratio), checked_encoding(encoding))
    found = format or _format(file, bool(names or header is not None or delimiter))
    if found not in FORMATS:
        raise ValueError(f"format must be one of {list(FORMATS)}; got {format!r}.")
    _check_text_only(where, found, file.encoding, decimal)
    if found in ("csv", "tsv"):
        from .csv import CsvSource
        from .csv_dialect import INDEX_NAME

        if delimiter is None and found == "tsv":
            delimiter = "\t"
        rules: dict[str, Any] = {"names": names, "header": header, "delimiter": delimiter, "decimal": decimal}
        text = CsvSource(file, target=target, missing=missing, kinds=kinds, **rules)
        if text.names[0] == INDEX_NAME and text.target != INDEX_NAME and INDEX_NAME not in ids:
            drop = (*drop, INDEX_NAME)
        return chosen(text, drop, ids)
    if found == "libsvm":
        from .libsvm import LibsvmSource

        rows = LibsvmSource(file, n_features=n_features, zero_based=zero_based, missing=missing, kinds=kinds)
        return chosen(rows, drop, ids)
    if found == "parquet":
        from .parquet import ParquetSource

        return chosen(ParquetSource(file, target=target, kinds=kinds), drop, ids)
    from .npz import NpzSource

    return chosen(NpzSource(file, data=data, target=target), drop, ids)


def _check_text_only(path: Path, form: str, encoding: str | None, decimal: str | None) -> None:
    """Refuse rules of text for a file that has none."""
    if encoding is not None and form in ("parquet", "npz"):
        raise DataFormatError(f"a file of the format {form} has no encoding", name=path)
    if decimal is not None and form not in ("csv", "tsv"):
        raise DataFormatError(f"a decimal sign is for CSV files, and this is {form}", name=path)


def check_decimal(decimal: str | None) -> None:
    """Refuse what is neither a point nor a comma."""
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be ',' or '.'; got {decimal!r}.")


def _check_rules(
    names: Any, missing: Any, delimiter: Any, n_features: Any, drop: Any = (), ids: Any = ()
) -> None:
    """Raise for arguments that are easily mistaken, such as a string for a list of strings."""
    for name, value in (("names", names), ("missing", missing), ("drop", drop), ("ids", ids)):
        if isinstance(value, str):
            raise ValueError(f"{name} must be a list of strings; got {value!r}.")
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise ValueError(
            f"delimiter must be one ASCII character other than a quote or a line end; got {delimiter!r}."
        )
    if n_features is not None and not 0 <= n_features < 1 << 31:
        raise ValueError(f"n_features must be within 0..2147483647; got {n_features!r}.")


def _format(file: DataFile, looks_like_csv: bool) -> str:
    """The format, by the file name's ending or by the first bytes."""
    name = Path(file.path.name.lower())
    while name.suffix in (".gz", ".bz2"):
        name = name.with_suffix("")
    if name.suffix in _ENDINGS:
        return _ENDINGS[name.suffix]
    with file.pieces() as pieces:
        head = pieces.text[: 1 << 16].tobytes()
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if head.startswith(b"PAR1"):
        return "parquet"
    if b"\n" not in head.strip():
        head = head[: head.rfind(b" ")] if b" " in head else head  # an entry may be cut off
    line = next((line for line in head.splitlines() if line.strip() and line.strip()[:1] != b"#"), b"")
    return "libsvm" if not looks_like_csv and _LIBSVM_LINE.match(line) else "csv"
