"""A benchmark as the runner sees it: named cells, a call that measures one, and rows from all records."""

import importlib
import inspect
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[1]
WHOLE = "all"  # the one cell of a module that has only ``run``
DEFAULT_LIMIT_SECONDS = 1800

# The tables in order of importance: a run with too little time measures the first ones. Others come last.
ORDER = (
    "small_sets",
    "text",
    "linear_sets",
    "hundred_classes",
    "hard_problems",
    "kernel_svm",
    "predict_stream",
    "explore_page",
    "readers",
    "wide_csv",
    "path_cv_sizes",
    "budget_small",
    "scaling",
    "svm_memory",
    "eigen_map",
    "top_k",
    "output_codes",
    "decoders",
    "kernels",
    "budget_digits",
    "linear_program",
    "linear",
    "lagrangian",
    "path_cv",
    "startup",
    "interrupt",
    "top_k_large",
    "large_file",
    "all_rows",
)


@dataclass(frozen=True)
class Benchmark:
    """A module of this folder; see CONTRIBUTING.md, "Add a benchmark"."""

    module: ModuleType

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.module.__name__

    @property
    def about(self) -> str:
        """The module's docstring."""
        return inspect.getdoc(self.module) or ""

    @property
    def title(self) -> str:
        """The heading of its section."""
        return getattr(self.module, "TITLE", self.name.replace("_", " "))

    @property
    def limit_seconds(self) -> float:
        """A cell that takes longer is stopped and recorded as failed."""
        return getattr(self.module, "LIMIT_SECONDS", DEFAULT_LIMIT_SECONDS)

    @property
    def has_cells(self) -> bool:
        """Whether cells are measured one by one; else ``run`` returns everything at once."""
        return hasattr(self.module, "cells") and hasattr(self.module, "measure")

    def cells(self, suite: str) -> list[str]:
        """Names of the cells that a suite ("quick", "bench", "hard" or "large") measures, in order."""
        if self.has_cells:
            return list(self.module.cells(suite))
        return [WHOLE] if suite in ("quick", getattr(self.module, "SUITE", "bench")) else []

    def place(self, cell: str) -> int:
        """Where a cell stands among all: records are shown in this order."""
        known = [name for suite in ("quick", "bench", "hard", "large") for name in self.cells(suite)]
        return known.index(cell) if cell in known else len(known)

    def measure(self, cell: str, repeats: int, quick: bool) -> dict:
        """The record of one cell, which JSON can store."""
        if self.has_cells:
            return self.module.measure(cell, quick)
        # Notes come first: one of them measures memory growth, which needs a process that has used little.
        notes = self.module.notes(quick=quick) if hasattr(self.module, "notes") else []
        outcome = self.module.run(repeats=repeats, quick=quick)
        rows, tables = outcome if isinstance(outcome, tuple) else (outcome, {})
        return {"rows": rows, "tables": tables, "notes": notes}

    def rows(self, records: dict[str, dict]) -> list[dict]:
        """Lines as ``clock.row`` and ``clock.score`` make them, from the records of all measured cells."""
        if self.has_cells:
            return self.module.rows(records) if records else []
        return [row for record in records.values() for row in record["rows"]]

    def tables(self, records: dict[str, dict]) -> dict[str, list[dict]]:
        """Further tables: a title, and lines keyed by column names."""
        if self.has_cells:
            return self.module.tables(records) if records and hasattr(self.module, "tables") else {}
        return {title: lines for record in records.values() for title, lines in record["tables"].items()}

    def notes(self, records: dict[str, dict]) -> list[str]:
        """Sentences for what fits no table."""
        if self.has_cells:
            return self.module.notes(records) if records and hasattr(self.module, "notes") else []
        return [note for record in records.values() for note in record["notes"]]


def discovered(only=None) -> list[Benchmark]:
    """The modules of the folder that have a ``run`` or ``cells``, or some by name, the important first."""
    names = only or sorted((path.stem for path in FOLDER.glob("*.py") if path.stem != "run"), key=_place)
    modules = [importlib.import_module(name) for name in names]
    return [Benchmark(m) for m in modules if hasattr(m, "run") or hasattr(m, "cells")]


def _place(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)
