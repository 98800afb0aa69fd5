"""One pass over a source: statistics and classes of all its rows, and as many of the rows as memory holds.

While all rows fit they are all kept. Beyond that a row stays if a hash of its number is below a threshold,
which is halved whenever too many have stayed: what is left is a sample that each row of the file had the same
chance to be in, but for the first rows of each class, which stay, so that no class gets lost. It depends on
the file, the seed and the limit, and not on how the file is cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data import ParameterError, key_of, mixed
from ..io.readers import BLOCK_ROWS, Block, Source
from ..table import TablePreparation, labels_of, n_bytes, taken
from .held_out import HeldOut
from .progress import Reporter
from .split import Split

MAX_CLASSES = 10_000
MIN_ROWS_PER_CLASS = 20  # of each class, which are kept in any case
MIN_SHARE_KEPT = 2.0**-40


class TooManyClasses(ParameterError):
    """A target with fractions, or with too many labels for classes; ``labels`` are those read so far."""

    labels: tuple[Any, ...] = ()
    n_rows: int = 0


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows of a block that were kept: their numbers in the file, and which of them are held out."""

    block: Block
    rows: np.ndarray
    held_out: np.ndarray
    first: np.ndarray  # which of them are among the first of their class
    n_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        others = (self.block.target, self.rows, self.held_out, self.first)
        size = n_bytes(self.block) + sum(0 if each is None else each.nbytes for each in others)
        object.__setattr__(self, "n_bytes", size)


@dataclass
class Gathered:
    """What one pass has found; ``n_rows`` are those of the file, of which a ``share`` is kept."""

    counts: dict[Any, int] = field(default_factory=dict)
    parts: list[KeptRows] = field(default_factory=list)
    n_rows: int = 0
    share: float = 1.0

    @property
    def n_kept(self) -> int:
        """Rows that were kept."""
        return sum(len(part.rows) for part in self.parts)

    @property
    def n_held_out(self) -> int:
        """Rows that were kept and are held out."""
        return sum(int(part.held_out.sum()) for part in self.parts)

    def class_counts(self) -> dict[str, int]:
        """Rows of each class in the file; empty where targets are not classes."""
        if EVERY_ROW in self.counts and len(self.counts) == 1:
            return {}
        return {str(label): self.counts[label] for label in sorted(self.counts)}


@dataclass(frozen=True)
class TargetReading:
    """How the targets of a task are grouped, and checked before any fit.

    Attributes
    ----------
    groups : callable
        From a block and a name to labels, and of each row the number of its label. Rows of each label are
        held out in the same share.
    check : callable
        Refuses what has been gathered.
    needs_target : bool
    """

    groups: Callable[[Block, str], tuple[list[Any], np.ndarray]]
    check: Callable[[Gathered, str], None]
    needs_target: bool = True


