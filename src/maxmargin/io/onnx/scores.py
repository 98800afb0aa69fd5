"""Scores and probabilities of classes from ONNX operators: decoders and calibration curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...calibration import IsotonicCalibrator, SigmoidCalibrator, SoftmaxCalibrator
from ...codes import Code
from ...decoders import Hamming, LinearProgramDecoder, LossBased, Margins, PriorDecoder, Votes
from .graph import Graph, expansion

TIE_BREAK_WEIGHT = 1e-12  # weight of the margins where scores are equal but for rounding


def class_scores(graph: Graph, F: str, code: Code, decoder: Any) -> str:
    """The scores of ``decision_function``: (n, n_classes), or (n,) for a code with one column."""
    if code.n_classes == 2 and code.n_columns == 1:
        flat = graph.add("Squeeze", F, graph.constant([1], np.int64))
        return graph.add("Mul", flat, float(code.matrix[1, 0]))
    matrix = code.matrix.astype(np.float64)
    if isinstance(decoder, Margins):
        one_vs_rest = matrix.shape[0] == matrix.shape[1] and (matrix == 2 * np.eye(len(matrix)) - 1).all()
        return F if one_vs_rest else _times(graph, F, matrix)
    if isinstance(decoder, Votes | Hamming):
        offset = np.abs(matrix).sum(axis=1) if isinstance(decoder, Votes) else -float(code.n_columns)
        votes = graph.add("Add", _times(graph, graph.add("Sign", F), matrix), offset)
        return _with_margins(graph, graph.add("Mul", votes, 0.5), F, matrix, 0.2)
    if isinstance(decoder, LinearProgramDecoder):
        weights = np.asarray(decoder.weights) * matrix
        return _with_margins(graph, _times(graph, graph.add("Sign", F), weights), F, matrix, TIE_BREAK_WEIGHT)
    if isinstance(decoder, PriorDecoder):
        return _with_margins(
            graph, _times(graph, F, np.asarray(decoder.weights)), F, matrix, TIE_BREAK_WEIGHT
        )
    if isinstance(decoder, LossBased) and decoder.loss.name in _LOSSES:
        return _with_margins(graph, _minus_losses(graph, F, code, decoder.loss), F, matrix, TIE_BREAK_WEIGHT)
    raise ValueError(
        f"the decoder {decoder.name!r} cannot be written with ONNX operators; use margins, votes, "
        f"hamming, weighted, prior or one of the losses {sorted(_LOSSES)}."
    )


def _times(graph: Graph, F: str, matrix: np.ndarray) -> str:
    return graph.add("MatMul", F, graph.constant(matrix.T))


def _with_margins(graph: Graph, scores: str, F: str, matrix: np.ndarray, weight: float) -> str:
    """Scores plus ``weight s / (1 + |s|)``, for sums of margins s, which decides ties."""
    sums = _times(graph, F, matrix)
    squashed = graph.add("Div", sums, graph.add("Add", graph.add("Abs", sums), 1.0))
    return graph.add("Add", scores, graph.add("Mul", squashed, weight))


def _minus_losses(graph: Graph, F: str, code: Code, loss: Any) -> str:
    value = _LOSSES[loss.name]
    cost = _times(graph, value(graph, F), code.matrix == 1)
    cost = graph.add("Add", cost, _times(graph, value(graph, graph.add("Neg", F)), code.matrix == -1))
    at_zero = (code.matrix == 0).sum(axis=1) * float(loss.value(np.zeros(())))
    return graph.add("Neg", graph.add("Add", cost, at_zero))


def _short_of(graph: Graph, m: str, margin: float) -> str:
    return graph.add("Max", graph.add("Sub", margin, m), 0.0)


def _half_square(graph: Graph, value: str) -> str:
    return graph.add("Mul", graph.add("Mul", value, value), 0.5)


_LOSSES = {
    "perceptron": lambda graph, m: _short_of(graph, m, 0.0),
    "hinge": lambda graph, m: _short_of(graph, m, 1.0),
    "squared-hinge": lambda graph, m: _half_square(graph, _short_of(graph, m, 1.0)),
    "squared": lambda graph, m: _half_square(graph, graph.add("Sub", 1.0, m)),
    "log": lambda graph, m: _log1p_exp(graph, graph.add("Neg", m)),
}


def _log1p_exp(graph: Graph, x: str) -> str:
    """``max(x, 0) + log(1 + exp(-|x|))``."""
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", x)))
    return graph.add("Add", graph.add("Max", x, 0.0), graph.add("Log", graph.add("Add", small, 1.0)))


# ---- probabilities ----


def calibrated(graph: Graph, scores: str, n_classes: int, calibrator: Any) -> str:
    """Probabilities (n, n_classes) from a calibration curve or a softmax of the scores."""
    if isinstance(calibrator, SoftmaxCalibrator):
        return _softmax(graph, scores, calibrator)
    p = curve(graph, scores, calibrator)
    if n_classes == 2:
        return pair(graph, p, scores)
    zero = graph.add("Equal", graph.total(p, 1), 0.0)
    return normalised(graph, graph.add("Where", zero, 1.0, p))


def _softmax(graph: Graph, scores: str, calibrator: SoftmaxCalibrator) -> str:
    """``softmax(slope s / scale + bend log r(s) / bend_scale)``."""
    below = graph.add("Sub", scores, graph.largest(scores, 1))
    total = graph.add("Mul", below, calibrator.slope_ / calibrator.scale_)
    if calibrator.bend_ > 0.0:
        cost = _log1p_exp(graph, graph.add("Neg", _sigmoid_odds(graph, scores, calibrator.curve_)))
        total = graph.add("Sub", total, graph.add("Mul", cost, calibrator.bend_ / calibrator.bend_scale_))
    return graph.add("Softmax", total, axis=1)


def _sigmoid_odds(graph: Graph, scores: str, sigmoid: SigmoidCalibrator) -> str:
    z = graph.add("Div", graph.add("Sub", scores, sigmoid.center_), sigmoid.scale_)
    return graph.add("Add", graph.add("Mul", z, sigmoid.slope_), sigmoid.offset_)


def curve(graph: Graph, scores: str, calibrator: Any) -> str:
    """The probability that a sigmoid or an isotonic curve gives to each score."""
    if isinstance(calibrator, SigmoidCalibrator):
        return graph.add("Sigmoid", _sigmoid_odds(graph, scores, calibrator))
    if not isinstance(calibrator, IsotonicCalibrator):
        raise ValueError(f"{type(calibrator).__name__} cannot be written with ONNX operators.")
    knots, values = calibrator.knots_, calibrator.values_
    kept = np.r_[True, np.diff(values) != 0.0] | np.r_[np.diff(values) != 0.0, True]  # ends of flat pieces
    knots, values = knots[kept], values[kept]
    if len(knots) == 1:
        return graph.add("Add", graph.add("Mul", scores, 0.0), float(values[0]))
    column = graph.add("Unsqueeze", scores, graph.constant([-1], np.int64))
    within = graph.add("Min", graph.add("Max", column, knots[:-1]), knots[1:])
    rises = graph.add("Mul", graph.add("Sub", within, knots[:-1]), np.diff(values) / np.diff(knots))
    return graph.add("Add", graph.total(rises, -1, keepdims=False), float(values[0]))


def log_odds(graph: Graph, scores: str, n_classes: int) -> str:
    """``1 / (1 + exp(-f))``; for several classes divided by their sum."""
    p = graph.add("Sigmoid", scores)
    return pair(graph, p, scores) if n_classes == 2 else normalised(graph, p)


def pair(graph: Graph, p: str, scores: str) -> str:
    """(n, 2) from probabilities of the second class, held above 1/2 where the score is positive."""
    above, below = graph.add("Max", p, float(np.nextafter(0.5, 1.0))), graph.add("Min", p, 0.5)
    p = graph.add("Where", graph.add("Greater", scores, 0.0), above, below)
    axis = graph.constant([1], np.int64)
    both = [graph.add("Unsqueeze", side, axis) for side in (graph.add("Sub", 1.0, p), p)]
    return graph.add("Concat", *both, axis=1)


def normalised(graph: Graph, P: str) -> str:
    """Rows that sum to 1."""
    return graph.add("Div", P, graph.total(P, 1))


def transformed(graph: Graph, step: Any, X: str) -> str:
    """X transformed by a fitted step; raises ``ValueError`` for steps that ONNX cannot express."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return X
    name = type(step).__name__
    if name not in _STEPS:
        raise ValueError(
            f"the step {name} cannot be written with ONNX operators; choose from {', '.join(sorted(_STEPS))}."
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
        raise ValueError(
            "SimpleImputer can be exported only if NaN marks missing values and every column has a value."
        )
    return graph.add("Where", graph.add("IsNaN", X), graph.constant(filled), X)


def _eigen(graph: Graph, step: Any, X: str) -> str:
    return expansion(graph, step.kernel_, X, step.landmarks_, step.projection_)


def _table(graph: Graph, step: Any, X: str) -> str:
    """Numeric columns standardised, missing values filled and marked, in the precision of the matrix."""
    if step.layout_ == "sparse":
        out = graph.add("Div", X, step.scale_)
    elif any(not hasattr(plan, "scale") for plan in step.plans_):
        words = [name for name, kind in step.kinds_.items() if kind == "words"]
        raise ValueError(
            "a table with categorical columns (words, dates, text) cannot be exported to ONNX, whose input "
            f"is a matrix of numbers: {words}."
        )
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


def prepared(graph: Graph, model: Any, X: str) -> str:
    """The columns as ``AutoSVC`` prepares them for its model."""
    if model.table_ is not None:
        X = transformed(graph, model.table_, X)
    scaling = model.scaling_
    if scaling.bent.any():
        u = graph.add("Div", graph.add("Sub", X, scaling.origin), scaling.unit)
        X = graph.add("Where", graph.constant(scaling.bent, np.bool_), _asinh(graph, u), X)
    X = graph.add("Div", graph.add("Sub", X, scaling.center), scaling.scale)
    return X if scaling.rotation is None else graph.add("MatMul", X, scaling.rotation)


def _asinh(graph: Graph, u: str) -> str:
    """``sign(u) log(|u| + sqrt(u^2 + 1))``: the operator of ONNX is not there in double precision."""
    size = graph.add("Abs", u)
    root = graph.add("Sqrt", graph.add("Add", graph.add("Mul", size, size), 1.0))
    return graph.add("Mul", graph.add("Sign", u), graph.add("Log", graph.add("Add", size, root)))
