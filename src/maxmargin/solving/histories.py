"""The certificates of many columns in a few arrays: half a million columns need no objects of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, overload

import numpy as np

from .result import Check, gap_of

__all__ = ["CLOCKS", "COUNTS", "Histories"]

COUNTS = ("n_iter", "n_support", "kernel_values")
CLOCKS = ("seconds", "kernel_values", "hit_rate")  # what two runs of one fit need not have in common


def dtype_of(name: str) -> Any:
    """The type of a field of all certificates: int32, or int64 for what may be large, or float64."""
    return np.int64 if name == "kernel_values" else np.int32 if name in COUNTS else np.float64


def _shortest(counts: np.ndarray) -> np.ndarray:
    """The counts in the shortest type that holds them."""
    largest = int(np.abs(counts).max(initial=0))
    return counts.astype(
        next(t for t in (np.int8, np.int16, np.int32, np.int64) if largest <= np.iinfo(t).max)
    )


class Histories(Sequence[tuple[Check, ...]]):
    """A sequence whose item t is the history of column t: its certificates, a tuple of ``Check``.

    Parameters
    ----------
    lengths : int array of shape (n_columns,)
        How many certificates each column has, at least one.
    values : dict of arrays
        The fields of all certificates, one column after the other; a field that is missing is 0.
    """

    def __init__(self, lengths: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
        if lengths.ndim != 1 or lengths.dtype.kind != "i" or (lengths < 1).any():
            raise ValueError("every column needs a certificate")
        n = int(lengths.sum())
        if any(value.shape != (n,) for value in values.values()):
            raise ValueError("the arrays of certificates must have the declared sizes")
        if any(value.dtype.kind != ("i" if name in COUNTS else "f") for name, value in values.items()):
            raise ValueError("certificates must be counts and floats")
        self.lengths = _shortest(lengths)
        self.values = {n: _shortest(value) if n in COUNTS else value for n, value in values.items()}

    @classmethod
    def of(cls, histories: Iterable[tuple[Check, ...]]) -> Histories:
        """The same certificates, in arrays."""
        histories = list(histories)
        checks = [check for history in histories for check in history]
        values = {
            field.name: np.array([getattr(check, field.name) for check in checks], dtype_of(field.name))
            for field in fields(Check)
        }
        return cls(np.array([len(history) for history in histories], dtype=np.int32), values)

    def __getstate__(self) -> dict[str, Any]:
        """What is not computed from the rest."""
        return {"lengths": self.lengths, "values": self.values}

    @cached_property
    def _ends(self) -> np.ndarray:
        return np.cumsum(self.lengths, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, t: int) -> tuple[Check, ...]: ...
    @overload
    def __getitem__(self, t: slice) -> list[tuple[Check, ...]]: ...
    def __getitem__(self, t: int | slice) -> tuple[Check, ...] | list[tuple[Check, ...]]:
        """The certificates of a column, or of several."""
        if isinstance(t, slice):
            return [self[one] for one in range(*t.indices(len(self)))]
        if not -len(self) <= t < len(self):
            raise IndexError(f"there are {len(self)} columns")
        end = int(self._ends[t])
        return tuple(self._check(i) for i in range(end - int(self.lengths[t]), end))

    def _check(self, i: int) -> Check:
        given = {name: value[i].item() for name, value in self.values.items()}
        return Check(**({"n_iter": 0, "primal": 0.0, "dual": 0.0, "seconds": 0.0} | given))

    def __eq__(self, other: object) -> bool:
        """Whether another sequence has the same certificates."""
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Short: there may be very many."""
        return f"<certificates of {len(self)} columns>"

    def last(self, name: str) -> np.ndarray:
        """A field of the last certificate of each column."""
        value = self.values.get(name)
        return np.zeros(len(self), dtype_of(name)) if value is None else value[self._ends - 1]

    def gaps(self) -> np.ndarray:
        """The relative duality gap of the last certificate of each column."""
        return gap_of(self.last("primal"), self.last("dual"), self.last("tiny"))
