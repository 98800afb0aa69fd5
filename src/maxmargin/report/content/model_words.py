"""What a model is, in words and in symbols.

Symbols are written for :func:`maxmargin.report.html.markup.formula`: ``_`` and ``^`` lower and raise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LOSSES = {
    "hinge": (
        "loss(m) = max(0, 1 − m)",
        "a row costs nothing once it is on the right side with room to spare",
    ),
    "squared-hinge": (
        "loss(m) = max(0, 1 − m)^2 / 2",
        "as the hinge, but far mistakes cost much more than near ones",
    ),
    "log": ("loss(m) = log(1 + e^{−m})", "the loss of logistic regression"),
    "squared": ("loss(m) = (1 − m)^2 / 2", "least squares on targets −1 and +1"),
    "perceptron": ("loss(m) = max(0, −m)", "only mistakes cost"),
}
KERNELS = {
    "rbf": ("k(x, z) = exp(−γ ‖x − z‖^2)", "rows are alike when they are near"),
    "laplacian": ("k(x, z) = exp(−γ ‖x − z‖_1)", "rows are alike when they are near, value by value"),
    "polynomial": ("k(x, z) = (γ ⟨x, z⟩ + c)^d", "products of values count, up to a degree"),
    "sigmoid": ("k(x, z) = tanh(γ ⟨x, z⟩ + c)", "a smooth threshold of the inner product"),
    "linear": ("k(x, z) = ⟨x, z⟩", "the inner product"),
}
EXPANSION = "f_t(x) = Σ_{j∈S} a_{jt} k(x, x_j)"
MACHINE = "f_t(x) = Σ_j a_{jt} k(x, x_j)"

FORMS: dict[str, tuple[str, list[str]]] = {
    "SparseKernelClassifier": (
        "A kernel classifier with a limited number of support vectors. It compares a new row with a few "
        "rows of the training table, the support vectors, and adds up their weighted votes. Which rows "
        "these are was found by what each promises to the fit; their weights are then the best for them, "
        "which the duality gap below certifies.",
        [
            "minimise over S, a:  Σ_t [ (1/n_t) Σ_i w_i loss(y_{it} f_t(x_i)) + (α/2) a_t′ K_{SS} a_t ],  "
            "|S| ≤ B",
            EXPANSION,
        ],
    ),
    "KernelSVC": (
        "The soft-margin support vector machine with a kernel: of all functions, the smoothest that keeps "
        "the rows of the two sides apart, where each violation has a cost C.",
        ["minimise over f, b:  ½ ‖f‖^2 + C Σ_i s_i loss(y_i (f(x_i) + b))", MACHINE],
    ),
    "LaSVM": (
        "The soft-margin support vector machine with a kernel, found by going through the rows one at a "
        "time.",
        ["minimise over f, b:  ½ ‖f‖^2 + C Σ_i s_i loss(y_i (f(x_i) + b))", MACHINE],
    ),
    "LinearSVC": (
        "The soft-margin linear support vector machine: each value of a row counts with a weight, and the "
        "side of the sum is the answer. Weights are small unless violations of the margin cost more.",
        ["minimise over w, b:  ½ ‖w‖^2 + C Σ_i s_i loss(y_i (⟨w, x_i⟩ + b))"],
    ),
    "TopKSVC": (
        "The top-k support vector machine: one score for each class, fitted so that the true class is "
        "among the k highest.",
        [
            "minimise over W:  (α/2) ‖W‖^2 + (1/N) Σ_i s_i Φ(W′x_i; y_i)",
            "Φ = mean of the k largest violations 1 + ⟨w_g, x⟩ − ⟨w_y, x⟩, where positive",
        ],
    ),
    "LinearProgramSVC": (
        "A support vector machine by linear programming: the sum of the weights' sizes is penalised, so "
        "that most weights are exactly 0.",
        ["minimise over w, b:  ‖w‖_1 + C Σ_i s_i max(0, 1 − y_i (⟨w, φ(x_i)⟩ + b))"],
    ),
    "LagrangianSVC": (
        "The Lagrangian support vector machine: squared violations, and an intercept that is penalised too.",
        ["minimise over w, b:  ½ (‖w‖^2 + b^2) + (C/2) Σ_i s_i max(0, 1 − y_i (⟨w, φ(x_i)⟩ + b))^2"],
    ),
    "LeastSquaresClassifier": (
        "Least squares on targets −1 and +1, with a penalty on the size of the weights.",
        ["minimise over w, b:  R(w) + (C/2) Σ_i s_i (y_i − ⟨w, x_i⟩ − b)^2"],
    ),
    "AllPairsSVC": (
        "The support vector machine of all pairs of classes as one problem: every wrong class should "
        "score less than the right one by 1.",
        [
            "minimise over f, b:  ½ Σ_g ‖f_g‖^2 + C Σ_i s_i Σ_{g≠y_i} max(0, 1 − (F_{y_i}(x_i) − F_g(x_i)))",
            "F_g(x) = Σ_j a_{jg} k(x, x_j) + b_g",
        ],
    ),
}


@dataclass(frozen=True)
class Described:
    """A fitted classifier for a reader: words, formulas with a remark on each, parameters that were used."""

    name: str
    words: str
    symbols: list[tuple[str, str]]
    parameters: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)


def describe(model: Any) -> Described:
    """What this classifier is and was set to."""
    inner = fitted_inside(model)
    name = type(inner).__name__
    first_line = (type(inner).__doc__ or name).strip().splitlines()[0]
    words, lines = FORMS.get(name, (first_line, []))
    symbols = [(line, "") for line in lines]
    if symbols and any("loss(" in line for line in lines):
        symbols += [LOSSES[loss] for loss in [_loss_name(inner)] if loss in LOSSES]
    kernel = getattr(inner, "kernel", None)
    if isinstance(kernel, str) and kernel in KERNELS:
        symbols.append(KERNELS[kernel])
    if type(model) is not type(inner):
        words += f" Around it, {type(model).__name__} turns scores into probabilities or chooses parameters."
    return Described(name, words, symbols, _parameters(inner), _facts(inner))


def fitted_inside(model: Any) -> Any:
    """The classifier that does the work, where it is wrapped in a search or a calibration."""
    for attribute in ("best_estimator_", "estimator_"):
        if hasattr(model, attribute):
            return fitted_inside(getattr(model, attribute))
    return model


def _loss_name(model: Any) -> str:
    loss = getattr(model, "loss", "hinge")
    return loss if isinstance(loss, str) else getattr(loss, "name", "")


def _parameters(model: Any) -> dict[str, Any]:
    """Parameters as given, and where that was a word the value used: ``alpha_`` for alpha="auto"."""
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
    if hasattr(model, "classes_"):
        facts["n_classes"] = len(model.classes_)
    if hasattr(model, "code_"):
        facts["code"], facts["n_columns"] = model.code_.name, model.code_.n_columns
    return facts
