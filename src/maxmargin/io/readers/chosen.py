"""A table without some of its columns: dropped ones, row ids, and those that only decide what is held out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .errors import DataFormatError, similar_names
from .table import BLOCK_ROWS, Block, Column, Source, read_all

__all__ = ["ChosenColumns", "chosen"]


class ChosenColumns:
    """A source some of whose columns are not features.

    Parameters
    ----------
    source : Source
    drop : sequence of str
        Columns that are left out.
    ids : sequence of str
        Columns that come along in ``Block.carried``: names of rows.
    beside : sequence of str
        The same for this reading of the file; a reading like it drops them.
    """

    def __init__(
        self, source: Source, drop: Sequence[str] = (), ids: Sequence[str] = (), beside: Sequence[str] = ()
    ) -> None:
        self.source, self.drop, self.ids, self.beside = source, tuple(drop), tuple(ids), tuple(beside)
        names: Sequence[str] | None = getattr(source, "names", None)
        for name in self._left_out:
            if names is None:
                raise DataFormatError(
                    f"column {name!r} cannot be left out or carried: columns of this format have no names",
                    name=source.name,
                )
            if name not in names:
                problem = f"there is no column {name!r} ({similar_names(name, names)})"
                raise DataFormatError(problem, name=source.name)
            if name == source.target:
                raise DataFormatError(
                    f"column {name!r} is the target, which cannot be left out or carried", name=source.name
                )
        if not self.n_features:
            raise DataFormatError("no column of features is left", name=source.name)

    @property
    def _left_out(self) -> frozenset[str]:
        return frozenset((*self.drop, *self.ids, *self.beside))

    def __getattr__(self, name: str) -> Any:
        if name == "source":
            raise AttributeError(name)
        return getattr(self.source, name)

    @property
    def fixed(self) -> Any:
        """Columns whose kind a trained model has fixed, for text files."""
        return self.source.fixed  # type: ignore[attr-defined]

    @fixed.setter
    def fixed(self, names: frozenset[str]) -> None:
        self.source.fixed = names  # type: ignore[attr-defined]

    @property
    def columns(self) -> tuple[Column, ...] | None:
        """The features that are left."""
        columns = self.source.columns
        return columns and tuple(column for column in columns if column.name not in self._left_out)

    @property
    def n_features(self) -> int:
        """Their number."""
        return self.source.n_features - len(self._left_out)

    def options(self) -> dict[str, Any]:
        """Arguments with which ``open_source`` reads another file as this one was read."""
        drop = [*self.drop, *(name for name in self.beside if name not in self.ids)]
        return self.source.options() | {"drop": drop, "ids": list(self.ids)}

    def blocks(self, n_rows: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows."""
        return map(self._chosen, self.source.blocks(n_rows))

    def read_all(self) -> Block:
        """All rows."""
        return self._chosen(read_all(self.source))

    def _chosen(self, block: Block) -> Block:
        out, wanted = self._left_out, (*self.ids, *self.beside)
        features: Mapping[str, Any] = block.features
        left = {name: column for name, column in features.items() if name not in out}
        return replace(block, features=left, carried={name: features[name] for name in wanted})


def chosen(
    source: Source, drop: Sequence[str] = (), ids: Sequence[str] = (), beside: Sequence[str] = ()
) -> Source:
    """The source, if there is nothing to choose, or without these columns; one choice adds to another."""
    if isinstance(source, ChosenColumns):
        drop, ids = (*source.drop, *drop), (*source.ids, *ids)
        beside, source = (*source.beside, *beside), source.source
        drop = tuple(name for name in drop if name not in beside)
    if not (drop or ids or beside):
        return source
    unique = [tuple(dict.fromkeys(names)) for names in (drop, ids, beside)]
    return ChosenColumns(source, *unique)
