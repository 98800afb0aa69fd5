"""The record of a training as JSON values: data, parameters, fit, validation, versions."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .. import json_values
from .._native import ThreadPool
from ..io.readers import Source
from ..table import DatePlan, TablePreparation, TextPlan
from .gather import Gathered

HASH_CHUNK_BYTES = 1 << 20
MAX_SUPPORT_ROWS = 10_000  # numbers of rows that a record lists


@contextmanager
def digest_of(name: str) -> Iterator[Callable[[], dict[str, Any]]]:
    """SHA-256 and size of a file, computed beside other work; both None where there is no such file."""
    path = Path(name)
    if not path.is_file():
        yield lambda: {"sha256": None, "n_bytes": None}
        return
    stopped: list[bool] = []

    def digest() -> dict[str, Any]:
        sha, n = hashlib.sha256(), 0
        with path.open("rb") as file:
            while (piece := file.read(HASH_CHUNK_BYTES)) and not stopped:
                sha.update(piece)
                n += len(piece)
        return {"sha256": sha.hexdigest(), "n_bytes": n}

    with ThreadPool(1) as pool:
        answer = pool.submit(digest)
        try:
            yield answer.result
        except BaseException:
            stopped.append(True)
            raise


def is_training_file(name: str, record: Mapping[str, Any] | None) -> bool:
    """Whether the file has the bytes of the one that a model with this record was trained on."""
    known, path = (record or {}).get("data") or {}, Path(name)
    if known.get("sha256") is None or not path.is_file() or path.stat().st_size != known.get("n_bytes"):
        return False
    with digest_of(name) as digest:
        return bool(digest()["sha256"] == known["sha256"])


def data_record(source: Source, found: Gathered, preparation: TablePreparation) -> dict[str, Any]:
    """The data of a training."""
    columns, options = source.columns, plain(source.options())
    return {
        "file": str(source.name),
        "n_rows": found.n_rows,
        "n_rows_kept": found.n_kept,
        "share_kept": found.share,
        "n_features": int(preparation.n_features_in_),
        "n_left_out": sum(len(options.get(name, ())) for name in ("drop", "ids")),
        "columns": None if columns is None else [{"name": c.name, "kind": c.kind} for c in columns],
        "dropped": dict(preparation.dropped_),
        "dates": _dates(preparation),
        "texts": _texts(preparation),
        "n_features_out": int(preparation.n_features_out_),
        "target": source.target,
        "class_counts": found.class_counts(),
        "options": options,
    }


def names_of(preparation: TablePreparation) -> list[str]:
    """The names of a table's columns; their positions where they have none."""
    given = getattr(preparation, "feature_names_in_", range(preparation.n_features_in_))
    return [str(name) for name in given]


def _dates(preparation: TablePreparation) -> dict[str, list[str]]:
    """Of each column of dates, the numbers that they became."""
    names = getattr(preparation, "feature_names_in_", ())
    plans = [(str(name), plan) for name, plan in zip(names, preparation.plans_)]
    return {name: plan.used(name) for name, plan in plans if isinstance(plan, DatePlan)}


def _texts(preparation: TablePreparation) -> dict[str, int]:
    """Of each column of free text, how many words are told apart."""
    names = getattr(preparation, "feature_names_in_", ())
    plans = [(str(name), plan) for name, plan in zip(names, preparation.plans_)]
    return {name: len(plan.words) for name, plan in plans if isinstance(plan, TextPlan)}


def fit_record(estimator: Any, rows: np.ndarray) -> dict[str, Any]:
    """How the fit ended; ``rows`` are the numbers in the file of the rows that it was given."""
    inner = getattr(estimator, "estimator_", estimator)
    out: dict[str, Any] = {
        name: plain(getattr(inner, f"{name}_"))
        for name in ("objective", "n_iter", "n_support", "alpha", "gamma")
        if hasattr(inner, f"{name}_")
    }
    support = getattr(inner, "support_", None)
    if support is not None and len(support) <= MAX_SUPPORT_ROWS:
        out["support_rows"] = plain(rows[support])
    return out


def choice_record(estimator: Any) -> dict[str, Any]:
    """Parameters given as a rule ("auto", "median"), with the value that each rule chose."""
    inner = getattr(estimator, "estimator_", estimator)
    rules = {name: value for name, value in inner.get_params(deep=False).items() if isinstance(value, str)}
    return {
        name: {"rule": rule, "value": plain(getattr(inner, f"{name}_"))}
        for name, rule in rules.items()
        if isinstance(getattr(inner, f"{name}_", None), float)
    }


def groups_record(estimator: Any, preparation: TablePreparation) -> list[dict[str, Any]] | None:
    """The columns of each group that a model has a kernel for, and its weight; None for other models."""
    weights = getattr(estimator, "group_weights_", None)
    if weights is None:
        return None
    sources, names = preparation.sources_, np.array(names_of(preparation), dtype=object)
    groups = [np.asarray(group) for group in estimator.column_groups]
    rest = np.setdiff1d(np.arange(len(sources)), np.concatenate(groups))
    return [
        {"columns": names[np.unique(sources[group])].tolist(), "weight": float(weight)}
        for group, weight in zip([*groups, rest], weights)
    ]


def versions() -> dict[str, str]:
    """Versions that the result may depend on."""
    from .. import __version__

    others = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"maxmargin": __version__, "python": platform.python_version(), **others}


def plain(value: Any) -> Any:
    """A value as JSON has it; what JSON has not becomes its text."""
    return json_values.plain(value, otherwise=str)
