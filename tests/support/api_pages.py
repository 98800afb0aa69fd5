"""The API pages of docs/api, generated from what the public modules export and from docstrings.

``PYTHONPATH=src python tests/support/api_pages.py`` writes them again.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import maxmargin

FOLDER = Path(__file__).parents[2] / "docs" / "api"

MODULES = [
    "bounds",
    "calibration",
    "codes",
    "dask",
    "decoders",
    "displays",
    "evaluation",
    "io",
    "kernels",
    "losses",
    "metrics",
    "report",
    "table",
    "training",
]
FUNCTIONS = ["importance", "load", "path", "save", "top_k_accuracy"]

# Names that a public module exports for other folders of the package. They are not public.
INTERNAL = {
    "bounds": {"Entry", "SupportProblem"},
    "calibration": {"check_method", "log_odds_to_probabilities", "nearest_agreeing", "pair_agreeing"},
    "decoders": {
        "CoupledPairs",
        "Explanation",
        "FIXED",
        "LearnsFrom",
        "ProbabilityDecoder",
        "decision_values",
        "explanations",
        "gives_probabilities",
        "has_all_pairs",
        "predicted_classes",
    },
    "evaluation": {
        "ColumnDrift",
        "ColumnImportance",
        "Effect",
        "ModelAnswers",
        "OperatingPoint",
        "RowSample",
        "classifier_of",
        "n_bytes_of",
        "prepared",
        "recorded_training",
    },
    "kernels": {
        "KernelData",
        "_OfDistance",
        "_SquaredDistance",
        "average_outer_product",
        "check_gradient",
        "depends_on_data",
        "gradient_blocks",
        "join_points",
        "n_points",
        "points_of",
    },
    "losses": {"SmoothLoss", "SmoothedHinge"},
    "metrics": {
        "CONFIDENCE",
        "CostStudy",
        "CostTally",
        "EXPECTED",
        "Interval",
        "RunningMean",
        "SIDES",
        "STORED",
        "check_cost",
        "decision_values",
        "natural_order",
        "normal_interval",
        "study_of",
    },
    "table": {
        "FrameSource",
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
    },
    "training": {
        "HeldOut",
        "IgnoredTarget",
        "NumberTarget",
        "TASK_NAMES",
        "Bar",
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
    },
}

# Constants have no docstring.
CONSTANTS = {
    "CODES": "Code families by name.",
    "DECODERS": "Decoders by name.",
    "DEFAULT_MISSING": "Fields of a text file that count as missing values by default.",
    "DEFAULT_MODEL": "The name of the model that `train` fits by default.",
    "LOSSES": "Losses by name.",
    "MODELS": "Models that `train` fits, by name: the estimator of each, and a line about it.",
    "OTHER_MODELS": "The same for numbers and for novelty.",
}


def public_names(module: str) -> list[str]:
    """What a public module exports to users."""
    names = set(import_module(f"maxmargin.{module}").__all__) - INTERNAL.get(module, set())
    return sorted(names, key=lambda name: (name.lower(), name))


def first_sentence(value: Any) -> str:
    """The first paragraph of a docstring as Markdown."""
    paragraph = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", paragraph).replace("``", "`")


def line(name: str, value: Any) -> str:
    described = inspect.isclass(value) or inspect.isroutine(value)
    return f"- `{name}`: {first_sentence(value) if described else CONSTANTS[name]}"


def module_page(module: str) -> str:
    """The page of a public module."""
    home = import_module(f"maxmargin.{module}")
    lines = [line(name, getattr(home, name)) for name in public_names(module)]
    return "\n".join([f"# maxmargin.{module}", "", first_sentence(home), "", *lines, ""])


def index_page() -> str:
    """Estimators and functions of the package itself, and a link to each module."""
    single = [
        name for name in maxmargin.__all__ if name not in MODULES and name not in (*FUNCTIONS, "__version__")
    ]
    modules = [
        f"- [`maxmargin.{name}`]({name}.md): {first_sentence(import_module(f'maxmargin.{name}'))}"
        for name in MODULES
    ]
    return "\n".join(
        [
            "# API",
            "",
            "What `maxmargin` exports. Everything else can be imported, but is private and may change.",
            "`help(name)` shows parameters, attributes and examples.",
            "",
            "## Estimators",
            "",
            *(line(name, getattr(maxmargin, name)) for name in single),
            "",
            "## Functions",
            "",
            *(line(name, getattr(maxmargin, name)) for name in FUNCTIONS),
            "- `__version__`: The version of the library.",
            "",
            "## Modules",
            "",
            *modules,
            "",
        ]
    )


def pages() -> dict[str, str]:
    """Every API page by its file name."""
    return {"index.md": index_page()} | {f"{module}.md": module_page(module) for module in MODULES}


if __name__ == "__main__":
    for file, text in pages().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
