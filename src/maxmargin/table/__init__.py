"""Tables to matrices: ``TablePreparation``, its statistics, plans and blocks."""

from .blocks import labels_of, n_bytes, sample, shuffled_folds, taken, whole
from .frame_source import FrameSource
from .given import is_plain_matrix, is_table
from .plans import NumberPlan, WordsPlan
from .preparation import TablePreparation
from .written_numbers import warn_of_written_numbers

__all__ = [
    "FrameSource",
    "NumberPlan",
    "TablePreparation",
    "WordsPlan",
    "is_plain_matrix",
    "is_table",
    "labels_of",
    "n_bytes",
    "sample",
    "shuffled_folds",
    "taken",
    "warn_of_written_numbers",
    "whole",
]
