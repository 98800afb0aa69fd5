"""One row through a model that was just loaded: what shapes alone do not show is found here, not in use."""

from __future__ import annotations

from typing import Any

import numpy as np

METHODS = ("decision_function", "predict", "predict_proba", "transform")
FEW = 1 << 20  # features that a row may always have


def try_model(model: Any, n_values: int = 0) -> None:
    """Predict a row of zeros by every method there is; a ``ValueError`` where an answer is not finite.

    What begins with a table of names is tried from its second step on. What has more features than
    ``n_values``, the numbers in the model, is not tried: CSR matrices and kernels of numbers can claim any
    width, and a row would take the memory that a file of a few bytes asks for.
    """
    steps = getattr(model, "steps", None)
    if steps and getattr(steps[0][1], "layout_", "matrix") != "matrix":
        for _, step in steps[1:]:
            try_model(step, n_values)
        return
    n_features = getattr(model, "n_features_in_", None)
    if n_features is None or getattr(model, "layout_", "matrix") != "matrix":
        return
    if n_features > max(FEW, n_values):
        return
    row = np.zeros((1, int(n_features)))
    for name in METHODS:
        method = getattr(model, name, None)
        if method is None:
            continue
        answer = method(row)
        values = getattr(answer, "to_numpy", lambda answer=answer: answer)()
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(f"{name} of a row of zeros is not finite")
