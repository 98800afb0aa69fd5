"""A table at prediction against the columns of the training: found by name, refused or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..data import ParameterError
from ..io.readers import Words
from .given import GivenColumn, GivenTable

MAX_NAMES_SHOWN = 5  # names and words that a message lists


@dataclass
class Notices:
    """What a table has that the training table had not; several are added up with ``+``."""

    extra: list[str] = field(default_factory=list)  # columns left out
    unseen: dict[str, dict[str, int]] = field(default_factory=dict)  # words, and in how many rows
    gaps: dict[str, int] = field(default_factory=dict)  # missing values where training had none
    no_dates: dict[str, dict[str, int]] = field(
        default_factory=dict
    )  # in columns of dates, and in how many rows

    def __add__(self, later: Notices) -> Notices:
        gaps = dict(self.gaps)
        count(gaps, later.gaps)
        unseen, no_dates = _added(self.unseen, later.unseen), _added(self.no_dates, later.no_dates)
        return Notices(list(dict.fromkeys([*self.extra, *later.extra])), unseen, gaps, no_dates)

    def text(self) -> str:
        """One sentence for each kind of notice; nothing if there is none."""
        said = []
        if self.extra:
            said.append(f"columns unseen in training are ignored: {_shown(self.extra)}")
        for name, words in self.unseen.items():
            said.append(
                f"column {name!r} has {len(words)} value(s) unseen in training, in {sum(words.values())} "
                f"row(s), which are encoded as no category: {_shown(list(words))}"
            )
        for name, words in self.no_dates.items():
            said.append(
                f"column {name!r} has {len(words)} value(s) that are not dates, in {sum(words.values())} "
                f"row(s), which are read as missing: {_shown(list(words))}"
            )
        if self.gaps:
            rows = ", ".join(f"{name!r} ({n} rows)" for name, n in list(self.gaps.items())[:MAX_NAMES_SHOWN])
            said.append(
                "values are missing in columns without missing values in training, and the mean or no "
                f"category is used: {rows}"
            )
        return "; ".join(said) + "." if said else ""


def _added(some: dict[str, dict[str, int]], more: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Counts of words by column, of both."""
    out = {name: dict(words) for name, words in some.items()}
    for name, words in more.items():
        count(out.setdefault(name, {}), words)
    return out


def count(into: dict[str, int], more: dict[str, int]) -> None:
    """Add counts to counts."""
    for key, n in more.items():
        into[key] = into.get(key, 0) + n


def _shown(names: list[str]) -> str:
    listed = ", ".join(map(repr, names[:MAX_NAMES_SHOWN]))
    return listed + (f" and {len(names) - MAX_NAMES_SHOWN} more" if len(names) > MAX_NAMES_SHOWN else "")


def matched(
    table: GivenTable, names: Sequence[str] | None, kinds: Sequence[str | None], n_columns: int
) -> tuple[GivenTable, Notices]:
    """The table with the columns of the training in their order, and what was left out.

    Parameters
    ----------
    table : GivenTable
    names : sequence of str or None
        The columns of the training, where they had names.
    kinds : sequence of {"number", "words", None}
        None where training has no value yet, and either is accepted.
    n_columns : int

    Returns
    -------
    table : GivenTable
    notices : Notices
    """
    notices = Notices()
    if names is not None and table.names is not None:
        found = dict(zip(table.names, table.columns or ()))
        if lost := [name for name in names if name not in found]:
            raise ValueError(
                f"the table has no column {_shown(lost)}, which the model was trained with; it has "
                f"{_shown(list(table.names))}."
            )
        trained = set(names)
        notices.extra = [name for name in table.names if name not in trained]
        columns = tuple(_of_kind(found[name], kind, name) for name, kind in zip(names, kinds))
        return GivenTable(tuple(names), columns, None, table.n_rows, table.of_file), notices
    _check_positions(table, names, kinds, n_columns)
    if table.is_sparse:
        return GivenTable(None, None, table.matrix.toarray(), table.n_rows, table.of_file), notices
    return table, notices


def _check_positions(
    table: GivenTable, names: Sequence[str] | None, kinds: Sequence[str | None], n_columns: int
) -> None:
    if table.n_columns != n_columns:
        raise ValueError(_other_width(table.n_columns, n_columns))
    wanted = names or [f"x{j}" for j in range(n_columns)]
    for name, kind, has in zip(wanted, kinds, table.kinds()):
        if kind not in (has, None):
            raise _other_kind(name, kind, has)


def _of_kind(column: GivenColumn, kind: str | None, name: str) -> GivenColumn:
    """The column, unless it is of the other kind; one without any value is of both."""
    has = "words" if isinstance(column, Words) else "number"
    if kind in (has, None):
        return column
    if isinstance(column, Words) and not (column.codes >= 0).any():
        return np.full(len(column), np.nan)
    if not isinstance(column, Words) and np.isnan(column).all():
        return Words(np.full(len(column), -1, dtype=np.int32), ())
    raise _other_kind(name, kind, has)


def _other_width(has: int, wanted: int) -> str:
    return f"X has {has} features, but TablePreparation is expecting {wanted} features as input."


def _other_kind(name: str, kind: str, has: str) -> ParameterError:
    described = {"words": "categorical", "number": "numeric"}
    return ParameterError(
        f"column {name!r} was {described[kind]} in training and is {described[has]} here.",
        f"Read it as {described[kind]} ({{kinds}}).",
        kinds={name: kind},
    )


def matched_sparse(table: GivenTable, n_columns: int, growing: bool) -> tuple[Any, Notices]:
    """The CSR matrix with ``n_columns`` columns; a file may have fewer, and more are left out.

    While statistics are gathered, ``growing``, more columns stay.
    """
    if table.names is not None:
        raise ValueError("the model was trained with a matrix without names, and this is a table with names.")
    X, n, notices = sparse.csr_array(table.matrix), table.n_columns, Notices()
    if not np.isfinite(X.data).all():
        raise ValueError("a sparse matrix must have finite numbers; it has NaN or infinity.")
    if n != n_columns and not table.of_file:
        raise ValueError(
            f"X has {n} features, but TablePreparation is expecting {n_columns} features as input."
        )
    if n < n_columns:
        X = sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_columns))
    elif n > n_columns and not growing:
        X = X[:, :n_columns]
        notices.extra = [f"x{j}" for j in range(n_columns, n)]
    return X, notices
