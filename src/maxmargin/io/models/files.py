"""Models in files that hold data, never code: ``save``, ``load``, ``read_record``, ``fingerprint``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ... import __version__
from ...archive import ModelFormatError, archive_digest, read_archive, read_header, write_archive
from .tree import decode_model, encode_model, is_model
from .values import record_from_json, record_to_json

__all__ = ["fingerprint", "load", "read_record", "save"]


def save(model: Any, path: str | os.PathLike[str], record: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to a file.

    The new file replaces an old one only when it is completely on disk: whatever happens, the old file or the
    new one is there, whole. The same model gives the same bytes.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of maxmargin, or a ``Pipeline`` that ends with one and begins with
        ``TablePreparation`` or with scalers and imputers of scikit-learn.
    path : path
    record : dict, optional
        How the model was made, for :func:`read_record`: any JSON values.

    Raises
    ------
    ValueError
        If the model holds something that is not data: a kernel function, a random number generator, a
        classifier of another library.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> save(LinearSVC().fit(X, y), "iris.mm")
    >>> load("iris.mm").n_features_in_
    4
    """
    _check_model(model)
    tree, arrays = encode_model(model)
    _check_readable(tree, arrays)
    header = {
        "kind": "model",
        "maxmargin": __version__,
        "model": tree,
        "record": record_to_json(record or {}),
    }
    write_archive(path, header, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote; it predicts the same bits.

    Nothing in a file is executed, and a file cannot name a class or a module. Every array is checked against
    all others before it is used.

    Parameters
    ----------
    path : path

    Returns
    -------
    estimator

    Raises
    ------
    ModelFormatError
        If the file is damaged, of a newer version, or not a model file.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> save(LinearSVC().fit(X, y), "iris.mm")
    >>> load("iris.mm").predict(X[:3])
    array([0, 0, 0])
    """
    header, arrays = read_archive(path)
    try:
        return decode_model(_of_model(header)["model"], arrays)
    except ValueError as error:
        raise ModelFormatError(f"{os.fspath(path)}: {error}") from None


def read_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The record that :func:`save` was given, without reading the model's arrays.

    Parameters
    ----------
    path : path

    Returns
    -------
    dict
        Empty if there is no record.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC, save
    >>> from maxmargin.io import read_record
    >>> save(LinearSVC().fit(*load_iris(return_X_y=True)), "iris.mm", record={"data": "iris"})
    >>> read_record("iris.mm")
    {'data': 'iris'}
    """
    header = read_header(path)
    try:
        return record_from_json(_of_model(header)["record"])
    except ValueError as error:
        raise ModelFormatError(f"{os.fspath(path)}: {error}") from None


def fingerprint(model: Any) -> str:
    """SHA-256 of everything that a file would hold of a model, except times and counts of kernel values.

    Two models with the same fingerprint have the same parameters, coefficients and certificates, bit for bit.

    Parameters
    ----------
    model : estimator
        Anything that can be saved.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.io import fingerprint
    >>> X, y = load_iris(return_X_y=True)
    >>> fingerprint(LinearSVC(random_state=0).fit(X, y)) == fingerprint(LinearSVC(random_state=0).fit(X, y))
    True
    """
    _check_model(model)
    return archive_digest({"model": (encoded := encode_model(model, clocks=False))[0]}, encoded[1])


def _check_model(model: Any) -> None:
    if not is_model(model):
        raise ValueError(
            f"model must be a fitted estimator of maxmargin, or a pipeline of such; got {model!r:.200}."
        )
    check_is_fitted(model)


def _check_readable(tree: Any, arrays: dict[str, np.ndarray]) -> None:
    """Refuse to write a model that could not be read again."""
    try:
        decode_model(tree, arrays)
    except ModelFormatError as error:
        raise ValueError(f"the model is not saved, because it could not be loaded again: {error}") from None


def _of_model(header: Mapping[str, Any]) -> Mapping[str, Any]:
    if header.get("kind") != "model" or set(header) != {"kind", "maxmargin", "model", "record"}:
        raise ModelFormatError(f"the file holds a {header.get('kind')!r:.40}, not a model.")
    if not isinstance(header["record"], dict) or not isinstance(header["maxmargin"], str):
        raise ModelFormatError("a model must have a record and the version of maxmargin that wrote it.")
    return header
