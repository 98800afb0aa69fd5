"""``maxmargin explore``: a page about a model that can be explored in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ..frame import Reading, Show
from .evaluate import Cost, Renaming, UnknownLabels
from .report import write_page


def explore(
    model: Annotated[Path, Parameter(help="The model file.")],
    data: Annotated[Path, Parameter(help="Rows to evaluate it on, with the target; preferably new rows.")],
    /,
    *,
    out: Annotated[Path | None, Parameter(help="The page to write [MODEL-explore.html].")] = None,
    label: Renaming = None,
    training: Annotated[
        Path | None, Parameter(help="The training file: which columns have moved since?")
    ] = None,
    unknown_labels: UnknownLabels = "error",
    cost: Cost = None,
    reading: Reading = Reading(),  # noqa: B008
    show: Show = Show(),  # noqa: B008
) -> None:
    """Write one self-contained HTML page to explore a model in a browser.

    The same as report --explore: the report, and controls on top of it. Sliders for the budget of support
    vectors and for the threshold, with costs; rows to filter and sort, each with its nearest support vectors
    and what pulled it; a map; columns with their importance, effect and drift. The page needs no server and
    loads nothing; it shows up to 2,000 rows of the file.
    """
    options: dict[str, Any] = {"label": label, "unknown_labels": unknown_labels, "cost": cost}
    write_page(model, data, out, reading, show, explore=True, training=training, **options)
