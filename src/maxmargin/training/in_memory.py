"""Training on rows in memory: a fit that is validated on held-out rows, then one on all rows."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..auto import grouped_positions
from ..checkpoints import Checkpoint
from ..data import ParameterError
from ..io.readers import BLOCK_ROWS, Source
from ..metrics import Costs
from ..table import TablePreparation, roles_of, warn_of_odd_columns
from .gather import Gathered, KeptRows
from .held_out import HeldOut
from .leaks import (
    MIN_COPIES,
    MIN_DISTINCT,
    MIN_SHARE_OF_COPIES,
    copied_rows,
    id_columns,
    target_copies,
    warn_of_leaks,
)
from .models import ModelKind
from .progress import Reporter
from .record import names_of
from .split import Split
from .validation import HeldOutTally

CACHE_MEMORY_SHARE = 0.25  # of the memory, for kernel values and features


@dataclass(frozen=True)
class Request:
    """The parameters of a training."""

    kind: ModelKind
    parameters: Mapping[str, Any]
    seed: int
    memory_mb: float
    validate: float
    refit: bool
    checkpoint: Any
    checkpoint_seconds: float
    resume: bool
    block_rows: int = BLOCK_ROWS  # of a stream, or of a pass over all rows
    sample: bool = False  # train on a sample of the rows if they do not all fit in memory
    cost: Mapping[str, Any] | None = None  # of errors, for a decision
    split: Split | None = None  # what is held out instead of a share of each class
    cache_memory_mb: float = 1024  # of which the cache of kernel values gets its share
    text: tuple[str, ...] = ()  # columns of free text, whatever they contain

    def held_out(self) -> HeldOut | Split:
        """Which rows are held out, as the rows go by."""
        return HeldOut(self.validate, self.seed) if self.split is None else self.split

    def preparation(self, source: Source) -> TablePreparation:
        """Not fitted; columns that are declared have their roles."""
        declared = getattr(source, "declared", ())
        self._check_text(source, set(declared) - set(getattr(source, "category_types", ())))
        return TablePreparation(roles=roles_of(declared, self.text) or None)

    def _check_text(self, source: Source, declared: set[str]) -> None:
        """Refuse columns of text that cannot be text, or are declared to be something else."""
        kinds = {column.name: column.kind for column in source.columns or ()}
        for name in self.text:
            if name not in kinds:
                raise ValueError(f"there is no column {name!r} to be read as text.")
            if kinds[name] == "number":
                raise ValueError(f"column {name!r} is numeric, so it cannot be read as text.")
            if name in declared:
                raise ValueError(
                    f"column {name!r} is declared both as text and as categorical; declare it as one of them."
                )

    def warn_of_columns(self, preparation: TablePreparation, source: Any) -> None:
        """Warn of columns that may be meant otherwise than they are read."""
        grouped = source.grouped_numbers() if hasattr(source, "grouped_numbers") else {}
        warn_of_odd_columns(preparation, getattr(source, "declared", ()), grouped)

    def of_matrix(self, preparation: TablePreparation) -> Self:
        """The same, with groups of a table's columns as groups of the columns of its matrix."""
        given = self.parameters.get("column_groups")
        if given is None:
            return self
        names = names_of(preparation)
        unknown = {str(name) for group in given for name in group if not isinstance(name, Integral)} - {
            *names
        }
        if unknown:
            raise ParameterError(
                f"there is no column {min(unknown)!r} to be in a group.",
                "Give names of columns that are features in {column_groups}.",
                column_groups=None,
            )
        groups = grouped_positions(given, len(names), names)[: len(given)]
        inside = [np.flatnonzero(np.isin(preparation.sources_, group)).tolist() for group in groups]
        for group, columns in zip(given, inside):
            if not columns:
                raise ParameterError(
                    f"the group {', '.join(map(str, group))} has no column that varies.",
                    "Leave it out of {column_groups}.",
                    column_groups=None,
                )
        return replace(self, parameters={**self.parameters, "column_groups": inside})

    def check_costs(self, found: Gathered) -> None:
        """Refuse costs that are not about the classes of the file, before any fit."""
        if self.cost is not None:
            Costs.of(self.cost, sorted(found.counts))

    def estimator(self, more: Mapping[str, Any] | None = None) -> Any:
        """Not fitted, with ``more`` parameters; by default its cache has its share of the memory."""
        cache = (
            {"cache_mb": CACHE_MEMORY_SHARE * self.cache_memory_mb}
            if "cache_mb" in self.kind.accepted()
            else {}
        )
        return self.kind.make({**cache, **self.parameters, **(more or {})}, self.seed)


@dataclass
class Outcome:
    """The result of a training."""

    estimator: Any
    fitted_on: str
    rows: np.ndarray  # numbers in the file of the rows that the estimator was given
    validation: dict[str, Any] | None = None
    checkpoints: list[Any] = field(default_factory=list)
    leaks: dict[str, Any] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)  # what else the record of the training has


