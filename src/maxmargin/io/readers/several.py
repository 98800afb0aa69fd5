"""Several files with the same columns, read as one: their rows in the order of the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from .chosen import chosen
from .errors import DataFormatError
from .open import open_source
from .table import BLOCK_ROWS, Block, Column, Source

__all__ = ["SeveralFiles", "file_parts", "open_several", "paths_of"]


def paths_of(given: Any) -> list[Path]:
    """The files that a path, a pattern such as ``rows/*.parquet``, or a list of both stands for."""
    found: list[Path] = []
    for each in given if isinstance(given, list | tuple) else [given]:
        text = str(each)
        if not has_magic(text) or Path(text).exists():
            found.append(Path(text))
        elif matches := sorted(glob(text)):
            found += map(Path, matches)
        else:
            raise FileNotFoundError(f"no file matches {text!r}.")
    if not found:
        raise ValueError("no data file was given.")
    return found


def open_several(given: Any, options: dict[str, Any]) -> Source:
    """One source of all rows of the files that ``given`` stands for; ``options`` are ``open_source``'s."""
    paths = paths_of(given)
    parts: list[Any] = [open_source(path, **options) for path in paths]
    if len(parts) == 1:
        found: Source = parts[0]
        return found
    for part in parts[1:]:
        _check_columns(parts[0], part)
    agreed = options | _agreed(parts)
    return SeveralFiles([open_source(path, **agreed) for path in paths], getattr(parts[0], "declared", ()))


def _check_columns(first: Source, other: Source) -> None:
    names = [None if part.columns is None else [c.name for c in part.columns] for part in (first, other)]
    if names[0] != names[1] or first.target != other.target:
        raise DataFormatError(
            f"its columns are not those of {first.name}", name=other.name, remedy="give files of one table"
        )


def _agreed(parts: Sequence[Any]) -> dict[str, Any]:
    """Options by which every file is read into the same columns."""
    found = [part.options() for part in parts]
    kinds: dict[str, Any] = {}
    for each in found:
        for name, kind in (each.get("kinds") or {}).items():
            kinds[name] = "words" if "words" in (kind, kinds.get(name)) else kind
    wide = {"n_features": max(part.n_features for part in parts)} if "n_features" in found[0] else {}
    return wide | ({"kinds": kinds} if kinds else {})


class SeveralFiles:
    """The rows of some sources with the same columns; a block never has rows of two files."""

    def __init__(self, parts: Sequence[Any], declared: Any = ()) -> None:
        self.parts, self.declared = list(parts), declared
        self.category_types: frozenset[str] = getattr(parts[0], "category_types", frozenset())

    @property
    def name(self) -> str:
        """The first file, and how many there are."""
        return f"{self.parts[0].name} and {len(self.parts) - 1} more"

    @property
    def columns(self) -> tuple[Column, ...] | None:
        """Those of every file."""
        found: tuple[Column, ...] | None = self.parts[0].columns
        return found

    @property
    def n_features(self) -> int:
        """That of every file."""
        return int(self.parts[0].n_features)

    @property
    def target(self) -> str | None:
        """That of every file."""
        found: str | None = self.parts[0].target
        return found

    def __getattr__(self, name: str) -> Any:
        if name in ("names", "fixed", "ids", "drop"):
            return getattr(self.parts[0], name)
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "fixed":
            for part in self.parts:
                part.fixed = value
        else:
            super().__setattr__(name, value)

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The blocks of one file after the other."""
        before = 0
        for part in self.parts:
            n = 0
            for block in part.blocks(n_rows):
                n += block.n_rows
                yield replace(block, first_row=before + block.first_row)
            before += n

    def options(self) -> dict[str, Any]:
        """Those of every file."""
        found: dict[str, Any] = self.parts[0].options()
        return found


def file_parts(source: Any) -> list[Any]:
    """The sources of the single files, each with the columns that are chosen."""
    if isinstance(source, SeveralFiles):
        return source.parts
    inner = getattr(source, "source", None)
    if isinstance(inner, SeveralFiles):
        return [chosen(part, source.drop, source.ids, source.beside) for part in inner.parts]
    return [source]
