"""Errors in data files: the problem, its place, and the argument that would help."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...data import python_argument

MAX_NAMES_SHOWN = 20


class DataFormatError(ValueError):
    """A data file that cannot be read as asked.

    Parameters
    ----------
    problem : str
        What is wrong.
    name : path, optional
        The file.
    place : str
        Where in the file, in words; by default made from ``line`` and ``column``.
    line, column : int, optional
        Where in a text file, from 1. The column is a field of CSV and a character of LIBSVM text.
    remedy : str
        What to do. ``{parameter}`` stands for an argument of ``open_source``, which a caller may spell in
        its own way (:meth:`message`).
    arguments : dict, optional
        The arguments that the remedy names, with the value to give, or None where the caller has to know it.

    Examples
    --------
    >>> from maxmargin.io import DataFormatError
    >>> print(DataFormatError("'x' is not a number", name="data.csv", line=3, column=2))
    data.csv, line 3, column 2: 'x' is not a number.
    """

    def __init__(
        self,
        problem: str,
        *,
        name: str | os.PathLike[str] | None = None,
        place: str = "",
        line: int | None = None,
        column: int | None = None,
        remedy: str = "",
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self.problem, self.remedy, self.arguments = problem, remedy, dict(arguments or {})
        self.name = None if name is None else os.fspath(name)
        self.line, self.column = line, column
        known = [f"{word} {n}" for word, n in (("line", line), ("column", column)) if n is not None]
        self.place = place or ", ".join(known)
        super().__init__(self.message())

    @property
    def parameter(self) -> str | None:
        """The parameter of ``open_source`` that would help, if there is one."""
        return next(iter(self.arguments), None)

    def message(self, spell: Callable[[str, Any], str] = python_argument) -> str:
        """The error in one sentence, with every argument spelled by ``spell(parameter, value)``."""
        where = ", ".join(part for part in (self.name, self.place) if part)
        spelled = {parameter: spell(parameter, value) for parameter, value in self.arguments.items()}
        advice = f"; {self.remedy.format(**spelled)}" if self.remedy else ""
        return f"{where + ': ' if where else ''}{self.problem}{advice}."

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (dict(vars(self)),)


def _rebuilt(state: dict[str, Any]) -> DataFormatError:
    return DataFormatError(state.pop("problem"), **state)


def similar_names(name: str, names: Sequence[str], what: str = "columns") -> str:
    """Similar names, or the first few names, to end a "not found" message."""
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, names[:MAX_NAMES_SHOWN]))
    return f"the {what} are {shown}{', ...' if len(names) > MAX_NAMES_SHOWN else ''}"


def unknown_column(file: str, column: str, names: Sequence[str]) -> DataFormatError:
    """``kinds`` declares a column that the file does not have."""
    return DataFormatError(
        f"there is no column {column!r}, which `kinds` declares ({similar_names(column, names)})", name=file
    )
