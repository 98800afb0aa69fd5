"""The page: sections in their order, under one policy and one style."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from ..content import ModelReport, NumberReport
from .columns import columns_section
from .drift import drift_section
from .explore import EXPLORE_STYLE, SCRIPT, explore_section
from .learning import learning_section
from .machinery import gap_section, model_section, path_section, promise_section, reproduce_section
from .markup import Child, document, node
from .number_page import NUMBER_SECTIONS, number_header, number_title
from .opening import choice_section, contents, data_section, header, title_of
from .quality import calibration_section, confusion_section, metrics_section
from .rows import influence_section, mistake_section
from .thresholds import threshold_section

__all__ = ["page"]

SECTIONS: tuple[tuple[str, str, Callable[[ModelReport], list[Child]]], ...] = (
    ("data", "Data", data_section),
    ("choice", "How the model was trained", choice_section),
    ("drift", "Since training", drift_section),
    ("model", "Model", model_section),
    ("metrics", "Performance", metrics_section),
    ("confusion", "Confusion matrix", confusion_section),
    ("thresholds", "Thresholds", threshold_section),
    ("calibration", "Calibration", calibration_section),
    ("mistakes", "Most confident mistakes", mistake_section),
    ("columns", "Which columns matter", columns_section),
    ("influence", "Influential training rows", influence_section),
    ("path", "Accuracy by number of support vectors", path_section),
    ("learning", "What more rows and support vectors would bring", learning_section),
    ("gap", "Duality gap", gap_section),
    ("bounds", "Error bounds", promise_section),
    ("reproduce", "How to reproduce it", reproduce_section),
)


def page(report: ModelReport | NumberReport) -> str:
    r"""The whole page as one file of HTML, without anything from elsewhere.

    It has no scripts, unless the report was built to be explored: then it has one, and the policy of the page
    names its hash. Sections that a model has nothing to say in are left out.

    Parameters
    ----------
    report : ModelReport
        Or that of a model without classes.

    Returns
    -------
    str
        To be written as UTF-8. The same report gives the same bytes.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.training import train
    >>> trained = train(source, model="linear")
    >>> from maxmargin.report import build, page
    >>> report = build(trained.model, trained.record, source)
    >>> page(report).startswith("<!")
    True
    """
    if isinstance(report, NumberReport):
        parts = _shown(NUMBER_SECTIONS, report)
        title = f"{number_title(report)} – maxmargin report"
        return document(title, STYLE, _body(number_header(report), parts, report.record))
    parts, explored = _shown(SECTIONS, report), report.exploration is not None
    first = explore_section(report) if explored else None
    runs = "runs only the script that shows what is in it" if explored else "runs nothing"
    body = _body(header(report), parts, report.record, first, runs)
    title = f"{title_of(report)} – maxmargin report"
    if not explored:
        return document(title, STYLE, body)
    return document(title, f"{STYLE}\n{EXPLORE_STYLE}", body, SCRIPT)


def _shown(sections: Any, report: Any) -> list[tuple[str, str, list[Child]]]:
    """The sections that have something to say."""
    told = [(anchor, title, show(report)) for anchor, title, show in sections]
    return [each for each in told if each[2]]


def _body(
    head: Child,
    sections: list[tuple[str, str, list[Child]]],
    record: Mapping[str, Any],
    first: Child = None,
    runs: str = "runs nothing",
) -> list[Child]:
    """Everything on the page."""
    made = record.get("date") or record.get("created")
    return [
        head,
        contents([(anchor, title) for anchor, title, _ in sections]),
        node(
            "main",
            first,
            [
                node("section", node("h2", title), parts, id=anchor, aria_label=title)
                for anchor, title, parts in sections
            ],
        ),
        node(
            "footer",
            node("p", f"Made by maxmargin. This file loads nothing, {runs} and sends nothing."),
            node("p", f"The model was trained on {made}.") if made else None,
        ),
    ]


STYLE = files(__package__).joinpath("style.css").read_text(encoding="utf-8").strip()
