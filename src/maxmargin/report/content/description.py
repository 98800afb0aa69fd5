"""A model in words and symbols, taken from the docstrings of its class, its loss and its kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from ...kernels import Kernel, kernel_from_name
from ...losses import Loss, loss_from_name

SIGNS = {
    "sum_": "Σ_",
    "||": "‖",
    "1/2": "½",
    "!=": "≠",
    "<=": "≤",
    " - ": " − ",
    "(-": "(−",
    "alpha": "α",
    "gamma": "γ",
    "phi": "φ",
    "Phi": "Φ",
    " in ": " ∈ ",
    "'": "′",
}
_BLOCK = re.compile(r"\n\n((?:    .+\n?)+)")
_QUOTED = re.compile(r"``(.+?)``")
_ROLE = re.compile(r":\w+:`(?:~?[\w.]*\.)?(\w+)`")


@dataclass(frozen=True)
class Problem:
    """What an estimator solves: a summary, the problem, what its symbols mean."""

    summary: str
    lead: str = ""  # the sentence that the formulas end
    formulas: tuple[str, ...] = ()
    where: str = ""  # the sentence behind them


@dataclass(frozen=True)
class Described:
    """A fitted classifier for a reader: words, formulas with a remark on each, parameters that were used."""

    name: str
    words: str
    symbols: list[tuple[str, str]]
    where: str
    parameters: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)


def problem_of(estimator: type) -> Problem:
    """The problem of a class; one whose docstring has no formula solves that of the class it derives from."""
    text = cleandoc(estimator.__doc__ or estimator.__name__).partition("\nParameters\n")[0]
    summary = _plain_text(text.partition("\n\n")[0])
    for owner in estimator.__mro__:
        text = cleandoc(owner.__dict__.get("__doc__") or "").partition("\nParameters\n")[0]
        if owner.__module__.startswith("maxmargin.") and (found := _BLOCK.search(text)):
            lead = _plain_text(text[: found.start()].rpartition("\n\n")[2])
            lines = [typeset(line.strip().rstrip(",.")) for line in found.group(1).strip().splitlines()]
            where = re.split(r"\.\s", _plain_text(text[found.end() :].strip().partition("\n\n")[0]))[0]
            return Problem(summary, lead, tuple(lines), where.rstrip(".") + "." if where else "")
    return Problem(summary)


def typeset(text: str) -> str:
    """A formula of a docstring in mathematical signs; ``_`` and ``^`` lower and raise what follows."""
    text = re.sub(r"_([a-zA-Z]{2,})\b", r"_{\1}", text)
    text = re.sub(r"<([^<>=]+?, [^<>=]+?)>", r"⟨\1⟩", text)
    for written, sign in SIGNS.items():
        text = text.replace(written, sign)
    return text


def _plain_text(text: str) -> str:
    """A paragraph without the marks of reStructuredText and without line ends."""
    return " ".join(_QUOTED.sub(r"\1", _ROLE.sub(r"\1", text)).split())


def _formula_in(documented: Any) -> str:
    """The formula that a docstring begins with, if it begins with one."""
    found = _QUOTED.match(type(documented).__doc__ or "")
    return typeset(found.group(1)) if found else ""


def describe(model: Any) -> Described:
    """What this classifier is and was set to."""
    inner = fitted_inside(model)
    problem = problem_of(type(inner))
    symbols = [(line, "") for line in problem.formulas]
    if any("loss(" in line for line in problem.formulas):
        residual = "r" if is_regressor(inner) else "m"
        symbols += [(f"loss({residual}) = {text}", name) for text, name in _loss(inner)]
    symbols += [(f"k(x, z) = {text}", name) for text, name in _kernel(inner)]
    words = f"{problem.summary} {problem.lead}".strip()
    if type(model) is not type(inner):
        words = f"{type(model).__name__}: {problem_of(type(model)).summary} {words}"
    return Described(type(inner).__name__, words, symbols, problem.where, _parameters(inner), _facts(inner))


def fitted_inside(model: Any) -> Any:
    """The classifier that does the work, where it is wrapped in a search or a calibration."""
    for attribute in ("best_estimator_", "estimator_"):
        if hasattr(model, attribute):
            return fitted_inside(getattr(model, attribute))
    return model


def scalers_inside(model: Any) -> list[Any]:
    """The searches around that classifier that scale columns before they fit it, outermost first."""
    for attribute in ("best_estimator_", "estimator_"):
        if hasattr(model, attribute):
            own = [model] if attribute == "estimator_" and hasattr(model, "scaling_") else []
            return own + scalers_inside(getattr(model, attribute))
    return []


def _loss(model: Any) -> list[tuple[str, str]]:
    """The formula and the name of a model's loss, if it has one."""
    given = getattr(model, "loss", "hinge")
    if is_regressor(model):
        return _documented_loss(model, str(given))
    loss = given if isinstance(given, Loss) else loss_from_name(given)
    text = _formula_in(loss)
    return [(text, loss.name)] if text else []


def _documented_loss(model: Any, name: str) -> list[tuple[str, str]]:
    """The formula in front of the loss's name, in the docstring of a regressor."""
    found = re.search(
        rf'^\s+(\S.*?)\s+"{re.escape(name.replace("_", "-"))}"', type(model).__doc__ or "", re.M
    )
    return [(typeset(found.group(1)), name)] if found else []


def _kernel(model: Any) -> list[tuple[str, str]]:
    """The formula and the name of a model's kernel, if it has one."""
    given = getattr(model, "kernel", None)
    if not isinstance(given, str | Kernel) or given == "precomputed":
        return []
    kernel = given if isinstance(given, Kernel) else kernel_from_name(given)
    text = _formula_in(kernel)
    return [(text, kernel.name)] if text else []


def _parameters(model: Any) -> dict[str, Any]:
    """Parameters as given, and where that was a rule the value used: ``alpha_`` for alpha="auto"."""
    given = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    shown = {}
    for name, value in given.items():
        used = getattr(model, name + "_", None)
        plain = isinstance(value, str | int | float | bool | None)
        text = value if plain else type(value).__name__
        if isinstance(value, str) and isinstance(used, float):
            text = f"{value}: {used:.6g}"
        shown[name] = text
    return shown


def _facts(model: Any) -> dict[str, Any]:
    wanted = ("n_support_", "n_iter_", "objective_", "dual_gap_", "status_", "n_features_in_", "tol")
    facts = {name: getattr(model, name) for name in wanted if hasattr(model, name)}
    if "n_support_" in facts:  # scikit-learn counts them by class
        facts["n_support_"] = int(np.sum(facts["n_support_"]))
    if hasattr(model, "classes_"):
        facts["n_classes"] = len(model.classes_)
    if hasattr(model, "code_"):
        facts["code"], facts["n_columns"] = model.code_.name, model.code_.n_columns
    return facts
