"""Parameter checks of a budgeted classifier: valid combinations, and when it has probabilities."""

from __future__ import annotations

from typing import Any

from ...data import check_choice, check_flag, check_number
from ...decoders import gives_probabilities
from ...kernels import Kernel
from ...losses import LOSSES, SKLEARN_NAMES, loss_from_name
from .centers import can_move
from .selectors import SELECTORS


def check_budget_parameters(model: Any, kernel: Kernel) -> None:
    """Raise for values out of range and for invalid combinations."""
    check_number("budget", model.budget, at_least=1, integer=True)
    check_number("n_candidates", model.n_candidates, at_least=1, integer=True)
    check_number("cache_mb", model.cache_mb, above=0.0)
    check_choice("loss", model.loss, (*LOSSES, "ramp", *SKLEARN_NAMES))
    check_choice("selection", model.selection, ("gain", *SELECTORS))
    for name in ("move_centers", "merge_duplicates", "warm_start"):
        check_flag(name, getattr(model, name))
    if isinstance(model.alpha, str):
        check_choice("alpha", model.alpha, ("auto",))
    else:
        check_number("alpha", model.alpha, above=0.0)
    if model.validation_fraction is not None:
        check_number("validation_fraction", model.validation_fraction, above=0.0)
        if model.validation_fraction >= 1.0:
            raise ValueError(f"validation_fraction must be below 1; got {model.validation_fraction!r}.")
    if model.refit is None:
        _check_published(model)
    else:
        _check_own(model, kernel)


def _check_published(model: Any) -> None:
    if model.selection == "gain":
        raise ValueError(
            "selection='gain' scores candidates at an optimum, and refit=None has none; choose one of "
            f"{sorted(SELECTORS)}, or refit='newton'."
        )
    if model.loss == "ramp":
        raise ValueError("loss='ramp' is minimised by refits; set refit='newton', or loss='hinge'.")
    if model.move_centers:
        raise ValueError("move_centers=True needs refit='newton'; got refit=None.")
    if model.back_fit is not None and model.back_fit != "n/B":
        if isinstance(model.back_fit, str):
            raise ValueError(f"back_fit must be None, an integer >= 0 or 'n/B'; got {model.back_fit!r}.")
        check_number("back_fit", model.back_fit, at_least=0, integer=True)


def _check_own(model: Any, kernel: Kernel) -> None:
    check_choice("refit", model.refit, ("newton",))
    if model.back_fit is not None:
        raise ValueError(
            f"back_fit={model.back_fit!r} is part of the published method; with refit='newton' coefficients "
            "are at the optimum already. Set refit=None, or back_fit=None."
        )
    if model.loss == "perceptron":
        raise ValueError(
            "loss='perceptron' is 0 for f = 0, so its regularised optimum is 0; use another loss, or "
            "refit=None."
        )
    if model.move_centers and not can_move(kernel):
        raise ValueError(f"move_centers=True needs kernel='rbf'; got {model.kernel!r}.")


def has_probabilities(model: Any) -> bool:
    """Whether a model has probabilities, or will have them once fitted; raises with a remedy if not."""
    if gives_probabilities(getattr(model, "decoder_", model.decoder)):
        return True
    if not hasattr(model, "status_"):
        name = loss_from_name(model.loss).name
        known = model.refit is not None or model.validation_fraction is not None or name == "log"
    else:
        known = model._direct_probabilities() or getattr(model, "calibrator_", None) is not None
    if known:
        return True
    raise AttributeError(
        "this model has no probabilities: there were no outputs on held-out rows to calibrate on. Fit to the "
        "end with refit='newton', with validation_fraction, with loss='log', or with "
        "decoder='probabilistic'."
    )
