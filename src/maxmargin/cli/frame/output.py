"""Answers on standard output: tables for people, or one JSON document.

A command ends by ``show.answer(document, *parts)``: with ``--json`` the document is printed, otherwise the
parts are (made by ``facts``, ``table`` and plain strings).
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

from cyclopts import Parameter

from ...json_values import plain
from .invocation import Invocation
from .messages import printable, say, silence

if TYPE_CHECKING:
    from rich.table import Table

MAX_LABEL_LENGTH = 40  # characters in a table for people
PIPE_WIDTH = 1 << 14  # a line in a pipe or a file is never folded


@Parameter(name="*")
@dataclass(frozen=True)
class Show:
    """How a command answers: the options of every command, and the run that it is part of."""

    json: Annotated[bool, Parameter(help="Answer with one JSON document.", show_default=False)] = False
    quiet: Annotated[bool, Parameter(help="No progress and no remarks.", show_default=False)] = False
    invocation: Annotated[Invocation, Parameter(parse=False)] = field(default_factory=Invocation)

    def answer(self, document: Mapping[str, Any], *parts: Any) -> None:
        """Print the answer: the document, with the warnings of this command, or the parts."""
        if self.json:
            warned = [*document.get("warnings", []), *self.invocation.warnings]
            whole = {**document, "warnings": warned}
            self.line(json.dumps(plain(whole), indent=2, allow_nan=False))
        else:
            with standard_output():
                _print(parts)

    def line(self, text: str) -> None:
        """Print lines to standard output at once."""
        with standard_output() as out:
            print(text, file=out, flush=True)

    def remark(self, text: str) -> None:
        """Something by the way, on standard error."""
        if not self.quiet:
            say(text)


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Standard output; if it cannot be written, the error names it."""
    try:
        yield sys.stdout
    except BrokenPipeError:
        raise
    except OSError as error:
        silence("stdout")
        raise OSError(error.errno, error.strerror, "standard output") from error


def facts(title: str, pairs: Mapping[str, object]) -> Any:
    """Names and values under a title, one pair a line; pairs whose value is None are left out."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE, show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs.items():
        if value is not None:
            grid.add_row(Text(printable(name)), Text(printable(value, keep="\n")))
    return _titled(title, grid)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, words: int = 1) -> Any:
    """A table with the first ``words`` columns to the left and the others, numbers, to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD)
    for place, name in enumerate(columns):
        side: Literal["left", "right"] = "left" if place < words else "right"
        grid.add_column(Text(printable(name)), justify=side, overflow="fold")
    for row in rows:
        grid.add_row(*(Text("" if cell is None else printable(cell)) for cell in row))
    return _titled(title, grid)


def short(label: str) -> str:
    """A label with its middle left out where it is long: labels may differ at either end."""
    return label if len(label) <= MAX_LABEL_LENGTH else f"{label[:24]}…{label[-15:]}"


def _titled(title: str, grid: Table) -> Any:
    """The title above, not folded to the width of what is below it."""
    from rich.console import Group
    from rich.text import Text

    return Group(Text(printable(title), style="bold"), grid) if title else grid


def _print(parts: Iterable[Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    shown = [Text(printable(part, keep="\n")) if isinstance(part, str) else part for part in parts]
    if sys.stdout.isatty():
        Console(highlight=False).print(*shown, sep="\n")
        return
    encoding = sys.stdout.encoding or "utf-8"  # decides which lines are drawn
    text = io.TextIOWrapper(io.BytesIO(), encoding, errors="backslashreplace")
    page = Console(file=text, width=PIPE_WIDTH, color_system=None, highlight=False)
    page.print(*shown, sep="\n")
    text.seek(0)
    print("\n".join(line.rstrip() for line in text.read().splitlines()))
