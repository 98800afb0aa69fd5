"""Why a row was predicted as it was: its nearest support vectors, what pulled it, its place on the map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ...evaluation import prepared
from ...table import TablePreparation
from ..content import pull, readable_row
from .gather import RowFacts, SampledRows
from .machine import Machine
from .rows import rounded

__all__ = ["Reasons", "preparation_of", "reasons"]

N_NEAREST = 4
N_PULLS = 5
MAX_SUPPORT = 1_000  # with values on the page
MAX_SUPPORT_VALUES = 1_000_000
MAX_MAPPED = 400  # support vectors on the map

Reasons = tuple[dict[str, Any], list[dict[str, Any]]]  # the document; values of support vectors by column


def reasons(
    model: Any, machine: Machine, shown: SampledRows, file_rows: list[int] | None, names: list[str]
) -> Reasons:
    """The document, and the values of the support vectors that it refers to first."""
    steps = list(model[:-1]) if isinstance(model, Pipeline) else []
    table = preparation_of(model)
    Z = machine.placed(prepared(model, shown.block)[0])
    facts = shown.facts
    if machine.points is None:
        document = {"kind": "columns", **_of_columns(machine, Z, facts, table, names)}
        mapped = machine.map(Z, np.zeros(0, dtype=np.int64))
        return {**document, "map": _map_document(mapped)}, []
    near, pulls = _of_points(machine, Z, facts)
    order = _most_used(near[0], pulls[0])
    place = np.full(machine.coef.shape[1], -1)
    place[order] = np.arange(len(order))
    readable = not steps or table is not None
    n_valued = min(MAX_SUPPORT, MAX_SUPPORT_VALUES // machine.points.shape[1], len(order)) if readable else 0
    points = machine.prepared_points(order[:n_valued])
    mapped = machine.map(Z, order[:MAX_MAPPED])
    document = {
        "kind": "support vectors",
        "near": place[near[0]].tolist(),
        "distance": [rounded(row, 4) for row in near[1]],
        "pull": place[pulls[0]].tolist(),
        "by": [rounded(row, 5) for row in pulls[1]],
        "total": rounded(pulls[2]),
        "offset": rounded(machine.offsets(facts.predicted, facts.rivals)),
        "support": _support(machine, order, file_rows),
        "n_support": machine.points.shape[0],
        "n_valued": n_valued,
        "map": _map_document(mapped),
    }
    return document, [_left_out(table, names) | readable_row(table, point) for point in points]


def preparation_of(model: Any) -> TablePreparation | None:
    """The preparation of a table, where it is the only step before the classifier."""
    steps = list(model[:-1]) if isinstance(model, Pipeline) else []
    return steps[0] if len(steps) == 1 and isinstance(steps[0], TablePreparation) else None


def _left_out(table: TablePreparation | None, names: list[str]) -> dict[str, Any]:
    """What a readable row leaves out: the zeros of a sparse row."""
    return {} if table is None or table.layout_ != "sparse" else dict.fromkeys(names, 0.0)


def _of_points(
    machine: Machine, Z: Any, facts: RowFacts
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The nearest support vectors with their distances; the strongest pulls, and the sum of all."""
    near, far, who, by, total = [], [], [], [], []
    for _, parts, distance in machine.pulls(Z, facts.predicted, facts.rivals):
        assert distance is not None
        closest = _first(distance, N_NEAREST)
        strongest = _first(-np.abs(parts), N_PULLS)
        near.append(closest)
        far.append(np.take_along_axis(distance, closest, axis=1))
        who.append(strongest)
        by.append(np.take_along_axis(parts, strongest, axis=1))
        total.append(parts.sum(axis=1))
    return (np.concatenate(near), np.concatenate(far)), tuple(map(np.concatenate, (who, by, total)))  # type: ignore[return-value]


def _first(values: np.ndarray, n: int) -> np.ndarray:
    """Columns of the n smallest values of each row, in order."""
    n = min(n, values.shape[1])
    few = np.argpartition(values, n - 1, axis=1)[:, :n] if n < values.shape[1] else None
    few = np.tile(np.arange(n), (len(values), 1)) if few is None else np.sort(few, axis=1)
    order = np.argsort(np.take_along_axis(values, few, axis=1), axis=1, kind="stable")
    return np.take_along_axis(few, order, axis=1)


def _most_used(*tables: np.ndarray) -> np.ndarray:
    """Support vectors that rows refer to, the most often referred to first."""
    found, counts = np.unique(np.concatenate([table.ravel() for table in tables]), return_counts=True)
    return np.asarray(found[np.lexsort((found, -counts))])


def _support(machine: Machine, order: np.ndarray, file_rows: list[int] | None) -> dict[str, Any]:
    """Rows of the training file, from 1, where they are known; classes that they vote for; sizes."""
    coef = machine.coef[:, order]
    strongest = np.argmax(np.abs(coef), axis=0)
    towards = [pull(machine.inner, int(t), float(coef[t, j])) for j, t in enumerate(strongest.tolist())]
    words = list(dict.fromkeys(towards))
    known = file_rows if file_rows is not None and len(file_rows) == machine.coef.shape[1] else None
    return {
        "row": None if known is None else [int(known[j]) + 1 for j in order.tolist()],
        "words": words,
        "towards": [words.index(word) for word in towards],
        "size": rounded(np.linalg.norm(coef, axis=0), 4),
    }


def _of_columns(
    machine: Machine, Z: Any, facts: RowFacts, table: TablePreparation | None, names: list[str]
) -> dict[str, Any]:
    """For a linear model: what each column of the table adds to the predicted class against its rival."""
    n_features = machine.coef.shape[1]
    source = np.arange(n_features) if table is None else np.asarray(table.sources_)
    given = getattr(table, "feature_names_in_", None)
    every = [f"x{j}" for j in range(int(source.max()) + 1)] if given is None else [str(n) for n in given]
    who, by, total = [], [], []
    for _, parts, _ in machine.pulls(Z, facts.predicted, facts.rivals):
        sums = np.zeros((len(parts), len(every)))
        np.add.at(sums.T, source, parts.T)
        strongest = _first(-np.abs(sums), N_PULLS + 1)
        who.append(strongest)
        by.append(np.take_along_axis(sums, strongest, axis=1))
        total.append(sums.sum(axis=1))
    pulls = np.concatenate(who)
    used = np.unique(pulls).tolist()
    place = {j: k for k, j in enumerate(used)}
    return {
        "names": [every[j] for j in used],
        "pull": [[place[j] for j in row] for row in pulls.tolist()],
        "by": [rounded(row, 5) for row in np.concatenate(by)],
        "total": rounded(np.concatenate(total)),
        "offset": rounded(machine.offsets(facts.predicted, facts.rivals)),
    }


def _map_document(mapped: tuple[np.ndarray, np.ndarray | None] | None) -> Mapping[str, Any] | None:
    if mapped is None:
        return None
    rows, points = mapped
    return {
        "rows": [rounded(axis, 4) for axis in rows.T],
        "support": None if points is None else [rounded(axis, 4) for axis in points.T],
    }
