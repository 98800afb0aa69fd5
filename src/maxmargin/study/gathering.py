"""The first pass over a source: classes, counts, which rows are held out; the rows, as long as they fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..io.table import Block, Source, Words
from .held_out import HeldOut
from .preparation import TablePreparation
from .progress import Reporter

MOST_CLASSES = 10_000


@dataclass
class Gathered:
    """What one pass over a source has found; ``blocks`` is None where the rows did not fit."""

    counts: dict[Any, int] = field(default_factory=dict)
    blocks: list[tuple[Block, np.ndarray]] | None = field(default_factory=list)  # and who is held out
    n_rows: int = 0
    n_held_out: int = 0
    n_bytes: int = 0

    @property
    def classes(self) -> np.ndarray:
        """The labels, sorted."""
        return np.array(sorted(self.counts))

    def class_counts(self) -> dict[str, int]:
        """Rows of each class, for the record."""
        return {str(label): self.counts[label] for label in sorted(self.counts)}


def gather(
    source: Source, held_out: HeldOut, preparation: TablePreparation, limit: int, reporter: Reporter
) -> Gathered:
    """Read a source once; the preparation learns from the rows that are not held out.

    Parameters
    ----------
    source : Source
    held_out : HeldOut
    preparation : TablePreparation
        Learns from every training row.
    limit : int
        Bytes of rows to keep; with more, none are kept.
    reporter : Reporter

    Returns
    -------
    Gathered
    """
    if source.target is None:
        raise ValueError(f"{source.name}: training needs a target; say which column it is.")
    found = Gathered()
    blocks = _timed(source.blocks(), reporter)
    for block in blocks:
        labels, codes = labels_of(block, source.name)
        _count(found, labels, codes, source.name)
        mask = held_out.of_block(labels, codes)
        with reporter.clock("preparation"):
            preparation.partial_fit(taken(block, np.flatnonzero(~mask)) if mask.any() else block)
        found.n_rows += block.n_rows
        found.n_held_out += int(mask.sum())
        found.n_bytes += n_bytes(block)
        if found.blocks is not None:
            found.blocks.append((block, mask))
        if found.n_bytes > limit:
            found.blocks = None
        reporter.say("read", found.n_rows)
    check_classes(found, source.name)
    return found


def _timed(blocks: Iterator[Block], reporter: Reporter) -> Iterator[Block]:
    """The blocks, with the time of reading them."""
    while True:
        with reporter.clock("reading"):
            block = next(blocks, None)
        if block is None:
            return
        yield block


def labels_of(block: Block, name: str) -> tuple[list[Any], np.ndarray]:
    """The labels of a block, each once, and of each row its number; a missing label is refused."""
    numbers: dict[Any, int] = {}
    target = np.asarray(block.target).tolist()
    codes = np.array([numbers.setdefault(label, len(numbers)) for label in target], dtype=np.int64)
    for label, number in numbers.items():
        if label is None or label != label or label == "":
            row = block.first_row + int(np.argmax(codes == number))
            raise ValueError(
                f"{name}: row {row}, counted from 0, has no label; training needs one in every row. Leave "
                "such rows out."
            )
    return list(numbers), codes


def _count(found: Gathered, labels: list[Any], codes: np.ndarray, name: str) -> None:
    for label, n in zip(labels, np.bincount(codes, minlength=len(labels)).tolist()):
        found.counts[label] = found.counts.get(label, 0) + n
    if len(found.counts) > MOST_CLASSES:
        raise ValueError(_too_many(found, name))


def check_classes(found: Gathered, name: str) -> None:
    """Refuse targets that no classifier could learn, before any fit."""
    if len(found.counts) < 2:
        only = "no rows" if not found.counts else f"one class, {next(iter(found.counts))!r}"
        raise ValueError(f"{name}: the target has {only}; there must be two classes at least.")
    if len(found.counts) > max(found.n_rows // 2, 2):
        raise ValueError(_too_many(found, name))


def _too_many(found: Gathered, name: str) -> str:
    some = ", ".join(repr(label) for label in list(found.counts)[:3])
    return (
        f"{name}: the target has {len(found.counts)} different labels in {found.n_rows} rows ({some}, ...), "
        "too many for classes. Is it the right column? Numbers have to be put into classes first."
    )


def n_bytes(block: Block) -> int:
    """What a block holds, nearly."""
    features: Any = block.features
    if isinstance(features, Mapping):
        return sum(
            c.codes.nbytes + 60 * len(c.values) if isinstance(c, Words) else c.nbytes
            for c in features.values()
        )
    parts = ("data", "indices", "indptr") if sparse.issparse(features) else ()
    return sum(getattr(features, part).nbytes for part in parts) if parts else int(features.nbytes)


def taken(block: Block, rows: np.ndarray) -> Block:
    """Some rows of a block."""
    features, target = block.features, block.target
    if isinstance(features, Mapping):
        features = {
            name: replace(c, codes=c.codes[rows]) if isinstance(c, Words) else c[rows]
            for name, c in features.items()
        }
    else:
        features = features[rows]
    return Block(features, None if target is None else target[rows], block.first_row, len(rows))
