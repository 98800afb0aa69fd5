"""What the commands share: messages, output, options about data files, progress, texts."""

from . import texts
from .app import run
from .evaluation_text import (
    between,
    number,
    parts_of,
    percent,
)
from .invocation import again
from .messages import warn
from .output import Show, facts, table
from .problems import (
    EXIT_FAILED,
    EXIT_OK,
    Interrupted,
    UsageError,
    check_out,
)
from .progress import Bar, TrainingProgress, bar
from .reading import Reading

__all__ = [
    "EXIT_FAILED",
    "EXIT_OK",
    "Bar",
    "Interrupted",
    "Reading",
    "Show",
    "TrainingProgress",
    "UsageError",
    "again",
    "bar",
    "between",
    "check_out",
    "facts",
    "number",
    "parts_of",
    "percent",
    "run",
    "table",
    "texts",
    "warn",
]
