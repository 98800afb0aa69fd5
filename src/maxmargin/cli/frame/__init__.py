"""What the commands share: messages, output, options about data files, progress, texts."""

from . import texts
from .app import run
from .cluster import ClusterOptions
from .column_texts import column_parts
from .drift_texts import drift_parts
from .learning_texts import learning_parts
from .messages import EXIT_FAILED, EXIT_OK, Interrupted, UsageError, check_out, worded
from .number_texts import novelty_parts, number_parts, result_facts, task_text, validation_text
from .output import Show, facts, standard_output, table
from .progress import Bar, bar
from .reading import Reading, listed
from .tasks import check_options, only_for_classes, open_rows
from .texts import between, number, parts_of, percent

__all__ = [
    "EXIT_FAILED",
    "EXIT_OK",
    "Bar",
    "ClusterOptions",
    "Interrupted",
    "Reading",
    "Show",
    "UsageError",
    "bar",
    "between",
    "check_options",
    "check_out",
    "column_parts",
    "drift_parts",
    "facts",
    "learning_parts",
    "listed",
    "novelty_parts",
    "number",
    "number_parts",
    "only_for_classes",
    "open_rows",
    "parts_of",
    "percent",
    "result_facts",
    "run",
    "standard_output",
    "table",
    "task_text",
    "texts",
    "validation_text",
    "worded",
]
