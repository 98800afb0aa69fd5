"""A line about a training under way, in a terminal or a notebook: how far it is, the gap, the time left.

Nothing is shown unless somebody asks for it, and nothing is imported but what that needs.
"""

from .bar import Bar, shown_bar, time_text
from .progress_bar import ProgressBar, TrainingProgress
from .remaining import RemainingTime

__all__ = ["Bar", "ProgressBar", "RemainingTime", "TrainingProgress", "shown_bar", "time_text"]
