"""From a data file to a model.

Blocks change no bit: sums are over chunks of 4,096 rows whatever blocks they come in, and a row is held
out, or kept in the sample, by a hash of its number. Beyond the memory limit a uniform sample is kept, which
is more accurate than streaming in the same time; streaming is opt-in. The preparation is fitted to the rows
that are not held out, also for the model that is trained on all rows.
"""

from typing import TYPE_CHECKING

from .._lazy import lazy

if TYPE_CHECKING:
    from .costs import cost_from_text
    from .from_file import train
    from .held_out import HeldOut, mixed
    from .models import DEFAULT_MODEL, MODELS, OTHER_MODELS, TASK_NAMES, named_estimator, parameters_from_text
    from .progress_bar import Bar, ProgressBar, RemainingTime, TrainingProgress, shown_bar, time_text
    from .record import digest_of, is_training_file, plain
    from .regression import IgnoredTarget, NumberScores, NumberTarget, number_scores, one_prediction
    from .tasks import task_of

__all__ = [
    "DEFAULT_MODEL",
    "MODELS",
    "OTHER_MODELS",
    "TASK_NAMES",
    "Bar",
    "HeldOut",
    "IgnoredTarget",
    "NumberScores",
    "NumberTarget",
    "ProgressBar",
    "RemainingTime",
    "TrainingProgress",
    "cost_from_text",
    "digest_of",
    "is_training_file",
    "mixed",
    "named_estimator",
    "number_scores",
    "one_prediction",
    "parameters_from_text",
    "plain",
    "shown_bar",
    "task_of",
    "time_text",
    "train",
]

__getattr__ = lazy(
    __name__,
    {
        "costs": ["cost_from_text"],
        "held_out": ["HeldOut", "mixed"],
        "models": [
            "DEFAULT_MODEL",
            "MODELS",
            "OTHER_MODELS",
            "TASK_NAMES",
            "named_estimator",
            "parameters_from_text",
        ],
        "progress_bar": [
            "Bar",
            "ProgressBar",
            "RemainingTime",
            "TrainingProgress",
            "shown_bar",
            "time_text",
        ],
        "record": ["digest_of", "is_training_file", "plain"],
        "regression": ["IgnoredTarget", "NumberScores", "NumberTarget", "number_scores", "one_prediction"],
        "tasks": ["task_of"],
        "from_file": ["train"],
    },
)
