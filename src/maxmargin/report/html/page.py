"""The page: sections in their order, under one policy and one style."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from ..content import ModelReport
from .columns import columns_section
from .drift import drift_section
from .explore import EXPLORE_STYLE, SCRIPT, explore_section
from .learning import learning_section
from .machinery import gap_section, model_section, path_section, promise_section, reproduce_section
from .markup import Child, document, node
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


def page(report: ModelReport) -> str:
    r"""The whole page as one file of HTML, without anything from elsewhere.

    It has no scripts, unless the report was built to be explored: then it has one, and the policy of the page
    names its hash. Sections that a model has nothing to say in are left out.

    Parameters
    ----------
    report : ModelReport

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
    made = report.record.get("date") or report.record.get("created")
    sections = [(anchor, title, show(report)) for anchor, title, show in SECTIONS]
    sections = [each for each in sections if each[2]]
    explored = report.exploration is not None
    runs = "runs nothing" if not explored else "runs only the script that shows what is in it"
    body = [
        header(report),
        contents([(anchor, title) for anchor, title, _ in sections]),
        node(
            "main",
            explore_section(report) if explored else None,
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
    title = f"{title_of(report)} – maxmargin report"
    if not explored:
        return document(title, STYLE, body)
    return document(title, f"{STYLE}\n{EXPLORE_STYLE}", body, SCRIPT)


STYLE = files(__package__).joinpath("style.css").read_text(encoding="utf-8").strip()
