"""The checkpoint file format: states and histories as arrays and header of an archive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..archive import read_archive, write_archive
from ..solving import Check, JournalEntry, State, Status

__all__ = ["StoredFit", "read_checkpoint", "write_checkpoint"]

KIND = "checkpoint"
FIELDS = tuple(f.name for f in fields(Check))
COUNTS = ("n_iter", "n_support", "kernel_values")


@dataclass
class StoredFit:
    """A stored fit: its journal entries, its identity, and facts about the machine it ran on."""

    entries: dict[str, JournalEntry]
    identity: dict[str, str] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)


def write_checkpoint(path: Path, kept: StoredFit) -> None:
    """Write the file atomically: on failure the old file remains."""
    arrays: dict[str, np.ndarray] = {}
    listed = []
    for key, entry in kept.entries.items():
        arrays[f"{key}/history"] = np.array([[getattr(c, f) for f in FIELDS] for c in entry.history], float)
        numbers = {}
        for name, value in entry.state.items():
            if isinstance(value, np.ndarray):
                arrays[f"{key}/state/{name}"] = value
            else:
                numbers[name] = _as_text(value)
        ends = {"ended": entry.ended, "status": entry.status}
        listed.append(
            {"key": key, "numbers": numbers} | {k: v and str(v) for k, v in ends.items()},
        )
    header = {
        "kind": KIND,
        "identity": kept.identity,
        "facts": {name: _as_text(value) for name, value in kept.facts.items()},
        "entries": listed,
    }
    write_archive(path, header, arrays)


def read_checkpoint(path: Path) -> StoredFit:
    """Read what ``write_checkpoint`` wrote; raise ValueError if it is not a valid checkpoint."""
    header, arrays = read_archive(path)
    if header.get("kind") != KIND:
        raise ValueError(f"{path}: a maxmargin file, but not a checkpoint.")
    try:
        entries = {item["key"]: _entry(item, arrays) for item in header["entries"]}
        facts = {name: _from_text(text) for name, text in header["facts"].items()}
        return StoredFit(entries, dict(header["identity"]), facts)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{path}: the checkpoint is incomplete ({error!r}).") from None


def _entry(item: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> JournalEntry:
    key = item["key"]
    start = f"{key}/state/"
    state = State(**{name: _from_text(text) for name, text in item["numbers"].items()})
    for name, array in arrays.items():
        if name.startswith(start):
            state[name[len(start) :]] = array
    history = tuple(_check(row) for row in arrays[f"{key}/history"])
    ended, status = (item[name] and Status(item[name]) for name in ("ended", "status"))
    return JournalEntry(state, history, ended, status)


def _check(row: np.ndarray) -> Check:
    values = {name: int(x) if name in COUNTS else float(x) for name, x in zip(FIELDS, row, strict=True)}
    return Check(**values)  # type: ignore[arg-type]


def _as_text(value: bool | int | float | str) -> list[str]:
    """The type and the exact digits of a number; JSON has no infinity."""
    return [type(value).__name__, value.hex() if isinstance(value, float) else str(value)]


def _from_text(text: list[str]) -> Any:
    kind, digits = text
    types: dict[str, Callable[[str], Any]] = {"bool": "True".__eq__, "int": int, "float": float.fromhex}
    return types.get(kind, str)(digits)
