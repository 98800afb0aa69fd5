"""Costs of errors as the command line writes them."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..metrics import SIDES, check_cost

__all__ = ["cost_from_text"]


def cost_from_text(texts: Iterable[str]) -> dict[str, Any]:
    """Costs of errors as ``train(cost=...)`` takes them.

    Parameters
    ----------
    texts : iterable of str
        ``["false-positive=1", "false-negative=5"]``, or the name of a CSV file whose first line has the
        predicted classes and whose other lines have a true class and a cost for each of them.

    Returns
    -------
    dict
    """
    given = list(texts)
    if len(given) == 1 and Path(given[0]).is_file():
        return _cost_matrix(Path(given[0]))
    out: dict[str, Any] = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        try:
            cost = float(value)
        except ValueError:
            cost = None
        if name not in SIDES or cost is None:
            raise ValueError(
                "a cost is written false-positive=1 or false-negative=5, or is the name of a CSV file with a "
                f"matrix of costs; got {text!r}."
            )
        out[name] = cost
    check_cost(out)
    return out


def _cost_matrix(path: Path) -> dict[str, dict[str, float]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = [[cell.strip() for cell in line] for line in csv.reader(file) if any(line)]
    if len(lines) < 3 or any(len(line) != len(lines[0]) for line in lines):
        raise ValueError(
            f"{path}: a matrix of costs has a first line with the predicted classes, after an empty field, "
            "and a line for each true class, all of the same length."
        )
    try:
        return {line[0]: dict(zip(lines[0][1:], map(float, line[1:]))) for line in lines[1:]}
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
