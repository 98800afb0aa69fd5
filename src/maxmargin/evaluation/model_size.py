"""How large a fitted model is: support vectors, and bytes on a disk."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

from .answers import classifier_of

__all__ = ["n_bytes_of", "n_support_of"]


def n_support_of(model: Any) -> int | None:
    """Support vectors of a kernel machine; None for others."""
    classifier = classifier_of(model)
    points = getattr(getattr(classifier, "best_estimator_", classifier), "support_vectors_", None)
    return None if points is None else int(points.shape[0] if hasattr(points, "shape") else len(points))


def n_bytes_of(model: Any) -> int | None:
    """Of its model file, None where there can be none; of a pickle for models of other libraries."""
    from .. import io

    if not type(classifier_of(model)).__module__.startswith("maxmargin."):
        return len(pickle.dumps(model))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mm"
        try:
            io.save(model, path)
        except (TypeError, ValueError):
            return None
        return path.stat().st_size
