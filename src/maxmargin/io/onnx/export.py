"""``to_onnx``: fitted models as ONNX graphs of primitive operators in double precision."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ...archive import whole_file
from ...auto import AutoSVC
from ...base import CertifiedMachine, CodedClassifier
from ...calibration import CalibratedScores
from ...decoders import Coupling, Probabilistic
from ...methods.eigen_map import KernelEigenMap
from ...methods.kernel_svm import CalibratedSVC
from ...methods.output_code import OutputCodeClassifier, SharedColumns, fitted_columns
from ...selection import PathCV, chosen_model
from .graph import Graph, column_outputs
from .scores import calibrated, class_scores, curve, log_odds, pair, prepared, transformed

__all__ = ["to_onnx"]

Answer = tuple[str, str, np.dtype, list[Any]]


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None, *, dtype: str = "float64") -> Any:
    """A fitted model as an ONNX graph of primitive operators.

    The graph has the input ``X`` (n_samples, n_features) and the outputs ``label``, ``scores`` (as
    ``decision_function``) and, if the model has them in closed form, ``probabilities``. A ``KernelEigenMap``
    has the output ``features``, a regressor the output ``prediction``. The graph computes in double
    precision; scores agree with the model's to the precision of the training.

    Parameters
    ----------
    model : estimator
        An estimator of maxmargin, or a ``Pipeline`` of scalers, imputers or a ``TablePreparation`` of numeric
        columns that ends in one.
    path : path, optional
        Where to write the graph.
    dtype : {"float64", "float32"}, default="float64"
        Type of the input X.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ValueError
        If a kernel, a decoder or a step cannot be written with ONNX operators: kernel functions, iterative
        decoders, categorical columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.io import to_onnx
    >>> model = to_onnx(LinearSVC().fit(*load_iris(return_X_y=True)), "iris.onnx")
    >>> [output.name for output in model.graph.output]
    ['label', 'scores']
    """
    check_is_fitted(model)
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float32' or 'float64'; got {dtype!r}.")
    graph = Graph()
    n_features = getattr(model, "n_features_in_", None)
    X = graph.cast("X", np.float64) if dtype == "float32" else "X"
    outputs = _answers(graph, model, X)
    helper, kinds = graph.onnx.helper, graph.onnx.helper.np_dtype_to_tensor_dtype
    given = helper.make_tensor_value_info("X", kinds(np.dtype(dtype)), ["n", n_features])
    made = graph.model([given], [_named(graph, *output) for output in outputs], repr(model))
    if path is not None:
        with whole_file(path) as file:
            file.write(made.SerializeToString())
    return made


def _named(graph: Graph, name: str, value: str, kind: np.dtype, shape: list[Any]) -> Any:
    graph.add("Identity", value, name=name)
    helper = graph.onnx.helper
    tensor = graph.onnx.TensorProto.STRING if kind.kind in "UO" else helper.np_dtype_to_tensor_dtype(kind)
    return helper.make_tensor_value_info(name, tensor, shape)


def _answers(graph: Graph, model: Any, X: str) -> list[Answer]:
    """The name, value, type and shape of each output."""
    while isinstance(model, Pipeline | PathCV):
        if isinstance(model, PathCV):
            model = chosen_model(model)
            continue
        for _, step in model.steps[:-1]:
            X = transformed(graph, step, X)
        model = model.steps[-1][1]
    real = np.dtype(np.float64)
    if isinstance(model, KernelEigenMap):
        return [("features", transformed(graph, model, X), real, ["n", model.n_components_])]
    if isinstance(model, CertifiedMachine):
        return _machine(graph, model, column_outputs(graph, model, X))
    if isinstance(model, AutoSVC):
        X = prepared(graph, model, X)
    elif not isinstance(model, CodedClassifier | CalibratedSVC | OutputCodeClassifier):
        raise ValueError(
            f"to_onnx takes fitted estimators of maxmargin, and pipelines of them; got {model!r:.200}."
        )
    inner = model.estimator_ if isinstance(model, AutoSVC | CalibratedSVC) else model
    F = _column_outputs(graph, inner, X)
    scores = _scores(graph, inner, F)
    n_classes = len(model.classes_)
    shape: list[Any] = ["n"] if n_classes == 2 and inner.code_.n_columns == 1 else ["n", n_classes]
    answers = [_label(graph, model.classes_, scores, shape), ("scores", scores, real, shape)]
    P = _probabilities(graph, model, F, scores)
    return answers if P is None else [*answers, ("probabilities", P, real, ["n", n_classes])]


def _machine(graph: Graph, model: Any, F: str) -> list[Answer]:
    """A prediction (sorted, where there are several), or scores and their sign."""
    real, n_outputs = np.dtype(np.float64), len(model.intercept_)
    if hasattr(model, "offset_"):
        scores = graph.add("Squeeze", F, graph.constant([1], np.int64))
        inside = graph.cast(graph.add("GreaterOrEqual", scores, 0.0), np.int64)
        label = graph.add("Gather", graph.constant([-1, 1], np.int64), inside)
        return [("label", label, np.dtype(np.int64), ["n"]), ("scores", scores, real, ["n"])]
    if getattr(model, "quantiles", None) is None:
        return [("prediction", graph.add("Squeeze", F, graph.constant([1], np.int64)), real, ["n"])]
    return [("prediction", graph.ascending(F, n_outputs), real, ["n", n_outputs])]


def _column_outputs(graph: Graph, model: Any, X: str) -> str:
    if not isinstance(model, OutputCodeClassifier):
        return column_outputs(graph, model, X)
    columns = fitted_columns(model)
    if isinstance(columns, SharedColumns):
        return column_outputs(graph, columns.estimators[0], X)
    if columns.rows is not None or None in columns.estimators:
        raise ValueError(
            "columns of a kernel matrix, and columns without a training row yet, cannot be exported."
        )
    axis, parts = graph.constant([1], np.int64), []
    for estimator in columns.estimators:
        scores = {name: value for name, value, _, _ in _answers(graph, estimator, X)}["scores"]
        parts.append(graph.add("Unsqueeze", scores, axis))
    return graph.add("Concat", *parts, axis=1)


def _scores(graph: Graph, model: Any, F: str) -> str:
    return class_scores(graph, F, model.code_, model.decoder_)


def _label(graph: Graph, classes: np.ndarray, scores: str, shape: list[Any]) -> Answer:
    if len(shape) == 1:
        place = graph.cast(graph.add("Greater", scores, 0.0), np.int64)
    else:
        place = graph.add("ArgMax", scores, axis=1, keepdims=0)
    if classes.dtype == object and not all(isinstance(item, str) for item in classes):
        raise ValueError(f"labels must be numbers, booleans or strings; got {classes.tolist()!r:.80}.")
    values = classes.astype(str) if classes.dtype == object else classes
    return "label", graph.add("Gather", graph.constant(values, values.dtype), place), values.dtype, ["n"]


def _probabilities(graph: Graph, model: Any, F: str, scores: str) -> str | None:
    """The probabilities of ``predict_proba``; None if the model has none or iterates to find them."""
    n_classes = len(model.classes_)
    calibrator = getattr(model, "calibrator_", None)
    if isinstance(calibrator, CalibratedScores):
        return calibrated(graph, scores, n_classes, calibrator.calibrator_)
    decoder = getattr(model, "decoder_", None)
    if isinstance(decoder, Coupling | Probabilistic) and decoder.curves and n_classes == 2:
        p = graph.add("Squeeze", curve(graph, F, decoder.curves[0]), graph.constant([1], np.int64))
        return pair(graph, p if model.code_.matrix[1, 0] > 0 else graph.add("Sub", 1.0, p), scores)
    if calibrator is None and getattr(model, "_direct_probabilities", bool)():
        return log_odds(graph, scores, n_classes)
    return None
