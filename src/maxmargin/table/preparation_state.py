"""The state of a ``TablePreparation`` as plain values, and back: what model files hold of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import check_choice
from .plans import plan_from_state, plan_state


def state_of(preparation: Any) -> dict[str, Any]:
    """All that prediction needs."""
    names = getattr(preparation, "feature_names_in_", None)
    return {
        "max_words": int(preparation.max_words),
        "dtype": preparation.dtype,
        "layout": preparation.layout_,
        "n_features": int(preparation.n_features_in_),
        "n_samples": int(preparation.n_samples_seen_),
        "names": None if names is None else names.tolist(),
        "plans": [plan_state(plan) for plan in preparation.plans_],
        "dropped": dict(preparation.dropped_),
        "scale": preparation.scale_,
    }


def with_state(out: Any, state: dict[str, Any]) -> Any:
    """The preparation ``out``, new, with a state that is checked."""
    check_choice("layout", state["layout"], ("table", "matrix", "sparse"))
    out.layout_, out.n_features_in_ = state["layout"], int(state["n_features"])
    out.n_samples_seen_, out.dropped_ = int(state["n_samples"]), dict(state["dropped"])
    out.plans_ = [plan_from_state(plan) for plan in state["plans"]]
    out.scale_ = np.asarray(state["scale"], dtype=np.float64)
    is_sparse, names, n = out.layout_ == "sparse", state["names"], out.n_features_in_
    lengths = len(out.plans_), len(out.scale_), -1 if names is None else len(names)
    wanted = (0 if is_sparse else n, n if is_sparse else 0, n if out.layout_ == "table" else -1)
    if lengths != wanted or not ((out.scale_ > 0.0) & np.isfinite(out.scale_)).all():
        raise ValueError(f"the state of a TablePreparation does not fit its {n} columns.")
    if names is not None:
        if len(set(names)) < n or not all(isinstance(name, str) for name in names):
            raise ValueError("the state of a TablePreparation must have different strings as names.")
        out.feature_names_in_ = np.array(names, dtype=object)
    return out
