"""Steps of a pipeline from ONNX operators: scalers, imputers, tables of numbers, eigen features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .graph import Graph
from .onnx_outputs import expansion


def transformed(graph: Graph, step: Any, X: str) -> str:
    """What a fitted step makes of X; a ``ValueError`` where ONNX cannot say it."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return X
    name = type(step).__name__
    if name not in _STEPS:
        raise ValueError(
            f"the step {name} cannot be written with ONNX operators; known are {', '.join(sorted(_STEPS))}."
        )
    return _STEPS[name](graph, step, X)


def _standard(graph: Graph, step: Any, X: str) -> str:
    if step.with_mean:
        X = graph.add("Sub", X, step.mean_)
    return graph.add("Div", X, step.scale_) if step.with_std else X


def _min_max(graph: Graph, step: Any, X: str) -> str:
    X = graph.add("Add", graph.add("Mul", X, step.scale_), step.min_)
    if not step.clip:
        return X
    low, high = step.feature_range
    return graph.add("Min", graph.add("Max", X, float(low)), float(high))


def _max_abs(graph: Graph, step: Any, X: str) -> str:
    if getattr(step, "clip", False):
        raise ValueError("MaxAbsScaler(clip=True) cannot be written with ONNX operators.")
    return graph.add("Div", X, step.scale_)


def _robust(graph: Graph, step: Any, X: str) -> str:
    if step.with_centering:
        X = graph.add("Sub", X, step.center_)
    return graph.add("Div", X, step.scale_) if step.with_scaling else X


def _normalizer(graph: Graph, step: Any, X: str) -> str:
    sizes = graph.add("Abs", X)
    if step.norm == "max":
        norms = graph.largest(sizes, 1)
    elif step.norm == "l1":
        norms = graph.total(sizes, 1)
    else:
        norms = graph.add("Sqrt", graph.total(graph.add("Mul", X, X), 1))
    zero = graph.add("Equal", norms, 0.0)
    return graph.add("Div", X, graph.add("Where", zero, 1.0, norms))


def _imputer(graph: Graph, step: Any, X: str) -> str:
    missing = isinstance(step.missing_values, float) and np.isnan(step.missing_values)
    filled = np.asarray(step.statistics_, dtype=np.float64)
    if not missing or not np.isfinite(filled).all() or step.add_indicator:
        raise ValueError("SimpleImputer can be exported where NaN is missing and every column has a value.")
    return graph.add("Where", graph.add("IsNaN", X), graph.constant(filled), X)


def _eigen(graph: Graph, step: Any, X: str) -> str:
    return expansion(graph, step.kernel_, X, step.landmarks_, step.projection_)


def _table(graph: Graph, step: Any, X: str) -> str:
    """Numbers standardised, gaps filled and marked, in the precision of the table's matrix."""
    if step.layout_ == "sparse":
        out = graph.add("Div", X, step.scale_)
    elif any(not hasattr(plan, "scale") for plan in step.plans_):
        words = [name for name, kind in step.kinds_.items() if kind == "words"]
        raise ValueError(f"a table with words cannot be exported to ONNX, which gets a matrix: {words}.")
    else:
        plans = step.plans_
        gaps = graph.add("IsNaN", X)
        scaled = graph.add("Div", graph.add("Sub", X, [p.mean for p in plans]), [p.scale for p in plans])
        filled = graph.add("Where", gaps, 0.0, scaled)
        both = graph.add("Concat", filled, graph.cast(gaps, np.float64), axis=1)
        order = [k for j, p in enumerate(plans) for k in [j] * p.kept + [len(plans) + j] * p.indicator]
        out = graph.columns(both, order)
    return graph.cast(graph.cast(out, step.dtype), np.float64) if step.dtype == "float32" else out


_STEPS: dict[str, Callable[[Graph, Any, str], str]] = {
    "KernelEigenMap": _eigen,
    "MaxAbsScaler": _max_abs,
    "MinMaxScaler": _min_max,
    "Normalizer": _normalizer,
    "RobustScaler": _robust,
    "SimpleImputer": _imputer,
    "StandardScaler": _standard,
    "TablePreparation": _table,
}
