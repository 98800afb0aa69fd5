"""Odd dtypes, shapes, values and labels: every estimator fits and predicts, or refuses with a sentence.

    python tests/soak/odd_inputs.py

An exception other than ``ValueError``, ``TypeError`` and ``MemoryError``, one without a word, a model whose
predictions are not its classes, or whose scores or predicted numbers are not finite, are wrong.
"""

from __future__ import annotations

import decimal
import fractions
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_outlier_detector, is_regressor

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.saved_models import EVERY, WORDS, data

REFUSALS = (ValueError, TypeError, MemoryError)


def matrices() -> dict[str, Any]:
    """Rows of odd types, layouts and values."""
    X, _ = data()
    n = len(X)
    types = ["f2", "f4", "g", "i1", "u1", "i8", "u8", "?", ">f8", ">f4", "O", "U", "S", "c16", "M8[s]", "V8"]
    found: dict[str, Any] = {}
    for kind in types:
        with np.errstate(all="ignore"):
            found[f"dtype {kind}"] = (
                X.astype("i8").astype(kind) if kind in ("M8[s]", "V8") else X.astype(kind)
            )
    mixed = X.astype(object)
    mixed[3, 1] = "word"
    readonly = X.copy()
    readonly.setflags(write=False)
    for value in (np.nan, np.inf, 1e308, 1e200, 5e-324, -0.0):
        found[f"one {value}"] = np.where(np.arange(X.size).reshape(X.shape) == 7, value, X)
        found[f"all {value}"] = np.full(X.shape, value)
    return found | {
        "Fortran": np.asfortranarray(X),
        "strided": np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": X[::-1, ::-1],
        "read-only": readonly,
        "a list": X.tolist(),
        "a frame": pd.DataFrame(X, columns=list("abcd")),
        "a frame with a word": pd.DataFrame(mixed),
        "masked": np.ma.masked_array(X, mask=X > 3),
        "a word in it": mixed,
        "decimals": np.array([[decimal.Decimal(str(v)) for v in row] for row in X]),
        "fractions": np.array([[fractions.Fraction(v) for v in row] for row in X]),
        "ragged": [[1.0], [2.0, 3.0]] * (n // 2),
        "no rows": X[:0],
        "one row": X[:1],
        "no columns": X[:, :0],
        "one column": X[:, :1],
        "one dimension": X[:, 0],
        "three dimensions": X[:, :, None],
        "a number": 3.0,
        "nothing": None,
        "a word": "rows",
        "COO": sparse.coo_array(X),
        "CSC": sparse.csc_array(X),
        "CSR of integers": sparse.csr_array(X.astype("i4")),
        "CSR of complex": sparse.csr_array(X.astype("c16")),
        "CSR, nothing stored": sparse.csr_array(X.shape),
        "DIA": sparse.dia_array(X),
        "LIL matrix": sparse.lil_matrix(X),
    }


def labels() -> dict[str, Any]:
    """Labels of odd types and values, for the rows of ``data``."""
    _, y = data()
    n = len(y)
    mixed: list[Any] = [1, "1"] * (n // 2) + [1] * (n % 2)
    return {
        "floats": y.astype(float),
        "halves": y + 0.5,
        "64 bits": y.astype("u8") + np.uint64(2**64 - 3),
        "negative": -y,
        "huge": y * 1e307,
        "tiny": y * 1e-300,
        "numbers as words": y.astype(str),
        "booleans": y == 1,
        "bytes": WORDS[y].astype("S"),
        "words": WORDS[y],
        "objects": WORDS[y].astype(object),
        "empty words": np.array(["", "a", "b"])[y],
        "numbers and words": np.array(mixed, dtype=object),
        "a list of numbers and words": mixed,
        "with None": np.array([None, *y[1:]], dtype=object),
        "with NaN": np.where(np.arange(n) == 3, np.nan, y),
        "infinite": np.where(np.arange(n) == 3, np.inf, y),
        "one class": np.zeros(n, dtype=int),
        "a class for each row": np.arange(n),
        "complex": y.astype(complex),
        "dates": y.astype("M8[D]"),
        "a column": y[:, None],
        "indicators": np.eye(3)[y],
        "too few": y[:-1],
        "none": y[:0],
        "a number": 1,
        "nothing": None,
        "categorical": pd.Categorical(WORDS[y]),
        "a frame": pd.DataFrame({"y": y}),
        "nullable": pd.array(y, dtype="Int64"),
        "tuples": np.array([(k, k) for k in y], dtype="i4,i4"),
    }


def outcome(name: str, X: Any, y: Any) -> str:
    """What became of a fit and its predictions."""
    model = EVERY[name]()
    try:
        model.fit(X, y)
        if not hasattr(model, "predict"):
            return "fitted" if np.isfinite(model.transform(X)).all() else "wrong: features are not finite"
        predicted = model.predict(X)
        scores = model.decision_function(X) if hasattr(model, "decision_function") else predicted
    except REFUSALS as error:
        return "refused" if str(error).strip() else f"wrong: {type(error).__name__} without a word"
    except Exception as error:
        return f"wrong: {type(error).__name__}: {error}"
    if not np.isfinite(scores).all():
        return "wrong: scores are not finite"
    if is_regressor(model):
        return "fitted"
    classes = [-1, 1] if is_outlier_detector(model) else model.classes_
    return "fitted" if np.isin(predicted, classes).all() else "wrong: predictions are not classes"


def run(names: list[str]) -> Counter[str]:
    """Every odd matrix with sound labels, and every odd label with sound rows."""
    counts: Counter[str] = Counter()
    X, y = data()
    trials = [("rows", kind, rows, y) for kind, rows in matrices().items()]
    trials += [("labels", kind, X, given) for kind, given in labels().items()]
    for name in names:
        for what, kind, rows, given in trials:
            fits = len(given) == len(y) if np.ndim(given) else False
            given = given[:1] if kind == "one row" else given[:0] if kind == "no rows" else given
            found = outcome(name, rows, given)
            counts[f"{what}: {found.partition(':')[0]}"] += 1
            if found.startswith("wrong") and (fits or what == "labels"):
                print(f"  {name}, {what} {kind}: {found}", flush=True)
    return counts


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    counted = run(sys.argv[1:] or list(EVERY))
    for what, count in sorted(counted.items()):
        print(f"{count:6} {what}")
    sys.exit(any("wrong" in what for what in counted))