class Gathering:
    """Reads a source once; the preparation is fitted to all rows that are not held out.

    Parameters
    ----------
    held_out : HeldOut or Split
    preparation : TablePreparation
    limit : float or None
        Bytes that the rows kept may take, as they are and prepared; None to keep none of them.
    seed : int
    reporter : Reporter
    reading : TargetReading, optional
        Of classes by default.
    """

    def __init__(
        self,
        held_out: HeldOut | Split,
        preparation: TablePreparation,
        limit: float | None,
        seed: int,
        reporter: Reporter,
        reading: TargetReading | None = None,
    ) -> None:
        self.reading = reading or CLASSES
        self.held_out, self.preparation, self.reporter = held_out, preparation, reporter
        self.limit, self.key = limit, key_of(f"rows of {seed}")
        self.found = Gathered()

    def read(self, source: Source) -> Gathered:
        """All blocks of the source."""
        for block in timed_blocks(source, self.reporter, needs_target=self.reading.needs_target):
            self._add(block, source.name)
            self.reporter.say("read", self.found.n_rows)
        self.reading.check(self.found, source.name)
        return self.found

    def _add(self, block: Block, name: str) -> None:
        found = self.found
        labels, codes = self.reading.groups(block, name)
        first = self._first(labels, codes)
        _count(found, labels, codes, name)
        mask = self.held_out.of_block(labels, codes, block)
        with self.reporter.clock("preparation"):
            self.preparation.partial_fit(taken(block, np.flatnonzero(~mask)) if mask.any() else block)
        found.n_rows += block.n_rows
        if self.limit is not None:
            rows = block.first_row + np.arange(block.n_rows)
            self._keep(KeptRows(block, rows, mask, first), self.limit)

    def _keep(self, part: KeptRows, limit: float) -> None:
        """All of it or a sample; all parts are thinned out until they are small enough."""
        found = self.found
        found.parts.append(self._kept(part))
        while self._n_bytes() > limit and found.share > MIN_SHARE_KEPT:
            found.share /= 2.0
            for k, part in enumerate(found.parts):  # one by one: no two copies of all at once
                found.parts[k] = self._kept(part)

    def _kept(self, part: KeptRows) -> KeptRows:
        if self.found.share == 1.0:
            return part
        stays = mixed(part.rows.astype(np.uint64), self.key) < np.uint64(self.found.share * 2.0**64)
        which = np.flatnonzero(stays | part.first)
        return KeptRows(taken(part.block, which), part.rows[which], part.held_out[which], part.first[which])

    def _first(self, labels: list[Any], codes: np.ndarray) -> np.ndarray:
        """Which rows are among the first of their class in the file."""
        out = np.zeros(len(codes), dtype=bool)
        for number, label in enumerate(labels):
            if (wanted := MIN_ROWS_PER_CLASS - self.found.counts.get(label, 0)) > 0:
                out[np.flatnonzero(codes == number)[:wanted]] = True
        return out

    def _n_bytes(self) -> float:
        prepared = self.found.n_kept * self.preparation.row_bytes_
        return sum(part.n_bytes for part in self.found.parts) + prepared


def timed_blocks(
    source: Source, reporter: Reporter, n_rows: int = BLOCK_ROWS, needs_target: bool = True
) -> Iterator[Block]:
    """The blocks of a source with a target, and the time of reading them as "reading"."""
    with reporter.clock("reading"):
        target = source.target  # text is gone through once to see what its columns hold
        blocks = iter(source.blocks(n_rows))
    if target is None and needs_target:
        raise ParameterError(
            f"{source.name}: training needs a target.", "Name the column to predict ({target}).", target=None
        )
    while True:
        with reporter.clock("reading"):
            block = next(blocks, None)
        if block is None:
            return
        yield block


def _count(found: Gathered, labels: list[Any], codes: np.ndarray, name: str) -> None:
    for label, n in zip(labels, np.bincount(codes, minlength=len(labels)).tolist()):
        found.counts[label] = found.counts.get(label, 0) + n
    if len(found.counts) > MAX_CLASSES:
        raise _too_many(found, name)


def check_classes(found: Gathered, name: str) -> None:
    """Refuse unsuitable targets, before any fit."""
    if len(found.counts) < 2:
        only = "no rows" if not found.counts else f"one class, {next(iter(found.counts))!r}"
        raise ValueError(f"{name}: the target has {only}; at least two classes are needed.")
    if len(found.counts) > max(found.n_rows // 2, 2):
        raise _too_many(found, name)
    if (fraction := next((label for label in found.counts if _is_fraction(label)), None)) is not None:
        problem = f"{name}: the target has fractions, such as {fraction!r}, which are not classes."
        raise _not_classes(problem, found)


def _is_fraction(label: Any) -> bool:
    return isinstance(label, float) and not label.is_integer()


def _too_many(found: Gathered, name: str) -> TooManyClasses:
    some = ", ".join(repr(label) for label in list(found.counts)[:3])
    n_rows = sum(found.counts.values())
    return _not_classes(
        f"{name}: the target has {len(found.counts)} different labels in {n_rows} rows "
        f"({some}, ...), too many for classes. Is it the right column? Bin numeric targets first.",
        found,
    )


def _not_classes(problem: str, found: Gathered) -> TooManyClasses:
    error = TooManyClasses(problem, "To predict numbers as they are, give {task}.", task="regression")
    error.labels, error.n_rows = tuple(found.counts), sum(found.counts.values())
    return error


def one_group(block: Block, name: str) -> tuple[list[Any], np.ndarray]:
    """All rows as one group: of targets that are not classes."""
    return [EVERY_ROW], np.zeros(block.n_rows, dtype=np.int64)


EVERY_ROW = "every row"
CLASSES = TargetReading(labels_of, check_classes)
