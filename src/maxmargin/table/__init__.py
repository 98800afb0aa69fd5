"""Tables to matrices: ``TablePreparation``, its statistics, plans and blocks."""

from .blocks import labels_of, n_bytes, sample, shuffled_folds, taken, whole
from .dates import DatePlan
from .frame_source import FrameSource
from .given import is_plain_matrix, is_table
from .numeric import NumberPlan
from .odd_columns import warn_of_odd_columns
from .plans import WordsPlan
from .preparation import TablePreparation, roles_of
from .texts import TextPlan
from .written_dates import common_order, days_of

__all__ = [
    "DatePlan",
    "FrameSource",
    "NumberPlan",
    "TablePreparation",
    "TextPlan",
    "WordsPlan",
    "common_order",
    "days_of",
    "is_plain_matrix",
    "is_table",
    "labels_of",
    "n_bytes",
    "roles_of",
    "sample",
    "shuffled_folds",
    "taken",
    "warn_of_odd_columns",
    "whole",
]