class Training:
    """The fits of one training."""

    def __init__(self, request: Request, reporter: Reporter) -> None:
        self.request, self.reporter = request, reporter
        self.checkpoints: list[Checkpoint] = []
        self.leaks: dict[str, Any] = {}

    def run(self, found: Gathered, preparation: TablePreparation) -> Outcome:
        """Fit, validate and, if requested, fit again on all rows."""
        held_out = held_out_of(found.parts)
        sample = f"a uniform sample of {found.n_kept:,} of {found.n_rows:,} rows"
        everything = "all rows" if found.share == 1.0 else sample
        ids = id_columns(found.parts)
        with self.reporter.clock("preparation"):
            data = prepared(preparation, found.parts)
        self.leaks = {"ids": ids, "target_copies": target_copies(data.X, data.y, preparation)}
        if not held_out.any():
            return self._outcome(self._fit(data, "fit"), data, everything)
        training_rows = data.take(np.flatnonzero(~held_out))
        estimator = self._fit(training_rows, "fit")
        self.reporter.say("validate", 0, int(held_out.sum()))
        with self.reporter.clock("validation"):
            new_rows = data.take(np.flatnonzero(held_out))
            tally = HeldOutTally(estimator, self.request.cost)
            tally.add(new_rows.X, new_rows.y)
            validation = tally.record()
            self.leaks |= self._copies(estimator, data.X, held_out, new_rows)
        self.reporter.say("validate", int(held_out.sum()), int(held_out.sum()))
        if not self.request.refit:
            return self._outcome(estimator, training_rows, f"{everything} but those held out", validation)
        del training_rows, estimator
        return self._outcome(self._fit(data, "refit"), data, everything, validation)

    def _copies(self, estimator: Any, X: Any, held_out: np.ndarray, new_rows: LabelledRows) -> dict[str, Any]:
        """Held-out rows that are copies of training rows, and the accuracy on the others."""
        copies, distinct = copied_rows(X, held_out)
        share = float(copies.mean())
        if copies.sum() < MIN_COPIES or share < MIN_SHARE_OF_COPIES or distinct < MIN_DISTINCT:
            return {}
        others = HeldOutTally(estimator)
        if not copies.all():
            rest = new_rows.take(np.flatnonzero(~copies))
            others.add(rest.X, rest.y)
        told = others.record() or {"accuracy": None}
        found = {"n_copies": int(copies.sum()), "share_of_copies": share}
        return found | {"accuracy_without_copies": told["accuracy"]}

    def _fit(self, data: LabelledRows, phase: str) -> Any:
        estimator = self.request.estimator()
        self._set_checkpoint(estimator, phase)
        with self.reporter.clock("solver"), self.reporter.watching(estimator, phase):
            return estimator.fit(data.X, data.y)

    def _set_checkpoint(self, estimator: Any, phase: str) -> None:
        """Each fit has its own file, which is kept until the model is saved."""
        if self.request.checkpoint is None or not hasattr(estimator, "set_checkpoint"):
            return
        path = f"{self.request.checkpoint}.{phase}"
        every = self.request.checkpoint_seconds
        self.checkpoints.append(Checkpoint(path, every, resume=self.request.resume))
        estimator.set_checkpoint(self.checkpoints[-1])

    def _outcome(
        self,
        estimator: Any,
        data: LabelledRows,
        fitted_on: str,
        validation: dict[str, Any] | None = None,
    ) -> Outcome:
        if hasattr(estimator, "set_checkpoint"):
            estimator.set_checkpoint(None)
        warn_of_leaks(self.leaks)
        return Outcome(estimator, fitted_on, data.rows, validation, self.checkpoints, self.leaks)


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Prepared rows, their labels, and their numbers in the file."""

    X: Any
    y: np.ndarray
    rows: np.ndarray

    def take(self, which: np.ndarray) -> LabelledRows:
        """A copy of some of them."""
        return LabelledRows(self.X[which], self.y[which], self.rows[which])


def prepared(preparation: TablePreparation, parts: list[KeptRows]) -> LabelledRows:
    """The matrix of all rows kept; ``parts`` is emptied on the way, so that they are not there twice.

    Parameters
    ----------
    preparation : TablePreparation
    parts : list of KeptRows

    Returns
    -------
    LabelledRows
    """
    rows = np.concatenate([part.rows for part in parts])
    y = np.concatenate([np.asarray(part.block.target) for part in parts])
    X: Any = []
    if preparation.is_dense_:
        X = np.empty((len(rows), preparation.n_features_out_), preparation.dtype)
    start = 0
    while parts:
        block = parts.pop(0).block
        matrix = preparation.transform_noting(block)[0]
        if isinstance(X, list):
            X.append(matrix)
        else:
            X[start : start + block.n_rows] = matrix
        start += block.n_rows
    if isinstance(X, list):
        X = sparse.csr_array(sparse.vstack(X, format="csr"))
    give_back()
    return LabelledRows(X, y, rows)


def held_out_of(parts: Sequence[KeptRows]) -> np.ndarray:
    """Which of the rows kept are held out."""
    return np.concatenate([part.held_out for part in parts])


def give_back() -> None:
    """Return freed memory to the system, where the C library can.

    glibc keeps what arrays of less than 32 MiB have left. After the columns of a million rows have become one
    matrix that is 280 MiB which no fit would use again.
    """
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        return
    trim(0)
