"""Text files for the readers' tests: a writer of CSV, and pieces of any length."""

import contextlib
from unittest import mock

from maxmargin.io import open_source, read_all
from maxmargin.io.readers import csv
from maxmargin.io.readers import text as pieces


def quoted(value):
    return '"' + value.replace('"', '""') + '"'


def csv_text(names, rows, *, delimiter=",", end="\n", quote=quoted):
    lines = [delimiter.join(quoted(name) for name in names)]
    lines += [delimiter.join(quote(value) for value in row) for row in rows]
    return end.join([*lines, ""])


def in_pieces(n_bytes):
    """Within it files are read that many bytes at a time."""
    return mock.patch.object(pieces, "PIECE_BYTES", n_bytes) if n_bytes else contextlib.nullcontext()


@contextlib.contextmanager
def parsed_by(n_threads, part_bytes=1):
    """Within it CSV text is parsed by so many threads, in parts of any length."""
    threads = mock.patch.object(csv._native, "effective_n_threads", return_value=n_threads)
    with threads, mock.patch.object(csv, "PART_BYTES", part_bytes):
        yield


def written(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(folder, text, *, name="data.csv", n_bytes=None, **options):
    """The source and all its rows."""
    with in_pieces(n_bytes):
        source = open_source(written(folder, text, name), **options)
        return source, read_all(source)


def decoded(words):
    """A column of words as a list, None where it is missing."""
    return [None if code < 0 else words.values[code] for code in words.codes]
