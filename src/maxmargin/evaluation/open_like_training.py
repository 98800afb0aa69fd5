"""Another file read in the way of the one that a model was trained on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..io.readers import DataFormatError, Source, chosen, open_source

KIND_NAMES = {"number": "numeric", "words": "categorical"}

__all__ = ["open_like_training"]


def open_like_training(
    path: str | os.PathLike[str],
    model: Any,
    record: Mapping[str, Any] | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    with_target: bool = True,
) -> Source:
    r"""Open a file for a model, with the format, names, missing values and kinds of columns of its training.

    Parameters
    ----------
    path : str or path, or a list of them
    model : Pipeline
        Whose first step is a fitted ``TablePreparation``.
    record : mapping, optional
        Of the model's training, with the options under ``record["data"]["options"]``.
    given : mapping, optional
        Options of ``open_source`` that override those of the training.
    with_target : bool, default=True
        Whether the target is wanted. If it is not, the file may have it or not: it is no feature.

    Returns
    -------
    Source

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.training import train
    >>> trained = train(source, model="linear")
    >>> from maxmargin.evaluation import open_like_training
    >>> open_like_training("kinds.csv", trained.model, trained.record).target
    'kind'
    """
    data = dict(record or {}).get("data") or {}
    first = path[0] if isinstance(path, list | tuple) else path
    options = _of_training(Path(first), data) | dict(given or {})
    left_out = [options.pop(name, ()) for name in ("drop", "ids")]
    source = _opened(path, model, data, options, with_target)
    if not any(left_out):
        return source
    names = getattr(source, "names", ())
    there = [[name for name in each if name in names and name != source.target] for each in left_out]
    return chosen(source, *there)


def _opened(
    path: str | os.PathLike[str],
    model: Any,
    data: Mapping[str, Any],
    options: dict[str, Any],
    with_target: bool,
) -> Source:
    """The file with all its columns."""
    if with_target:
        return _with_kinds(path, options, model)
    if options.get("names") is None and options.get("header") is False and data.get("n_features"):
        # Columns of a file with neither header nor names are numbered, the target among them.
        options["names"] = [str(j) for j in range(data["n_features"] + data.get("n_left_out", 0) + 1)]
    target = options.pop("target", None)
    names = options.get("names")
    try:
        probe = open_source(path, **_without_kinds(options))
    except DataFormatError:
        if names is None or target not in names:
            raise
        options["names"] = [name for name in names if name != target]
        try:
            probe = open_source(path, **_without_kinds(options))
        except DataFormatError:
            options["names"] = names
            open_source(path, **_without_kinds(options))  # whose message is about all names
            raise
    if target in getattr(probe, "names", ()):
        options["target"] = target
    return _with_kinds(path, options, model)


def _of_training(path: Path, data: Mapping[str, Any]) -> dict[str, Any]:
    """The recorded options; a file of another ending has a format and a delimiter of its own."""
    options = {name: value for name, value in (data.get("options") or {}).items() if value is not None}
    if path.suffixes[-2:] != Path(data.get("file", path)).suffixes[-2:]:
        options.pop("format", None)
        options.pop("delimiter", None)
    return options


def _without_kinds(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "kinds"}


def _with_kinds(path: str | os.PathLike[str], options: dict[str, Any], model: Any) -> Source:
    """Columns are read as what the model takes them for; it complains itself about those it misses."""
    source = open_source(path, **_without_kinds(options))
    names = getattr(source, "names", None)
    if names is None:  # a matrix: what was recorded is about labels
        kinds = options.get("kinds")
    else:
        declared, trained = dict(options.get("kinds") or {}), _kinds_of(model)
        for name in declared.keys() & trained.keys():
            if declared[name] != trained[name]:
                raise ValueError(
                    f"column {name!r} cannot be read as {KIND_NAMES[declared[name]]}: it was "
                    f"{KIND_NAMES[trained[name]]} when the model was trained. Train a new model, or do not "
                    "declare the column."
                )
        expected = {**declared, **trained}
        kinds = {name: kind for name, kind in expected.items() if name in names and name != source.target}
    found = open_source(path, **{**_without_kinds(options), "kinds": kinds})
    if hasattr(found, "fixed"):
        found.fixed = frozenset(_kinds_of(model))
    return found


def _kinds_of(model: Any) -> dict[str, str]:
    table: Any = getattr(model, "named_steps", {}).get("table")
    return dict(table.kinds_) if getattr(table, "layout_", None) == "table" else {}
